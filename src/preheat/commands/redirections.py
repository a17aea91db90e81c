"""What a redirection does to a command. Knows no parser."""

from preheat.commands.heredocs import PLACE, Heredoc


def writes_file(descriptor: str, operator: str, target: str) -> bool:
    """Whether it puts the command's output into a file. Errors alone and devices do not count."""
    if ">" not in operator or descriptor not in ("", "1", "&"):
        return False
    return not target.startswith("/dev/") and target.lower() not in ("nul", "$null") and not target.isdecimal()


def heredoc_at(target: str, heredocs: tuple[Heredoc, ...]) -> str | None:
    """The body of the here-document that an input redirection reads."""
    number = target[len(PLACE) :]
    if not target.startswith(PLACE) or len(number) > 6 or not number.isdecimal() or int(number) >= len(heredocs):
        return None
    return heredocs[int(number)].body

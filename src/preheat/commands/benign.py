"""Exit codes that are an answer and no failure. Knows the commands of the table below, nothing of their output."""

from typing import Literal, NamedTuple, TypeAlias

from preheat.commands.purposes import started_by_find
from preheat.commands.understand import is_look, is_trivial
from preheat.commands.values import Command, Understanding
from preheat.commands.words import base_name, has_flag, is_project_script, operands

Answer: TypeAlias = Literal["empty", "ok"]
"""`empty`: it worked and found nothing. `ok`: it worked, and the code says which of two answers."""

_XARGS = 123
"""The exit code of `xargs` when a command it started ended with 1 to 125."""


class Benign(NamedTuple):
    programs: tuple[str, ...]
    codes: tuple[int, ...]
    answer: Answer
    reason: str
    subcommand: str = ""
    """The first argument that is no option must be this one."""
    flags: tuple[str, ...] = ()
    """The command must have one of these options."""


BENIGN: tuple[Benign, ...] = (
    Benign(
        ("grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "ugrep", "findstr"), (1,), "empty", "no line matches"
    ),
    Benign(("git",), (1,), "empty", "no line matches", "grep"),
    Benign(("diff", "cmp", "colordiff", "sdiff", "comm"), (1,), "ok", "the files differ"),
    Benign(
        ("git",), (1, 2), "ok", "there are differences", "diff", ("--exit-code", "--quiet", "--no-index", "--check")
    ),
    Benign(("git",), (1,), "ok", "there are differences", "diff-index", ("--exit-code", "--quiet")),
    Benign(("git",), (1,), "ok", "there are differences", "diff-files", ("--exit-code", "--quiet")),
    Benign(("git",), (1,), "ok", "the commit is no ancestor", "merge-base", ("--is-ancestor",)),
    Benign(("git",), (1,), "empty", "no path is ignored", "check-ignore"),
    Benign(("git",), (1,), "empty", "the key is not set", "config"),
    Benign(("git",), (1,), "empty", "no such reference", "show-ref"),
    Benign(("git",), (1,), "empty", "no such revision, asked quietly", "rev-parse", ("--quiet", "-q")),
    Benign(("git",), (1,), "empty", "the path is not tracked", "ls-files", ("--error-unmatch",)),
    Benign(("git",), (2,), "empty", "no such reference on the remote", "ls-remote", ("--exit-code",)),
    Benign(("gh",), (8,), "ok", "checks are pending", "pr"),
    Benign(("test", "[", "[[", "((", "false", "let"), (1,), "ok", "the condition is false"),
    Benign(("which", "whereis", "type", "hash", "where"), (1,), "empty", "no such program"),
    Benign(("command",), (1, 127), "empty", "no such program", "", ("-v", "-V")),
    Benign(("pgrep", "pidof", "pkill", "killall", "lsof", "fuser"), (1,), "empty", "no such process"),
    Benign(("getent",), (2,), "empty", "no such entry"),
    Benign(("locate", "mdfind"), (1,), "empty", "no file matches"),
    Benign(("printenv",), (1,), "empty", "the variable is not set"),
    Benign(("jq", "yq"), (1, 4), "empty", "the answer is null or false", "", ("-e", "--exit-status")),
    Benign(("systemctl",), (1, 3, 4), "ok", "the unit is not active", "is-active"),
    Benign(("systemctl",), (1,), "ok", "the unit is not enabled", "is-enabled"),
    Benign(("systemctl",), (1,), "ok", "the unit has not failed", "is-failed"),
    Benign(("systemctl",), (3, 4), "ok", "the unit is not running", "status"),
    Benign(("pip", "pip3"), (1,), "empty", "the package is not installed", "show"),
    Benign(("dpkg",), (1,), "empty", "the package is not installed", "", ("-s", "-l", "-L", "-S", "--status")),
    Benign(("brew",), (1,), "empty", "the package is not installed", "list"),
    Benign(("npm", "pnpm"), (1,), "ok", "there are newer versions", "outdated"),
    Benign(("npm",), (1,), "empty", "the package is not installed", "ls"),
    Benign(("tmux",), (1,), "empty", "no such session", "has-session"),
    Benign(("expr",), (1,), "ok", "the result is zero or empty"),
)
"""In which command which code is which answer. Where several rows fit, the first counts."""

_GIT_VALUED = ("-C", "-c", "--git-dir", "--work-tree")


def benign_answer(understanding: Understanding, code: int) -> Answer | None:
    """The answer that a non-zero exit code means; None where it is a failure or unknown.

    Of several commands that may have given the code (`cd x && ls && grep y f && echo found`) one must be in the table; the others
    must be too, or only prepare or show something: those say in their output that they failed.
    """
    if code == 0:
        return None
    found: Answer | None = None
    for command in understanding.decides:
        answer = _answer(command, code)
        if answer is None and not (is_trivial(command) or is_look(command)):
            return None
        found = found or answer
    return found


def _answer(command: Command, code: int) -> Answer | None:
    if "xargs" in command.wrappers:
        if code != _XARGS:
            return None
        code = 1
    words = command.words
    if command.program == "find":
        words = started_by_find(words)  # with `-exec … +`, `find` hands the failure on
        if not words or base_name(words[0]) == "find":
            return None
    program = base_name(words[0]).lower()
    if is_project_script(words[0]):
        return None
    for row in BENIGN:
        if program in row.programs and code in row.codes and _fits(row, words):
            return row.answer
    return None


def _fits(row: Benign, words: tuple[str, ...]) -> bool:
    if row.subcommand and operands(words, _GIT_VALUED)[:1] != [row.subcommand]:
        return False
    return not row.flags or has_flag(words[1:], *row.flags)


def benign_table() -> str:
    """The table for the documentation."""
    lines = ["| command | exit code | answer | because |", "|---|---|---|---|"]
    for row in BENIGN:
        commands = ", ".join(f"`{' '.join(filter(None, (program, row.subcommand)))}`" for program in row.programs)
        flags = f" with {' or '.join(f'`{flag}`' for flag in row.flags)}" if row.flags else ""
        codes = ", ".join(map(str, row.codes))
        lines.append(f"| {commands}{flags} | {codes} | {row.answer} | {row.reason} |")
    return "\n".join(lines)

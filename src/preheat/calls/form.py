"""The form of a command: its program, subcommand and options, without what differs from case to case. Knows no session."""

import re

from preheat.calls.shell import command_aim
from preheat.commands import understand
from preheat.memory import cache_short_texts

_OPTIONS = 3
_LONGEST_WORD = 30
_INTERPRETERS = frozenset(
    ("python", "python3", "node", "ruby", "perl", "php", "bash", "sh", "zsh", "pwsh", "deno", "bun", "tsx")
)
_SCRIPT = re.compile(r"(?!/|~|[A-Za-z]:)(?:[\w.-]+/){0,6}[\w-][\w.-]{0,40}\.\w{1,4}")
"""A script of the project; what lies elsewhere belongs to one machine."""


@cache_short_texts
def command_form(text: str) -> str:
    """The program of a shell text with its subcommand and options; empty where no program is found."""
    main = understand(text).main
    _, *words = command_aim(text)
    if main is None or not words:
        return ""
    if words[1:] == [] and main.words[1:2] == ("run",):  # of any program that runs what a project names
        words += main.words[1:3]
    # A path or a quoted text belongs to the case, not to the form; but of an interpreter the script says what is run.
    script = main.words[1] if words[0] in _INTERPRETERS and len(main.words) > 1 else ""
    named = [script] if _SCRIPT.fullmatch(script) else [word for word in words[1:] if _is_plain(word)]
    plain = [words[0].rpartition("/")[2], *named]
    options = sorted({word.partition("=")[0] for word in main.words if _is_option(word)})[:_OPTIONS]
    more = ["…"] if len(main.words) > len(plain) + len(options) else []
    return " ".join((*plain, *options, *more))


def _is_plain(word: str) -> bool:
    return word.replace("-", "").replace("_", "").replace(":", "").isalpha() and len(word) <= _LONGEST_WORD


def _is_option(word: str) -> bool:
    return word.startswith("-") and _is_plain(word.partition("=")[0].lstrip("-"))

"""What changed from one shell text to another, word by word. Knows no session and no output."""

import re
from collections import Counter
from typing import NamedTuple

from preheat.calls.shell import command_aim
from preheat.commands import Command, Understanding, understand
from preheat.mistakes.difference import LONGEST, Difference, path_change
from preheat.safe_text.reasons import junk_reason

_QUOTES = re.compile(r"[\"'\\]")
_AROUND = re.compile(r"\s*(?:\d?>&\d|\d?>\s*/dev/null|2>\S+|\|\s*(?:head|tail|cat)\b[^|;&]*|;\s*echo\b[^|;&]*)")
"""What only shapes or hides the output."""
_ASSIGNED = re.compile(
    r"(?:^|[;&(]\s*|\benv\s+|\bexport\s+)((?:[A-Z_][A-Z0-9_]*=(?:\"[^\"]*\"|'[^']*'|[^\s;&]*)(?:\s+|$))+)"
)
_NAME = re.compile(r"([A-Z_][A-Z0-9_]*)=")
_ASIDE = frozenset(["cd", "pushd", "echo", "head", "tail", "true", "pwd", "export", "sleep", "printf", "set", "source"])
STARTING = frozenset(["timeout", "time", "nice", "nohup", "env", "bash", "sh", "zsh", "command", "xargs", "cmd"])
"""Wrappers that say nothing about how a project's programs are run."""
_LOOKING = frozenset(["search", "list", "read"])
_HELP = frozenset(["--help", "-h", "help", "--version"])
_PLAIN = re.compile(r"[\w=-]{1,40}")
_TOO_DIFFERENT = 3


class Change(NamedTuple):
    """The differences of two shell texts, and the two commands in them that differ, where it is one on each side."""

    differences: tuple[Difference, ...] = ()
    failed: Command | None = None
    worked: Command | None = None
    elsewhere: bool = False
    """The second worked on something else, too: what changed beside that may be chance."""
    programs: tuple[str, ...] = ()
    """For one command instead of several: the programs of all of them."""


def command_change(failed: str, worked: str) -> Change:
    """What changed; nothing where the second only hides how the first ends, or does something else."""
    if not failed.strip() or not worked.strip():
        return Change()
    if " ".join(failed.split()) == " ".join(worked.split()):
        return Change((Difference("again"),))
    before, after = understand(failed), understand(worked)
    dropped, added = _left_over(before, after)
    around = [*_folders(before, after), *_variables(failed, worked)]
    if not dropped and not added:
        if _AROUND.sub("", failed) != _AROUND.sub("", worked) and _bare(failed) == _bare(worked):
            around.append(Difference("quoting", about=_program(before)))
        return Change(tuple(around))
    if dropped and not added:
        return _fewer(before) if len(_working(after)) == 1 and not around else Change()
    if len(dropped) != 1 or len(added) != 1:
        one, other = before.main, after.main
        if len(_working(after)) == 1 and len(_working(before)) > 1:
            return _fewer(before)
        if one is None or other is None or one not in dropped or other not in added or len(dropped) + len(added) > 3:
            return Change()
        dropped, added = [one], [other]
    one, other = dropped[0], added[0]
    if not _HELP.isdisjoint(other.words) and _HELP.isdisjoint(one.words):  # asked how it goes, and did not do it
        return Change()
    found = [*around, *word_changes(one, other)]
    return Change(tuple(found) if len(found) < _TOO_DIFFERENT else (), one, other, _elsewhere(one, other))


def _fewer(before: Understanding) -> Change:
    return Change((Difference("fewer"),), programs=tuple(each.program for each in before.commands))


def _working(understood: Understanding) -> list[Command]:
    return [each for each in understood.commands if each.program not in _ASIDE]


def _left_over(before: Understanding, after: Understanding) -> tuple[list[Command], list[Command]]:
    """The commands that only one of the two has, in their order."""
    ours, theirs = _working(before), _working(after)
    dropped, added = list(ours), list(theirs)
    for each in ours:
        if each in added:
            added.remove(each)
            dropped.remove(each)
    return dropped, added


def _folders(before: Understanding, after: Understanding) -> list[Difference]:
    was, now = _folder(before), _folder(after)
    if was and not now:
        return [Difference("stayed")]
    return [Difference("folder", was, now)] if was != now else []


def _folder(understood: Understanding) -> str:
    first = understood.commands[0] if len(understood.commands) > 1 else None
    if first is None or first.program not in ("cd", "pushd") or len(first.words) != 2:
        return ""
    return first.words[1].rstrip("/")[:LONGEST] or "/"


def _variables(failed: str, worked: str) -> list[Difference]:
    if "<<" in failed or "<<" in worked:  # a script's own assignments are no variables of the shell
        return []
    was, now = (_find_assignments(text) for text in (failed, worked))
    return [Difference("variable", "", _assignment(name, now[name])) for name in sorted(now.keys() - was.keys())][:1]


def _assignment(name: str, value: str) -> str:
    """A variable with its value, where that is good for more than one machine."""
    return f"{name}={value if value and len(value) < LONGEST - len(name) and not junk_reason(value) else '…'}"


def _find_assignments(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for group in _ASSIGNED.findall(text[:2000]):
        for part in group.split():
            if name := _NAME.match(part):
                found[name[1]] = part[name.end() :]
    return found


def word_changes(failed: Command, worked: Command) -> list[Difference]:
    """What changed in one command; empty where it is another one altogether."""
    started = _prefixes(failed, worked)
    if failed.words[1:] == worked.words[1:] and started:
        return started
    program, other = failed.words[0], worked.words[0]
    if failed.program != worked.program or (program != other and failed.words[1:] == worked.words[1:]):
        longer, shorter = sorted((failed.words, worked.words), key=len, reverse=True)
        if longer[len(longer) - len(shorter) :] == shorter:  # `tool npm test` and `npm test`
            own = " ".join(longer[: len(longer) - len(shorter)])
            return [Difference("prefix", own, "") if longer == failed.words else Difference("prefix", "", own)]
        return [Difference("program", program[:LONGEST], other[:LONGEST])] if _same_aim(failed, worked) else []
    subcommands = _subcommands(failed), _subcommands(worked)
    if subcommands[0] != subcommands[1]:
        if all(subcommands):
            return [*started, Difference("told", *subcommands, about=failed.program)]
        return started
    return [*started, *_options(failed, worked), *_operands(failed, worked)]


def _same_aim(failed: Command, worked: Command) -> bool:
    """Whether another program was given the same: the same pattern, the same file."""
    if failed.program == worked.program:
        return True
    was, now = ({word for word in each.words[1:] if not word.startswith("-")} for each in (failed, worked))
    return failed.purpose == worked.purpose and (not was.isdisjoint(now) or not (was or now))


def _prefixes(failed: Command, worked: Command) -> list[Difference]:
    was = " ".join(name for name in failed.wrappers if name not in STARTING)
    now = " ".join(name for name in worked.wrappers if name not in STARTING)
    return [Difference("prefix", was, now)] if was != now else []


def _subcommands(command: Command) -> str:
    """What the program was told, if that is a word and no file."""
    words = command_aim(" ".join(command.words[:6]))[2:]
    return " ".join(words) if all(re.fullmatch(r"[\w:-]{1,30}", word) for word in words) else ""


def _options(failed: Command, worked: Command) -> list[Difference]:
    was, now = _option_names(failed), _option_names(worked)
    dropped, added = sorted(was - now), sorted(now - was)
    if len(dropped) > 1 or len(added) > 1 or not (dropped or added):
        return []
    new = _with_value(added[0], failed, worked) if added else ""
    return [Difference("option", "".join(dropped), new, about=failed.program)]


def _option_names(command: Command) -> set[str]:
    names = {word.partition("=")[0] for word in command.words[1:] if word.startswith("-") and word not in ("-", "--")}
    return {name for name in names if len(name) <= 40 and not name.lstrip("-").isdigit()}


def _with_value(name: str, failed: Command, worked: Command) -> str:
    """An added option with its value, where that is a word of its own."""
    for word, after in zip(worked.words, (*worked.words[1:], ""), strict=True):
        if word.startswith(f"{name}="):
            return word if _PLAIN.fullmatch(word) else name
        if word == name and _PLAIN.fullmatch(after) and after not in failed.words:
            return f"{name}={after}"
    return name


def _operands(failed: Command, worked: Command) -> list[Difference]:
    dropped, added = _other_words(failed, worked)
    if dropped and len(dropped) == len(added):
        changes = [path_change(one, other) for one, other in zip(dropped, added, strict=True)]
        first = changes[0]
        if first is not None and all(change == first for change in changes):
            return [first]
    if len(dropped) == 1 and not added and _names_something(dropped[0]) and failed.purpose not in _LOOKING:
        return [Difference("without", dropped[0], about=failed.program)]
    if len(added) == 1 and not dropped and _names_something(added[0]):
        return [Difference("with", "", added[0], about=failed.program)]
    return []


def _other_words(failed: Command, worked: Command) -> tuple[list[str], list[str]]:
    """The words that are no options and that only one of the two has."""
    was = Counter(word for word in failed.words[1:] if not word.startswith("-"))
    now = Counter(word for word in worked.words[1:] if not word.startswith("-"))
    values = {each.now.partition("=")[2] for each in _options(failed, worked)}
    return list((was - now).elements()), [word for word in (now - was).elements() if word not in values]


def _elsewhere(failed: Command, worked: Command) -> bool:
    return any(_other_words(failed, worked)) and not _operands(failed, worked)


def _names_something(word: str) -> bool:
    return 1 < len(word) <= LONGEST and not re.search(r"\s", word) and not word.isdigit()


def _program(understood: Understanding) -> str:
    return understood.main.program if understood.main else ""


def _bare(text: str) -> str:
    return "".join(_QUOTES.sub("", _AROUND.sub("", text)).split())

"""Flags and fields that a program does not know: the one that was meant, by its own text, by what worked here, or by what the
other family of the same program calls it. Pure."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from preheat.answers import sentences
from preheat.answers.history import OTHER_FAMILY, History, program_and_subcommand, refused_flag
from preheat.answers.shell_paths import last_commands
from preheat.answers.values import Answer, Failure, PlannedCall, ProjectFiles, SessionFacts
from preheat.commands import command_text, understand
from preheat.commands.values import Command

_USAGE_FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]+")
_MOST_TEXT = 20_000
_CLOSE = 0.8
_SHORTEST_FLAG = 3
_FIELD = re.compile(r'Unknown JSON field: "(\w+)"')
_FIELDS = re.compile(r"Available fields:\n((?:[ \t]+\w+\n?)+)")
_SUGGESTS = re.compile(r"(?i)did you mean|similar (?:argument|option|flag|command)|perhaps you meant|most similar")
_PIECE = re.compile(r"[A-Z]?[a-z]+")
_NEGATING = frozenset(["no", "not", "without", "disable", "exclude", "skip", "ignore", "hide"])
"""Words by which a flag means the opposite of the one without them."""


def find_flag(failure: Failure, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """The flag that was meant, by the text that came back, by what worked in earlier sessions or by the program's other family;
    else the flags that worked here."""
    text = failure.text[:_MOST_TEXT]
    flag = refused_flag(text)
    command = _find_command(failure.call, flag) if flag else None
    if command is None:
        return None
    form = program_and_subcommand(command)
    about = f"{form} {flag}"
    if _SUGGESTS.search(text):
        return None  # the program has named one itself: nothing is said that only repeats the error
    known = _known_flags(history, form, flag)
    if near := find_near(flag, known):
        return _make(_say_known(form, near, known[near]), about, near)
    usage = [each for each in dict.fromkeys(_USAGE_FLAG.findall(text)) if each != flag]
    if near := find_near(flag, usage):
        return _make(sentences.FLAG_USAGE.write(program=form, near=near), about, near)
    if others := OTHER_FAMILY.get((command.program, flag)):
        return _make(sentences.FLAG_FAMILY.write(program=command.program, near=others), about, *others)
    return _without(command, form, flag, about, history)


def _without(command: Command, form: str, flag: str, about: str, history: History) -> Answer | None:
    """The other flags of a call, if calls with these alone worked in earlier sessions: then it works without the one."""
    others = [word.partition("=")[0] for word in command.words if word.startswith("-") and len(word) > 1]
    rest = [each for each in others if each != flag]
    known = history.flags.get(form, {})
    if not rest or not all(each in known for each in rest):
        return None
    return _make(sentences.FLAGS_KNOWN.write(program=form, flags=rest), about)


def check_flags(call: PlannedCall, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """A flag that a program refused in two or more earlier sessions and never took."""
    if call.kind != "shell" or not history.refused_flags:
        return None
    text = command_text(call.arguments)
    firsts = [command for command, _ in last_commands(text, call.folder)]
    for command in (*firsts, *understand(text).commands[-1:]) if firsts else ():  # the last of a pipe has its exit code
        form = program_and_subcommand(command)
        for word in command.words[1:]:
            flag = word.partition("=")[0]
            sessions = history.refused_flags.get(f"{command.program} {flag}", 0) if flag.startswith("-") else 0
            if not sessions:
                continue
            known = _known_flags(history, form, flag)
            near = find_near(flag, known) or OTHER_FAMILY.get((command.program, flag), ("",))[0]
            said = sentences.FLAG_REFUSED.write(
                program=form, sessions=sentences.count_sessions(sessions), near=near, place=_place(command, word)
            )
            return _make(said, f"{form} {flag}", *([near] if near else []))
    return None


def find_field(failure: Failure, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """The field of a program's output that was meant, of those that it lists."""
    text = failure.text[:_MOST_TEXT]
    found, listed = _FIELD.search(text), _FIELDS.search(text)
    command = command_text(failure.call.arguments) if failure.call.kind == "shell" else ""
    if found is None or listed is None or found[1] not in command:
        return None
    names = listed[1].split()
    near = get_close_matches(found[1], names, 1, 0.8) or _find_containing(found[1], names)
    said = sentences.FIELD_NEAREST.write(names=near) if near else ""
    return Answer("flag", said, f"field {found[1]}", tuple(near)) if said else None


def _find_containing(wanted: str, names: Sequence[str]) -> list[str]:
    """The one name that has all words of another, or whose words the other all has, singular or plural."""
    pieces = _pieces(wanted)
    found = [name for name in names if (own := _pieces(name)) and (own <= pieces or pieces <= own)]
    return found if pieces and len(found) == 1 else []


def _pieces(name: str) -> set[str]:
    return {piece.lower().rstrip("s") for piece in _PIECE.findall(name)}


def find_near(flag: str, flags: Iterable[str]) -> str:
    """The one flag that is spelled nearly as another, or has all of its words; empty if there is none, or more than one. One that
    means the opposite is not near."""
    wanted = flag.strip("-")
    known = [each for each in flags if each.startswith("--") and _negations(each) == _negations(flag)]
    if len(wanted) < _SHORTEST_FLAG:
        return ""
    close = get_close_matches(wanted, [each.strip("-") for each in known], 1, _CLOSE)
    if close:
        return f"--{close[0]}"
    words = set(wanted.split("-"))
    found = [each for each in known if (own := set(each.strip("-").split("-"))) and (own <= words or words <= own)]
    return found[0] if len(found) == 1 else ""


def _negations(flag: str) -> frozenset[str]:
    return _NEGATING.intersection(flag.strip("-").split("-"))


def _find_command(call: PlannedCall, flag: str) -> Command | None:
    """The command of a call that has a flag."""
    if call.kind != "shell":
        return None
    for command in understand(command_text(call.arguments)).commands:
        for word in command.words[1:]:
            if word.partition("=")[0] == flag:
                return command
            if len(flag) == 2 and flag[1] != "-" and word[:1] == "-" and word[:2] != "--" and flag[1] in word[1:]:
                return command
    return None


def _known_flags(history: History, form: str, flag: str) -> dict[str, int]:
    return {each: count for each, count in history.flags.get(form, {}).items() if each[:2] == "--" and each != flag}


def _say_known(form: str, near: str, sessions: int) -> str:
    return sentences.FLAG_KNOWN.write(program=form, near=near, sessions=sentences.count_sessions(sessions))


def _place(command: Command, word: str) -> str:
    """Which option of a command a word is, so that it need not be written again."""
    options = [each for each in command.words[1:] if each.startswith("-")]
    return sentences.name_option(options.index(word), len(options))


def _make(said: str, about: str, *remedies: str) -> Answer | None:
    return Answer("flag", said, about, remedies) if said else None

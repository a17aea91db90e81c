"""Flags and fields that a program does not know: the one that was meant, by its own text, by what worked here, or by what the
other family of the same program calls it. Pure."""

import re
from difflib import get_close_matches

from preheat.answers import sentences
from preheat.answers.history import History, program_and_subcommand, refused_flag
from preheat.answers.shell_paths import last_commands
from preheat.answers.values import Answer, Failure, PlannedCall, ProjectFiles, SessionFacts
from preheat.commands import command_text, understand
from preheat.commands.values import Command

_USAGE_FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]+")
_MOST_TEXT = 20_000
_FIELD = re.compile(r'Unknown JSON field: "(\w+)"')
_FIELDS = re.compile(r"Available fields:\n((?:[ \t]+\w+\n?)+)")
_SUGGESTS = re.compile(r"(?i)did you mean|similar (?:argument|option|flag|command)|perhaps you meant|most similar")
_PIECE = re.compile(r"[A-Z]?[a-z]+")
_OTHER_FAMILY = {
    ("grep", "-P"): "-E", ("cat", "-A"): "-vet", ("cat", "-E"): "-ve", ("cat", "-T"): "-vt", ("sed", "-r"): "-E",
    ("stat", "-c"): "-f", ("date", "-d"): "-v", ("readlink", "-e"): "-f",
}  # fmt: skip
"""Flags of GNU programs that those of BSD and macOS do not have, with what does it there."""


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
    if near := get_close_matches(flag, known, 1, 0.7):
        return _make(_say_known(form, near[0], known[near[0]]), about, near[0])
    usage = [each for each in dict.fromkeys(_USAGE_FLAG.findall(text)) if each != flag]
    if near := get_close_matches(flag, usage, 1, 0.6):
        return _make(sentences.FLAG_USAGE.write(program=form, near=near[0]), about, near[0])
    if other := _OTHER_FAMILY.get((command.program, flag)):
        return _make(sentences.FLAG_FAMILY.write(program=command.program, near=other), about, other)
    return _without(command, form, flag, about, history)


def _without(command: Command, form: str, flag: str, about: str, history: History) -> Answer | None:
    """The other flags of a call, if calls with these alone worked in earlier sessions: then it works without the one."""
    others = [word.partition("=")[0] for word in command.words if word.startswith("-") and len(word) > 1]
    rest = [each for each in others if each != flag]
    known = history.flags.get(form, {})
    if not rest or not all(each in known for each in rest):
        return None
    return _make(sentences.FLAGS_KNOWN.write(program=form, flags=rest), about, "")


def check_flags(call: PlannedCall, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """A flag that a program refused in two or more earlier sessions and never took."""
    if call.kind != "shell" or not history.refused_flags:
        return None
    for command, _ in last_commands(command_text(call.arguments), call.folder):
        form = program_and_subcommand(command)
        for word in command.words[1:]:
            flag = word.partition("=")[0]
            sessions = history.refused_flags.get(f"{command.program} {flag}", 0) if flag.startswith("-") else 0
            if not sessions:
                continue
            known = _known_flags(history, form, flag)
            near = (get_close_matches(flag, known, 1, 0.7) or [""])[0] or _OTHER_FAMILY.get((command.program, flag), "")
            said = sentences.FLAG_REFUSED.write(
                program=form, sessions=sentences.count_sessions(sessions), near=near, place=_place(command, word)
            )
            return _make(said, f"{form} {flag}", near)
    return None


def find_field(failure: Failure, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """The field of a program's output that was meant, of those that it lists."""
    text = failure.text[:_MOST_TEXT]
    found, listed = _FIELD.search(text), _FIELDS.search(text)
    command = command_text(failure.call.arguments) if failure.call.kind == "shell" else ""
    if found is None or listed is None or found[1] not in command:
        return None
    names = listed[1].split()
    near = get_close_matches(found[1], names, 1, 0.7) or [name for name in names if _share_piece(found[1], name)][:2]
    said = sentences.FIELD_NEAREST.write(names=near) if near else ""
    return Answer("flag", said, f"field {found[1]}", tuple(near)) if said else None


def _share_piece(one: str, other: str) -> bool:
    """Whether two names share a word of some length, singular or plural."""
    pieces = [{piece.lower().rstrip("s") for piece in _PIECE.findall(name) if len(piece) > 4} for name in (one, other)]
    return bool(pieces[0] & pieces[1])


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


def _make(said: str, about: str, remedy: str) -> Answer | None:
    return Answer("flag", said, about, (remedy,) if remedy else ()) if said else None

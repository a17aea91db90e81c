"""What a recorded session ended up with after a failure, and whether a remedy is that. Knows no rule that names remedies."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher, get_close_matches
from posixpath import basename, splitext

from benchmarks.fork_tree import RecordedTree
from preheat.answers import Answer, Failure, PlannedCall
from preheat.answers.edit_text import read_edits
from preheat.answers.history import missing_program
from preheat.answers.paths import find_missing
from preheat.answers.shell_paths import last_commands
from preheat.calls.judged import JudgedCall
from preheat.commands import command_text, understand

_SAME_COMMAND = 0.6
"""How alike two commands of a program are that do the same."""
_MOST_COMPARED = 40
_WORD = re.compile(r"[^\s'\"`;|&<>()=,:]+")

Later = Sequence[tuple[int, JudgedCall, PlannedCall]]


def _words_of(call: PlannedCall) -> list[str]:
    if call.kind == "shell":
        return _WORD.findall(command_text(call.arguments))
    values = [
        value
        for name, value in call.arguments.items()
        if isinstance(value, str) and name not in ("content", "old_string", "new_string", "pattern")
    ]
    return [value for value in values if len(value) < 400 and "\n" not in value]


def _find_resolved_path(planned: PlannedCall, text: str, tree: RecordedTree, later: Later) -> list[str]:
    """The path of like name that a later call uses with success."""
    named = [typed for _, typed in find_missing(Failure(planned, text))]
    missing = [word for word in named or _words_of(planned) if len(basename(word.rstrip("/"))) > 2 and word in text]
    if planned.kind != "shell":
        missing = [word for word in _words_of(planned) if len(basename(word)) > 2]
    places = {planned.absolute(wanted.rstrip("/")) for wanted in missing}
    for _, other, call in later:
        if not other.worked:
            continue
        for word in _words_of(call):
            if not any(_is_alike(wanted, word) for wanted in missing):
                continue
            for folder in _folders_of(call):
                path = PlannedCall(call.kind, call.tool, call.arguments, folder).absolute(word.rstrip("/"))
                if path not in places and tree.kind(path) in ("file", "folder"):
                    return [path]
    return []


def _folders_of(call: PlannedCall) -> list[str]:
    """Where a call runs, by the `cd` of its own command line."""
    entered = (
        [folder for _, folder in last_commands(command_text(call.arguments), call.folder)]
        if call.kind == "shell"
        else []
    )
    return list(dict.fromkeys(entered)) or [call.folder]


def _is_alike(wanted: str, word: str) -> bool:
    one, other = (basename(each.rstrip("/")).lower() for each in (wanted, word))
    if not one or not other:
        return False
    return (
        one == other
        or splitext(one)[0] == splitext(other)[0]
        or SequenceMatcher(None, one, other, autojunk=False).ratio() >= 0.8
    )


def _find_resolved_edit(planned: PlannedCall, text: str, tree: RecordedTree, later: Later) -> list[str]:
    """The lines, as they stood at the failure, that the next successful edit of the same text replaces."""
    edits = read_edits(planned)
    path = planned.absolute(edits[0].path) if edits else ""
    known = tree.read_text(path) if path else None
    if known is None:
        return []
    for _, other, call in later:
        found = []
        for edit in read_edits(call) if other.worked else ():
            is_same = any(_share_lines(edit.old, each.old) for each in edits)
            if is_same and call.absolute(edit.path) == path and edit.old.strip() in known:
                first = 1 + known.count("\n", 0, known.index(edit.old.strip()))
                found.append(f"{first}-{first + edit.old.strip().count(chr(10))}")
        if found:
            return found
    return []


def _share_lines(one: str, other: str) -> bool:
    """Whether two texts are about the same lines: half of those of the shorter one are nearly in the other."""
    first, second = sorted(
        ([line.strip() for line in text.split("\n") if len(line.strip()) > 3] for text in (one, other)), key=len
    )
    shared = sum(bool(get_close_matches(line, second, 1, 0.7)) for line in first[:_MOST_COMPARED])
    return bool(first) and 2 * shared >= len(first[:_MOST_COMPARED])


def _find_resolved_command(planned: PlannedCall, text: str, tree: RecordedTree, later: Later) -> list[str]:
    """The next command of the same program that works and does the same: most of its words are those of the one that failed."""
    main = understand(command_text(planned.arguments)).main if planned.kind == "shell" else None
    program, failing = missing_program(text), " ".join(main.words) if main is not None else ""
    for _, other, call in later:
        command = command_text(call.arguments) if call.kind == "shell" and other.worked else ""
        for each in understand(command).commands if command and main is not None else ():
            is_same = each.program in (main.program, program) if main is not None else False
            if (
                is_same
                and SequenceMatcher(None, failing, " ".join(each.words), autojunk=False).ratio() >= _SAME_COMMAND
            ):
                return [command, *command.split()]
    return []


_RESOLVE = {
    "missing path": _find_resolved_path, "edit text": _find_resolved_edit, "script or flag": _find_resolved_command,
    "program or module": _find_resolved_command,
}  # fmt: skip


def is_remedy_right(answer: Answer, resolution: list[str]) -> bool:
    for remedy in answer.remedies:
        if remedy in resolution or any(each.startswith(remedy.rstrip("/") + "/") for each in resolution[:1]):
            return True
        if answer.rule in ("program", "flag", "known failure") and remedy in resolution[0]:
            return True
        if (
            answer.rule == "flag"
            and re.fullmatch(r"-\w", remedy)
            and any(re.match(r"-\w*$", word) and remedy[1] in word for word in resolution[0].split())
        ):
            return True  # among other letters behind one dash
        if answer.rule == "program" and _is_started_by(remedy, resolution[0]):
            return True
        if answer.rule == "edit text" and any(_overlap(remedy, lines) for lines in resolution):
            return True
    return False


def _is_started_by(start: str, command: str) -> bool:
    """Whether the words of a start stand in a command in this order, whatever options and versions stand between: `npx tool` in
    `npx --yes tool@latest`."""
    words = iter(word.partition("@")[0] or word for word in command.split())
    return all(wanted in words for wanted in start.split())


def _overlap(one: str, other: str) -> bool:
    if not all(re.fullmatch(r"\d+-\d+", each) for each in (one, other)):
        return False
    (first, last), (start, end) = (map(int, each.split("-")) for each in (one, other))
    return first - 3 <= end and start <= last + 3


def find_resolution(group: str, planned: PlannedCall, text: str, tree: RecordedTree, later: Later) -> list[str]:
    """What the session ended up with after a failure of a group; empty where there is nothing to compare."""
    return _RESOLVE[group](planned, text, tree, later) if group in _RESOLVE else []

"""Paths at which there is nothing, in a call that is about to be made and in one that failed: what was meant instead. Pure."""

import re
from collections.abc import Iterator
from posixpath import basename, dirname

from preheat.answers import sentences
from preheat.answers.history import History
from preheat.answers.missing import (
    MOST_NAMED,
    deepest_existing,
    find_meant,
    list_folder,
    nearest_known_folder,
    nearest_names,
    rank_names,
)
from preheat.answers.shell_paths import NeededPath, last_commands, needed_paths
from preheat.answers.values import Answer, Failure, PlannedCall, ProjectFiles, SessionFacts, is_below
from preheat.calls.files import changed_files, file_of
from preheat.commands import command_text
from preheat.model.session import ToolCall

_FEW_LISTED, _MOST_LISTED = 8, 10
_MOST_TEXT = 20_000
_PATH = r"['\"`‘“]?(?P<path>[^\s'\"`‘’“”:*?$|<>;]{2,300})['\"`’”]?"
_MESSAGES = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?i)(?:no such file or directory|no such file(?! or)|file not found|path not found|does not exist|directory not found"
        rf"|cannot find (?:the )?(?:file|path|module)):? {_PATH}",
        r"(?i)(?:cannot access|cannot stat|can't open file|can't cd to|cannot open|cannot remove|can't find"
        rf"|ENOENT[^'\n]*open|ENOENT[^'\n]*scandir|pathspec) {_PATH}",
        rf"(?i){_PATH}['\"]?:? (?:\(eval\):)?(?:no such file|does not exist|not a directory|directory not found|cannot be found)",
        r"(?i)(?:cd|chdir|open|stat|lstat|read|rg|ls|cat|sed|grep)(?::\d+)?:? "
        rf"{_PATH}: (?:no such file|not a directory|IO error)",
    )
)
_SAYS_MISSING = re.compile(
    r"(?i)no such file|does not exist|(?:file|path|folder|directory) not found|ENOENT|not a directory|"
    r"cannot find (?:the )?(?:file|path)"
)
"""What a tool that is no shell says of a path at which there is nothing."""
_FILE_NAMES = ("file_path", "absolute_path")
_FILES_ONLY = frozenset(["cat", "head", "tail", "nl", "sed", "source", "."])
"""Programs that fail if they are given a folder."""
_PATH_NAMES = ("path", "file_path", "filePath", "absolute_path", "directory", "dir", "dir_path")


def check_paths(call: PlannedCall, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """A path that a command or a read needs and that is not there; None if all are, or that is not known. Nothing is said of
    edits, since agents edit what they have seen, nor of searches: many tools find nothing then and do not fail."""
    if call.kind not in ("shell", "read"):
        return None
    return _check_paths(call, files, facts)


def _check_paths(call: PlannedCall, files: ProjectFiles, facts: SessionFacts) -> Answer | None:
    for needed in _find_needs(call):
        kind = files.kind(needed.path)
        if kind == "none" and is_below(needed.path, files.root):
            return describe_missing(call, needed.path, needed.typed, files, facts)
        if kind == "folder" and (needed.program in _FILES_ONLY or _takes_files_only(call)):
            names = list_folder(needed.path, files, _FEW_LISTED)
            return _answer(sentences.IS_FOLDER.write(names=names), needed.path, ())
    return None


def _takes_files_only(call: PlannedCall) -> bool:
    """Whether a reading tool refuses a folder: its argument is called a file. Those with another name list the folder."""
    return call.kind == "read" and any(name in call.arguments for name in _FILE_NAMES)


def _find_needs(call: PlannedCall) -> list[NeededPath]:
    if call.kind == "shell":
        return needed_paths(command_text(call.arguments), call.folder)
    return [NeededPath(path, typed, "", False) for path, typed in _find_arguments(call)]


def _find_arguments(call: PlannedCall) -> Iterator[tuple[str, str]]:
    """The paths that a tool which is no shell needs, with how they were typed."""
    as_call = ToolCall(line=1, call_id="", tool=call.tool, kind=call.kind, input=call.arguments)
    typed: list[str] = []
    if call.kind == "read":
        typed = [file_of(as_call)]
    elif call.kind == "edit":
        patch = next(
            (value for value in call.arguments.values() if isinstance(value, str) and "*** Begin Patch" in value), ""
        )
        typed = re.findall(r"^\*\*\* (?:Update|Delete) File: ([^\n]+)$", patch, re.MULTILINE) if patch else []
        if not patch and _replaces(call):
            typed = changed_files(as_call).split("\n")
    elif call.kind == "search":
        typed = [value for name in _PATH_NAMES if isinstance(value := call.arguments.get(name), str)][:1]
    for path in typed:
        absolute = (
            call.absolute(path) if path and "\n" not in path and "REDACTED" not in path and path[0] != "~" else ""
        )
        if absolute:
            yield absolute, path


def _replaces(call: PlannedCall) -> bool:
    """Whether an edit replaces a text that is there, and so needs its file."""
    return any(
        isinstance(value := call.arguments.get(name), str) and value
        for name in ("old_string", "oldString", "old_str", "oldText")
    )


def answer_missing_path(failure: Failure, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """What was meant by a path that a failed call did not find. That it is missing is known from what came back, so a path of
    which the disk says nothing (outside of the project, ignored) may have been meant otherwise too."""
    call, found = failure.call, find_missing(failure)
    if call.kind != "shell" and not found:  # it failed for another reason: then that the path is missing is news
        return _check_paths(call, files, facts)
    for wanted in ("none", "unknown"):
        for path, typed in found:
            if files.kind(path) == wanted and (answer := _describe_after(call, path, typed, files, facts)) is not None:
                return answer
    return None


def find_missing(failure: Failure) -> list[tuple[str, str]]:
    """The paths of a call that are missing by what came back, absolute, with how they were typed."""
    if failure.call.kind == "shell":
        return list(_find_in_output(failure))
    is_said = _SAYS_MISSING.search(failure.text[:_MOST_TEXT]) is not None
    return list(_find_arguments(failure.call)) if is_said else []


def _describe_after(
    call: PlannedCall, path: str, typed: str, files: ProjectFiles, facts: SessionFacts
) -> Answer | None:
    """The answer for a path that a call did not find; None where it would only repeat the error."""
    if path.endswith("/.git/index.lock"):
        return Answer("lock", sentences.LOCK_GONE.write(path=call.show(path)), path)
    if target := files.find_dead_link(path):
        return _describe_dead_link(call, path, typed, target, files, facts)
    meant = find_meant(path, files, call.folder, facts)
    if typed.endswith("/"):
        meant = tuple(each for each in meant if files.kind(each) == "folder")
    return (
        _name_meant(call, path, typed, meant, files)
        or (_list_nearest_folder(path, typed, call, files, few=True) if files.kind(path) == "none" else None)
        or _describe_nearest(path, typed, call, files)
        or _describe_others(path, typed, call, files)
        or _list_nearest_folder(path, typed, call, files)
    )


def _describe_dead_link(
    call: PlannedCall, path: str, typed: str, target: str, files: ProjectFiles, facts: SessionFacts
) -> Answer | None:
    """That a link is at the path, where it leads, and the one file that may have been meant by what is missing there."""
    is_own = is_below(target, files.root)
    meant = find_meant(target, files, call.folder, facts) if is_own else ()
    meant = meant or find_meant(path, files, call.folder, facts)
    only = meant if len(meant) == 1 and sentences.can_name(call.show(meant[0])) else ()
    shown = call.show(target) if is_own and sentences.can_name(call.show(target)) else ""
    which, remedy = _which(call, typed), call.show(only[0]) if only else ""
    return _answer(sentences.DEAD_LINK.write(which=which, target=shown, meant=remedy), path, only)


def _describe_others(path: str, typed: str, call: PlannedCall, files: ProjectFiles) -> Answer | None:
    """That a call works without the path, where it names others that are there: what it printed of them stands."""
    others = [each for each in _find_needs(call) if each.typed != typed] if call.kind == "shell" else []
    if not others or any(files.kind(each.path) not in ("file", "folder") for each in others):
        return None
    return _answer(sentences.OTHERS_THERE.write(which=_which(call, typed)), path, ())


def _find_in_output(failure: Failure) -> Iterator[tuple[str, str]]:
    """Paths that the output of a shell call says are not there, and that the command itself names."""
    command = command_text(failure.call.arguments)
    folders = list(
        dict.fromkeys((*(folder for _, folder in last_commands(command, failure.call.folder)), failure.call.folder))
    )
    text = failure.text[:_MOST_TEXT]
    needs = _find_needs(failure.call)
    blank = [each for each in needs if " " in each.typed and each.typed in text]
    if blank and _SAYS_MISSING.search(text):
        yield from ((each.path, each.typed) for each in blank)
    parts = " ".join(each.typed for each in blank)
    whole = {each.typed for each in needs}
    seen: set[str] = set()
    for pattern in _MESSAGES:
        for found in pattern.finditer(text):
            typed = found["path"].rstrip(".,)")
            if (
                typed in seen
                or (typed in parts and typed not in whole)  # a word of a name with blanks
                or not re.search(
                    rf"(?<![\w:/.@-]){re.escape(typed)}", command
                )  # not the end of an address or of another path
                or typed.startswith(("-", "~", "http"))
                or typed in (".", "..", "/")
            ):
                continue
            seen.add(typed)
            for folder in folders if not typed.startswith("/") else folders[:1]:
                if folder:
                    yield PlannedCall("shell", "", {}, folder).absolute(typed), typed


def describe_missing(
    call: PlannedCall, path: str, typed: str, files: ProjectFiles, facts: SessionFacts
) -> Answer | None:
    """The answer for a path at which there is nothing."""
    meant = find_meant(path, files, call.folder, facts)
    if not meant:
        return _describe_surroundings(path, typed, call, files)
    plain = sentences.MISSING_PLAIN.write(which=_which(call, typed))
    return _name_meant(call, path, typed, meant, files) or _answer(plain, path, ())


def _which(call: PlannedCall, typed: str) -> str:
    """Which path of a call is meant, by its place among those that the call needs."""
    needed = list(dict.fromkeys(each.typed for each in _find_needs(call)))
    return sentences.name_path(needed.index(typed) if typed in needed else -1, len(needed))


def _name_meant(call: PlannedCall, path: str, typed: str, meant: tuple[str, ...], files: ProjectFiles) -> Answer | None:
    if not meant:
        return None
    which = _which(call, typed)
    if meant[0] == call.folder:
        said = sentences.ALREADY_INSIDE.write(which=which)
    elif named := _have_same_name(call, typed, meant):
        kinds = {files.kind(each) for each in named}
        what = f"a {kinds.pop()}" if len(kinds) == 1 else "a file or folder"
        folders = [call.show(dirname(each)) for each in named]
        said = sentences.MISSING_ELSEWHERE.write(which=which, what=what, folders=folders)
    elif len(meant) == 1:
        said = sentences.MISSING_MEANT.write(which=which, meant=call.show(meant[0]))
    else:
        said = sentences.MISSING_SEVERAL.write(which=which, others=[call.show(each) for each in meant[:MOST_NAMED]])
    return _answer(said, path, meant)


def _have_same_name(call: PlannedCall, typed: str, meant: tuple[str, ...]) -> list[str]:
    """Those of what was meant whose folder can be written while their name (blanks, another alphabet, many words) cannot, where
    the call has typed this very name: then the folder is all that is news."""
    name = basename(typed.rstrip("/"))
    if sentences.can_name(name):
        return []
    same = [each for each in meant[:MOST_NAMED] if basename(each) == name]
    return [each for each in same if sentences.can_name(call.show(dirname(each)))]


def _describe_surroundings(path: str, typed: str, call: PlannedCall, files: ProjectFiles) -> Answer | None:
    """Before a call: what the nearest folder holds, if that is little; else only that the path is missing."""
    there = deepest_existing(path, files)
    names = list_folder(there, files, _FEW_LISTED) if there and there != files.root else ()
    which = _which(call, typed)
    if names:
        said = sentences.MISSING_LISTED.write(which=which, folder=call.show(there), names=names)
    else:
        said = sentences.MISSING_PLAIN.write(which=which)
    return _answer(said, path, ())


def _list_nearest_folder(
    path: str, typed: str, call: PlannedCall, files: ProjectFiles, few: bool = False
) -> Answer | None:
    """After a failure: what the nearest folder holds, what is most alike first. Of few one may be meant; many are only listed, or
    not at all where only `few` are wanted."""
    there = deepest_existing(path, files) or nearest_known_folder(path, files)
    if not there or there == call.folder:  # what is where the agent works, it knows
        return None
    names, more = rank_names(path, there, files, _MOST_LISTED)
    is_few = not more and len(names) <= _FEW_LISTED and there != files.root
    if few and not is_few:
        return None
    said = sentences.MISSING_LISTED.write(
        which=_which(call, typed), folder=call.show(there), names=names, more=more or None
    )
    return _answer(said, path, ()) if names else None


def _describe_nearest(path: str, typed: str, call: PlannedCall, files: ProjectFiles) -> Answer | None:
    """The names that are spelled most alike where the path ends."""
    there = nearest_known_folder(path, files)
    names = nearest_names(path, there, files) if there else ()
    if not names:
        return None
    said = sentences.MISSING_NEAREST.write(which=_which(call, typed), folder=call.show(there), names=names)
    return _answer(said, path, tuple(f"{there}/{name}" for name in names))


def _answer(said: str, path: str, remedies: tuple[str, ...]) -> Answer | None:
    return Answer("missing path", said, path, remedies) if said else None

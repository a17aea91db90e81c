"""Paths at which there is nothing, in a call that is about to be made and in one that failed: what was meant instead. Pure."""

import re
from collections.abc import Iterator
from posixpath import basename, dirname, isabs, normpath

from preheat.answers import sentences
from preheat.answers.history import History
from preheat.answers.missing import (
    MOST_NAMED,
    find_meant,
    is_own_doing,
    is_side_guess,
    list_folder,
    nearest_known_folder,
    nearest_names,
)
from preheat.answers.shell_paths import REDACTED, NeededPath, last_commands, needed_paths
from preheat.answers.values import Answer, Failure, PlannedCall, ProjectFiles, SessionFacts, is_below
from preheat.calls.files import changed_files, file_of
from preheat.commands import command_text
from preheat.model.session import ToolCall

_FEW_LISTED = 8
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
_COMPARING = frozenset(["diff", "cmp"])
"""Programs that need all of the paths that they are given."""
_PATH_NAMES = ("path", "file_path", "filePath", "absolute_path", "directory", "dir", "dir_path")


def check_paths(call: PlannedCall, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """What was meant by a path that a command or a read needs and that is not there; None if all are, or nothing is known to be
    meant. Nothing is said of edits, since agents edit what they have seen, nor of searches: many tools find nothing then and do
    not fail."""
    if call.kind not in ("shell", "read"):
        return None
    return _check_paths(call, files, facts)


def _check_paths(call: PlannedCall, files: ProjectFiles, facts: SessionFacts) -> Answer | None:
    for needed in _find_needs(call):
        kind = files.kind(needed.path)
        is_missing = kind == "none" and is_below(needed.path, files.root)
        if is_missing and (answer := _describe_before(call, needed.path, needed.typed, files, facts)):
            return answer
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
        absolute = call.absolute(path) if path and "\n" not in path and REDACTED not in path and path[0] != "~" else ""
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
    """The answer for a path that a call did not find; None where it would only repeat the error, or the session is itself the
    reason."""
    if path.endswith("/.git/index.lock"):
        return Answer("lock", sentences.LOCK_GONE.write(path=call.show(path)), path)
    if target := files.find_dead_link(path):
        return _describe_dead_link(call, path, typed, target, files, facts)
    meant = find_meant(path, files, call.folder, facts)
    if typed.endswith("/"):
        meant = tuple(each for each in meant if files.kind(each) == "folder")
    if meant or is_own_doing(path, files, call.folder, facts):
        return _name_meant(call, path, typed, meant, files)
    return _describe_nearest(path, typed, call, files) or _describe_others(path, typed, call, files)


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
    """That a command works without the path, where it names others that are there and others wait for it: where none does, it
    prints what it finds in those anyway."""
    own, others = _find_others(path, typed, call, files)
    if not (own is not None and own.is_awaited and others):
        return None
    return _answer(sentences.OTHERS_THERE.write(which=_which(call, typed)), path, ())


def _find_others(
    path: str, typed: str, call: PlannedCall, files: ProjectFiles
) -> tuple[NeededPath | None, list[NeededPath]]:
    """A path as its command needs it, if that is known, and the others of this command, where all of them are there and it does
    not need them all."""
    needs = _find_needs(call) if call.kind == "shell" else []
    own = next((each for each in needs if each.path == path and each.typed == typed), None)
    if own is None or own.program in _COMPARING:
        return own, []
    others = [each for each in needs if each.place == own.place and each.path != path]
    are_there = all(files.kind(each.path) in ("file", "folder") for each in others)
    return own, others if are_there else []


def _is_searched_anyway(call: PlannedCall, path: str, typed: str, meant: str, files: ProjectFiles) -> bool:
    """Whether what was meant makes no difference to a search of several paths: it lies in another of them, or was one more guess.
    Not where others wait for the search."""
    if call.kind != "shell":
        return False
    own, others = _find_others(path, typed, call, files)
    if own is None:
        return is_side_guess(path, meant)
    is_in_another = any(is_below(meant, each.path) for each in others)
    return is_in_another or (bool(others) and not own.is_awaited and is_side_guess(path, meant))


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
                or REDACTED in typed
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


def _describe_before(
    call: PlannedCall, path: str, typed: str, files: ProjectFiles, facts: SessionFacts
) -> Answer | None:
    """The answer for a path at which there will be nothing: None where no other way is known, since the error says as much."""
    meant = find_meant(path, files, call.folder, facts)
    if is_own_doing(path, files, call.folder, facts) and not meant:
        return None
    return _name_meant(call, path, typed, meant, files) or _describe_others(path, typed, call, files)


def _show(call: PlannedCall, path: str, typed: str, files: ProjectFiles) -> str:
    """A path of the project as the call could name it: from the project's own folder where a tool that is no shell typed a whole
    one, else from where the call runs. Empty where that is outside of the project, or the path cannot be written whole."""
    if not is_below(path, files.root):
        return ""
    if call.kind != "shell" and isabs(typed):
        shown = PlannedCall(call.kind, call.tool, {}, files.root).show(path)
    elif is_below(call.folder, files.root):
        shown = call.show(path)
    else:
        return ""
    return shown if sentences.can_name(shown) else ""


def _which(call: PlannedCall, typed: str) -> str:
    """Which path of a call is meant, by its place among those that the call needs."""
    needed = list(dict.fromkeys(each.typed for each in _find_needs(call)))
    return sentences.name_path(needed.index(typed) if typed in needed else -1, len(needed))


def _name_meant(call: PlannedCall, path: str, typed: str, meant: tuple[str, ...], files: ProjectFiles) -> Answer | None:
    """What was meant, as the call could name it; None where that cannot be written, is what the call says, or is above it."""
    which = _which(call, typed)
    if meant and meant[0] == call.folder:
        return _answer(sentences.ALREADY_INSIDE.write(which=which), path, meant)
    meant = tuple(each for each in meant[:MOST_NAMED] if not is_below(path, each))
    if not meant or _is_searched_anyway(call, path, typed, meant[0], files):
        return None
    shown = [_show(call, each, typed, files) for each in meant]
    if all(shown):
        if normpath(typed) in shown or any(_says_already(call, each) for each in shown):
            return None
        one, several = sentences.MISSING_MEANT, sentences.MISSING_SEVERAL
        said = one.write(which=which, meant=shown[0]) if len(shown) == 1 else several.write(which=which, others=shown)
        return _answer(said, path, meant)
    same = [each for each in meant if basename(each) == basename(typed.rstrip("/"))]
    named = [each for each in same if _show(call, dirname(each), typed, files)]
    folders = [_show(call, dirname(each), typed, files) for each in named]
    if not named or dirname(normpath(typed)) in folders:
        return None
    kinds = {files.kind(each) for each in named}
    what = f"a {kinds.pop()}" if len(kinds) == 1 else "a file or folder"
    return _answer(sentences.MISSING_ELSEWHERE.write(which=which, what=what, folders=folders), path, meant)


def _says_already(call: PlannedCall, shown: str) -> bool:
    """Whether a command names a path itself, beside the one at which there is nothing."""
    text = command_text(call.arguments) if call.kind == "shell" and not shown.isalpha() else ""
    return re.search(rf"(?<![\w./@-]){re.escape(shown)}(?![\w/@-]|\.\w)", text) is not None


def _describe_nearest(path: str, typed: str, call: PlannedCall, files: ProjectFiles) -> Answer | None:
    """The names that are spelled most alike where the path ends."""
    there = nearest_known_folder(path, files)
    names = nearest_names(path, there, files) if there else ()
    if typed.endswith("/"):
        names = tuple(name for name in names if files.kind(f"{there}/{name}") == "folder")
    shown = _show(call, there, typed, files) if names else ""
    if not shown:
        return None
    said = sentences.MISSING_NEAREST.write(which=_which(call, typed), folder=shown, names=names)
    return _answer(said, path, tuple(f"{there}/{name}" for name in names))


def _answer(said: str, path: str, remedies: tuple[str, ...]) -> Answer | None:
    return Answer("missing path", said, path, remedies) if said else None

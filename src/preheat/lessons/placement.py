"""Where new files of a kind go and how they are named, from the files that sessions made. Knows no file on disk."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from preheat.calls.files import base_name, changed_files, file_of
from preheat.calls.judged import JudgedSession
from preheat.model.lesson import Evidence, Lesson, Scope, count_support, lesson_id, select_evidence
from preheat.safe_text.reasons import junk_reason

HALF_LIFE = 120.0
MOST_FILES = 100
_ENOUGH_FILES, _ENOUGH_SESSIONS = 3, 2
_MORE_SESSIONS = 3
"""For a folder: fewer may have been one piece of work."""
_SURE = 0.6
"""The least lower bound of a share that is a convention."""
_ADDED = re.compile(r"^\*\*\* Add File: ([^\n]+)", re.MULTILINE)
_UPDATED = re.compile(r"(?i)^.{0,40}\b(?:updated|overw|has been (?:updated|modified))")
_TEST = re.compile(
    r"^(?:(?P<before>test_)(?P<a>.+)\.(?P<x>\w+)|(?P<b>.+?)(?P<after>[._-](?:test|tests|spec|e2e))\.(?P<y>\w+)"
    r"|(?P<c>[A-Z]\w*?)(?P<camel>Tests?|Spec)\.(?P<z>\w+))$"
)
_TEST_FOLDERS = frozenset(("test", "tests", "__tests__", "spec", "specs", "e2e", "testing"))
_FORCED = frozenset(("NAME_test.go",))
"""Names that the language itself demands."""
_FOLDERS_OF_RUNS = re.compile(
    r"(?:^|/)(?:\.git|node_modules|dist|build|target|tmp|temp|scratch\w*|__pycache__|\.venv)(?:/|$)"
)


class NewFile(msgspec.Struct, frozen=True, gc=False):
    """A file that a session made."""

    path: str
    """Relative to the project."""
    seq: int
    at: float | None = None


class SessionFiles(NamedTuple):
    """One session's files, as `learn_placement` wants them."""

    session: str
    made: Sequence[NewFile]


def find_new_files(seen: JudgedSession) -> tuple[NewFile, ...]:
    """The files that a session made in its project, each once."""
    known: set[str] = set()
    found: list[NewFile] = []
    for each in seen.calls:
        call = each.call
        if call.kind not in ("read", "edit", "write"):
            continue
        paths = _added_files(call.input, changed_files(call)) if call.kind == "edit" else [file_of(call)]
        if each.worked and (call.kind == "write" or _ADDED.search(str(call.input.get("text", "")))):
            output = each.result.text if each.result is not None else ""
            for path in paths:
                place = seen.relative(path).replace("\\", "/").removeprefix("./")
                if path not in known and _is_kept(place) and not _UPDATED.match(output):
                    found.append(NewFile(place, each.record.seq, call.at))
        known.update(path for path in (*paths, file_of(call)) if path)
    unique = {made.path: made for made in reversed(found)}
    return tuple(sorted(unique.values(), key=lambda made: made.seq))[:MOST_FILES]


def _added_files(arguments: dict[str, object], paths: str) -> list[str]:
    """Of the files of a patch, those that it adds."""
    added = [path.strip() for value in _patches(arguments) for path in _ADDED.findall(value)]
    return added or paths.split("\n")


def _patches(arguments: dict[str, object]) -> list[str]:
    return [value for value in arguments.values() if isinstance(value, str) and "*** Add File" in value]


def _is_kept(path: str) -> bool:
    outside = path.startswith(("/", "~", "..")) or re.match(r"[A-Za-z]:", path) is not None
    return bool(path) and not outside and not junk_reason(path) and not _FOLDERS_OF_RUNS.search(path)


def learn_placement(project: str, sessions: Sequence[SessionFiles]) -> list[Lesson]:
    """Where tests and files of one ending are put, where it is clear."""
    scope = Scope(project=project)
    first: dict[str, tuple[str, NewFile]] = {}  # a file is new only the first time
    for each in sessions:
        for made in each.made:
            first.setdefault(made.path, (each.session, made))
    tests: dict[str, list[tuple[str, str, NewFile]]] = {}
    others: dict[str, list[tuple[str, str, NewFile]]] = {}
    for session, made in first.values():
        folder, name = made.path.rpartition("/")[0], base_name(made.path)
        ending = name.rpartition(".")[2].lower() if "." in name[1:] else ""
        pattern = _test_name_pattern(name)
        if pattern:
            tests.setdefault(ending, []).append((session, f"{_test_folder(folder)}\0{pattern}", made))
        elif ending:
            others.setdefault(ending, []).append((session, folder, made))
    found = [_test_lesson(scope, ending, files_made) for ending, files_made in sorted(tests.items())]
    found += [_folder_lesson(scope, ending, files_made) for ending, files_made in sorted(others.items())]
    return [lesson for lesson in found if lesson is not None]


def _test_name_pattern(name: str) -> str:
    """How a test file is named: `NAME.test.ts`; empty for a file that is none."""
    match = _TEST.match(name)
    if match is None:
        return ""
    ending = match["x"] or match["y"] or match["z"]
    return f"{match['before'] or ''}NAME{match['after'] or match['camel'] or ''}.{ending}"


def _test_folder(folder: str) -> str:
    """The folder of tests that a test lies in, relative to the project; empty where it lies beside the source."""
    parts = folder.split("/")
    for number, part in enumerate(parts):
        if part in _TEST_FOLDERS:
            return "/".join(parts[: number + 1])
    return ""


def _test_lesson(scope: Scope, ending: str, files_made: list[tuple[str, str, NewFile]]) -> Lesson | None:
    counted = Counter(place for _, place, _ in files_made)
    place = min(counted, key=lambda each: (-counted[each], each))
    folder, pattern = place.split("\0")
    if not folder and pattern in _FORCED:
        return None
    where = f"below `{folder}/`" if folder else "beside the source"
    text = f"New `.{ending}` tests stand {where} as `{pattern}`"
    files = (folder,) if folder else ()
    return _lesson(
        scope, ("test", ending), text, f"{folder}/{pattern}" if folder else pattern, files, files_made, place
    )


def _folder_lesson(scope: Scope, ending: str, files_made: list[tuple[str, str, NewFile]]) -> Lesson | None:
    """The deepest folder that nearly all new files of an ending stand below; a folder at the top anybody sees."""
    best: Lesson | None = None
    for folder in sorted(
        {"/".join(parts[:depth]) for parts in _folders(files_made) for depth in range(2, len(parts) + 1)}
    ):
        inside = f"{folder}/"
        there = [each == folder or each.startswith(inside) for _, each, _ in files_made]
        if sum(there) < max(_ENOUGH_FILES, _SURE * len(files_made)):  # the bound of a share lies below the share
            continue
        below = [
            (session, folder if is_there else each, made)
            for (session, each, made), is_there in zip(files_made, there, strict=True)
        ]
        text = f"New `.{ending}` files go below `{folder}/`"
        lesson = _lesson(scope, ("folder", ending), text, folder, (folder,), below, folder)
        spread = lesson is not None and lesson.support.sessions_for >= _MORE_SESSIONS
        if lesson is not None and spread and (best is None or len(lesson.use) > len(best.use)):
            best = lesson
    return best


def _folders(files_made: Iterable[tuple[str, str, NewFile]]) -> Iterable[list[str]]:
    return (folder.split("/") for _, folder, _ in files_made if folder)


def _lesson(
    scope: Scope,
    key: tuple[str, ...],
    text: str,
    use: str,
    files: tuple[str, ...],
    files_made: list[tuple[str, str, NewFile]],
    place: str,
) -> Lesson | None:
    evidence = [Evidence(session, made.seq, made.at, each != place, made.path) for session, each, made in files_made]
    support = count_support(evidence)
    enough = support.calls_for >= _ENOUGH_FILES and support.sessions_for >= _ENOUGH_SESSIONS
    if not enough or support.confidence < _SURE:
        return None
    times = [each.at for each in evidence if each.at is not None]
    return Lesson(
        id=lesson_id("convention", scope, "placement", *key),
        kind="convention",
        scope=scope,
        topic="placement",
        text=f"{text} ({support.calls_for} of {support.calls_for + support.calls_against} new ones).",
        use=use,
        files=files,
        support=support,
        first_seen=min(times, default=None),
        last_seen=max(times, default=None),
        half_life=HALF_LIFE,
        evidence=select_evidence(evidence),
    )

"""Checks an export for leaks: addresses, paths, ids, secrets, and every name that the archive knows. Knows no disk.

Everything that an export removes is searched for again in what it wrote, member names and file names included. Words that every
dataset contains because of its format are no leak.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import Any, NamedTuple, TypeAlias, get_args

import msgspec

from preheat.lab.dataset.anonymise import Redact, names_outside_marks, visible_text
from preheat.lab.dataset.datasheet import DatasetFacts, write_datasheet
from preheat.lab.dataset.names import Names
from preheat.lab.dataset.pseudonyms import LEAK_FORMS, SORT_OF, form_pattern, is_harmless
from preheat.lab.dataset.rows import dataset_schema
from preheat.lab.dataset.trajectories import TEXTS, TRIGGERS
from preheat.model.session import (
    CONTEXT_WINDOW,
    LATE_ENDING,
    AssistantMessage,
    Compaction,
    Event,
    Origin,
    Other,
    Reasoning,
    Relation,
    Rewind,
    Session,
    Spawn,
    Starter,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)

File: TypeAlias = tuple[str, Callable[[], bytes]]
"""Its path in the export, and how to read it."""

LineOf: TypeAlias = Callable[[], int]
"""The line of a text, counted only where something was found."""
KnownTexts: TypeAlias = dict[str, tuple[tuple[str, str], ...]]
"""The leaks of short texts that were checked before: an export repeats many texts."""

TRAJECTORIES = "trajectories"
"""The folder of an export that has them."""
_SHOWN = 60
_SHORT = 100
_ALLOWED = ("https://json-schema.org/draft/2020-12/schema",)
_WORD = re.compile(r"[^\W_]+")
_QUOTED = re.compile(rb'"(?:[^"\\]|\\.)*"')
_DIGEST = re.compile(r"[0-9a-f]{64}")


class Leak(NamedTuple):
    """A leak: something in an export that may identify somebody."""

    file: str
    line: int
    sort: str
    text: str


class LeakSearch(NamedTuple):
    """What is searched for, and what is allowed."""

    names: Names
    redact: Redact
    allowed: tuple[str, ...] = ()
    """Texts that a person says are no leak."""
    own_words: frozenset[str] = frozenset()
    """Words of the datasheet and the schema, which are no leak."""
    format_texts: frozenset[str] = frozenset()
    """Whole texts that trajectories have because of their format, which are no leak."""


def leaks_in_files(files: Iterable[File], look: LeakSearch) -> Iterator[Leak]:
    """The leaks in the files of an export, and in their names."""
    met: KnownTexts = {}
    for name, read in files:
        for sort, excerpt in leaks_in_text(name, look):
            yield Leak(name, 0, sort, excerpt[:_SHOWN])
        yield from leaks_in_file(name, read(), look, met)


def leaks_in_file(name: str, data: bytes, look: LeakSearch, met: KnownTexts | None = None) -> Iterator[Leak]:
    """The leaks in a file; `name` is its path in the export."""
    met = {} if met is None else met
    found: dict[tuple[int, str, str], None] = {}
    form = look.format_texts if name.startswith(f"{TRAJECTORIES}/") else ()
    for text, line in _texts(name, data):
        if text in form:
            continue
        found_in_text = met.get(text)
        if found_in_text is None:
            found_in_text = tuple(leaks_in_text(text, look))
            if len(text) <= _SHORT:
                met[text] = found_in_text
        for sort, excerpt in found_in_text:
            if not _is_own(name, sort, excerpt, look.own_words):
                found[line(), sort, excerpt[:_SHOWN]] = None
    yield from (Leak(name, *each) for each in found)


def leaks_in_text(text: str, look: LeakSearch) -> Iterator[tuple[str, str]]:
    """The leaks in a text: their sorts and the words."""
    text = visible_text(text)
    for allowed in (*_ALLOWED, *look.allowed):
        text = text.replace(allowed, "")
    for match in form_pattern().finditer(text):
        form = str(match.lastgroup)
        if form in LEAK_FORMS and not is_harmless(form, match[0]):
            yield SORT_OF[form], match[0]
    for start, end, sort, _ in names_outside_marks(text, look.names):
        yield sort, text[start:end]
    if found := look.redact(text.encode("utf-8", "replace"))[1]:
        yield "secret", ", ".join(sorted(found))


def words(text: str) -> frozenset[str]:
    """The words of a text, each once."""
    return frozenset(word.lower() for word in _WORD.findall(text))


def _is_own(name: str, sort: str, excerpt: str, own: frozenset[str]) -> bool:
    """Whether a finding consists of words of the dataset's own pages, or is a digest in the manifest."""
    if sort == "id" and name == "manifest.json":
        return _DIGEST.fullmatch(excerpt) is not None
    return name in ("datasheet.md", "schema.json", "manifest.json") and words(excerpt) <= own


def _texts(name: str, data: bytes) -> Iterator[tuple[str, LineOf]]:
    """Every text in a file with its line; what is no JSON is looked at as it stands."""
    if name.endswith(".json"):
        yield from _document(data)
        return
    for number, raw in enumerate(data.splitlines(), 1):
        line = partial(int, number)
        if name.endswith(".jsonl"):
            try:
                yield from ((text, line) for text in texts_in(msgspec.json.decode(raw)))
                continue
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                pass
        yield raw.decode("utf-8", "replace"), line


def _document(data: bytes) -> Iterator[tuple[str, LineOf]]:
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        for number, text in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
            yield text, partial(int, number)
        return
    lines = cache(partial(_lines, data))
    for text in dict.fromkeys(texts_in(value)):
        yield text, partial(_line_of, text, lines)


def _lines(data: bytes) -> dict[str, int]:
    """Every text of a document with the first line that has it."""
    found: dict[str, int] = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        for written in _QUOTED.findall(line):
            found.setdefault(msgspec.json.decode(written, type=str), number)
    return found


def _line_of(text: str, lines: Callable[[], dict[str, int]]) -> int:
    return lines().get(text, 1)


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a value out of JSON, the names of members too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield str(name)
            yield from texts_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each)


# Words and texts that every dataset contains because of its format.
def dataset_words() -> frozenset[str]:
    """Words that the pages of every export have."""
    pages = [write_datasheet(DatasetFacts(trajectories=number, texts=texts)) for number in (None, 0) for texts in TEXTS]
    return words(" ".join((*pages, msgspec.json.encode(dataset_schema()).decode())))


def format_texts(trajectory: Any) -> frozenset[str]:
    """Texts that trajectories have whoever's they are, each as a whole: taken from the one of `sample_session`."""
    fields = {field.name for kind in (Session, Usage, *get_args(Event)) for field in msgspec.structs.fields(kind)}
    values = (*TRIGGERS, *get_args(Origin), *get_args(Relation), *get_args(Starter))
    return frozenset(texts_in(trajectory)) | fields | frozenset(values)


def sample_session() -> Session:
    """A session with every kind of event and not a word of anybody's: every text of its trajectory is the format's."""
    used = Usage(input=1, output=1, cache_read=1, cache_write=1, reasoning=1)
    events: tuple[Event, ...] = (
        UserMessage(line=1, at=1.0, text="", images=1),
        Reasoning(line=2, at=1.0, text="x", response="a"),
        Reasoning(line=2, at=1.0, text="x", response="a"),
        AssistantMessage(line=3, at=1.0, text="x", response="a", model="x", usage=used),
        AssistantMessage(line=3, at=1.0, text="x", response="a", model="x", usage=used),
        ToolCall(
            line=4,
            at=1.0,
            call_id="a",
            tool="x",
            kind="shell",
            input={"form": "", "text": ""},
            response="a",
            script="x",
        ),
        ToolResult(line=5, at=1.0, call_id="a", text="x", is_error=True, exit_code=1, seconds=1.0),
        Spawn(line=6, at=1.0, session="x", call_id="a"),
        Compaction(line=7, at=1.0, trigger="auto", summary="x", tokens_before=1),
        Other(line=8, at=1.0, name=CONTEXT_WINDOW, raw=1),
        Other(line=9, at=1.0, name=LATE_ENDING, raw={"call_id": "a", "exit_code": 1, "told_by": "a"}),
        UserMessage(line=10, at=1.0, text="x"),
        Rewind(line=11, at=1.0, after=9),
    )
    return Session(
        agent="x", id="x", version="x", model="x", project="x", parent="x", relation="fork", started_at=1.0, ended_at=1.0,
        reported=used, events=events,
    )  # fmt: skip

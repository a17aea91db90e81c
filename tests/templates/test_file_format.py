"""Template files of any version: each gives a valid template or an error of one line."""

import os
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.errors import UserError
from preheat.model.template import TEMPLATE_FORMAT, Template
from preheat.templates.file_format import LARGEST, UPGRADES, load_template, read_file
from preheat.templates.names import canonical_json
from preheat.templates.sharing import from_bytes, to_bytes

from .made import AT, example, lesson, template

FIXTURES = os.path.join(os.path.dirname(__file__), "fixtures")


def fixture(name: str) -> bytes:
    with open(os.path.join(FIXTURES, name), "rb") as stream:
        return stream.read()


def test_a_template_of_format_1_loads_forever() -> None:
    """The file was written by the first version of this format; it must never be written anew."""
    opened = from_bytes(fixture("format_1.json"), "format_1.json")
    assert opened.verified
    assert opened.template.name == "mine"
    assert [each.kind for each in opened.template.lessons] == ["convention", "repair", "example"]
    assert opened.template.lessons[2].example is not None
    assert opened.template.lessons[2].example.arguments == {"command": "tool --number 1"}


def test_every_earlier_format_has_an_upgrade() -> None:
    """Else people could not load their templates any more."""
    assert sorted(UPGRADES) == list(range(TEMPLATE_FORMAT))


def test_patterns_of_the_first_implementations_become_examples() -> None:
    """Calls without arguments and doubles are left out."""
    opened = from_bytes(fixture("seed_patterns.json"), "seed")
    found = opened.template
    assert not opened.verified
    assert found.name == "Harbour-Template"
    assert found.addendum == "The pier comes first."
    (only,) = found.lessons
    assert only.example is not None
    assert (only.example.tool, only.example.arguments) == ("terminal", {"command": "make pier"})
    assert found.tags == ("harbour",)
    assert found.sources == ("20260101_000000_abcdef",)
    assert found.created_at == 1_767_607_200.0


def test_the_other_two_formats_of_the_first_implementations_load() -> None:
    """A wrapped seed, and three lists of patterns."""
    wrapped = from_bytes(fixture("seed_wrapped.json"), "seed").template
    assert len(wrapped.lessons) == 1
    assert wrapped.markers == ("src/pier.py",)
    assert (wrapped.user.style, wrapped.user.feedback) == ("direct", "corrections_only")
    first = from_bytes(fixture("seed_first.json"), "seed").template
    assert [each.kind for each in first.lessons] == ["example", "repair"]
    assert first.lessons[1].use == "make clean"
    assert first.user.domains == ("building",)


DAMAGED = {
    "empty": b"",
    "binary": bytes(range(256)),
    "truncated": to_bytes(template())[:-200],
    "no object": b"[1, 2]",
    "no template": b'{"hello": 1}',
    "no format": msgspec.json.encode({"digest": "x", "template": {}}),
    "true is no format": b'{"format": true}',
    "future": msgspec.json.encode(
        {"format": TEMPLATE_FORMAT + 1, "digest": "x", "template": {"format": TEMPLATE_FORMAT + 1}}
    ),
    "no digest": msgspec.json.encode({"format": 1, "template": msgspec.to_builtins(template())}),
    "deep": b'{"format":1,"template":' + b"[" * 100_000,
    "not utf-8": b'{"format": 1, "name": "\xff\xfe"}',
}


@pytest.mark.parametrize("data", DAMAGED.values(), ids=list(DAMAGED))
def test_a_damaged_file_is_an_error_that_names_it(data: bytes) -> None:
    with pytest.raises(UserError, match=r"`theirs\.json`"):
        from_bytes(data, "theirs.json")


def test_a_file_of_a_newer_version_is_refused() -> None:
    """Before its digest is checked."""
    with pytest.raises(UserError, match="newer Preheat"):
        from_bytes(DAMAGED["future"], "x")


def test_a_changed_file_is_refused() -> None:
    """One letter differs."""
    data = to_bytes(template()).replace(b"make test", b"make tent")
    with pytest.raises(UserError, match="digest does not fit"):
        from_bytes(data, "x")


EMPTY = {"tool": "t", "arguments": {}, "result": ""}


@pytest.mark.parametrize(
    "change",
    [
        {"name": 3}, {"name": "../x"}, {"lessons": {}}, {"lessons": [{}]}, {"created_at": "now"}, {"markers": [1]},
        {"lessons": [{"id": "a", "kind": "spell", "scope": {}, "text": ""}]},
        {"lessons": [{"id": "", "kind": "repair", "scope": {}, "text": ""}]},
        {"lessons": [{"id": "a", "kind": "repair", "scope": {}, "text": ""}] * 2},
        {"lessons": [{"id": "a", "kind": "example", "scope": {}, "text": "", "example": EMPTY}]},
    ],
)  # fmt: skip
def test_a_template_with_wrong_values_is_refused(change: dict[str, Any]) -> None:
    """Wrong types, unknown kinds, doubled ids, examples without arguments."""
    raw = {**msgspec.to_builtins(template()), **change}
    with pytest.raises(UserError, match="is no template"):
        load_template(msgspec.json.encode(raw), "x")


def test_unknown_fields_are_ignored() -> None:
    """A small addition need not be a new format."""
    raw = {**msgspec.to_builtins(template()), "colour": "blue"}
    assert load_template(msgspec.json.encode(raw), "x") == template()


def test_a_file_that_is_too_large_is_not_read(tmp_path: Any) -> None:
    """A file is refused by its size, a stream after ten megabytes."""
    path = tmp_path / "huge.json"
    with open(path, "wb") as stream:
        stream.truncate(100_000_000)
    with pytest.raises(UserError, match="larger than 10 MB"):
        read_file(str(path))
    with pytest.raises(UserError, match="larger than 10 MB"):
        load_template(b" " * (LARGEST + 1), "x")


@given(st.binary(max_size=300))
def test_any_bytes_give_a_template_or_an_error_of_one_line(data: bytes) -> None:
    _check_template_or_error(data)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
_SHAPED = st.fixed_dictionaries(
    {},
    optional={
        "format": st.just(1) | st.integers() | _JSON,
        "digest": _JSON,
        "template": _JSON | st.just(msgspec.to_builtins(template())),
        "name": st.just("x") | _JSON,
        "patterns": st.lists(
            st.fixed_dictionaries(
                {"tool": st.text(max_size=3), "arguments": st.dictionaries(st.text(max_size=3), _JSON, max_size=2)}
            )
        )
        | _JSON,
        "seed": st.dictionaries(st.sampled_from(["tool_examples", "user_patterns", "context_markers"]), _JSON),
        "recovery_patterns": _JSON,
        "user_patterns": _JSON,
        "created_at": _JSON,
        "tags": _JSON,
        "lessons": _JSON,
        "source_sessions": _JSON,
    },
)


@given(_SHAPED)
def test_any_object_gives_a_template_or_an_error_of_one_line(raw: dict[str, Any]) -> None:
    """Known fields with any values."""
    try:
        data = msgspec.json.encode(raw)
    except (UnicodeEncodeError, OverflowError):
        return
    _check_template_or_error(data)


@given(st.integers(0, 10_000), st.integers(0, 255))
def test_a_changed_byte_never_gives_another_template(place: int, value: int) -> None:
    """Blanks outside of the template may change."""
    data = bytearray(to_bytes(template()))
    data[place % len(data)] = value
    found = _read(from_bytes, bytes(data))
    assert found is None or found.template == template()


def _check_template_or_error(data: bytes) -> None:
    for found in (_read(load_template, data), getattr(_read(from_bytes, data), "template", None)):
        if found is not None:
            assert isinstance(found, Template)
            assert load_template(canonical_json(found), "again") == found


def _read(read: Callable[[bytes, str], Any], data: bytes) -> Any:
    """The template; None after an error of one line that names the file."""
    try:
        return read(data, "x")
    except UserError as error:
        message = str(error)
    assert "`x`" in message
    assert "\n" not in message
    return None


@given(st.text(max_size=40), st.dictionaries(st.text(min_size=1, max_size=5), _JSON, min_size=1, max_size=3))
def test_a_written_template_is_read_unchanged(text: str, arguments: dict[str, Any]) -> None:
    """With any texts and arguments, as an object and as a shared file."""
    shown = example("Bash", 1)
    assert shown.example is not None
    odd = msgspec.structs.replace(shown, text=text, example=msgspec.structs.replace(shown.example, arguments=arguments))
    whole = template("mine", lesson(), odd)
    try:
        data = canonical_json(whole)
    except OverflowError:
        return
    first = load_template(data, "x")
    assert canonical_json(first) == data
    assert from_bytes(to_bytes(first), "x").template == first
    assert first.created_at == AT

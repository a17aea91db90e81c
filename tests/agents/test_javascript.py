"""The reader of JavaScript: literals mean what they mean in JavaScript, and any text can be read."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.agents.javascript import LONGEST, UNKNOWN, Literals, Tokens, Value
from tests.growth import grows_in_proportion

FRAGMENTS = (
    "tools.", "exec_command(", "{", "}", "[", "]", "(", ")", "`", "${", "'", '"', "\\", "/", "*", "//", "/*", "*/", "\n", ";",
    ",", ":", "=", "=>", "...", "?.", "+", "const ", "let ", "for (const x of ", ".map(", "async ", "await ", "text(", "a", "b",
    "1", "0x", "String.raw", ".join(", '"\\n"', "cmd", "if (", "else", "&&", "?", "function ", "\\u{", "\ud800", "é", "…",
    "Promise.all([",
)  # fmt: skip
wild_scripts = st.lists(st.sampled_from(FRAGMENTS), max_size=60).map("".join) | st.text(max_size=200)

plain_texts = st.text(st.characters(codec="utf-8"), max_size=30)
numbers = st.integers(0, 2**53) | st.booleans() | st.none()
values = st.recursive(
    plain_texts | numbers,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(plain_texts, inner, max_size=4),
    max_leaves=12,
)


def value_of(script: str) -> Any:
    return Literals(Tokens(script)).read(0).value


def quoted(text: str, quote: str) -> str:
    """A text between quotes, as JavaScript allows."""
    escaped = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    if quote == "`":
        return f"`{escaped.replace('${', chr(92) + '${')}`"
    return f"{quote}{escaped.replace(chr(10), chr(92) + 'n').replace(chr(13), chr(92) + 'r')}{quote}"


@given(values)
def test_every_json_value_is_read_as_it_is(value: Any) -> None:
    assert value_of(json.dumps(value)) == value
    assert value_of(json.dumps(value, ensure_ascii=False, indent=2)) == value


@given(plain_texts, st.sampled_from("\"'`"))
def test_a_text_is_read_in_any_quotes(text: str, quote: str) -> None:
    assert value_of(quoted(text, quote)) == text


@given(st.lists(plain_texts, min_size=2, max_size=5), st.sampled_from("\"'`"))
def test_a_sum_of_texts_is_the_text(texts: list[str], quote: str) -> None:
    assert value_of(" + ".join(quoted(text, quote) for text in texts)) == "".join(texts)
    assert value_of(f"[{','.join(quoted(text, quote) for text in texts)}].join('-')") == "-".join(texts)


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("{cmd: 'a', \"workdir\": `b`, n: 1_000, }", {"cmd": "a", "workdir": "b", "n": 1000}),
        ("{...{a: 1}, b: [...[1, 2], 3]}", {"a": 1, "b": [1, 2, 3]}),
        (r"'\x41\u0042\u{43}\q\0'", "ABCq\0"),
        (r'"\ud83d\ude00"', "😀"),
        ("String.raw`a\\nb`", "a\\nb"),
        ("'a' // a comment\n + /* another */ 'b'", "ab"),
        ("`a${'b'}c${1}d`", "abc1d"),
        ("(`\n  a\n`.trim())", "a"),
        ("-1", -1),
        ("0.5", 0.5),
        ("undefined", None),
    ],
)
def test_literals_mean_what_they_mean_in_javascript(script: str, value: Any) -> None:
    assert value_of(script) == value


@pytest.mark.parametrize(
    "script",
    [
        "x",
        "f('a')",
        "'a'.repeat(3)",
        "a + b",
        "x ? 'a' : 'b'",
        "'a' && 'b'",
        "[x]",
        "new Date()",
        "010",
        "'open",
        "`open ${",
        "1 + 2",
    ],
)
def test_what_is_computed_has_no_value(script: str) -> None:
    assert value_of(script) is UNKNOWN


@pytest.mark.parametrize(
    ("script", "value"),
    [
        ("`gh run view ${id} --log`", "gh run view ${id} --log"),
        ("'gh api ' + quote(query) + ' --jq .'", "gh api ${…} --jq ."),
        ("{cmd: 'ls', workdir: folder}", {"cmd": "ls"}),
        ("{cmd: 'ls', run() { return 1 }}", {"cmd": "ls"}),
    ],
)
def test_a_value_of_which_only_a_part_is_known_says_so(script: str, value: Any) -> None:
    found = Literals(Tokens(script)).read(0)
    assert (found.value, found.whole) == (value, False)


@given(wild_scripts)
def test_any_text_can_be_read(script: str) -> None:
    tokens = Tokens(script)
    reader = Literals(tokens, lambda name, place: Value(name, place))
    for place in range(len(tokens.all)):
        reader.read(place)
    assert all(text in script for _, text in tokens.all)


@given(wild_scripts)
def test_a_known_text_without_escapes_is_literally_in_the_script(script: str) -> None:
    if "\\" in script or "+" in script or ".join" in script or "${" in script:
        return
    tokens = Tokens(script)
    for place in range(len(tokens.all)):
        found = Literals(tokens).read(place).value
        assert not isinstance(found, str) or found in script


@pytest.mark.parametrize("piece", FRAGMENTS)
def test_the_time_grows_with_the_length_only(piece: str) -> None:
    """A reader that went back for each bracket or quote would take minutes for this."""
    grows_in_proportion(lambda script: Literals(Tokens(script)).read(0), piece * 20_000)


def test_a_script_that_is_too_long_is_not_read() -> None:
    assert Tokens("a" * (LONGEST + 1)).all == []

"""Adding an item to a list in a YAML file and removing it: every other byte stays; unclear files are refused with the line."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from preheat.errors import UserError
from preheat.installing.yaml_settings import add_item, count_present_keys, items_at, load_yaml, remove_items

KEYS = ("plugins", "enabled")
HOOK = {"command": "python3 -I -S -E '/a b/hook.py' hermes", "timeout": 10}


def add(text: str, item: Any = "preheat") -> str:
    return add_item(text, "config.yaml", KEYS, item)


def remove(text: str, made: int | None = None, item: Any = "preheat") -> str:
    return remove_items(text, "config.yaml", KEYS, lambda each: each == item, made)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "plugins:\n  enabled:\n    - preheat\n"),
        ("# mine\n", "# mine\nplugins:\n  enabled:\n    - preheat\n"),
        ("---\n", "---\nplugins:\n  enabled:\n    - preheat\n"),
        ("a: 1 # one\n", "a: 1 # one\nplugins:\n  enabled:\n    - preheat\n"),
        ("a: 1\n...\n", "a: 1\nplugins:\n  enabled:\n    - preheat\n...\n"),
        ("a: |+\n  text\n\n", "a: |+\n  text\n\nplugins:\n  enabled:\n    - preheat\n"),
        ("plugins:\nb: 2\n", "plugins:\n  enabled:\n    - preheat\nb: 2\n"),
        ("plugins: # none yet\nb: 2\n", "plugins: # none yet\n  enabled:\n    - preheat\nb: 2\n"),
        ("plugins: {}\n", "plugins: {enabled: [preheat]}\n"),
        ("plugins: {enabled: []}\n", "plugins: {enabled: [preheat]}\n"),
        ("plugins: {enabled: [a, 'b']}\nx: 1\n", "plugins: {enabled: [a, 'b', preheat]}\nx: 1\n"),
        ("plugins:\n  enabled: [a, ]\n", "plugins:\n  enabled: [a, preheat, ]\n"),
        ("plugins:\n  enabled: [\n    a, # c\n  ]\n", "plugins:\n  enabled: [\n    a, preheat, # c\n  ]\n"),
        (
            "plugins:\n  enabled:\n  - a # first\n  - b # second\n\n# next\nmodel: x\n",
            "plugins:\n  enabled:\n  - a # first\n  - b # second\n  - preheat\n\n# next\nmodel: x\n",
        ),
        ("plugins:\r\n   enabled:\r\n    - a\r\nz: 1\r\n", "plugins:\r\n   enabled:\r\n    - a\r\n    - preheat\r\nz: 1\r\n"),
        ("plugins:\n  disabled: [x]\n# c\nz: 1\n", "plugins:\n  disabled: [x]\n  enabled:\n    - preheat\n# c\nz: 1\n"),
        ("\ufeffplugins:\n  enabled: [a]\n", "\ufeffplugins:\n  enabled: [a, preheat]\n"),
        ('"plugins":\n  "enabled": ["a"]\n', '"plugins":\n  "enabled": ["a", preheat]\n'),
        ("{model: x}\n", "{model: x, plugins: {enabled: [preheat]}}\n"),
    ],
)  # fmt: skip
def test_an_item_is_added_and_removed_in_any_layout(before: str, after: str) -> None:
    assert add(before) == after
    made = count_present_keys(load_yaml(before, "f"), KEYS)
    assert remove(after, made if made < 2 else None) == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("plugins:\n  enabled: ~ # x\n", "plugins:\n  enabled: [preheat] # x\n"),
        ("plugins: null\n", "plugins: {enabled: [preheat]}\n"),
        ("plugins:\n  enabled:\n", "plugins:\n  enabled:\n    - preheat\n"),
        ("a: 1", "a: 1\nplugins:\n  enabled:\n    - preheat\n"),
    ],
)
def test_an_empty_value_becomes_a_list(before: str, after: str) -> None:
    """Also a word for nothing; a last line without an end gets one."""
    assert add(before) == after
    assert not items_at(load_yaml(remove(after), "f"), KEYS)


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("plugins:\n\tenabled: []\n", 2, "cannot start any token"),
        ("a: 1\n---\nb: 2\n", 2, "second document"),
        ("plugins: 3\n", 1, "`plugins` should hold"),
        ("x: 1\nplugins:\n  enabled: yes\n", 3, "`plugins.enabled` is no list"),
        ("plugins:\n  enabled: {a: 1}\n", 2, "`plugins.enabled` is no list"),
        ("plugins:\n  enabled: &x [a]\nb: *x\n", 2, "is shared"),
        ("x: &x [a]\nplugins:\n  enabled: *x\n", 3, "is shared"),
        ("d: &d {enabled: [q]}\nplugins:\n  <<: *d\n", 3, "from elsewhere"),
        ("plugins: {enabled: [a]}\nb: 1\nplugins: {}\n", 3, "a second time (first in line 1)"),
        ("- a\n", 1, "should hold"),
        ("a: [1\n", 2, "expected"),
        ("a: 1\nx: \x01\n", 2, "does not allow"),
        ("a: !!python/object:os.system {}\n", 1, "could not determine a constructor"),
        ("[" * 5000, 1, ""),
    ],
)
def test_an_unclear_file_is_refused_with_the_line(text: str, line: int, says: str) -> None:
    with pytest.raises(UserError) as refused:
        add(text)
    assert f"`config.yaml`, line {line}: " in str(refused.value)
    assert says in str(refused.value)
    assert "nothing was changed" in str(refused.value)


def test_an_object_is_added_to_a_list_of_objects() -> None:
    """Comments around it stay, and a path with blanks is quoted."""
    text = "plugins:\n  enabled:\n    - command: say hi # mine\n      timeout: 3\n  # later\n  other: []\nz: 1\n"
    after = add(text, HOOK)
    assert yaml.safe_load(after)["plugins"]["enabled"] == [{"command": "say hi", "timeout": 3}, HOOK]
    assert remove(after, item=HOOK) == text


def test_items_of_others_stay_when_preheats_is_removed() -> None:
    assert remove("plugins:\n  enabled:\n    - preheat\n    - other\n", 0) == "plugins:\n  enabled:\n    - other\n"
    assert remove("plugins:\n  enabled:\n    - preheat\n  x: 1\n", 0) == "plugins:\n  x: 1\n"
    assert remove("plugins:\n  enabled:\n    - preheat\n  x: 1\n") == "plugins:\n  enabled: []\n  x: 1\n"
    assert remove("a: 1\nplugins: {x: 1, enabled: [preheat]}\n", 0) == "a: 1\nplugins: {x: 1}\n"


WORDS = st.text("abc xyz:#-'\"é\n", max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS.filter(bool), inner, max_size=3),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(WORDS.filter(lambda word: word != "plugins"), VALUES, max_size=4)


@given(
    rest=DOCUMENTS,
    plugins=st.none() | st.dictionaries(st.sampled_from(["disabled", "x"]), VALUES, max_size=2),
    enabled=st.none() | st.lists(WORDS.filter(lambda word: word != "preheat") | DOCUMENTS, max_size=3),
    flow=st.sampled_from([None, True, False]),
    last=st.booleans(),
    ends=st.sampled_from(["\n", "\r\n"]),
)
def test_any_document_keeps_all_other_values(
    rest: dict[str, Any],
    plugins: dict[str, Any] | None,
    enabled: list[Any] | None,
    flow: bool | None,
    last: bool,
    ends: str,
) -> None:
    """The item is at the end of the list, and then removed again."""
    own: Any = plugins if enabled is None else {**(plugins or {}), "enabled": enabled}
    value = {**rest, "plugins": own} if last else {"plugins": own, **rest}
    text = yaml.safe_dump(value, default_flow_style=flow, allow_unicode=True, sort_keys=False).replace("\n", ends)
    before = load_yaml(text, "f")
    after = add(text)
    values = load_yaml(after, "f")
    assert items_at(values, KEYS) == [*items_at(before, KEYS), "preheat"]
    assert {name: inner for name, inner in values.items() if name != "plugins"} == {
        name: inner for name, inner in before.items() if name != "plugins"
    }
    back = load_yaml(remove(after, count_present_keys(before, KEYS)), "f")
    assert items_at(back, KEYS) == items_at(before, KEYS)
    assert {**back, "plugins": 0} == {**before, "plugins": 0}


@given(st.text("ab:-[]{}#&*!|>'\" \n\t,", max_size=40))
def test_any_text_is_changed_correctly_or_refused(text: str) -> None:
    try:
        after = add(text)
    except UserError:
        return
    assert items_at(load_yaml(after, "f"), KEYS)[-1] == "preheat"

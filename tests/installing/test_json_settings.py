"""Adding Preheat's hooks to a settings file and removing them leaves everything else unchanged."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.agents import WITH_HOOKS
from preheat.agents.hooks import Client, agent_of_hook
from preheat.errors import UserError
from preheat.installing.json_settings import Malformed, add_hooks, hooked_events, parse, remove_hooks
from tests.agents.test_hook_events import hooks

MERGED = [agent for agent in WITH_HOOKS if hooks(agent).setup.entries is not None]
COMMENTED = """\
{
  // which model
  "model": "large", /* for now */
  "hooks": {
    "Stop": [
      {"hooks": [{"type": "command", "command": "say done"}]}, // mine
    ],
    "AfterAgent": [{"hooks": []}] // also mine
  },
  "list": [1, 2], // the end
}
"""


def client(agent: str) -> Client:
    command = f"/opt/python -I -S -E /data/hook.py {agent}"
    return Client(f"test -x /opt/python && exec {command}; true", f"{command} || true", f"& {command}; exit 0")


def entries(agent: str) -> dict[str, list[dict[str, Any]]]:
    setup = hooks(agent).setup
    assert setup.entries is not None
    return setup.entries(client(agent))


def add_entries(text: str, agent: str) -> str:
    return add_hooks(text, "settings.json", entries(agent), hooks(agent).setup.extra_settings)


@pytest.mark.parametrize("agent", MERGED)
@pytest.mark.parametrize(
    "text", ["", "\n", "{}", '{"a":1}', '{\n\t"a": 1\n}\n', '{\r\n    "a": 1\r\n}', COMMENTED, '{"hooks":{}}']
)
def test_removing_added_hooks_restores_the_document(agent: str, text: str) -> None:
    """Byte by byte if the file had no `hooks`."""
    full = add_entries(text, agent)
    assert set(hooked_events(parse(full).value, agent)) == set(entries(agent))
    rest = remove_hooks(full, "settings.json", agent)
    assert hooked_events(parse(rest).value, agent) == ()
    before = parse(text).value if text.strip() else {}
    after = parse(rest).value
    kept = {name: value for name, value in before.items() if value != {}}
    assert {**hooks(agent).setup.extra_settings, **kept} == after
    if text.strip() and "hooks" not in text and not hooks(agent).setup.extra_settings:
        assert rest == text


@pytest.mark.parametrize("text", ["", "\n", "\ufeff", " \t\r\n"])
@pytest.mark.parametrize("agent", MERGED)
def test_an_empty_file_is_one_without_settings(agent: str, text: str) -> None:
    assert remove_hooks(text, "settings.json", agent) == text
    assert hooked_events(json.loads(add_entries(text, agent)), agent)


@pytest.mark.parametrize("agent", MERGED)
def test_comments_and_order_are_kept(agent: str) -> None:
    """Preheat's hooks come last in their lists: some programs identify a hook by its position."""
    full = add_entries(COMMENTED, agent)
    for comment in ("// which model", "/* for now */", "// mine", "// also mine", "// the end"):
        assert comment in full
    value = parse(full).value
    assert value["hooks"]["Stop"][0] == {"hooks": [{"type": "command", "command": "say done"}]}
    assert list(value)[:3] == ["model", "hooks", "list"]
    rest = remove_hooks(full, "settings.json", agent)
    assert parse(rest).value["hooks"] == parse(COMMENTED).value["hooks"]
    assert all(comment in rest for comment in ("// which model", "// mine", "// also mine"))


def test_added_hooks_follow_the_layout_of_the_file() -> None:
    full = add_entries('{\n\t"a": 1\n}\n', "codex")
    assert '\n\t"hooks": {\n\t\t"SessionStart": [\n' in full
    assert "\n" not in add_entries('{"a": 1}', "codex")
    assert add_entries('{\r\n  "a": 1\r\n}', "codex").count("\n") == add_entries('{\r\n  "a": 1\r\n}', "codex").count(
        "\r\n"
    )


def test_a_foreign_hook_in_preheats_group_is_kept() -> None:
    value = json.loads(add_entries("{}", "codex"))
    theirs = {"type": "command", "command": "say hello"}
    value["hooks"]["Stop"][0]["hooks"].append(theirs)
    rest = json.loads(remove_hooks(json.dumps(value, indent=2), "settings.json", "codex"))
    assert rest == {"hooks": {"Stop": [{"hooks": [theirs]}]}}


def test_preheats_hooks_for_another_agent_are_kept() -> None:
    both = add_entries(add_entries("{}", "codex"), "gemini")
    assert parse(remove_hooks(both, "settings.json", "gemini")).value == parse(add_entries("{}", "codex")).value


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', 3, "comma"),
        ('{\n  "a": ,\n}', 2, "value"),
        ('{\n  "a": 1\n', 3, "ends"),
        ("{}\n{}", 2, "follows"),
        ('{\n  a: 1\n}', 2, '"name":'),
        ('{\n  "a": 1.2.3\n}', 2, "no value"),
        ("[" * 1_000, 1, "deeply"),
    ],
)  # fmt: skip
def test_malformed_settings_are_refused_with_the_line(text: str, line: int, why: str) -> None:
    with pytest.raises(UserError) as caught:
        add_entries(text, "codex")
    assert f"`settings.json`, line {line}: " in str(caught.value)
    assert why in str(caught.value)
    assert "nothing was changed" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line"), [('{\n  "hooks": []\n}', 2), ('{\n  "hooks": {\n    "Stop": 1\n  }\n}', 3), ("[]", 0)]
)
def test_settings_of_an_unexpected_shape_are_refused(text: str, line: int) -> None:
    with pytest.raises(UserError) as caught:
        add_entries(text, "codex")
    assert f"line {line}" in str(caught.value) or not line


def test_only_preheats_hooks_are_recognised() -> None:
    for agent in MERGED:
        for groups in entries(agent).values():
            for group in groups:
                inner = group.get("hooks", [group])
                assert {agent_of_hook(hook) for hook in inner} == {agent}
    posted = {"type": "http", "url": "http://127.0.0.1:4711/hook/codex", "headers": {}}
    assert agent_of_hook(posted) == "codex"
    others: list[Any] = [
        {"command": "python hook.py codex"},
        {"url": "http://127.0.0.1:1/hooks/codex"},
        {"command": 3},
        [],
        None,
    ]
    for other in others:
        assert agent_of_hook(other) == ""


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(
    value=st.dictionaries(st.text(max_size=6).filter(lambda name: name != "hooks"), JSON, max_size=4),
    lists=st.dictionaries(st.sampled_from(["Stop", "PostToolUse", "Other"]), st.lists(JSON, max_size=3), max_size=3),
    indent=st.none() | st.integers(1, 8) | st.just("\t"),
    agent=st.sampled_from(["claude_code", "codex", "gemini"]),
)
def test_any_settings_keep_all_their_values(
    value: dict[str, Any], lists: dict[str, list[Any]], indent: int | str | None, agent: str
) -> None:
    whole = {**value, "hooks": lists} if lists else value
    text = json.dumps(whole, indent=indent, ensure_ascii=False)
    full = add_entries(text, agent)
    assert json.loads(full) == parse(full).value
    for event, groups in lists.items():
        assert parse(full).value["hooks"][event][: len(groups)] == groups
    assert add_entries(remove_hooks(full, "s", agent), agent) == add_entries(remove_hooks(full, "s", agent), agent)
    rest = json.loads(remove_hooks(full, "s", agent))
    rest.setdefault("hooks", {})
    assert {name: groups for name, groups in rest.pop("hooks").items() if groups} == {
        name: groups for name, groups in lists.items() if groups
    }
    assert rest == value


@settings(max_examples=300, deadline=None)
@given(text=st.text(alphabet='{}[]",:/* \n\\abc019.-truefalsn', max_size=60))
def test_any_text_is_parsed_or_malformed(text: str) -> None:
    """Strict JSON has the same values here."""
    try:
        found = parse(text)
    except Malformed:
        with pytest.raises(ValueError):  # noqa: PT011 - any: it is none for others either
            json.loads(text)
        return
    try:
        assert json.loads(text) == found.value
    except ValueError:
        assert "/" in text or "," in text  # comments and trailing commas are ours alone

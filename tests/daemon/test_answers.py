"""Answers on the spot through a hook: after a failure, before a call, held once, withheld at random, counted."""

import json
from pathlib import Path
from typing import Any

import pytest

from preheat.app.live.hooks import Hooks
from preheat.daemon.engine import Engine
from preheat.daemon_client import prepare_folder
from preheat.model.live import Advisory
from preheat.provisioning.tokens import estimate_tokens

AGENT = "claude_code"
MISSING = "File does not exist."


class Conversation:
    """A session of an agent in a project on this disk."""

    def __init__(self, tmp_path: Path, settings: str = "", session: str = "s1") -> None:
        self.project = tmp_path / "shop"
        (self.project / "src" / "shop").mkdir(parents=True, exist_ok=True)
        (self.project / "src" / "shop" / "cart.py").write_text("def total(a, b):\n    return a + b\n")
        self.folder = str(tmp_path / "data")
        live = prepare_folder(self.folder)
        Path(self.folder, "settings.toml").write_text(settings)
        self.hooks = Hooks(self.folder)
        self.hooks.prepare_folder(str(self.project))
        self.engine = Engine(live, self.hooks)
        self.session = session
        self.number = 0
        self.tell("SessionStart", source="startup")

    def tell(self, event: str, **fields: Any) -> dict[str, Any]:
        self.number += 1
        common = {"session_id": self.session, "cwd": str(self.project), "hook_event_name": event}
        found = self.engine.take_event(
            AGENT, json.dumps({**common, **fields}).encode(), float(self.number), seconds=60.0
        )
        return json.loads(found.answer or b"{}").get("hookSpecificOutput", {})  # type: ignore[no-any-return]

    def plan(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.tell("PreToolUse", tool_name=tool, tool_input=arguments, tool_use_id=f"call-{self.number}")

    def fail(self, error: str, tool: str, **arguments: Any) -> dict[str, Any]:
        fields = {"tool_name": tool, "tool_input": arguments, "tool_use_id": f"call-{self.number}", "error": error}
        return self.tell("PostToolUseFailure", **fields)

    def succeed(self, tool: str, **arguments: Any) -> dict[str, Any]:
        fields = {"tool_name": tool, "tool_input": arguments, "tool_use_id": f"call-{self.number}"}
        return self.tell("PostToolUse", **fields, tool_response={"stdout": "ok", "stderr": "", "interrupted": False})


def test_the_first_failure_of_a_first_session_is_answered_from_the_working_tree(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    answer = talk.fail(MISSING, "Read", file_path=str(talk.project / "src/cart.py"))
    assert "`src/shop/cart.py` exists" in answer["additionalContext"]
    assert talk.engine.counts["advisories"] == 1


def test_the_same_thing_is_said_once_before_or_after(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    path = str(talk.project / "src/cart.py")
    assert "Nothing is at this call's path" in talk.plan("Read", file_path=path)["additionalContext"]
    assert talk.fail(MISSING, "Read", file_path=path) == {}
    assert talk.plan("Read", file_path=path) == {}


def test_an_answer_takes_nothing_from_the_budget_of_the_signals(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    talk.fail(MISSING, "Read", file_path=str(talk.project / "src/cart.py"))
    assert talk.engine.sessions.get(AGENT, "s1").state.advised_turns == ()


@pytest.mark.parametrize("command", ["cat src/shop/cart.py", "ls", "python -m pytest", "git status"])
def test_a_call_that_may_work_is_not_warned_of(tmp_path: Path, command: str) -> None:
    assert Conversation(tmp_path).plan("Bash", command=command) == {}


def test_nothing_is_held_unless_the_person_asked_for_it(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    assert "permissionDecision" not in talk.plan("Bash", command="cat src/cart.py")


def test_a_call_is_held_once_with_reason_and_remedy_and_then_passes(tmp_path: Path) -> None:
    talk = Conversation(tmp_path, "[live]\nhold = true\n")
    held = talk.plan("Bash", command="cat src/cart.py")
    assert held["permissionDecision"] == "deny"
    assert held["permissionDecisionReason"] == (
        "<preheat-advisory>Nothing is at this call's path; `src/shop/cart.py` exists. The same call passes if it comes again."
        "</preheat-advisory>"
    )
    assert estimate_tokens(held["permissionDecisionReason"]) <= 60
    assert "permissionDecision" not in talk.plan("Bash", command="cat src/cart.py")
    assert talk.engine.counts["held"] == 1


def test_that_a_held_call_passes_later_is_said_of_each_kind_of_reason_and_never_cut(tmp_path: Path) -> None:
    talk = Conversation(tmp_path, "[live]\nhold = true\nadvice_tokens = 30\n")
    (talk.project / "package.json").write_text('{"scripts": {"lint": "eslint ."}}')
    folder = talk.project / "notes"
    folder.mkdir()
    for name in ("architecture.md", "configuration.md", "deployment.md"):
        (folder / name).write_text("x")
    for arguments in ({"command": "npm run lnt"}, {"command": "cat notes"}):
        held = talk.plan("Bash", **arguments)
        assert held["permissionDecision"] == "deny"
        assert held["permissionDecisionReason"].endswith(" The same call passes if it comes again.</preheat-advisory>")
    assert "…" in held["permissionDecisionReason"]  # the reason gives way


def test_a_call_that_is_only_warned_of_is_not_said_to_pass_later(tmp_path: Path) -> None:
    said = Conversation(tmp_path).plan("Bash", command="cat src/cart.py")
    assert "comes again" not in said["additionalContext"]


def test_what_a_held_call_was_told_is_what_the_receipt_has(tmp_path: Path) -> None:
    talk = Conversation(tmp_path, "[live]\nhold = true\n")
    talk.plan("Bash", command="cat src/cart.py")
    (text,) = talk.engine.sessions.get(AGENT, "s1").receipt.texts
    assert text.text.endswith("`src/shop/cart.py` exists. The same call passes if it comes again.")


def test_a_call_is_never_held_twice_nor_another_for_the_same_reason_also_after_a_restart(tmp_path: Path) -> None:
    talk = Conversation(tmp_path, "[live]\nhold = true\n")
    assert talk.plan("Bash", command="cat src/cart.py")["permissionDecision"] == "deny"
    for _ in range(3):
        assert "permissionDecision" not in talk.plan("Bash", command="cat src/cart.py")
    assert "permissionDecision" not in talk.plan("Bash", command="head -5 src/cart.py")
    talk.engine.journal.close()
    again = Conversation(tmp_path, "[live]\nhold = true\n")  # the session goes on with another daemon
    assert "permissionDecision" not in again.plan("Bash", command="cat src/cart.py")
    assert (talk.engine.counts["held"], again.engine.counts["held"]) == (1, 0)


def test_holding_is_withdrawn_where_calls_that_were_let_pass_succeed(tmp_path: Path) -> None:
    talk = Conversation(tmp_path, "[live]\nhold = true\n")
    talk.plan("Bash", command="cat src/cart.py")
    talk.plan("Bash", command="cat src/cart.py")
    talk.succeed("Bash", command="cat src/cart.py")
    (count,) = talk.hooks.holds.counts.values()
    assert (count.held, count.succeeded, count.failed) == (1, 1, 0)
    later = Conversation(tmp_path, "[live]\nhold = true\n", session="s2")  # another session, the counts are on the disk
    assert "permissionDecision" not in later.plan("Bash", command="cat src/other.py")


def test_a_held_call_that_fails_keeps_holding_on(tmp_path: Path) -> None:
    talk = Conversation(tmp_path, "[live]\nhold = true\n")
    for _ in range(2):
        talk.plan("Bash", command="cat src/cart.py")
    talk.fail("Exit code 1\ncat: src/cart.py: No such file or directory", "Bash", command="cat src/cart.py")
    assert talk.plan("Bash", command="cat src/shop/card.py")["permissionDecision"] == "deny"


def test_an_answer_may_be_withheld_at_random_and_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    talk = Conversation(tmp_path, "[live]\nhold = true\n")
    seen: list[Advisory] = []

    class Withheld:
        shown = False

    def withhold(event: object, advisory: Advisory, root: str) -> Any:
        seen.append(advisory)
        return None if len(seen) > 1 else Withheld()

    monkeypatch.setattr(talk.hooks, "assign_advice", withhold)
    monkeypatch.setattr(talk.engine, "_store_assignments", lambda found: None)
    monkeypatch.setattr(talk.engine.journal, "append", lambda entry: entry)
    assert talk.plan("Bash", command="cat src/cart.py") == {}
    assert talk.engine.counts["withheld"] == 1
    assert talk.engine.counts["held"] == 0


def test_two_agents_in_one_tree_see_each_others_files(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    (talk.project / "src" / "cart.py").write_text("made by another agent")
    assert talk.plan("Read", file_path=str(talk.project / "src/cart.py")) == {}


def test_a_hook_without_access_to_the_project_says_nothing(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    talk.project = tmp_path / "elsewhere"
    assert talk.plan("Read", file_path=str(talk.project / "a.py")) == {}
    assert talk.fail(MISSING, "Read", file_path=str(talk.project / "a.py")) == {}

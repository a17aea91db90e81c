"""Every attack at its small size breaks nothing; what runs them reports what they found."""

import json
import sys
from pathlib import Path

import pytest

from preheat.app.live.settings import load_actions
from preheat.errors import UserError
from tests.attacks import __main__ as runner
from tests.attacks import hooks
from tests.attacks.attack import Attack, AttackResult, guard
from tests.attacks.suite import ATTACKS

SEED = 1

unix_only = pytest.mark.skipif(sys.platform == "win32", reason="there is no daemon on this system")


@unix_only
@pytest.mark.parametrize(("name", "attack"), ATTACKS, ids=[name for name, _ in ATTACKS])
def test_an_attack_breaks_nothing(name: str, attack: Attack, tmp_path: Path) -> None:
    result = attack("small", SEED, str(tmp_path))
    assert result.broken == []
    assert result.tried > 0 or "note" in result.figures


def fail(size: str, seed: int, folder: str) -> AttackResult:
    result = AttackResult()
    with guard(result, f"seed {seed}"):
        raise KeyError("found")
    return result


def test_what_broke_is_shown_with_its_seed_and_the_exit_code_is_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(runner, "ATTACKS", (("fails", fail),))
    target = tmp_path / "result.json"
    monkeypatch.setattr(sys, "argv", ["attack", "--size", "small", "--seed", "23", "--json", str(target)])
    assert runner.main() == 1
    printed = capsys.readouterr().out
    assert "| fails | small | 1 | 1 |" in printed
    assert "broken in fails: seed 23: KeyError: 'found'" in printed
    assert json.loads(target.read_text())["attacks"]["fails"]["broken"] == ["seed 23: KeyError: 'found'"]


@pytest.mark.parametrize(
    "answer", [b"[]", b'{"decision": "approve"}', b'{"continue": false}', b"text", b'{"a":1}{"b":2}']
)
def test_an_answer_that_an_agent_could_misread_is_noticed(answer: bytes) -> None:
    with pytest.raises((ValueError, TypeError)):
        hooks.check_answer(answer)


def test_settings_that_are_nested_too_deeply_are_a_message(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_bytes(b"live = " + b"{a=" * 5_000)
    with pytest.raises(UserError, match="nested too deeply"):
        load_actions(str(tmp_path))

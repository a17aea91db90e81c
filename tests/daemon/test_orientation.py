"""Files that are named with a prompt: by the engine, once, in time, at random, and not at all where that is turned off."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from preheat.app.experiments.assignment import make_key
from preheat.app.live.hooks import Hooks, NamedFiles
from preheat.app.live.running import RunningSession
from preheat.daemon.engine import Engine
from preheat.daemon.time_limit import Overrun
from preheat.daemon_client import prepare_folder
from preheat.model.live import HookEvent
from preheat.state import experiments
from preheat.state.connect import reading
from tests.daemon.builders import AGENT, PatientTimeLimit, edited, learned, prompted, ran, started

PROMPT = "the checkout step forgets the coupon"
MakeEngine = Callable[[str], Engine]


@pytest.fixture
def project(tmp_path: Path) -> str:
    """A project in which four sessions changed one file."""
    found = tmp_path / "shop"
    (found / ".git").mkdir(parents=True)
    (found / "src").mkdir()
    (found / "src" / "checkout.py").write_text("def pay(): ...\n")
    (found / "src" / "coupon.py").write_text("def redeem_coupon(): ...\n")
    learned(str(tmp_path / "data"), str(found), str(tmp_path))
    return str(found)


@pytest.fixture
def make_engine(tmp_path: Path, project: str) -> MakeEngine:
    def make(settings: str = "[experiment]\nholdout = 0.0\n") -> Engine:
        data = str(tmp_path / "data")
        Path(data, "settings.toml").write_text(settings)
        hooks = Hooks(data)
        hooks.prepare_folder(project)
        if not hooks.can_name_files(project):
            hooks.prepare_naming(project)
        return Engine(prepare_folder(data), hooks, PatientTimeLimit())

    return make


def said(answer: bytes) -> str:
    return str(json.loads(answer)["hookSpecificOutput"]["additionalContext"]) if answer else ""


def ask(engine: Engine, payload: bytes, at: float) -> str:
    return said(engine.handle(AGENT, payload, at))


def test_the_files_of_similar_work_come_with_the_prompt(make_engine: MakeEngine, project: str) -> None:
    engine = make_engine("")
    engine.handle(AGENT, started(cwd=project), 1.0)
    text = ask(engine, prompted(PROMPT, cwd=project), 2.0)
    assert "<preheat-orientation>" in text
    assert "`src/checkout.py`" in text
    assert engine.counts["orientations"] == 1


def test_nothing_is_named_for_a_prompt_that_says_nothing(make_engine: MakeEngine, project: str) -> None:
    engine = make_engine("")
    engine.handle(AGENT, started(cwd=project), 1.0)
    assert ask(engine, prompted("yes, go on", cwd=project), 2.0) == ""


def test_the_same_files_are_not_named_twice(make_engine: MakeEngine, project: str) -> None:
    engine = make_engine("")
    engine.handle(AGENT, started(cwd=project), 1.0)
    assert ask(engine, prompted(PROMPT, cwd=project), 2.0)
    assert ask(engine, prompted("and the checkout step again, with two coupons", cwd=project), 60.0) == ""
    again = make_engine("")
    assert "src/checkout.py" in again.sessions.get(AGENT, "s1").oriented


def test_what_the_session_has_opened_is_known(make_engine: MakeEngine, project: str) -> None:
    engine = make_engine("")
    engine.handle(AGENT, started(cwd=project), 1.0)
    engine.handle(AGENT, ran(1, "cat src/checkout.py", "def pay(): ...", cwd=project), 2.0)
    assert "src/checkout.py" in engine.sessions.get(AGENT, "s1").opened
    assert "`src/checkout.py`" not in ask(engine, prompted(PROMPT, cwd=project), 3.0)


def test_changed_files_are_remembered(make_engine: MakeEngine) -> None:
    engine = make_engine("")
    engine.handle(AGENT, edited(1, "src/coupon.py"), 1.0)
    running = engine.sessions.get(AGENT, "s1")
    assert len(running.edited) == len(running.opened) == 1
    assert running.edited[0].endswith("src/coupon.py")


def test_one_setting_turns_it_off(make_engine: MakeEngine, project: str) -> None:
    engine = make_engine("[live]\norientation = false\n")
    engine.handle(AGENT, started(cwd=project), 1.0)
    assert ask(engine, prompted(PROMPT, cwd=project), 2.0) == ""
    assert engine.counts["orientations"] == 0


def test_a_prompt_does_not_wait_for_it(tmp_path: Path, project: str) -> None:
    """A look-up that takes too long gives nothing, and the prompt is recorded all the same."""

    class Slow(Hooks):
        def name_files(self, event: HookEvent, running: RunningSession, told: Sequence[str] = ()) -> NamedFiles | None:
            raise Overrun

    data = str(tmp_path / "data")
    engine = Engine(prepare_folder(data), Slow(data), PatientTimeLimit())
    engine.handle(AGENT, started(cwd=project), 1.0)
    assert ask(engine, prompted(PROMPT, cwd=project), 2.0) == ""
    assert "checkout" in engine.sessions.get(AGENT, "s1").words


def test_it_is_withheld_at_random_and_that_is_stored(make_engine: MakeEngine, project: str, tmp_path: Path) -> None:
    make_key(str(tmp_path / "data"))
    engine = make_engine("[experiment]\nholdout = 0.01\nwithhold_advice = 0.5\n")
    texts = []
    for number in range(40):
        engine.handle(AGENT, started(f"s{number}", cwd=project), number * 10.0)
        texts.append(ask(engine, prompted(PROMPT, f"s{number}", cwd=project), number * 10.0 + 5))
    with reading(str(tmp_path / "data")) as state:
        drawn = experiments.advice_assignments(state)
    assert {each.signal for each in drawn} == {"orientation"}
    assert 0 < sum(each.shown for each in drawn) < len(drawn)
    assert sum(map(bool, texts)) == engine.counts["orientations"] == sum(each.shown for each in drawn)

"""Every moment in every agent, with the real programs: what the scripted model received is what the agent's folder declares, and
two sessions at once, one of them in a git worktree, each have their own context and their own advice."""

import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from preheat import daemon_client
from preheat.agents import hooks_of
from preheat.testing.model_server import Reply
from scripts.make_moments import load_recording
from tests.daemon.builders import RIGHT, WRONG, daemon, learned
from tests.programs import codex, copilot, gemini, hermes, opencode
from tests.programs.machines import MACHINES, Conversation, Machine
from tests.programs.moments import THERE, ObservedMoments, observe, observe_guess, without_sentences
from tests.shared import real_program

pytestmark = pytest.mark.program

FIND: dict[str, Callable[[], str | None]] = {
    "codex": codex.find_codex,
    "opencode": opencode.find_opencode,
    "gemini": gemini.find_gemini,
    "copilot": copilot.find_copilot,
    "hermes": hermes.find_hermes,
}


@pytest.fixture(params=FIND)
def agent(request: pytest.FixtureRequest) -> str:
    real_program(FIND[request.param](), request.param)
    return str(request.param)


def test_texts_reach_the_model_at_the_moments_that_the_agent_declares(agent: str, tmp_path: Path) -> None:
    """Start, prompt, before a call, after one, after a tool's error, resumption and compaction, each by the model's own log. A
    program that does more or less than it is declared to do fails here, and so does a table that says otherwise."""
    hooks = hooks_of(agent)
    assert hooks is not None
    declared = ObservedMoments(**{name: getattr(hooks.moments, name) for name in ObservedMoments._fields})
    assert observe(agent, tmp_path) == declared


@pytest.mark.parametrize("hold", [False, True], ids=["warned", "held"])
def test_a_call_that_is_known_to_fail_is_warned_of_or_held_once_in_the_recorded_words(
    agent: str, hold: bool, tmp_path: Path
) -> None:
    """Without `hold` the call runs, and the reason comes with its result; with it the first such call does not run, and the same
    call passes when it comes again. What came of it stands in the receipt."""
    seen = observe_guess(agent, tmp_path, hold)
    recorded = load_recording()[agent]["held" if hold else "warned"]
    assert without_sentences(seen.words) == without_sentences(recorded)
    assert any("No such file" in line for line in seen.first) is not hold
    assert any("No such file" in line for line in seen.second)
    assert any(THERE in line for line in seen.first)
    assert not any(THERE in line for line in seen.second)
    assert (seen.held.held, seen.held.failed, seen.held.succeeded) == ((1, 1, 0) if hold else (0, 0, 0))
    (text,) = (text for session in seen.receipts.sessions for text in session.receipt.texts)
    outcomes = {"hold": "failed", "warning": "failed", "answer": "followed"}
    assert (text.kind == "hold", text.outcome) == (hold, outcomes[text.kind])


def test_two_sessions_at_once_have_their_own_context_and_advice(agent: str, tmp_path: Path) -> None:
    """One daemon, two programs at the same time, one of them in a git worktree: both start with what the project's sessions found
    out, the one that makes a known mistake is told of it, and the other hears nothing of that. The one resumed has its context
    before it once."""
    data = str(tmp_path / "data")
    first = MACHINES[agent](tmp_path / "one", data)
    second = MACHINES[agent](tmp_path / "two", data, add_worktree(first.project, tmp_path / "tree"))
    learned(data, first.project, str(tmp_path / "earlier"))
    # What comes with a prompt has a time limit, so that it is there or not on a busy machine.
    Path(data, "settings.toml").write_text("[experiment]\nholdout = 0\n[live]\norientation = false\n")
    for machine in (first, second):
        machine.install()
    with daemon(data):
        with ThreadPoolExecutor(2) as pool:
            mistaken, careful = pool.map(run_session, (first, second), (WRONG, "echo fine"))
        resumed = first.run("Go on.", [Reply("Yes.")], resume=mistaken.session)
        status = daemon_client.status(data)
    starts = [each.requests[0] for each in (mistaken, careful, resumed)]
    assert [start.count("preheat-context id=") for start in starts] == [1, 1, 1]
    assert all(RIGHT in start for start in starts)
    assert mistaken.session != careful.session
    assert ["preheat-advisory" in each.requests[-1] for each in (mistaken, careful)] == [True, False]
    assert RIGHT in mistaken.requests[-1].partition("preheat-advisory")[2]
    assert (status["advisories"], status["troubles"]) == (1, [])


def run_session(machine: Machine, command: str) -> Conversation:
    calls = [Reply(calls=[machine.shell(each)]) for each in ("ls", command)]
    return machine.run("Make the next checkout step work.", [*calls, Reply("Done.")])


def add_worktree(project: str, path: Path) -> str:
    """A git repository in the project's folder, and a worktree of it."""
    git = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", "-C", project]
    for words in (
        ["init", "-q"],
        ["commit", "-q", "--allow-empty", "-m", "Begin"],
        ["worktree", "add", "-q", str(path)],
    ):
        subprocess.run([*git, *words], check=True, capture_output=True)
    return str(path)

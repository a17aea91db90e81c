"""Runs of a lab with our own loop, against the scripted model: limits, set-ups, isolation, and what is left behind."""

import json
import os
import tempfile
from pathlib import Path

import msgspec
import pytest

from preheat.agents.headless import headless_of
from preheat.app.lab.labs import Labs, make_bench, make_sources
from preheat.app.sessions.archive import sync
from preheat.errors import UserError
from preheat.lab.plan import LabPlan
from preheat.lab.prepare import LabRequest, prepare_plan, with_suite_settings
from preheat.lab.state import Lab, RunInProgress, RunResult
from preheat.lab.suite import Suite, Task, read_suite
from preheat.model.headless import Endpoint
from preheat.model.progress import SILENT, Progress
from preheat.testing.builders import ClaudeTranscript
from preheat.testing.model_server import Call, ModelServer, Reply, Request


class Setting:
    """A machine with nothing on it, and the runs of a suite there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = str(folder / "preheat")
        self.known = str(folder / "known.md")
        (folder / "known.md").write_text("- It is done by `touch done.txt`\n")
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PERSONAL": "mine", "KEY": "hush"}

    @property
    def labs(self) -> Labs:
        return Labs(self.data, self.environment)

    def run(
        self, server: ModelServer, *tasks: Task, progress: Progress = SILENT, keep_in: str = "", **more: object
    ) -> tuple[RunResult, ...]:
        settings: dict[str, object] = {"endpoint": server.url, "model": "scripted", "context": self.known, "key": "KEY"}
        wanted = LabRequest(**{**settings, **more})  # type: ignore[arg-type]
        return self.labs.run(Suite("s", tasks), wanted, keep_in=keep_in, progress=progress).run_results


@pytest.fixture
def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Setting:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    return Setting(tmp_path)


def prepare(setting: Setting, wanted: LabRequest) -> LabPlan:
    suite, lab = Suite("s", (Task(id="a", prompt="x", verify="true"),)), Lab(os.path.join(setting.data, "lab", "s"))
    bench = make_bench(setting.data, wanted, setting.environment)
    return prepare_plan(lab, "s", suite, wanted, bench, make_sources(setting.data, wanted))


def bash(command: str) -> Reply:
    return Reply(calls=[Call("bash", {"command": command})])


def test_an_agent_sees_neither_the_persons_home_nor_another_run(setting: Setting) -> None:
    """Neither their variables nor their home, and nothing that another arm left."""

    def decide(request: Request) -> Reply:
        body = json.dumps(request.body)
        return (
            Reply("Done.") if "returncode" in body else bash('env; ls -A "$HOME" . ; touch left.txt "$HOME/left.txt"')
        )

    with ModelServer(decide=decide) as server:
        tried = setting.run(server, Task(id="look", prompt="Look.", verify="true"))
        bodies = [
            json.dumps(request.body) for request in server.main_requests if "returncode" in json.dumps(request.body)
        ]
    assert len(tried) == len(bodies) == 2
    for each in bodies:
        assert "PERSONAL" not in each
        assert str(setting.folder / "known.md") not in each
        assert each.count("left.txt") == 2  # in the command itself
        assert f"HOME={setting.folder}\\n" not in each
    assert os.listdir(setting.folder / "scratch") == []


def test_the_model_is_not_asked_where_the_set_up_fails(setting: Setting) -> None:
    """The task is named with the reason; the others go on."""
    with ModelServer(decide=lambda request: Reply("Done.")) as server:
        broken = Task(id="broken", prompt="x", setup="echo no such branch >&2; false", verify="true")
        tried = setting.run(server, broken, Task(id="good", prompt="y", verify="true"))
        assert len(server.main_requests) == 2
    assert {each.status for each in tried if each.task == "broken"} == {"not set up"}
    assert {each.note for each in tried if each.task == "broken"} == {"no such branch"}
    assert {each.status for each in tried if each.task == "good"} == {"passed"}


def test_a_set_up_or_a_verify_that_runs_out_of_time_says_so(setting: Setting) -> None:
    """With what it had printed until then; neither looks like a task that was not done."""
    with ModelServer(decide=lambda request: Reply("Done.")) as server:
        tried = setting.run(
            server,
            Task(id="set", prompt="x", setup="echo fetching; sleep 3600", verify="true", timeout=3.0),
            Task(id="verify", prompt="y", verify="printf '\\033[1mlooking\\033[0m\\n'; sleep 3600", timeout=3.0),
        )
    assert {(each.task, each.status, each.note) for each in tried} == {
        ("set", "not set up", "fetching; ran out of time after 3 s"),
        ("verify", "verify timed out", "looking; ran out of time after 3 s"),
    }


def test_a_run_without_an_answer_says_that_it_ran_out_of_time(setting: Setting) -> None:
    """The model took longer than the task may: that is what the message must give as the reason."""
    slow = Task(id="slow", prompt="x", verify="true", timeout=1.0)
    message = r"got no answer of the model at .* in 3 runs.*ran out of time after 1 s"
    with (
        ModelServer(decide=lambda request: Reply("Done.", delay=30.0)) as server,
        pytest.raises(UserError, match=message),
    ):
        setting.run(server, slow, repeats=2)


def test_the_folders_of_every_run_can_be_kept(setting: Setting, tmp_path: Path) -> None:
    """Arms of a task work under one name, one after the other; what is kept has the files of each."""
    kept = tmp_path / "kept"
    with ModelServer(
        decide=lambda request: Reply("Done.") if "returncode" in json.dumps(request.body) else bash("touch done.txt")
    ) as server:
        setting.run(server, Task(id="a", prompt="x", verify="true"), keep_in=str(kept))
    found = {path.parent.parent.parent.name for path in (kept / "runs").rglob("done.txt")}
    assert found == {"a.1.cold", "a.1.warm"}


def test_wrong_settings_are_refused_also_where_the_lab_exists(setting: Setting) -> None:
    """What is wrong comes before that another lab has the name."""
    task = Task(id="a", prompt="x", verify="true")
    with ModelServer(decide=lambda request: Reply("Done.")) as server:
        setting.run(server, task)
        with pytest.raises(UserError, match="no metric `joy` in the lab; there are success, mistakes"):
            setting.run(server, task, metric="joy")
        with pytest.raises(UserError, match="there is no arm `hot`"):
            setting.run(server, task, arms=("cold", "hot"))


def test_a_name_that_leaves_the_folder_is_refused(setting: Setting) -> None:
    """Also where only the plan is shown."""
    suite = Suite("s", (Task(id="a", prompt="x", verify="true"),))
    with ModelServer(decide=lambda request: Reply("Done.")) as server:
        wanted = LabRequest(endpoint=server.url, model="m", context=setting.known)
        for make in (setting.labs.run, setting.labs.plan):
            with pytest.raises(UserError, match=r"`\.\.` cannot be a lab's name"):
                make(suite, wanted, "..")


def test_the_plan_lists_the_limits_that_an_agent_does_not_enforce(setting: Setting) -> None:
    """Our own loop to both; of the programs some to turns, none to tokens."""
    suite = Suite("s", (Task(id="a", prompt="x", verify="true"),))
    for agent, loose in (
        ("chat", ()), ("hermes", ("tokens",)), ("mini_swe_agent", ("tokens",)), ("codex", ("turns", "tokens")),
        ("opencode", ("turns", "tokens")),
    ):  # fmt: skip
        wanted = LabRequest(
            endpoint="http://x/v1", model="m", context=setting.known, agent=agent, program="sh", turns=3, tokens=9
        )
        assert setting.labs.plan(suite, wanted).unenforced == loose


def test_limits_of_turns_tokens_and_time_end_a_run(setting: Setting) -> None:
    """Each ends a run, and the run says which one it was; what was done until then is verified."""
    endless = Task(id="endless", prompt="Go on.", verify="test -e done.txt")
    with ModelServer(decide=lambda request: bash("touch done.txt")) as server:
        assert {(each.ending, each.status) for each in setting.run(server, endless, turns=3)} == {
            ("over its turns", "passed")
        }
    setting.data += "2"
    with ModelServer(decide=lambda request: bash("true")) as server:
        tried = setting.run(server, endless, tokens=300)
        assert {(each.ending, each.status) for each in tried} == {("over its tokens", "not passed")}
        assert {each.answers for each in tried} == {3}
    setting.data += "3"
    slow = Task(id="slow", prompt="Go on.", verify="true", timeout=1.0)
    with ModelServer(decide=lambda request: bash("sleep 3600")) as server:
        assert {each.ending for each in setting.run(server, slow, turns=2)} <= {"timed out", "over its turns"}


def test_invalid_calls_are_answered_with_an_error(setting: Setting) -> None:
    """A tool that does not exist, and arguments that are no JSON, come back as errors; the judge sees them as mistakes."""
    script = [
        Reply(calls=[Call("python", {"code": "1"})]), Reply(calls=[Call("bash", "{not json")]), Reply("Done."),
    ] * 2  # fmt: skip
    with ModelServer(script) as server:
        tried = setting.run(server, Task(id="odd", prompt="x", verify="true"))
        answers = json.dumps(server.main_requests[2].body)
    assert "there is no tool `python`" in answers
    assert "the arguments are no JSON object" in answers
    assert {each.status for each in tried} == {"passed"}


def test_finished_runs_are_not_run_again(setting: Setting) -> None:
    """Interrupted after the first run, it goes on with the second; the contexts are those of the first start."""

    class Impatient(Progress):
        def advance(self, amount: float = 1, note: str = "") -> None:
            raise KeyboardInterrupt

    tasks = (Task(id="a", prompt="x", verify="true"), Task(id="b", prompt="y", verify="true"))
    with ModelServer(decide=lambda request: Reply("Done.")) as server:
        with pytest.raises(KeyboardInterrupt):
            setting.run(server, *tasks, progress=Impatient())
        (setting.folder / "known.md").write_text("- Something else\n")
        tried = setting.run(server, *tasks)
        assert len(server.main_requests) == 4
        assert len(tried) == 4
        with_context = [request for request in server.main_requests if "preheat-context" in json.dumps(request.body)]
        assert len(with_context) == 2
        assert all("touch done.txt" in json.dumps(request.body) for request in with_context)
        with pytest.raises(UserError, match="was started in another way \\(4 of 4 runs are over\\)"):
            setting.run(server, *tasks, seed=7)
    assert os.listdir(setting.folder / "scratch") == []


def test_a_process_of_somebody_else_is_not_ended(setting: Setting, tmp_path: Path) -> None:
    """A number that now is another process's is left alone: it does not work below the lab's folder."""
    base = tmp_path / "scratch" / "preheat-lab-old"
    base.mkdir()
    lab = Lab(str(tmp_path / "preheat" / "lab" / "s"))
    with ModelServer(decide=lambda request: Reply("Done.")) as server:
        setting.run(server, Task(id="a", prompt="x", verify="true"))
        lab.store_running(RunInProgress(str(base), os.getpid()))
        setting.run(server, Task(id="a", prompt="x", verify="true"))
    assert not base.exists()
    assert lab.running() is None


def test_a_past_session_is_given_by_every_strategy(setting: Setting) -> None:
    """Each strategy's text reaches the model whole, and is as long as that strategy leaves it."""
    transcript = ClaudeTranscript(
        session="11111111-1111-4000-8000-000000000000", project="/home/dev/shop", started=1.7e9
    )
    transcript = transcript.prompt("Make it work")
    for number in range(30):
        transcript = transcript.answer(f"Step {number}.").run(
            f"make part-{number}", "\n".join(f"line {n}" for n in range(60))
        )
    path = transcript.answer("Done.").write(str(setting.folder / "projects"))
    sync(setting.data, files=[("claude_code", str(path))])
    key = "claude_code:11111111-1111-4000-8000-000000000000"
    with ModelServer(decide=lambda request: Reply("Done.")) as server:
        arms = ("none", "mask", "headtail", "markers")
        tried = setting.run(server, Task(id="a", prompt="x", verify="true"), arms=arms, session=key, context="")
    assert all(each.was_delivered and each.context for each in tried)
    tokens = {
        arm: by_task["a"].tokens for arm, by_task in Lab(os.path.join(setting.data, "lab", "s")).plan().contexts.items()
    }
    assert tokens["none"] > tokens["mask"] > 0
    assert tokens["none"] > tokens["markers"] > 0


def test_the_command_line_goes_before_the_suite(tmp_path: Path) -> None:
    """The command line goes before the suite; paths in a suite begin at its folder."""
    path = tmp_path / "x.yaml"
    path.write_text(
        "arms: [cold, k=1, 2]\nrepeats: 3\nmodel: theirs\ncontext: known.md\nplacebo: template:other\n"
        "defaults: {timeout: 9, verify: 'true'}\ntasks:\n  - {id: a, prompt: x, group: g}\n"
        "  - {id: b, prompt: y, verify: 'false'}\n"
    )
    suite = read_suite(str(path))
    found = with_suite_settings(suite, LabRequest(model="mine"))
    assert (found.arms, found.repeats, found.model) == (("cold", "k=1", "2"), 3, "mine")
    assert found.context == str(tmp_path / "known.md")
    assert found.placebo == "template:other"
    assert [(task.timeout, task.verify, task.group) for task in suite.tasks] == [(9, "true", "g"), (9, "false", "")]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (LabRequest(endpoint="", model="m"), "a lab asks one model"),
        (LabRequest(endpoint="ftp://x", model="m"), "is no address"),
        (LabRequest(endpoint="http://x/v1", model="m", metric="joy"), "no metric `joy`"),
        (LabRequest(endpoint="http://x/v1", model="m", metric="tokens"), "say it with `--margin`"),
        (LabRequest(endpoint="http://x/v1", model="m", give="file"), "reads no file by itself"),
        (LabRequest(endpoint="http://x/v1", model="m", key="NOT_SET"), "`NOT_SET` is not set"),
        (LabRequest(endpoint="http://x/v1", model="m", agent="pi"), "does not know how to give Pi"),
        (LabRequest(endpoint="http://x/v1", model="m", project="/no/such"), "is no folder"),
        (LabRequest(endpoint="http://x/v1", model="m", margin=float("nan")), "number above 0"),
    ],
)
def test_wrong_settings_are_refused_before_anything_runs(setting: Setting, wanted: LabRequest, message: str) -> None:
    """Each in one line, and nothing is written."""
    with pytest.raises(UserError, match=message):
        prepare(setting, msgspec.structs.replace(wanted, context=setting.known))
    assert not os.path.exists(os.path.join(setting.data, "lab"))


@pytest.mark.parametrize("agent", ["codex", "hermes", "opencode", "mini_swe_agent"])
def test_no_key_is_written_to_a_file(agent: str) -> None:
    """Only the name of the variable is."""
    headless = headless_of(agent)
    assert headless is not None
    assert headless.set_up is not None
    settled = headless.set_up(Endpoint("http://x/v1", "m", "KEY"), "/home/x", {"KEY": "hush"})
    assert "hush" not in str(settled.files) + str(settled.options)

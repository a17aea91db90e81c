"""A training from the first task to the template, with a stand-in for the agent's program."""

import os

import pytest

from preheat.app.lab.training import train
from preheat.errors import UserError
from preheat.lab.suite import Task
from preheat.lab.training import TrainingPlan, TrainingState, load_state, save_state, state_path
from preheat.model.progress import Progress
from preheat.templates.store import TemplateStore
from tests.lab.training_fixtures import Machine, suite

BUILD = Task(
    id="build",
    prompt="sh: make -f nothing.mk\nsh: make -f build.mk all",
    setup="printf 'all:\\n\\techo built\\n' > build.mk",
)
WRITE = Task(id="write", prompt="sh: printf hello | tee greeting.txt", verify="grep -q hello greeting.txt")
WRONG = Task(id="wrong", prompt="sh: printf hallo > greeting.txt", verify="grep -q hello greeting.txt")
CRASH = Task(id="crash", prompt="crash")


def test_calls_of_a_training_become_a_template(machine: Machine) -> None:
    """The examples are calls that the runs really made, with what really came back; their evidence is in the archive."""
    outcome = train(machine.folder, "basics", suite(BUILD, WRITE), machine.plan)
    assert [(ran.task, ran.status) for ran in outcome.runs] == [("build", "done"), ("write", "verified")]
    kept = TemplateStore(machine.folder).find("basics")
    assert kept.digest == outcome.digest
    examples = {str(lesson.example.arguments): lesson for lesson in kept.template.lessons if lesson.example is not None}
    built = examples["{'command': 'make -f build.mk all'}"]
    assert built.example is not None
    assert "built" in built.example.result
    assert [each.session for each in built.evidence] == outcome.sessions["build"]
    assert kept.template.sources == tuple(sorted(key for keys in outcome.sessions.values() for key in keys))
    assert TemplateStore(machine.folder).history("basics")[-1].action == "trained"


def test_no_path_of_a_task_folder_gets_into_the_template(machine: Machine) -> None:
    """They are thrown away: a path below them means nothing to anybody."""
    here = Task(id="here", prompt='sh: make -f "$PWD/build.mk" all', setup=BUILD.setup)
    train(machine.folder, "basics", suite(BUILD, here), machine.plan)
    template = TemplateStore(machine.folder).find("basics").template
    assert "preheat-train-" not in str([lesson.example for lesson in template.lessons])
    assert "preheat-train-" not in str([(lesson.text, lesson.use, lesson.files) for lesson in template.lessons])


def test_every_prompt_carries_the_mark(machine: Machine) -> None:
    """Ordinary learning and measuring leave the sessions out that Preheat started itself."""
    train(machine.folder, "basics", suite(BUILD), machine.plan)
    assert machine.prompts()[0].startswith('<preheat-run training="')


def test_a_task_that_did_not_end_well_teaches_nothing(machine: Machine) -> None:
    """Its session is not learned from, and the template says how many were left out and why."""
    outcome = train(machine.folder, "basics", suite(BUILD, WRONG, CRASH), machine.plan)
    assert [ran.status for ran in outcome.runs] == ["done", "not verified", "failed"]
    assert set(outcome.sessions) == {"build"}
    assert outcome.template.extraction.skipped == {"failed": 1, "not verified": 1}
    assert "the model is not there" in outcome.runs[2].note


def test_a_task_that_runs_out_of_time_says_in_which_step(machine: Machine) -> None:
    """A set-up, the agent and a verify are told apart, each with the seconds it had."""
    late = Task(id="late", prompt=WRITE.prompt, verify="echo looking; sleep 3600", timeout=10.0)
    stuck = Task(id="stuck", prompt="sh: true", setup="sleep 3600", timeout=1.0)
    outcome = train(machine.folder, "basics", suite(BUILD, late, stuck), machine.plan)
    assert [(ran.status, ran.note) for ran in outcome.runs[1:]] == [
        ("verify timed out", "looking; ran out of time after 10 s"),
        ("not set up", "ran out of time after 1 s"),
    ]


def test_nothing_is_kept_if_no_task_ends_well(machine: Machine) -> None:
    with pytest.raises(UserError, match="no task ended well: nothing was kept; `crash`: failed"):
        train(machine.folder, "basics", suite(CRASH, WRONG), machine.plan)
    assert TemplateStore(machine.folder).names() == []


def test_nothing_is_kept_if_nothing_was_done(machine: Machine) -> None:
    """An agent that only answers has shown no call."""
    with pytest.raises(UserError, match="worth keeping"):
        train(machine.folder, "basics", suite(Task(id="talk", prompt="Say hello.")), machine.plan)


def test_an_interrupted_training_goes_on(machine: Machine) -> None:
    """What ended well is not run again; what is kept at the end has all of it."""

    class Impatient(Progress):
        def advance(self, amount: float = 1, note: str = "") -> None:
            raise KeyboardInterrupt

    tasks = suite(BUILD, WRITE)
    with pytest.raises(KeyboardInterrupt):
        train(machine.folder, "basics", tasks, machine.plan, progress=Impatient())
    assert len(machine.prompts()) == 1
    outcome = train(machine.folder, "basics", tasks, machine.plan)
    assert len(machine.prompts()) == 2
    assert set(outcome.sessions) == {"build", "write"}
    assert not os.path.exists(state_path(machine.folder, "basics"))


def test_a_state_of_another_setting_is_not_used(machine: Machine) -> None:
    """A run with another model is another run."""
    path = state_path(machine.folder, "basics")
    save_state(path, TrainingState("old", "run", "/nowhere"))
    assert load_state(path, "old") == TrainingState("old", "run", "/nowhere")
    assert load_state(path, "new") is None
    assert os.stat(path).st_mode & 0o077 == 0


def test_a_damaged_state_is_ignored(machine: Machine) -> None:
    path = state_path(machine.folder, "basics")
    save_state(path, TrainingState("old", "run", "/nowhere"))
    with open(path, "w", encoding="utf-8") as stream:
        stream.write('{"setting": ')
    assert load_state(path, "old") is None


def test_a_program_that_does_not_end_is_ended(machine: Machine) -> None:
    """And with it what it started; the other tasks go on."""
    slow = Task(id="slow", prompt="sleep", timeout=1.5)
    outcome = train(machine.folder, "basics", suite(slow, BUILD), machine.plan)
    assert [ran.status for ran in outcome.runs] == ["timed out", "done"]


def test_the_agent_is_not_asked_where_the_set_up_fails(machine: Machine) -> None:
    """The agent is not asked for a task whose setup fails: it would work in the wrong place."""
    broken = Task(id="broken", prompt="sh: true", setup="false\ntrue")
    outcome = train(machine.folder, "basics", suite(broken, BUILD), machine.plan)
    assert outcome.runs[0].status == "not set up"
    assert len(machine.prompts()) == 1


def test_tasks_work_in_copies_of_a_project(machine: Machine, tmp_path: object) -> None:
    """The project itself is not touched, and the template is called by its name."""
    project = os.path.join(str(tmp_path), "shop")
    os.makedirs(os.path.join(project, "src"))
    with open(os.path.join(project, "build.mk"), "w", encoding="utf-8") as stream:
        stream.write("all:\n\techo built\n")
    plan = machine.plan._replace(project=project)
    outcome = train(
        machine.folder, "basics", suite(Task(id="b", prompt="sh: make -f build.mk all | tee made.txt")), plan
    )
    assert outcome.template.project == "shop"
    assert sorted(os.listdir(project)) == ["build.mk", "src"]
    assert not os.path.exists(outcome.runs[0].folder)


def test_the_folders_stay_if_they_are_wanted(machine: Machine) -> None:
    plan: TrainingPlan = machine.plan._replace(keep_work=True)
    outcome = train(machine.folder, "basics", suite(WRITE), plan)
    with open(os.path.join(outcome.runs[0].folder, "greeting.txt"), encoding="utf-8") as stream:
        assert stream.read() == "hello"


def test_an_invalid_name_is_refused_before_anything_runs(machine: Machine) -> None:
    with pytest.raises(UserError):
        train(machine.folder, "../up", suite(BUILD), machine.plan)
    assert machine.prompts() == []

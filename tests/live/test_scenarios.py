"""Whole sessions, turn by turn, with what the agent would see: the user's worked example, its three scenarios, and the
healthy ones in which nothing is said."""

import pytest

from preheat.live.advice import step
from preheat.live.state import START, LiveState, reading, readings
from preheat.model.live import Advisory, LiveEvent
from tests.live.builders import (
    TALKATIVE,
    asked,
    began,
    checked,
    compacted,
    edited,
    polled,
    ran,
    read,
    searched,
    stopped,
)


class Session:
    """A session that is played event by event; every signal may advise."""

    def __init__(self) -> None:
        self.state: LiveState = START
        self.said: list[Advisory] = []

    def play(self, *events: LiveEvent) -> list[str]:
        """Plays events and gives what was said, as signals."""
        before = len(self.said)
        for event in events:
            self.state, advisory = step(self.state, event, TALKATIVE)
            if advisory is not None:
                self.said.append(advisory)
        return [each.signal for each in self.said[before:]]

    def value(self, signal: str) -> float:
        return next(each.value for each in readings(self.state) if each.signal == signal)

    @property
    def phase(self) -> str:
        return self.state.phase.phase


BORROWED = "error[E0597]: borrowed value does not live long enough"


def test_the_worked_example_of_the_docs_gives_its_readings() -> None:
    """Silent through warmup and at two unverified files; at six files an advisory; at the third round of build and failure on
    the same error a loop advisory; green tests, and trust recovers in silence."""
    session = Session()
    session.play(began(), asked("let the parser keep comments, in src/parser/lexer.rs"))
    # Warmup: looking around.
    assert (
        session.play(
            read("src/parser/lexer.rs"), read("src/parser/token.rs"), searched("Comment"), read("src/parser/ast.rs")
        )
        == []
    )
    assert session.play(read("src/parser/mod.rs")) == []
    assert (session.state.turn, session.phase) == (5, "warmup")
    # Two unverified files.
    assert session.play(edited("src/parser/lexer.rs"), edited("src/parser/token.rs")) == []
    assert (session.phase, session.value("debt"), session.value("trust")) == ("productive", 2, 100)
    # Four more, one of them with a look at another before.
    assert session.play(edited("src/parser/ast.rs"), edited("src/parser/mod.rs"), edited("src/parser/tree.rs")) == []
    assert session.play(read("src/parser/print.rs"), edited("src/parser/print.rs")) == []
    assert session.value("debt") == 6
    assert session.play(read("src/parser/print.rs", "end")) == ["debt"]
    assert session.value("trust") == 88
    text = session.said[-1].text
    assert "6 source files" in text
    assert "`src/parser/print.rs`" in text
    # It builds, and the borrow checker objects: three rounds on the same error.
    failing = checked("build", ok=False, signature=BORROWED, command="cargo build")
    assert session.play(failing) == []
    assert session.play(edited("src/parser/lexer.rs"), failing) == []
    assert session.play(edited("src/parser/lexer.rs"), failing) == ["loop"]
    assert session.play(read("src/parser/lexer.rs", "40-60")) == []
    assert session.phase == "struggling"
    assert "cargo build" in session.said[-1].text
    assert "E0597" in session.said[-1].text
    low = session.value("trust")
    assert low < 88
    # Green: all is proved, trust recovers, nothing more is said.
    assert (
        session.play(
            edited("src/parser/lexer.rs"),
            checked("build", command="cargo build"),
            checked("test", command="cargo test"),
        )
        == []
    )
    assert session.value("debt") == 0
    assert session.value("trust") > low
    assert (
        session.play(*[read(f"src/parser/{name}.rs", "top") for name in ("ast", "mod", "tree", "print")], stopped())
        == []
    )
    assert session.value("trust") == 100
    assert session.phase == "productive"


def test_work_that_leaves_the_auth_endpoint_loses_focus() -> None:
    session = Session()
    session.play(began(), asked("add a refresh endpoint to the session api"))
    session.play(
        *[read(f"src/auth/{name}.py") for name in ("login", "token", "session", "routes")], read("src/db/session.py")
    )
    session.play(
        *[edited(f"src/auth/{name}.py") for name in ("routes", "token", "session", "routes", "token", "session")]
    )
    assert session.value("focus") > 90
    said = session.play(
        edited("src/db/session.py"), edited("src/mail/send.py"), edited("src/ui/form.py"), edited("src/db/session.py"),
        edited("src/mail/send.py"), edited("src/ui/form.py"), edited("src/jobs/expire.py"), edited("src/metrics/count.py"),
    )  # fmt: skip
    assert session.value("focus") < 40
    assert said == ["debt", "focus"]
    assert "Focus fell from 94 to 35 of 100 in the last 19 file touches" in session.said[-1].text
    assert "A check of what was begun in `auth`" in session.said[-1].text
    assert session.play(edited("src/metrics/count.py"), edited("src/jobs/expire.py")) == []


def test_a_fall_of_focus_is_advised_without_debt() -> None:
    session = Session()
    session.play(began(), asked("rename the tenant identifier everywhere in the templates"))
    session.play(*[edited("web/auth/login.html") for _ in range(12)])
    said = session.play(
        *[edited(f"web/{name}/page.html") for name in ("mail", "search", "shop", "admin") for _ in range(3)]
    )
    assert said == ["focus"]
    assert "Focus fell from 100 to " in session.said[-1].text
    assert session.play(*[edited(f"web/{name}/page.html") for name in ("blog", "help") for _ in range(3)]) == []


def test_four_build_failures_on_lifetimes_with_the_first_coming_back() -> None:
    """A, B, C, A: the error that was gone is back, and the text says so."""
    session = Session()
    session.play(began(), asked("make the cache hand out references, src/cache/store.rs"))
    session.play(*[read(f"src/cache/{name}.rs") for name in ("store", "entry", "mod", "key", "test_data")])
    session.play(read("src/cache/evict.rs"))
    errors = [
        BORROWED,
        "error[E0499]: cannot borrow as mutable more than once",
        "error[E0716]: temporary dropped",
        BORROWED,
    ]
    said: list[str] = []
    for error in errors:
        said += session.play(
            edited("src/cache/store.rs"), checked("build", ok=False, signature=error, command="cargo build", failing=1)
        )
    said += session.play(edited("src/cache/store.rs"))
    assert said == ["loop"]
    assert "is back" in session.said[-1].text
    assert session.state.loop_cause


def test_eight_files_without_a_build_are_advised() -> None:
    session = Session()
    session.play(began(), asked("move every handler to the new router"))
    session.play(*[read(f"src/api/{number}.go") for number in range(6)])
    assert session.play(*[edited(f"src/api/{number}.go") for number in range(8)]) == ["debt"]
    assert "8 source files" in session.said[-1].text
    assert session.play(*[read(f"src/api/{number}.go", "end") for number in range(8, 12)]) == []


def test_test_driven_work_is_no_loop() -> None:
    session = Session()
    session.play(began(), asked("a calculator with brackets in src/calc/eval.py"))
    for number in range(40):
        said = session.play(
            edited("tests/calc/test_eval.py"),
            checked("test", ok=False, signature=f"assert {number} == None", failing=1),
            edited("src/calc/eval.py"),
            checked("test"),
        )
        assert said == []
    assert session.value("trust") == 100


def test_failures_that_get_fewer_cause_no_advisory() -> None:
    session = Session()
    session.play(began(), asked("port the importer to the new schema, src/importer/load.py"), *LOOKING)
    for left in range(12, 0, -1):
        assert (
            session.play(
                edited("src/importer/load.py"), checked("test", ok=False, signature="KeyError: id", failing=left)
            )
            == []
        )
    assert session.play(checked("test")) == []


LOOKING: list[LiveEvent] = [
    read(f"src/importer/{name}.py") for name in ("load", "schema", "rows", "cli", "errors", "main")
]


def test_polling_causes_no_advisory() -> None:
    session = Session()
    session.play(began(), asked("push the release branch and wait for the pipeline"), *LOOKING)
    assert session.play(*[polled() for _ in range(30)], polled(output="passed")) == []
    assert session.phase == "productive"


def test_a_debugger_causes_no_advisory() -> None:
    session = Session()
    session.play(began(), asked("find out why the worker hangs"), *LOOKING)
    said = session.play(*[ran("next", purpose="other", output=f"line {number}") for number in range(25)])
    assert said == []


def test_a_big_refactoring_with_checks_causes_no_advisory() -> None:
    session = Session()
    session.play(began(), asked("replace the logger in all packages"))
    for number in range(40):
        said = session.play(
            read(f"src/part{number // 4}/file{number}.go"), edited(f"src/part{number // 4}/file{number}.go")
        )
        assert said == []
        if number % 3 == 2:
            assert session.play(checked("build", command="go build ./...")) == []
    assert session.value("trust") > 80


def test_a_session_of_reads_causes_no_advisory() -> None:
    session = Session()
    session.play(began(), asked("how does a request travel through this program"))
    assert session.play(*[read(f"src/part{number}/main.py") for number in range(60)], stopped()) == []


def test_a_compaction_causes_no_advisory() -> None:
    session = Session()
    session.play(began(), asked("port the importer, src/importer/load.py"), *LOOKING)
    assert session.play(compacted(), began("compact"), *LOOKING, compacted(), *LOOKING) == []


@pytest.mark.parametrize("prompts", [1, 5])
def test_prompts_cause_no_advisory(prompts: int) -> None:
    session = Session()
    session.play(began())
    for number in range(prompts):
        session.play(asked(f"add the field number{number} to src/part{number}/form.py"))
        for name in ("form", "view", "rules"):
            assert session.play(read(f"src/part{number}/{name}.py"), edited(f"src/part{number}/{name}.py")) == []
        assert session.play(checked(), stopped()) == []
    assert reading(session.state, "focus").value == 100

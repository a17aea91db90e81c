"""Whatever somebody plants in sessions and templates, a model that Preheat gives texts to can read none of it as an order.

Two checks that know nothing of each other: no three words of a payload stand together in anything that is handed out, and every
line that is handed out could have been written by one of our sentences.
"""

import json
import os
import re
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from preheat.app import Preheat
from preheat.app.templates.sharing import answer_review, import_bytes
from preheat.model.lesson import LESSON_KINDS, CheckResult, Example, Lesson, ResumePacket, Scope, Support
from preheat.model.template import Template
from preheat.provisioning.lesson_text import describe_lesson
from preheat.safe_text.sentences import fit_slot, is_handed_out
from preheat.safe_text.slots import SLOTS
from preheat.templates.sharing import to_bytes
from tests.attacks.injections.payloads import FORMS, ORDERS, PAYLOADS, Payload, choose
from tests.attacks.injections.planted import HARMLESS, Attacked, find_leaks, plant
from tests.attacks.injections.planting import PLACES
from tests.attacks.injections.surfaces import encoded, handed_context, pieces, runs, template_surfaces

NUMBER = int(os.environ.get("PREHEAT_ATTACKS", "12"))
"""Payloads that are planted in whole sessions; `PREHEAT_ATTACKS=1000` plants all of them."""


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Attacked:
    return plant(str(tmp_path_factory.mktemp("attacked")), [HARMLESS, *(each.text for each in choose(NUMBER))])


def lines_of(text: str) -> Iterator[str]:
    """The lines of a rendered context between the marks and our heading."""
    for line in text.splitlines():
        line = line.strip().removeprefix("- ")
        if line and not line.startswith(("<preheat-", "</preheat-", "Observations from ")):
            yield line


# The set itself.
def test_there_are_enough_payloads_languages_forms_and_places() -> None:
    assert len({each.text for each in PAYLOADS}) >= 200
    assert len(ORDERS) >= 10
    assert len(FORMS) >= 12
    assert len(set(PLACES)) >= 12


# Planted in sessions.
def test_the_machine_teaches_something(attacked: Attacked) -> None:
    """Otherwise the tests below would prove nothing."""
    context = handed_context(attacked.home, attacked.projects[HARMLESS])
    assert len(context.items) >= 5
    assert "uv run pytest tests" in attacked.home.render(context).text


def test_no_three_words_of_a_payload_are_handed_out(attacked: Attacked) -> None:
    assert find_leaks(attacked) == []


def test_every_line_of_a_context_is_one_of_our_sentences(attacked: Attacked) -> None:
    for project in attacked.projects.values():
        for line in lines_of(attacked.home.render(handed_context(attacked.home, project)).text):
            assert is_handed_out(line), line


# Planted in imported templates.
def hostile_lessons(text: str) -> tuple[Lesson, ...]:
    """A lesson of each kind with a payload in every field."""
    packet = ResumePacket(
        session=text,
        goal=text,
        checks=(CheckResult(text, False, text), CheckResult("make", False, text)),
        failing=text,
        unverified=(text,),
        files=(text, "src/a.py"),
        dead_ends=(text,),
        next_command=text,
        branch=text,
        head=text,
    )
    return tuple(
        Lesson(
            id=f"{kind[0]}{place}{number}",
            kind=kind,
            scope=Scope(agent="", project="", tool=text),
            topic=topic,
            text=said,
            use=use,
            avoid=text,
            error=text,
            difference=text,
            steps=(text, "edit"),
            signatures=(text,),
            forms=(text, "make"),
            files=(text,),
            example=Example(text, {"command": text, text: text, "path": text}, text) if kind == "example" else None,
            packet=packet if kind == "resume" else None,
            recheck=text,
            environment={text: text},
            support=Support(9, 8, 0, 0),
            last_seen=1_770_000_000.0,
            score=0.9,
            reach=0.9,
        )
        for place, kind in enumerate(LESSON_KINDS)
        for number, (topic, use, said) in enumerate(
            (
                ("test", "make test", f"Tests run with `make test`. {text}"),
                (text, text, f"`{text}`"),
                ("correction", text, text),
                ("runner", "", f"The package runner is `{text}` (9 of 9 calls of such programs, 4 sessions)."),
                ("resume", "", f"Last session here:\nasked: {text}\nnext: `{text}`\nleft {text}"),
            )
        )
    )


@pytest.mark.parametrize("payload", PAYLOADS, ids=lambda each: each.name)
def test_a_lesson_with_a_payload_in_every_field_says_nothing_of_it(payload: Payload) -> None:
    wanted, dense, long = runs(payload.text), pieces(payload.text), encoded(payload.text)
    wanted -= runs("The package runner is npm (9 of 9 calls of such programs, 4 sessions).")
    for lesson in hostile_lessons(payload.text):
        said = describe_lesson(lesson)
        assert all(is_handed_out(line.strip()) for line in said.splitlines()), said
        assert not runs(said) & wanted, said
        assert not pieces(said) & dense, said
        assert not encoded(said) & long, said


@pytest.mark.parametrize("answer", ["accept", "accept-all"])
def test_an_imported_template_hands_out_none_of_its_words(
    tmp_path_factory: pytest.TempPathFactory, answer: str
) -> None:
    folder = str(tmp_path_factory.mktemp("imported"))
    home = Preheat(folder)
    for number, payload in enumerate(choose(NUMBER)):
        lessons = tuple(each for each in hostile_lessons(payload.text) if each.kind != "resume")
        template = Template(
            name=f"theirs{number}",
            description=payload.text,
            project=payload.text,
            agent=payload.text,
            tags=(payload.text,),
            markers=(payload.text,),
            lessons=lessons,
        )
        import_bytes(folder, to_bytes(template), "theirs.json")
        answer_review(folder, f"theirs{number}", answer)  # type: ignore[arg-type]
    whole = list(template_surfaces(home))
    assert whole
    for payload in choose(NUMBER):
        wanted = runs(payload.text) - runs("The package runner is npm (9 of 9 calls of such programs, 4 sessions).")
        for surface, text in whole:
            assert not runs(text) & wanted, (surface, payload.text)
            assert not pieces(text) & pieces(payload.text), (surface, payload.text)


# Anything at all.
_WILD = st.text(max_size=80) | st.sampled_from([each.text for each in PAYLOADS]) | st.builds(
    lambda before, payload, after: f"{before}{payload.text}{after}",
    st.sampled_from(["", "npm run ", "`", "ERROR: ", "src/", "--", "A=", "git commit -m '", "error TS2345: ", "(", "$("]),
    st.sampled_from(PAYLOADS),
    st.sampled_from(["", "`", ".py", "'", ": command not found", " 2>&1", ")", "\n"]),
)  # fmt: skip


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(_WILD)
def test_what_a_slot_gives_it_accepts_unchanged(text: str) -> None:
    for kind in SLOTS:
        fitted = fit_slot(kind, text)
        assert fit_slot(kind, fitted) == fitted, (kind, text, fitted)
        assert fitted.isprintable()
        assert "`" not in fitted or kind in ("difference", "error", "command")
        assert len(fitted) <= 260


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(_WILD)
def test_every_line_of_any_lesson_is_one_of_our_sentences(text: str) -> None:
    for lesson in hostile_lessons(text):
        said = describe_lesson(lesson)
        assert all(is_handed_out(line.strip()) for line in said.splitlines()), said
        assert not re.search(r"</?(?:preheat|system|script)|```", said, re.IGNORECASE), json.dumps(said)

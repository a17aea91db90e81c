"""Focus: how concentrated the work is."""

import pytest
from msgspec.structs import replace

from preheat.live.focus import FOCUS, effective_number, focus_score, subsystem_weights
from preheat.live.project_files import locate_file, subsystem_of
from preheat.live.signal import DEFAULTS
from preheat.model.live import LiveEvent
from tests.live.builders import asked, began, checked, edited, fold_signal, read, read_signal

AUTH = [edited("src/auth/login.py") for _ in range(12)]
SPREAD: list[LiveEvent] = [
    *AUTH,
    *[edited(f"src/{name}/a.py") for name in ("billing", "mail", "search", "ui") for _ in range(3)],
]


def test_work_in_one_subsystem_has_full_focus() -> None:
    """One folder, its tests included, is one subsystem: 100."""
    reading = read_signal(FOCUS, [*AUTH, read("tests/auth/test_login.py"), edited("tests/auth/test_login.py")])
    assert reading.value == pytest.approx(100)
    assert not reading.fired


@pytest.mark.parametrize(
    ("number", "value"),
    [(1, 100), (1.17, 90), (2, 63), (4, 40), (8, 25)],
)
def test_focus_follows_its_formula(number: float, value: int) -> None:
    assert round(focus_score(number)) == value


def test_the_effective_number_of_equal_shares_is_their_number() -> None:
    assert effective_number({"a": 2.0, "b": 2.0, "c": 2.0}) == pytest.approx(3)
    assert effective_number({}) == 1


def test_newer_touches_weigh_more_and_reads_less() -> None:
    found = subsystem_weights((("old", True), ("look", False), ("new", True)), 24)
    assert found == {"old": 22.0, "look": 23.0 * 0.25, "new": 24.0}


@pytest.mark.parametrize(
    ("path", "subsystem"),
    [
        ("src/auth/login.py", "auth"),
        ("internal/auth/token.go", "auth"),
        ("packages/auth/src/index.ts", "auth"),
        ("src/shop/auth/login.py", "shop/auth"),
        ("tests/auth/test_login.py", "auth"),
        ("src/auth/__tests__/login.test.ts", "auth"),
        ("main.py", None),
        ("docs/auth/guide.md", None),
        ("src/auth/settings.json", None),
        (".github/workflows/build.py", None),
        ("src/main.py", "."),
    ],
)
def test_a_subsystem_is_the_folder_of_a_module(path: str, subsystem: str | None) -> None:
    """Boxes such as `src` are taken off, tests belong to their module, documents and settings go along with any work."""
    found = locate_file(path)
    assert (found.subsystem if found else None) == subsystem


@pytest.mark.parametrize(
    ("path", "subsystem"),
    [
        ("tests/live/test_state.py", "preheat/live"),
        ("tests/test_live.py", "preheat/live"),
        ("tests/test_billing.py", ""),
        ("src/live/fold.py", "live"),
    ],
)
def test_a_test_belongs_to_the_subsystem_that_ends_with_its_path(path: str, subsystem: str) -> None:
    found = locate_file(path)
    assert found is not None
    assert subsystem_of(found, ("preheat/live",)) == subsystem


def test_a_fall_of_focus_fires_with_its_numbers() -> None:
    reading = read_signal(FOCUS, SPREAD)
    assert reading.fired
    assert reading.value < 40
    assert reading.text.startswith("Focus fell from 100 to ")
    assert "`auth`" in reading.text


def test_focus_does_not_fire_in_warmup() -> None:
    assert not read_signal(FOCUS, SPREAD, phase="warmup").fired


def test_a_wide_change_with_passing_checks_does_not_fire() -> None:
    checks = [event for edit in SPREAD for event in (edit, checked("test"))]
    reading = read_signal(FOCUS, checks)
    assert reading.value < 40
    assert not reading.fired


def test_work_that_was_wide_from_the_start_does_not_fire() -> None:
    names = ["auth", "billing", "mail", "search", "ui"]
    assert not read_signal(FOCUS, [edited(f"src/{names[number % 5]}/a.py") for number in range(24)]).fired


def test_reads_alone_do_not_fire() -> None:
    assert not read_signal(FOCUS, [read(f"src/{name}/{number}.py") for name in "abcdef" for number in range(4)]).fired


def test_a_prompt_with_a_goal_resets_focus() -> None:
    assert read_signal(FOCUS, [*SPREAD, asked("add an invoice export to billing")]).value == 100
    assert read_signal(FOCUS, [*SPREAD, asked("go on")]).value < 40


def test_a_switch_is_counted_once_for_each_opened_subsystem() -> None:
    events = [edited("src/a/x.py"), edited("src/b/x.py"), edited("src/a/x.py"), edited("src/b/y.py")]
    state = fold_signal(FOCUS, events)
    assert (state.switches, state.switched) == (1, 0)
    assert fold_signal(FOCUS, events[:2]).switched == 1
    assert fold_signal(FOCUS, [*events[:2], read("src/c/x.py")]).switches == 1
    assert fold_signal(FOCUS, [*events, began("clear")]).touches == ()


def test_focus_low_sets_the_focus_that_fires() -> None:
    assert not read_signal(FOCUS, SPREAD, thresholds=replace(DEFAULTS, focus_low=20.0)).fired


def test_focus_window_sets_the_number_of_touches() -> None:
    assert read_signal(FOCUS, SPREAD, thresholds=replace(DEFAULTS, focus_window=3)).value == pytest.approx(100)

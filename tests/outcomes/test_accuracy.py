"""The judge on real sessions: the bars of `benchmarks/outcomes.py`, on the part of the data that is read in seconds."""

import pytest

from benchmarks.labelled import labels
from benchmarks.outcomes import run
from preheat.model.outcome import CAUSES, FAILURES, STATUSES
from tests.shared import needs_corpus

pytestmark = needs_corpus


@pytest.fixture(scope="module")
def measured() -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = run(quick=True)
    return found


def test_with_everything_known_the_judge_agrees_with_the_programs(measured: dict[str, dict[str, float]]) -> None:
    assert measured["agreement"]["visible"] >= 0.99


def test_the_text_alone_is_enough(measured: dict[str, dict[str, dict[str, float]]]) -> None:
    assert measured["flags_hidden"]["all"]["f1"] >= 0.94
    assert measured["lines_hidden"]["all"]["f1"] >= 0.70


def test_reads_searches_and_listings_that_worked_are_not_called_failures(
    measured: dict[str, dict[str, dict[str, float]]],
) -> None:
    for look in ("flags_hidden", "lines_hidden"):
        counts = measured[look]["false_on_shown"]
        assert counts["false"] <= 0.01 * counts["calls"]


def test_the_labels_are_whole_and_enough() -> None:
    found = labels()
    assert len(found) >= 300
    assert len({(label["session"], label["call"]) for label in found}) == len(found)
    for label in found:
        assert label["file"].startswith("corpus")
        if label["set"].startswith("causes"):  # of failing calls only why they failed; None: it is no failure
            assert label["cause"] in (*CAUSES, None)
            continue
        assert label["status"] in STATUSES
        assert (label["cause"] in CAUSES) == (
            label["status"] in FAILURES or label["status"] in ("denied", "interrupted")
        )
        assert label["why"]

"""The paper says what the results say: every figure in it is written from them, and they were made under its protocol."""

import hashlib
import json
import os
import re
import xml.etree.ElementTree as Tree

import pytest

from preheat.lab.study.report import Dot, draw_curve, draw_figures, draw_rows, fill_paper, join_results
from tests.shared import TESTS

PAPER = os.path.join(os.path.dirname(TESTS), "docs", "paper")


def text(name: str) -> str:
    with open(os.path.join(PAPER, name), encoding="utf-8") as stream:
        return stream.read()


RESULTS = json.loads(text("results.json"))


def test_the_blocks_of_the_paper_are_those_of_the_results() -> None:
    """`python -m preheat.lab.study report DIR --to docs/paper` writes them; nobody types a figure."""
    assert fill_paper(text("paper.md"), RESULTS) == text("paper.md")
    assert len(re.findall("<!-- from the results: ", text("paper.md"))) >= 8


def test_the_figures_are_those_of_the_results() -> None:
    for name, picture in draw_figures(RESULTS).items():
        assert text(name) == picture
        assert f"({name})" in text("paper.md"), name


def test_all_runs_were_made_under_the_frozen_protocol() -> None:
    """By its SHA-256; a protocol that was touched afterwards would be found here."""
    digest = hashlib.sha256(text("protocol.md").encode()).hexdigest()
    for studies in RESULTS.values():
        for study in studies.values():
            assert study["run"]["protocol"] == digest


def test_every_run_passed_its_checks() -> None:
    for studies in RESULTS.values():
        for study in studies.values():
            assert study["before"]["same_when_kept"]["bit_equal"]
            assert study.get("checked", {"usable": True})["usable"]


@pytest.mark.parametrize("name", ["results.json", "paper.md", "protocol.md"])
def test_no_real_project_is_named(name: str) -> None:
    """Nothing of the shared sessions is in the repository but figures."""
    assert not re.search(r"entireio|oh-my-posh|cipher-box|context-evaluator|gruckion", text(name))


def test_pictures_are_well_formed_whatever_they_are_of() -> None:
    dots = [Dot("a & b", "one", 5.0, None, None), Dot("c", "<two>", -3.0, -90.0, 400.0)]
    for picture in (
        draw_rows("T < U", dots, -20, 100, "points", zero=True),
        draw_curve("K", [Dot("k", "s", 0.5, 0.2, 1.4)], "%", "k"),
    ):
        assert Tree.fromstring(picture).tag.endswith("svg")


def test_results_whose_rows_are_on_another_machine_stay_in_the_paper() -> None:
    earlier = {"0.5b": {"lab": {"tasks": 1}, "harm": {"tasks": 2}}, "1.5b": {"lab": {"tasks": 3}}}
    later = {"1.5b": {"lab": {"tasks": 4}, "nextcall": {"calls": 5}}, "135m": {"lab": {"tasks": 6}}}
    assert join_results(earlier, later) == {
        "0.5b": {"lab": {"tasks": 1}, "harm": {"tasks": 2}},
        "1.5b": {"lab": {"tasks": 4}, "nextcall": {"calls": 5}},
        "135m": {"lab": {"tasks": 6}},
    }

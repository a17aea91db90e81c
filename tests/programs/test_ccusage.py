"""Tokens and money of Claude Code's sessions are those that `ccusage` adds up, day by day and model by model."""

import json
import os
import subprocess
from pathlib import Path

import pytest

import preheat
from preheat.model.listing import SessionFilter
from preheat.model.session import Usage
from preheat.testing.builders import ClaudeTranscript
from tests.programs.program import clean_environment, find_program
from tests.shared import real_program
from tests.waiting import HUNG

MODELS = ("claude-sonnet-4-5-20250929", "claude-opus-4-5-20251101", "claude-haiku-4-5-20251001")


def write_sessions(home: str) -> None:
    """Sessions on three days with every kind of token: read from the cache, written to it, kept there for an hour."""
    for number, model in enumerate(MODELS * 2, 1):
        session = f"{number:08d}-0000-4000-8000-000000000000"
        grown = ClaudeTranscript(session=session, model=model, started=1_767_606_000.0 + number % 3 * 86_400).prompt(
            "mend it"
        )
        for turn in range(1, 8):
            usage = Usage(
                input=11 * turn,
                output=307 * turn,
                cache_read=9_001 * turn,
                cache_write=1_203 * turn,
                cache_write_hour=601 * (turn % 3),
            )
            grown = grown.call("Bash", {"command": "ls"}, usage=usage).result("a.c")
        grown.write(os.path.join(home, ".claude", "projects"))


@pytest.mark.program
def test_costs_are_those_of_ccusage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = find_program("ccusage", "ccusage", "node_modules", ".bin", "ccusage")
    program = real_program(found, "ccusage")
    home = str(tmp_path)
    monkeypatch.setenv("TZ", "UTC")
    write_sessions(home)
    environment = clean_environment(home, {"CLAUDE_CONFIG_DIR": os.path.join(home, ".claude"), "TZ": "UTC"})
    theirs = json.loads(
        subprocess.check_output([program, "daily", "--json", "--offline"], env=environment, text=True, timeout=HUNG)
    )
    for name, value in (("HOME", home), ("CLAUDE_CONFIG_DIR", os.path.join(home, ".claude"))):
        monkeypatch.setenv(name, value)
    (tmp_path / "data").mkdir(0o700)
    ours = preheat.open(str(tmp_path / "data"))
    ours.sync()
    by_day = {each.name: each for each in ours.costs().costs}
    assert sorted(by_day) == sorted(each["period"] for each in theirs["daily"])
    for day in theirs["daily"]:
        cost = by_day[day["period"]]
        expected = tuple(day[f"{kind}Tokens"] for kind in ("input", "output", "cacheRead", "cacheCreation"))
        assert (cost.usage.input, cost.usage.output, cost.usage.cache_read, cost.usage.cache_write) == expected
        assert cost.money == pytest.approx(day["totalCost"], abs=0.005)
    for model in MODELS:
        parts = [part for day in theirs["daily"] for part in day["modelBreakdowns"] if part["modelName"] == model]
        (cost,) = ours.costs(SessionFilter(model=model), "model").costs
        assert cost.money == pytest.approx(sum(part["cost"] for part in parts), abs=0.005)

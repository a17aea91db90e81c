"""What a person waits for before anything is done: the commands that are run all day, now and at an earlier commit, in one run.

The earlier code (`--against REV`, else version 0.1.0) is checked out for the time of the run and has an archive of its own, of
the same sessions. Both and a bare start of Python take turns, so that the load of the machine falls on all alike.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any, NamedTuple

from benchmarks.measuring import ROOT, Run, measure_run, median, spread, synthetic_corpus, table

FIRST = "857cd21"
"""Version 0.1.0."""
TASK = "the integration test of the login fails on the second run, find out why"


class Asked(NamedTuple):
    """What is asked of Preheat: the words of now, those of version 0.1.0 if they were others, and variables."""

    words: tuple[str, ...]
    earlier: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()


def _complete(line: str) -> Asked:
    """What a shell asks for when a person presses the tab key at the end of a line."""
    variables = {"_PREHEAT_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    return Asked((), variables=tuple(variables.items()))


ALONE = "preheat, nothing new"
COMMANDS = {
    ALONE: Asked(()),
    "preheat --version": Asked(("--version",)),
    "preheat --help": Asked(("--help",)),
    "completion of a command": _complete("preheat les"),
    "completion of an option": _complete("preheat mistakes --pro"),
    "sync, nothing new": Asked(("sync", "--quiet")),
    "sync, one session grown": Asked(("sync", "--quiet")),
    "start": Asked(("start", "--task", TASK), ("warm", "start", "--task", TASK)),
}
GROWN = "sync, one session grown"
GROWTH = 40
"""Lines that a session grows by between two syncs."""
_SESSION = os.path.join(".claude", "projects", "-home-dev-growing", "0f3c1a2b-5d6e-4f70-8a91-b2c3d4e5f607.jsonl")


EARLIER = "before"


class Version(NamedTuple):
    """Preheat at some commit, with its own archive."""

    name: str
    source: str
    archive: str

    def run(self, home: str, asked: Asked) -> Run:
        words = asked.earlier if asked.earlier and self.name == EARLIER else asked.words
        environment = {"HOME": home, "CLAUDE_CONFIG_DIR": "", "PREHEAT_HOME": self.archive, "PYTHONPATH": self.source}
        return measure_run([sys.executable, "-m", "preheat", *words], {**environment, **dict(asked.variables)})


def run(quick: bool, against: str = FIRST) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="preheat-bench-") as work, check_out(against, work) as earlier:
        home = os.path.join(work, "home")
        shutil.copytree(synthetic_corpus(64), home)
        versions = [
            Version(EARLIER, os.path.join(earlier, "src"), os.path.join(work, "before")),
            Version("now", os.path.join(ROOT, "src"), os.path.join(work, "now")),
        ]
        found = _measure(versions, home, 5 if quick else 20)
    return _report(against, found)


@contextlib.contextmanager
def check_out(commit: str, work: str) -> Iterator[str]:
    """The code of a commit, in a folder below `work` for this time."""
    source = os.path.join(work, "checkout")
    subprocess.run(["git", "worktree", "add", "--quiet", "--detach", source, commit], cwd=ROOT, check=True)
    try:
        yield source
    finally:
        subprocess.run(["git", "worktree", "remove", "--force", source], cwd=ROOT, check=True)


def _measure(versions: list[Version], home: str, times: int) -> dict[str, dict[str, list[Run]]]:
    """By what was run: the times of each version, and of Python alone."""
    grown = os.path.join(home, _SESSION)
    lines = _lines_to_grow_by(home)
    os.makedirs(os.path.dirname(grown))
    place = len(lines) // 2
    _append(grown, lines[:place])
    for version in versions:
        version.run(home, COMMANDS["sync, nothing new"])
        version.run(home, Asked(("lessons", "learn", "--quiet"), ("learn", "--quiet")))
        for asked in COMMANDS.values():
            version.run(home, asked)  # byte code is made now
    found: dict[str, dict[str, list[Run]]] = {name: {each.name: [] for each in versions} for name in COMMANDS}
    bare: list[Run] = []
    for number in range(times):
        bare.append(measure_run([sys.executable, "-c", "pass"], {}))
        for name, asked in COMMANDS.items():
            if name == GROWN:
                _append(grown, lines[place : place + GROWTH])
                place += GROWTH
            for version in versions[:: 1 if number % 2 else -1]:
                if name == ALONE:
                    version.run(home, asked)  # reads what grew in the last round
                found[name][version.name].append(version.run(home, asked))
    return {**found, "bare Python": {each.name: bare for each in versions}}


def _lines_to_grow_by(home: str) -> list[bytes]:
    """Those of the largest session, under other ids: a copy of what is known would be work of another kind."""
    projects = os.path.join(home, ".claude", "projects")
    largest = max((os.path.join(f, n) for f, _, names in os.walk(projects) for n in names), key=os.path.getsize)
    with open(largest, "rb") as stream:
        return [line.replace(b"toolu_01", b"toolu_99").replace(b"msg_01", b"msg_99") for line in stream]


def _append(path: str, lines: list[bytes]) -> None:
    if not lines:
        raise SystemExit("benchmarks: the largest session is too short to grow so often")
    with open(path, "ab") as stream:
        stream.writelines(lines)


def _report(against: str, found: dict[str, dict[str, list[Run]]]) -> dict[str, Any]:
    floor = median(found["bare Python"]["now"])
    rows = [["what", "before s", "min..max", "now s", "min..max", "now / before", "now / bare Python"]]
    result: dict[str, Any] = {"against": against, "bare_python": floor, "commands": {}}
    for name, runs in found.items():
        before, now = median(runs["before"]), median(runs["now"])
        spans = {each: spread(some) for each, some in runs.items()}
        shown = {each: f"{low:.3f}..{high:.3f}" for each, (low, high) in spans.items()}
        rows.append(
            [
                name, f"{before:.4f}", shown["before"], f"{now:.4f}", shown["now"], f"{now / before:.2f}", f"{now / floor:.1f}",
            ]
        )  # fmt: skip
        result["commands"][name] = {
            "before": before, "now": now, "ratio": now / before, "ratio_to_bare_python": now / floor, "spans": spans,
            "n": len(runs["now"]),
        }  # fmt: skip
    print(f"before: {against}")
    table(rows)
    return result

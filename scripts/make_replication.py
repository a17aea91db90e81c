"""Writes the tables of `docs/concepts/marathons.md`: the marathon question asked of the shared corpus.

    python -m scripts.make_replication [--report FILE]

Reads the corpus, the projects beside it, and projects that were collected after the rules were made into throw-away archives,
judges and measures; `--report` also writes the page over the first two. The picture of it in the page is made with

    chromium --headless --no-sandbox --hide-scrollbars --window-size=1200,1890 --screenshot=docs/images/report.png FILE
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import msgspec

from benchmarks.measuring import SHARED, describe_origin
from benchmarks.real import PROJECTS, unpack
from preheat.agents import places_of
from preheat.model.population import Marathon, MarathonAnswer, Population, PopulationCell, ProjectMean
from preheat.model.profile import Rate

CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(CHECKOUT, "docs", "concepts", "marathons.md")
LATER_PROJECTS = "corpus-projects-2"
CLAIMED = {"0-50": 0.072, "51-100": 0.090, "101+": 0.057}


def measured(sources: list[str], folder: str, report: str | None = None) -> Population:
    """What `preheat report profile` says of these files, in an archive of its own."""
    home = os.path.join(folder, "home")
    environment = {**os.environ, "PREHEAT_HOME": os.path.join(folder, "archive"), "HOME": home}
    os.makedirs(home, exist_ok=True)

    def preheat(*arguments: str) -> bytes:
        return subprocess.check_output([sys.executable, "-m", "preheat", *arguments], env=environment)

    preheat("sync", *sources)
    return msgspec.json.decode(
        preheat("profile", "--json", *(["--html", os.path.abspath(report)] if report else [])), type=Population
    )


def unpacked(folder: str, part: str = PROJECTS) -> str:
    """The projects beside the corpus, unpacked."""
    place = os.path.join(SHARED, part)
    for name in sorted(os.listdir(place)):
        if name.endswith(".tar.zst"):
            unpack(os.path.join(place, name), os.path.join(folder, name.removesuffix(".tar.zst")))
    return folder


def tables(title: str, found: Population) -> Iterator[str]:
    """One collection: by length, in three parts, by agent, in words."""
    yield f"### {title}"
    yield ""
    yield (
        f"{found.sessions:,} sessions, {found.calls:,} calls ({found.overall.errors.total:,} judged); "
        f"{rate(found.overall.errors)} failed, {rate(found.overall.mistakes)} by the agent's mistake."
    )
    yield ""
    yield "| messages | sessions | calls | failed | mistakes | every project alike: failed | claimed |"
    yield "|---|---|---|---|---|---|---|"
    even = {each.name: each for each in found.even}
    for cell in found.marathon.buckets:
        yield (
            f"| {cell.name} | {cell.sessions:,} | {cell.errors.total:,} | {rate(cell.errors)} | {rate(cell.mistakes)} | "
            f"{alike(even[cell.name])} | {claimed(cell)} |"
        )
    yield ""
    yield from parts(found.marathon)
    yield ""
    yield from by_agent(found)
    yield ""
    yield f"**In words, all failures.** {' '.join(found.marathon.errors.words)}"
    yield ""
    yield f"**In words, mistakes.** {' '.join(found.marathon.mistakes.words)}"
    yield ""
    yield f"**Together.** {found.marathon.conclusion}"
    yield ""


def parts(pooled: Marathon) -> Iterator[str]:
    def row(name: str, title: str) -> str:
        def change_of(answer: MarathonAnswer) -> str:
            value = getattr(answer, name)
            return str(getattr(value, "change", value))

        return f"| {title} | {change_of(pooled.errors)} | {change_of(pooled.mistakes)} |"

    yield "| points (95 % interval) | all failures | mistakes |"
    yield "|---|---|---|"
    yield row("raw", "(a) over 100 messages against 0-50")
    yield row("middle", "(a) 51-100 against 0-50: the hump")
    yield row("within_agents", "(a) over 100 against 0-50, inside each agent")
    yield row("selection", "(b) first 50 messages: over 100 against 0-50")
    yield row("selection_hundred", "(b) first 50 messages: over 100 against 0-100")
    yield row("later", "(b) over 100: all messages against the first 50")
    yield row("slope", "(c) per 100 messages, first 200, same session and work")
    yield row("slope_any_work", "(c) the same, whatever the work")
    yield row("slope_all", "(c) per 100 messages, all of them, same session and work")
    for place, check in enumerate(pooled.errors.checks):
        yield f"| (c) check: {check.name} | {check.change} | {pooled.mistakes.checks[place].change} |"


def by_agent(found: Population) -> Iterator[str]:
    measured_agents = [each for each in found.by_agent if any(cell.has_enough_data for cell in each.buckets)]
    yield "| agent | failed: 0-50 | 51-100 | 101+ | (c) all failures | (c) mistakes | verdict on mistakes |"
    yield "|---|---|---|---|---|---|---|"
    for each in measured_agents:
        cells = " | ".join(rate(cell.errors) for cell in each.buckets)
        verdict = each.mistakes.verdict.replace("_", " ")
        yield (
            f"| {places_of(each.agent).title} | {cells} | {each.errors.slope.change} | {each.mistakes.slope.change} | {verdict} |"
        )
    unmeasured = len(found.by_agent) - len(measured_agents)
    if unmeasured:
        yield ""
        yield f"{unmeasured} more agents have too little data in every bucket."


def rate(found: Rate) -> str:
    if found.value is None:
        return "-"
    value = f"{100 * found.value:.1f} %"
    if found.low is None or found.high is None:
        return f"{value} (too few)"
    return f"{value} ({100 * found.low:.1f}-{100 * found.high:.1f})"


def alike(found: ProjectMean) -> str:
    estimate = found.errors
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return f"too few ({found.projects} projects)"
    return (
        f"{100 * estimate.value:.1f} % ({100 * estimate.low:.1f}-{100 * estimate.high:.1f}), {found.projects} projects"
    )


def claimed(cell: PopulationCell) -> str:
    value = CLAIMED[cell.name]
    if cell.errors.low is None or cell.errors.high is None:
        return f"{100 * value:.1f} %"
    inside = cell.errors.low <= value <= cell.errors.high
    return f"{100 * value:.1f} %, {'inside' if inside else 'outside'} the interval"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--report", metavar="FILE", help="also write the page over the corpus and the projects")
    chosen = options.parse_args()
    corpus = os.path.join(SHARED, "corpus")
    with tempfile.TemporaryDirectory() as folder:
        alone = measured([corpus], os.path.join(folder, "alone"))
        projects = unpacked(os.path.join(folder, "projects"))
        both = measured([corpus, projects], os.path.join(folder, "both"), chosen.report)
        fresh = measured([unpacked(os.path.join(folder, "fresh"), LATER_PROJECTS)], os.path.join(folder, "later"))
    lines = [
        f"{describe_origin()}; data: `corpus`, `{PROJECTS}` and `{LATER_PROJECTS}` of the shared folder.",
        "",
        *tables("Six projects collected afterwards: a replication", fresh),
        *tables("The corpus", alone),
        *tables("The corpus with the earlier sessions of six of its projects", both),
    ]
    block = "<!-- replication -->\n" + "\n".join(lines).rstrip() + "\n<!-- /replication -->"
    with open(PAGE, encoding="utf-8") as stream:
        text = stream.read()
    with open(PAGE, "w", encoding="utf-8") as stream:
        stream.write(re.sub(r"<!-- replication -->.*<!-- /replication -->", lambda _: block, text, flags=re.DOTALL))
    return 0


if __name__ == "__main__":
    sys.exit(main())

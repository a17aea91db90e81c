"""The command `preheat sessions score`: scores of a session, with the arithmetic. Counts nothing itself."""

from typing import TYPE_CHECKING

import click

from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.home import open_archive
from preheat.cli.options import SessionName
from preheat.cli.screen import clean, console, hint, print_json, say
from preheat.cli.text import date_time, one_line, short_path

if TYPE_CHECKING:
    from rich.console import Console

    from preheat.app.analysis.scorecard import RankedScorecard, Score, ScoreTerm

_NAMES = {"safety": "Safety", "efficiency": "Efficiency", "focus": "Focus", "ux": "UX"}
_GOOD, _FAIR = 85.0, 65.0
_LABEL = 12
_NUMBER = 5


@click.command(
    "score",
    cls=ExampleCommand,
    epilog="""\
  preheat sessions score                              the latest session
  preheat sessions score 0f3c1a2b --earlier 50        compared with fifty earlier ones
  preheat sessions score latest --json | jq .mean

The formulas are in docs/concepts/scorecard.md; the rules of safety in docs/concepts/safety-rules.md.""",
)
@click.argument("session", type=SessionName(), default="latest")
@click.option(
    "--earlier",
    type=click.IntRange(0, 1000),
    default=20,
    show_default=True,
    metavar="N",
    help="How many earlier sessions to compare with.",
)
@json_option
def scorecard_command(session: str, earlier: int, as_json: bool) -> int:
    """Score a session: safety, efficiency, focus, UX, and their mean.

    SESSION is an id, the beginning of one, or `latest`. Every score begins at 100; each line says what took points away, with
    the numbers. Next to a score are the median of the project's earlier sessions, and how many of them scored lower.
    """
    home = open_archive()
    summary = home.archive.find(session)
    scored = home.scorecard(summary.key, earlier)
    if as_json:
        print_json(scorecard_json(scored))
        return 0
    short = home.archive.short_names([summary.key])[summary.key]
    screen = console()
    say(screen, one_line(clean(summary.title or summary.opening), 100) or "(no title)", "bold")
    parts = (short_path(summary.project), date_time(summary.started_at), short)
    say(screen, "  " + " · ".join(part for part in parts if part and part != "-"), "dim")
    say(screen)
    show_scorecard(screen, scored)
    if scored.card.mean is not None:
        hint(f"`preheat sessions replay {short}` shows where it happened.")
    return 0


def scorecard_json(scored: "RankedScorecard") -> dict[str, object]:
    """The scores by name with their lines, what was counted, and the trend, for JSON."""
    card = scored.card
    return {
        "session": scored.key,
        "mean": card.mean,
        "arithmetic": card.arithmetic,
        "scores": {
            score.dimension: {"value": score.value, "lines": score.lines, "why": score.why} for score in card.scores
        },
        "facts": card.facts,
        "earlier_sessions": scored.earlier,
        "standings": scored.standings,
    }


def show_scorecard(screen: "Console", scored: "RankedScorecard") -> None:
    """Print a scorecard."""
    card = scored.card
    if card.mean is None:
        say(screen, f"{card.arithmetic[:1].upper()}{card.arithmetic[1:]}.", "bold")
        return
    say(screen, _row("Mean", card.mean, _describe_trend(scored, "mean")), f"bold {_colour(card.mean)}")
    say(screen, f"{'':{_LABEL}}{card.arithmetic}", "dim")
    for score in card.scores:
        say(screen)
        _show_score(screen, scored, score)
    if not scored.earlier:
        say(screen)
        say(screen, "No earlier session of this project could be scored, so there is no trend yet.", "dim")


def _show_score(screen: "Console", scored: "RankedScorecard", score: "Score") -> None:
    name = _NAMES[score.dimension]
    if score.value is None:
        say(screen, f"{name:<{_LABEL}}{'-':>{_NUMBER}}  {score.why}", "bold")
        return
    say(screen, _row(name, score.value, _describe_trend(scored, score.dimension)), f"bold {_colour(score.value)}")
    costly = [line for line in score.lines if line.points >= 0.05]
    for line in costly:
        say(screen, f"{'':{_LABEL}}{_points(line):>{_NUMBER}}  {clean(line.text)}")
    rest = len(score.lines) - len(costly)
    if rest:
        say(screen, f"{'':{_LABEL}}{'0':>{_NUMBER}}  {_without_loss(score)}", "dim")
    if score.dimension == "safety":
        for match in scored.card.facts.rules:
            say(screen, f"{'':{_LABEL + _NUMBER}}  {match.rule}: {clean(match.example)}", "dim")


def _without_loss(score: "Score") -> str:
    """The names of the lines that took no points."""
    names = [line.text.partition(":")[0] for line in score.lines if line.points < 0.05]
    return ", ".join(names)


def _points(line: "ScoreTerm") -> str:
    return f"−{line.points:.0f}" if line.points >= 1 else f"−{line.points:.1f}"


def _row(name: str, value: float, trend: str) -> str:
    return f"{name:<{_LABEL}}{value:>{_NUMBER}.0f}{trend}"


def _describe_trend(scored: "RankedScorecard", name: str) -> str:
    found = scored.standings.get(name)
    if found is None:
        return ""
    return f"   median of {found.sessions} earlier: {found.median:.0f}; {found.below} of them scored lower"


def _colour(value: float) -> str:
    return "green" if value >= _GOOD else "yellow" if value >= _FAIR else "red"

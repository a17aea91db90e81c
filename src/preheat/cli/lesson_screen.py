"""Lessons on a terminal: a list by kind, one with all its evidence, and the report of the learners.

Knows nothing of learning. The texts come from sessions, so control characters are removed before printing.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby

import msgspec
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from preheat.app.learning import LearnReport
from preheat.app.lessons import ReviewedLesson
from preheat.cli.screen import clean, console, hint, print_table, say
from preheat.cli.text import count, date_time, duration, one_line, printable, tokens
from preheat.model.lesson import DAY, Lesson, LessonKind, Origin

_MOST_COSTLY = 3
_CHECKS = frozenset(["build", "test", "lint", "typecheck", "format"])
_REVIEWED_EVIDENCE = 2
_TITLES: dict[LessonKind, str] = {
    "resume": "Where the last session stopped",
    "convention": "What works here",
    "repair": "What fixes what",
    "dead_end": "Dead ends",
    "error": "What goes wrong",
    "example": "Calls that worked",
    "working_set": "Where the work is",
    "sequence": "What good stretches of work have in common",
}

_ORIGINS: dict[Origin, str] = {"": "", "repository": "from the repository", "team": "from your team"}


def show_lessons(lessons: Sequence[Lesson], now: float) -> None:
    """Print lessons by kind. Those of one project stand without its name; those that hold in any project say so beside them."""
    screen = console()
    projects = {lesson.scope.project for lesson in lessons}
    several, mixed = len(projects - {""}) > 1, len(projects) > 1
    for kind, group in groupby(lessons, key=lambda lesson: lesson.kind):
        say(screen, _TITLES[kind], "bold")
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column(style="cyan", no_wrap=True)
        table.add_column(justify="right", no_wrap=True, style="dim")
        table.add_column(overflow="fold")
        for lesson in group:
            text = _lesson_text(lesson, now)
            if several or (mixed and not lesson.scope.project):
                text.append(f"  {clean(lesson.scope.project) or 'any project'}", "dim")
            table.add_row(f"  {lesson.id}", _weight(lesson), text)
        print_table(screen, table)


def _weight(lesson: Lesson) -> str:
    support = lesson.support
    total = support.calls_for + support.calls_against
    return f"{support.calls_for:,}/{total:,}" if total else ""


def _lesson_text(lesson: Lesson, now: float) -> Text:
    text = Text(one_line(clean(lesson.text), 400))
    if lesson.origin:
        text.append(f"  ({_ORIGINS[lesson.origin]})", "blue")
    if lesson.pinned:
        text.append("  (pinned)", "green")
    if lesson.status != "active":
        text.append(f"  ({lesson.status}: {clean(lesson.why)})", "yellow")
    elif not lesson.is_usable(now):
        text.append("  (expired)", "yellow")
    return text


def show_lesson(
    lesson: Lesson, names: Mapping[str, str], now: float, failed: Collection[tuple[str, int | None]] = ()
) -> None:
    """Print one lesson with all its fields and evidence; `failed` has the calls (session and place) that failed: they show what
    does not work, and are never shown as being for something."""
    screen = console()
    say(screen, clean(lesson.text), "bold")
    say(screen)
    rows = [(name, value) for name, value in _facts(lesson, now) if value]
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        screen.print(Text(f"  {name.ljust(width)}  ", "dim").append(clean(value), "default"), soft_wrap=True)
    if lesson.example is not None:
        _show_example(screen, lesson)
    if lesson.evidence:
        say(screen)
        say(screen, f"  {_describe_evidence(lesson)}", "dim")
        for each in lesson.evidence:
            is_failure = each.failed or (each.session, each.seq) in failed
            side = "against" if each.against else "failed" if is_failure else "for"
            place = f" call {each.seq + 1}" if each.seq is not None else " message"
            facts = f"{date_time(each.at)}  {names.get(each.session, each.session)}{place}"
            line = Text(f"  {side.ljust(7)}  ", {"against": "red", "failed": "yellow", "for": "green"}[side])
            screen.print(line.append(f"{facts}  ", "dim").append(one_line(clean(each.text), 120)), soft_wrap=True)


def _facts(lesson: Lesson, now: float) -> list[tuple[str, str]]:
    scope, support = lesson.scope, lesson.support
    measured = "not measured" if lesson.utility is None else f"{lesson.utility:+.3f} mistakes avoided per call"
    cost = f"{duration(lesson.cost_seconds)}, {tokens(lesson.cost_tokens)} tokens" if lesson.cost_seconds else ""
    return [
        ("id", lesson.id),
        ("kind", lesson.kind + (f" ({lesson.topic})" if lesson.topic else "")),
        ("holds for", ", ".join(filter(None, (scope.project or "any project", scope.agent, scope.tool)))),
        ("use", lesson.use),
        ("avoid", lesson.avoid),
        ("error", lesson.error),
        ("difference", lesson.difference),
        ("steps", " → ".join(lesson.steps)),
        ("files", ", ".join(lesson.files[:8])),
        ("re-check with", lesson.recheck),
        ("seen with", ", ".join(f"{name} {value}" for name, value in sorted(lesson.environment.items()))),
        ("for", f"{count(support.calls_for, 'call')} in {count(support.sessions_for, 'session')}"),
        ("against", f"{count(support.calls_against, 'call')} in {count(support.sessions_against, 'session')}"),
        ("confidence", f"{support.confidence:.2f} (lower end of the 95 % interval)"),
        ("score", f"{lesson.score:.2f}"),
        ("effect", measured),
        ("cost", cost),
        ("first seen", date_time(lesson.first_seen)),
        ("last seen", date_time(lesson.last_seen)),
        ("half-life", f"{lesson.half_life:.0f} days; counts {lesson.freshness(now):.0%} now"),
        ("expires", _expiry(lesson, now)),
        ("written by", {"preheat": "", "person": "you", "agent": "your agent"}[lesson.author]),
        ("came", _ORIGINS[lesson.origin]),
        ("status", lesson.status + (f": {lesson.why}" if lesson.why else "") + (", pinned" if lesson.pinned else "")),
    ]


def _expiry(lesson: Lesson, now: float) -> str:
    if lesson.expires_at is None:
        return ""
    days = (lesson.expires_at - now) / DAY
    return f"in {days:.0f} days" if days > 0 else "expired"


def _describe_evidence(lesson: Lesson) -> str:
    total = lesson.support.calls_for + lesson.support.calls_against
    shown = len(lesson.evidence)
    return f"Evidence (the newest {shown} of {total:,}):" if total > shown else "Evidence:"


def _show_example(screen: Console, lesson: Lesson) -> None:
    example = lesson.example
    if example is None:
        return
    say(screen)
    arguments = msgspec.json.encode(example.arguments).decode()
    say(screen, f"  {clean(example.tool)} {one_line(clean(arguments), 300)}", "cyan")
    for line in clean(example.result).splitlines()[:12]:
        say(screen, f"    {line}")


FINDINGS = {
    "LearnEffectiveness": "measured effects",
    "BuildResumePacket": "where work stopped",
    "LearnSequences": "orders of work",
    "ClusterErrors": "errors",
    "LearnRepairPatterns": "repairs",
    "LearnConventions": "conventions",
    "UpdateWorkingSetRanking": "files and folders",
    "BuildDeadEndMemory": "dead ends",
    "ScoreArtifacts": "examples",
    "ConsolidateEvents": "given and put aside",
}
"""What each learner finds, for people; `--learner` and JSON have its name."""


def show_learning(report: LearnReport) -> None:
    """Print what the learners know now, the most costly mistakes first."""
    screen = console()
    new = f"{count(report.sessions, 'new session')} read" if report.sessions else "No new sessions"
    if report.mistakes:
        say(screen, "Repeated mistakes", "bold")
        mistakes = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        mistakes.add_column(style="cyan", no_wrap=True)
        mistakes.add_column(overflow="fold")
        for lesson in report.mistakes[:_MOST_COSTLY]:
            lost = f"{duration(lesson.cost_seconds)} and " if lesson.cost_seconds else ""
            cost = f"{lost}{tokens(lesson.cost_tokens)} tokens lost"
            mistakes.add_row(
                f"  {lesson.id}", Text(one_line(clean(lesson.text), 300)).append(f"  {cost}{_where(lesson)}", "dim")
            )
        print_table(screen, mistakes)
        say(screen)
    say(screen, f"{new}, {report.seconds:.1f} s.", "bold")
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for task in report.tasks:
        table.add_row(
            FINDINGS.get(task.name, task.name), f"{task.lessons:,}" if task.lessons else "–", Text(clean(task.line))
        )
    print_table(screen, table)
    for line in report.withdrawals:
        say(screen, clean(line), "yellow")
    if any(task.lessons for task in report.tasks):
        hint("`preheat lessons list --project .` shows them; `preheat start --task …` gives them to a new session.")
    else:
        hint("Nothing learned yet: a lesson needs several sessions of a project that agree. `preheat sync` reads more.")


def _where(lesson: Lesson) -> str:
    return f", in {printable(lesson.scope.project)}" if lesson.scope.project else ""


# A lesson that a person decides on
def show_reviewed_lesson(each: ReviewedLesson, number: int, total: int) -> None:
    """Print a lesson as a session is told it, with what it rests on."""
    screen = console()
    lesson = each.lesson
    heading = (
        Text(f"{number} of {total}  ", "bold cyan").append(f"{_describe_support(lesson)}  ").append(lesson.id, "dim")
    )
    print_table(screen, heading)
    print_table(screen, Padding(Text(clean(each.said), "bold"), (0, 0, 0, 4), expand=False))
    if each.needs_approval:
        whose = "words of your agent" if lesson.author == "agent" else "words from a session"
        say(screen, f"    {whose}: told to sessions only if you keep it", "yellow")
    cited = [cited.text for cited in lesson.evidence if not cited.against][-_REVIEWED_EVIDENCE:]
    for text in dict.fromkeys(filter(None, cited)):
        say(screen, f"    {one_line(clean(text), max(20, min(screen.width, 120) - 6))}", "dim")


def _describe_support(lesson: Lesson) -> str:
    """`convention (test), in shop, ran 16 of 16 times in 8 sessions`; that a check ran does not say that it passed."""
    support = lesson.support
    total = support.calls_for + support.calls_against
    parts = [lesson.kind.replace("_", " ") + (f" ({lesson.topic})" if lesson.topic else "")]
    parts.append(f"in {clean(lesson.scope.project)}" if lesson.scope.project else "in any project")
    if total:
        held = "ran" if lesson.topic in _CHECKS and lesson.use else "held"
        parts.append(f"{held} {support.calls_for:,} of {total:,} times in {count(support.sessions_for, 'session')}")
    return ", ".join(parts)

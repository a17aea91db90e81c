"""A team on the terminal: its status, and what a push would send. Knows nothing of where that comes from."""

from rich.table import Table

from preheat.amounts import duration
from preheat.cli.screen import clean, console, hint, plain_table, print_table, say
from preheat.cli.text import count, date_time, one_line, tokens
from preheat.model.pushed import list_pushed_fields
from preheat.model.team import ProjectPush, PushPlan, TeamNumber, TeamStatus

_VALUE = 100
_MOST_PROJECTS = 15
_MOST_GROUPS = 10


# What a push would send.
def show_plan(plan: PushPlan) -> None:
    """Every field that would leave the machine, with one real row of each kind and how many there are."""
    screen = console()
    say(screen, f"What a push to the team `{plan.team}` sends", "bold")
    _show_projects(plan.projects, with_pushed=False)
    fields = list_pushed_fields()
    for table in plan.tables:
        own = [each for each in fields if each.table == table.name]
        if not table.rows and own[0].level == "transcripts":
            continue
        say(screen)
        example = "One of them, as it is:" if table.rows else "Each would have:"
        say(screen, f"{table.name}: {count(table.rows, 'row')}. {example}", "bold")
        shown = plain_table(show_header=False)
        for each in own:
            shown.add_row(f"  {each.name}", one_line(clean(table.sample.get(each.name, "")), _VALUE), each.about)
        print_table(screen, shown)
    say(screen)
    say(screen, "Beside these the server itself notes who you are, which machine it is (a random number), and when.")
    if plan.deletions:
        say(screen, f"{count(plan.deletions, 'session')} that you deleted will be deleted from the server.")


# Status.
def show_status(status: TeamStatus) -> None:
    """A machine in its team, and the team's numbers."""
    screen = console()
    say(screen, f"Team `{clean(status.team)}`: you are `{clean(status.name)}`, {status.role}", "bold")
    say(screen, f"  {status.address}")
    if status.problem:
        say(screen, f"  {status.problem}")
    pushed = date_time(status.last_push) if status.last_push else "never"
    pulled = date_time(status.last_pull) if status.last_pull else "never"
    how = "in quiet times" if status.automatic else "when you say so"
    say(screen, f"  last push {pushed}, last pull {pulled} (by the server's clock); {how}")
    if status.waiting_deletions:
        say(screen, f"  {count(status.waiting_deletions, 'deletion')} waiting for the next push")
    lessons = [f"{count(status.received_lessons, 'lesson')} from the team in use here"]
    if status.reachable:
        lessons += [f"{status.approved_lessons:,} approved", f"{status.waiting_lessons:,} waiting for a review"]
    say(screen, f"  {', '.join(lessons)}")
    if status.role != "reader":
        say(screen)
        _show_projects(status.projects, with_pushed=status.reachable)
    if status.reachable:
        say(screen)
        _show_numbers(status)


def _show_projects(projects: tuple[ProjectPush, ...], with_pushed: bool) -> None:
    screen = console()
    pushed = [each for each in projects if each.level != "nothing" or each.pushed]
    table = plain_table()
    for title in ("project", "level", "", "sessions here", *(("pushed",) if with_pushed else ())):
        table.add_column(title, justify="right" if title in ("sessions here", "pushed") else "left")
    for each in pushed[:_MOST_PROJECTS]:
        state = "" if each.is_agreed else "waits for your answer"
        cells = [clean(each.name), each.level, state, f"{each.sessions:,}"]
        table.add_row(*cells, *((f"{each.pushed or 0:,}",) if with_pushed else ()))
    if pushed:
        print_table(screen, table)
    left = [f"{count(len(pushed) - _MOST_PROJECTS, 'more project')}"] if len(pushed) > _MOST_PROJECTS else []
    if silent := len(projects) - len(pushed):
        left.append(f"{count(silent, 'project')} of which nothing is pushed")
    if left:
        say(screen, f"and {', and '.join(left)}", "dim")


def _show_numbers(status: TeamStatus) -> None:
    screen = console()
    if not status.numbers.get("team"):
        hint(f"No numbers yet: fewer than {status.least_people} people have pushed, and single people are not shown.")
        return
    for grouping, found in status.numbers.items():
        table = _number_table(grouping, found)
        print_table(screen, table)
        say(screen)
    say(screen, f"Groups of fewer than {status.least_people} people are not shown by themselves.", "dim")


def _number_table(grouping: str, found: tuple[TeamNumber, ...]) -> Table:
    table = plain_table()
    table.add_column("the team" if grouping == "team" else f"by {grouping}")
    for title in ("people", "sessions", "calls", "failed", "mistakes", "tokens", "money", "on failures", "work"):
        table.add_column(title, justify="right")
    for each in found[:_MOST_GROUPS]:
        table.add_row(
            clean(each.name) or "others, together",
            f"{each.people:,}",
            f"{each.sessions:,}",
            f"{each.calls:,}",
            _share(each.failed, each.calls),
            _share(each.mistakes, each.calls),
            tokens(each.tokens),
            "-" if each.unpriced == each.sessions else f"${each.money:,.2f}",
            "-" if each.unpriced == each.sessions else f"${each.failed_money:,.2f}",
            duration(each.work_seconds),
        )
    return table


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"

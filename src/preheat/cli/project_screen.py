"""Projects on a terminal: the list of them, and one with its folders.

Knows nothing of how projects are told apart. Paths and names come from sessions, so control characters are removed.
"""

from rich.table import Table
from rich.text import Text

from preheat.cli.screen import clean, console, hint, print_table, say
from preheat.cli.text import count, date_time, day, short_path
from preheat.model.project import ProjectCorrection, ProjectList, ProjectSummary, UnassignedFolder

_NARROW = 90
"""Columns of a terminal that leave room for the most important columns only."""
_MOST_FOLDERS = 12
_LONGEST_NAME = 25
_SESSIONS = 12
"""Room of the column of sessions, with the blanks between columns."""
_OTHERS = _SESSIONS + 9 + 9 + 12
"""The same of all columns of numbers and days."""


def show_projects(found: ProjectList) -> None:
    """Print all projects, and what belongs to none."""
    screen = console()
    if not found.projects:
        say(screen, "No session belongs to a project yet.")
    else:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        is_wide = screen.width >= _NARROW
        table.add_column("project", style="bold", overflow="fold")
        for name in ("sessions", "folders", "lessons") if is_wide else ("sessions",):
            table.add_column(name, justify="right", no_wrap=True)
        if is_wide:
            table.add_column("last", no_wrap=True)
        table.add_column("known by", no_wrap=True, style="dim")
        names = min(_LONGEST_NAME, max(len("project"), *(len(clean(each.name)) for each in found.projects)))
        room = screen.width - names - (_OTHERS if is_wide else _SESSIONS)
        for each in found.projects:
            lessons = f"{each.lessons:,}" if each.lessons else ""
            more = [f"{len(each.folders):,}", lessons, day(each.last_at)] if is_wide else []
            table.add_row(clean(each.name), f"{each.sessions:,}", *more, _end_of(_known_by(each), room))
        print_table(screen, table)
    _show_unassigned(found.unassigned)
    hint("`preheat projects show NAME` shows the folders; `link` and `split` correct what is wrong")


def _end_of(text: str, room: int) -> str:
    """As much of a place as fits: its end says more than its beginning."""
    return text if len(text) <= max(2, room) else f"…{text[1 - max(2, room) :]}"


def _known_by(each: ProjectSummary) -> str:
    place = clean(each.known_by.replace("its folder ", ""))
    text = short_path(place) if each.known_by.startswith("its folder ") else place
    return f"{text} (corrected)" if each.corrections else text


def _show_unassigned(folders: tuple[UnassignedFolder, ...]) -> None:
    if not folders:
        return
    screen = console()
    total = sum(each.sessions for each in folders)
    say(screen)
    say(screen, f"Of no project, so that nothing is learned over them: {count(total, 'session')}.")
    for each in folders[:_MOST_FOLDERS]:
        where = f"{short_path(clean(each.folder))}: " if each.folder else ""
        say(screen, f"  {each.sessions:,}  {where}{each.why}", "dim")
    if len(folders) > _MOST_FOLDERS:
        say(screen, f"  and {count(len(folders) - _MOST_FOLDERS, 'more folder')}", "dim")


def show_project(found: ProjectSummary) -> None:
    """Print one project with its folders."""
    screen = console()
    say(screen, clean(found.name), "bold")
    facts = [
        ("known by", clean(found.known_by)),
        ("remotes", ", ".join(map(clean, found.remotes))),
        (
            "sessions",
            f"{found.sessions:,}, the last {date_time(found.last_at)}" if found.last_at else f"{found.sessions:,}",
        ),
        ("lessons", f"{found.lessons:,}"),
    ]
    for name, value in facts:
        if value:
            screen.print(Text(f"  {name.ljust(9)} ", "dim").append(value, "default"), soft_wrap=True)
    for each in found.corrections:
        say(screen, f"  corrected {_describe_correction(each)}", "yellow")
    say(screen)
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for folder in found.folders:
        gone = "" if folder.exists else "  (not on this machine)"
        table.add_row(f"  {folder.sessions:,}", Text(short_path(clean(folder.folder))).append(gone, "dim"))
    print_table(screen, table)


def _describe_correction(each: ProjectCorrection) -> str:
    kind, _, what = each.what.partition(":")
    if each.what.removeprefix("folder:") == each.into.removeprefix("path:"):
        return f"{day(each.at)}: a project of its own, by you"
    thing = short_path(clean(what)) if kind in ("folder", "path") else clean(what)
    return f"{day(each.at)}: {thing} belongs to it, by you"

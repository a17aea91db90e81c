"""What `preheat admin doctor --repair` shows: what was saved, what was lost, and where the damaged file is now."""

from typing import TYPE_CHECKING

from preheat.cli.exit_codes import DONE_WITH_PROBLEMS
from preheat.cli.home import open_preheat
from preheat.cli.progress import Display
from preheat.cli.screen import console, print_json, say
from preheat.cli.text import count, format_bytes, printable, short_path

if TYPE_CHECKING:
    from rich.console import Console

    from preheat.model.health import Loss, RepairReport


def repair_archive(dry_run: bool, as_json: bool) -> int:
    """Repair archive and state; returns the exit code."""
    with Display() as progress:
        report = open_preheat().health.repair(dry_run, progress)
    if as_json:
        print_json(report)
    else:
        _show(console(), report)
    return DONE_WITH_PROBLEMS if report.lost or report.state_lost or report.unknown_packs else 0


def _show(screen: "Console", report: "RepairReport") -> None:
    if not report.damage and not report.state_damage:
        say(screen, "Nothing to repair: every page and every byte is as it was stored.", "green")
        return
    if report.damage:
        _show_archive(screen, report)
    if report.state_damage:
        _show_state(screen, report)


def _show_archive(screen: "Console", report: "RepairReport") -> None:
    say(screen, f"{short_path(report.path)} is damaged: {printable(report.damage)}", "bold")
    saved = "can be saved" if report.dry_run else "were saved"
    say(screen, f"  {count(report.sessions, 'session')} {saved}, {format_bytes(report.bytes)} of their files")
    if report.kept:
        say(screen, f"  the damaged file is kept at {short_path(report.kept)}")
    if report.lost:
        say(screen, f"  {count(len(report.lost), 'session')} lost or not whole:", "red")
        for loss in report.lost:
            say(screen, f"    {printable(_describe_loss(loss))}")
    if report.unknown_packs:
        say(screen, f"  {count(report.unknown_packs, 'part')} hold sessions that nothing tells the names of", "red")
    if not report.dry_run:
        say(screen, "  `preheat sync` reads again what the agents still have; `preheat lessons learn` learns from it")


def _describe_loss(loss: "Loss") -> str:
    session = loss.session or "an unknown session"
    source = f" from {short_path(loss.source)}" if loss.source else ""
    return f"{session}{source}: {loss.why}{' (the rest of it was saved)' if loss.partly else ''}"


def _show_state(screen: "Console", report: "RepairReport") -> None:
    say(screen, f"The state beside the archive is damaged: {printable(report.state_damage)}", "bold")
    rows = ", ".join(f"{number} of {table}" for table, number in report.state_rows.items())
    say(screen, f"  rows {'that can be saved' if report.dry_run else 'saved'}: {rows or 'none'}")
    if report.state_kept:
        say(screen, f"  the damaged file is kept at {short_path(report.state_kept)}")
    if report.state_lost:
        say(screen, f"  not whole: {', '.join(report.state_lost)}", "red")

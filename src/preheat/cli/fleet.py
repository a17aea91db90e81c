"""The commands `preheat fleet …`: transcripts of many machines, analysed on Ray. Does nothing itself."""

import re
from typing import Any

import click

from preheat.cli.command import ExampleCommand, ExampleGroup, json_option
from preheat.cli.exit_codes import DONE_WITH_PROBLEMS
from preheat.cli.home import open_preheat
from preheat.cli.progress import Display
from preheat.cli.screen import print_json

_UNITS = {"": 1, "b": 1, "kb": 1000, "mb": 1000**2, "gb": 1000**3, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")


def _screen() -> Any:
    """What shows results on a terminal."""
    from preheat.cli import fleet_screen  # noqa: PLC0415 - rich takes longer than a completion

    return fleet_screen


class SizeOption(click.ParamType):  # type: ignore[type-arg] # not generic in older releases
    """A number of bytes: `64MB`, `1.5GB`, `800000`."""

    name = "size"

    def __init__(self, least: int) -> None:
        self._least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        found = _SIZE.fullmatch(str(value))
        unit = _UNITS.get(found[2].lower()) if found else None
        if found is None or unit is None:
            self.fail(f"`{value}` is not a size; write 64MB, 1.5GB or a number of bytes", param, ctx)
        size = int(float(found[1]) * unit)
        if size < self._least:
            self.fail(f"`{value}` is too little; give at least {self._least:,} bytes", param, ctx)
        return size


@click.group(
    "fleet",
    cls=ExampleGroup,
    epilog="""\
  preheat fleet analyse ~/transcripts --out ~/results
  preheat fleet analyse s3://runs/2026-11 --out s3://results/2026-11 --address 10.0.0.5:6379
  preheat fleet report ~/results
  preheat fleet lessons ~/results --project shop

Needs the extra: pip install 'preheat[fleet]'. docs/guides/fleet.md says how large clusters are laid out and what they cost.""",
)
def fleet_group() -> None:
    """Analyse the transcripts of many machines on Ray; report on them, list and publish their lessons."""


@fleet_group.command(
    "analyse",
    cls=ExampleCommand,
    epilog="""\
  preheat fleet analyse ~/transcripts --out ~/results               on this machine, all processors
  preheat fleet analyse s3://runs/2026-11 --out s3://results/2026-11 --address 10.0.0.5:6379
  preheat fleet analyse backup --out results --workers 4 --batch 32MB --json

SOURCE and DEST are folders or object storage that speaks S3: `AWS_ENDPOINT_URL`, `AWS_REGION` and the credentials are
taken from the environment, on each machine by itself. Only new and changed objects are read. It can be stopped, or
killed, at any time: the same command goes on where it was. What cannot be read is named on the error stream, and the
exit code is 1.""",
)
@click.argument("source", metavar="SOURCE")
@click.option("--out", "destination", required=True, metavar="DEST", help="Where the results go: a folder or `s3://…`.")
@click.option(
    "--address", default="", metavar="ADDRESS", help="A Ray cluster.  [default: one of our own on this machine]"
)
@click.option(
    "--workers", type=click.IntRange(1, 100_000), metavar="N", help="Processes at a time.  [default: one a processor]"
)
@click.option("--batch", type=SizeOption(1), metavar="SIZE", help="Transcripts that one task reads.  [default: 64MB]")
@click.option(
    "--max-object", "most", type=SizeOption(1), metavar="SIZE", help="Larger objects are not read.  [default: 512MiB]"
)
@click.option(
    "--memory", type=SizeOption(1_000_000), metavar="SIZE",
    help="What a worker may take for reading; an object that needs more is not read.  [default: 4GB]",
)  # fmt: skip
@json_option
def analyse_command(
    source: str,
    destination: str,
    address: str,
    workers: int | None,
    batch: int | None,
    most: int | None,
    memory: int | None,
    as_json: bool,
) -> int:
    """Analyse the transcripts in SOURCE and write tables and lessons to DEST.

    Transcripts of every agent that Preheat knows are found by their content, as `preheat sync` does, and secrets are removed
    before anything is written. The results are those of one machine, whatever the number of workers and the size of the batches.
    """
    with Display(quiet=as_json) as progress:
        found = open_preheat().fleet.analyse(
            source,
            destination,
            address=address,
            workers=workers or 0,
            batch=batch or 0,
            most=most or 0,
            memory=memory or 0,
            progress=progress,
        )
    if as_json:
        print_json(found)
    else:
        _screen().show_run(found)
    return DONE_WITH_PROBLEMS if found.problems else 0


@fleet_group.command(
    "report",
    cls=ExampleCommand,
    epilog="""\
  preheat fleet report ~/results
  preheat fleet report s3://results/2026-11 --json | jq '.projects[:3]'

Money is what the tokens cost at list prices. Each response and call counts once, also where a resumed session repeats
it. Days are in UTC. Any program that reads Parquet can ask more: the files lie below DEST/tables, and the newest of
DEST/snapshots names those that count.""",
)
@click.argument("destination", metavar="DEST")
@json_option
def report_command(destination: str, as_json: bool) -> int:
    """Report on DEST: sessions, calls, failures and money by project, agent, model and day; causes and mistakes."""
    found = open_preheat().fleet.report(destination)
    if as_json:
        print_json(found)
        return 0
    _screen().show_report(found)
    return 0


@fleet_group.command(
    "lessons",
    cls=ExampleCommand,
    epilog="""\
  preheat fleet lessons ~/results
  preheat fleet lessons ~/results --project shop --all
  preheat fleet lessons s3://results/2026-11 --json | jq '.[].template'
  preheat fleet lessons ~/results --project shop --publish ~/work/shop
  preheat fleet lessons ~/results --project shop --propose HOST/OWNER/shop

The template of a project can be taken over by anybody: `preheat templates import FILE`. `--publish` adds what may travel to
`.preheat/lessons.toml` of a clone, for review like code; each clone uses it after `preheat trust`. `--propose` sends it to the
reviewers of your team (`preheat team join`); everybody gets what they approve.""",
)
@click.argument("destination", metavar="DEST")
@click.option("--project", metavar="NAME", help="Only this project; `everywhere` for what holds in all of them.")
@click.option("--all", "everything", is_flag=True, help="Weak, retired and quarantined ones, too.")
@click.option("--publish", "where", metavar="FOLDER", help="Add those of --project to the shared file of this clone.")
@click.option(
    "--propose", "remote", metavar="REMOTE", help="Propose those of --project to your team, for this repository."
)
@json_option
def lessons_command(
    destination: str, project: str | None, everything: bool, where: str | None, remote: str | None, as_json: bool
) -> int:
    """List the lessons that the sessions of DEST teach, by project; or publish those of one project."""
    wanted = "" if project == "everywhere" else project
    if remote is not None:
        if not wanted:
            raise click.UsageError("--propose needs --project: a repository has the lessons of one project")
        home = open_preheat()
        proposed = home.team.propose(remote, home.fleet.lessons(destination, wanted)[0].lessons)
        if as_json:
            print_json(proposed)
        else:
            _screen().show_proposal(proposed)
        return 0
    if where is not None:
        if not wanted:
            raise click.UsageError("--publish needs --project: a repository's file has the lessons of one project")
        published = open_preheat().fleet.publish(destination, wanted, where)
        if as_json:
            print_json(published)
        else:
            _screen().show_publication(published)
        return 0
    found = open_preheat().fleet.lessons(destination, wanted)
    if as_json:
        print_json(found)
        return 0
    _screen().show_fleet_lessons(found, everything)
    return 0

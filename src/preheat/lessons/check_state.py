"""Which checks (tests, builds, linters) passed and failed at the end of a session. Knows commands and verdicts, no output.

A check that failed counts as mended when a later one passes that looks at the same or at more.
"""

import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from preheat.calls.form import command_form
from preheat.calls.seen import JudgedCall
from preheat.calls.shell import command_aim
from preheat.commands import CHECKS, Purpose, command_text, understand
from preheat.lessons.typed import split_commands
from preheat.safe_text.reasons import danger_reason, junk_reason, order_reason

LONGEST = 160
_SURE = 0.8
_VARIABLE = re.compile(r"\$\{?[A-Za-z_]")
"""Set by what came before it: the command alone means nothing."""
_REPAIR_SUFFIX = re.compile(r":(?:fix|write)$")
_WIDE = frozenset(["./...", ".", "./", "...", "all"])
_WHOLE = frozenset(["test", "tests", "check", "lint", "build", "typecheck", "ci", "verify"])


class CheckRun(NamedTuple):
    """One check as it was run."""

    seq: int
    at: float | None
    command: str
    """The command without filters of its output; `cd FOLDER &&` comes first if it runs in a folder."""
    form: str
    purpose: Purpose
    passed: bool
    signature: str
    folder: str
    aim: tuple[str, ...]
    targets: frozenset[str]
    """What it was narrowed to; nothing means everything."""


def find_check_runs(calls: Iterable[JudgedCall], relative: Callable[[str], str]) -> list[CheckRun]:
    """The checks that passed or failed, in order; mistyped and interrupted ones are left out."""
    found: list[CheckRun] = []
    for each in calls:
        if each.call.kind == "shell" and each.ran and each.record.confidence >= _SURE:
            text = command_text(each.call.input)
            if understand(text).checks:
                found += _runs_in_call(each, relative(text))
    return found


def latest_check_runs(runs: Iterable[CheckRun]) -> list[CheckRun]:
    """The last state of each distinct check: failing ones first, then the newest."""
    last: dict[tuple[str, tuple[str, ...], frozenset[str]], CheckRun] = {}
    for run in runs:
        if run.passed:
            for key in [key for key, before in last.items() if not before.passed and _covers(run, before)]:
                del last[key]
        last[run.folder, run.aim, run.targets] = run
    return sorted(last.values(), key=lambda run: (run.passed, -run.seq, run.command))


def _runs_in_call(each: JudgedCall, text: str) -> Iterator[CheckRun]:
    """Of a text that passed each check in it; of one that failed the text, since any of them may be the one."""
    parts = [
        (_with_folder(part.folder, part.text), part.folder) for part in split_commands(text) if part.purpose in CHECKS
    ]
    if not parts:  # a script: only its main command is known
        main = understand(text).main
        parts = [(shlex.join(main.words), "")] if main and main.wrappers in ((), ("env",)) else []
    if not each.worked and len(parts) > 1:
        parts = [(" && ".join(shown for shown, _ in parts), "")]
    for shown, folder in parts:
        unfit = (
            "\n" in shown or len(shown) > LONGEST or junk_reason(shown) or order_reason(shown) or danger_reason(shown)
        )
        if not unfit and not _VARIABLE.search(shown):
            yield _make_run(each, shown, folder)


def _with_folder(folder: str, text: str) -> str:
    return f"cd {shlex.quote(folder)} && {text}" if folder else text


def _make_run(each: JudgedCall, text: str, folder: str) -> CheckRun:
    understood = understand(text)
    aim = tuple(_REPAIR_SUFFIX.sub("", word) for word in command_aim(text))  # `lint:fix` looks at what `lint` looks at
    checks = [command.words for command in understood.commands if command.checks]
    about = frozenset(word for words in checks for word in words[1:] if _is_narrowing(word)) - frozenset(aim)
    signature = "" if each.worked else each.record.signature
    return CheckRun(
        each.record.seq, each.call.at, text, command_form(text), understood.purpose, each.worked, signature, folder, aim, about
    )  # fmt: skip


def _is_narrowing(word: str) -> bool:
    if word.startswith("-"):
        _, separator, value = word.partition("=")
        return bool(separator) and not value[:1].isdigit()
    return not word[:1].isdigit()


def _covers(passed: CheckRun, failed: CheckRun) -> bool:
    """Whether a check that passed covers everything that an earlier failed check looked at."""
    if passed.purpose != failed.purpose:
        return False
    wide = not passed.targets or not passed.targets.isdisjoint(_WIDE)
    if passed.aim == failed.aim and passed.folder == failed.folder:
        return wide or passed.targets <= failed.targets
    # A project's own task for the purpose runs everything, whichever program the narrower check was.
    return wide and passed.aim[-1] in _WHOLE and passed.aim[1:2] != failed.aim[1:2] and not passed.folder

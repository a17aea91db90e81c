"""The ways of calling commands that a project's sessions show, added up. Knows no lesson and no wording.

A way is a program with what starts it and what it is told (`npx vitest`, `mise run test`); an aspect of it is what belongs
together of its forms: the whole suite, the single test.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from preheat.calls.generalised import commonest_text, generalise
from preheat.commands.words import name_set
from preheat.lessons.used import CommandNotes, CommandUse

ENOUGH_CALLS = 3
ENOUGH_SESSIONS = 2
_MOST_ASPECTS = 3
_OWN_ASPECT = 0.1
"""Share of a way's calls that makes an aspect of its own."""
_SELECTING = name_set(
    "-run -k -t -g --grep --testNamePattern --testPathPattern --testPathPatterns --test-name-pattern --filter-tests"
    " --test -R --tests --only"
)
_SWITCHING = name_set("-tags --tags --features --all-features --filter --project --workspace -p -race")
_USUAL = 0.5
_CLEAR = 0.8
_FILE = re.compile(r"\s[^\s-][^\s]*\w\.[A-Za-z]\w{0,4}['\"]?(?=\s|$)")
"""An argument that names a file: a command with one is about that file only."""
_RECURS, _OFTEN = 3, 0.15
"""Sessions, and their share, in which the very same text makes it the command."""
_WORKS = 0.7
_FAILS = 0.25


class SessionCommands(NamedTuple):
    """One session of a project: which it is, when, and what it shows."""

    session: str
    position: int
    """0-based among the project's sessions, the oldest first."""
    at: float | None
    commands: CommandNotes
    agent: str = ""


class Use(NamedTuple):
    """What one session shows of one form."""

    source: SessionCommands
    used: CommandUse


class Tally:
    """Calls of several uses together."""

    def __init__(self, uses: Iterable[Use]) -> None:
        self.uses = sorted(uses, key=lambda use: (use.source.position, use.used.form, use.used.folder))
        self.ran = sum(use.used.ran_count for use in self.uses)
        self.failed = sum(use.used.failed_count for use in self.uses)
        self.sessions = len({use.source.session for use in self.uses if use.used.ran_count})
        self.failed_sessions = len({use.source.session for use in self.uses if use.used.failed_count})

    @property
    def share(self) -> float:
        return self.ran / (self.ran + self.failed) if self.ran + self.failed else 0.0

    @property
    def is_working(self) -> bool:
        return self.ran > 0 and self.share >= _WORKS

    @property
    def is_failing(self) -> bool:
        return self.failed >= 2 and self.share <= _FAILS

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms that ran, by the number of their sessions."""
        found: Counter[str] = Counter()
        for form, _ in {(use.used.form, use.source.session) for use in self.uses if use.used.ran_count}:
            found[form] += 1
        return tuple(sorted(found, key=lambda form: (-found[form], form)))

    @property
    def signatures(self) -> tuple[str, ...]:
        """The messages of those that failed, by how many sessions met them."""
        found = Counter(signature for use in self.uses for signature in use.used.signatures)
        return tuple(sorted(found, key=lambda text: (-found[text], text)))

    def texts(self, failing: bool = False) -> Counter[tuple[str, str]]:
        """Folder and text, counted by sessions: many calls in one session count once."""
        found: Counter[tuple[str, str]] = Counter()
        for use in self.uses:
            for text, _ in use.used.failing if failing else use.used.texts:
                found[use.used.folder, text] += 1
        return found

    def newest(self, sessions: int) -> "Tally":
        """The uses of the newest third of the project's sessions."""
        first = sessions - sessions // 3
        return Tally(use for use in self.uses if use.source.position >= first)


class Aspect(NamedTuple):
    """One way of calling a command, used for one thing."""

    purpose: str
    way: str
    core: str
    name: str
    """The name that `aspect_of` gives."""
    tally: Tally


def group_by_way(sessions: Sequence[SessionCommands]) -> dict[tuple[str, str], list[Use]]:
    """By purpose and way, what the sessions show of it."""
    found: dict[tuple[str, str], list[Use]] = {}
    for each in sessions:
        for used in each.commands.used:
            found.setdefault((used.purpose, used.way), []).append(Use(each, used))
    return dict(sorted(found.items()))


def split_aspects(purpose: str, way: str, uses: Sequence[Use]) -> list[Aspect]:
    """The aspects of one way, the most used first; what is used little belongs to the first."""
    by_name: dict[str, list[Use]] = {}
    failing = {form for tally in failing_forms(uses) for form in {use.used.form for use in tally.uses}}
    for use in uses:
        if use.used.form not in failing:  # a variant to warn of, and no part of what works
            by_name.setdefault(aspect_of(purpose, use.used.form), []).append(use)
    tallies = {name: Tally(members) for name, members in by_name.items()}
    whole = sum(tally.ran for tally in tallies.values())
    ranked = sorted(tallies, key=lambda name: (-tallies[name].sessions, -tallies[name].ran, name))
    heads = [
        name
        for number, name in enumerate(ranked)
        if not number or (tallies[name].sessions >= ENOUGH_SESSIONS and _is_large_enough(tallies[name].ran, whole))
    ][:_MOST_ASPECTS]
    for name in ranked:
        if name not in heads:
            by_name[heads[0]] += by_name[name]
    return [Aspect(purpose, way, uses[0].used.core, name, Tally(by_name[name])) for name in heads]


def _is_large_enough(ran: int, whole: int) -> bool:
    return ran >= max(ENOUGH_CALLS, _OWN_ASPECT * whole)


def aspect_of(purpose: str, form: str) -> str:
    """What a form is used for: one test or all of them, with or without a part that must be switched on; else its options."""
    options = [word for word in form.split() if word.startswith("-")]
    if purpose != "test":
        return " ".join(options)
    chosen = ["single"] if not _SELECTING.isdisjoint(options) else []
    return " ".join((*chosen, *(option for option in options if option in _SWITCHING)))


def failing_forms(uses: Sequence[Use]) -> list[Tally]:
    """The forms of a way that hardly ever work, where others do."""
    by_form: dict[str, list[Use]] = {}
    for use in uses:
        by_form.setdefault(use.used.form, []).append(use)
    return [tally for form in sorted(by_form) if (tally := Tally(by_form[form])).is_failing]


def home_folders(project_sessions: Sequence[SessionCommands]) -> dict[str, str]:
    """By program, the one folder that its calls go to first, where that is what makes them work.

    A shell may keep its folder, so a call that names none says nothing; a program that did not find its project does."""
    calls_by_folder: dict[str, Counter[str]] = {}
    sessions: dict[tuple[str, str], set[str]] = {}
    bare: Counter[str] = Counter()
    for each in project_sessions:
        for used in each.commands.used:
            program = used.core.partition(" ")[0]
            if used.folder:
                calls_by_folder.setdefault(program, Counter())[used.folder] += used.ran_count
                sessions.setdefault((program, used.folder), set()).add(each.session)
            else:
                bare[program] += used.ran_count
    astray = {stuck.name for each in project_sessions for stuck in each.commands.astray}
    found: dict[str, str] = {}
    for program, folders in sorted(calls_by_folder.items()):
        folder, count = min(folders.items(), key=lambda item: (-item[1], item[0]))
        clear = count >= ENOUGH_CALLS and count >= _CLEAR * folders.total() and len(sessions[program, folder]) > 1
        if clear and (program in astray or folders.total() > _USUAL * (folders.total() + bare[program])):
            found[program] = folder
    return found


def usual_command(texts: Counter[tuple[str, str]], folder: str | None = None, single: bool = False) -> str:
    """The command as it is usually typed: with its folder, and exactly where the sessions agree or one text recurs.
    `single`: it names a case, so that a text that recurs is chance."""
    if not texts:
        return ""
    total = texts.total()
    if not folder:
        folders: Counter[str] = Counter()
        for (where, _), count in texts.items():
            folders[where] += count
        folder = next((where for where, count in sorted(folders.items()) if where and count > _USUAL * total), "")
    counted: Counter[str] = Counter()
    for (where, text), count in texts.items():
        if where == folder or not folder or not where:
            counted[text] += count
    text, most = commonest_text(counted)
    recurs = most >= _RECURS and most >= _OFTEN * counted.total() and not (single or _FILE.search(text))
    if not recurs and (most < _USUAL * counted.total() or most == 1 < counted.total()):
        text = generalise(counted)
    return f"cd {folder} && {text}" if folder and text else text


def aspect_rank(aspect: Aspect) -> tuple[object, ...]:
    return (-aspect.tally.sessions, -aspect.tally.ran, aspect.way, aspect.name)

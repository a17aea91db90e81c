"""Of the facts that a developer would write down for the next one, how many is a session told, and is what it is told of use?

Learns from the first 60 % of each project's sessions and plays the later ones moment by moment: the start, every prompt of a
person, every call before it is made and, where it failed, after it. The tree is the commit of the default branch before the
session (`--repositories FOLDER` with bare clones; without one only lessons count). Files of a prompt are those that it names
itself: orientation is left out
here, so the facts of a package that only orientation would find are not counted. Counted are, by project:

- facts (`labels/facts-*.jsonl`, made by the rules in `facts_rules.md` without a look at our lines): handed out in any moment of a
  later session, or stated in a file that its agent reads by itself; handed out alone; told before half of the sessions that used
  it had used it; known, handed out or not; known from the tree alone, as in a project without any session;
- failures of the later sessions (causes `mistake` and `environment`) that a line handed out before names: its error, the command
  or file that repaired it, the program that was missing. What an agent's own tools always say does not count. Twice: facts and
  lessons alone, learned from the first 60 %; and with what is said on the spot (`facts_answers.py`), where all earlier sessions
  are known: a warning names the failure of its own call if that failed by what it warns of, an answer a later failure that
  would get the same one. Beside it, how many calls that were warned of failed, and how many failures were answered;
- strict precision: of the lines handed out at the start and with prompts, the share whose command, file or error occurs in the
  session;
- what "add a feature and test it" is told at the start, with the prompt, at an edit of the source and of the test that sessions
  changed most, and before its commit, after all sessions; before its branch, push and pull request too, where two sessions of
  the project made such.

At calls no more is said than two lines in ten turns, warnings and answers aside, which have no budget in the product either.
Their lines have moments of their own (`warning`, `answer`) and are in no other figure.

`labels/facts-grades-*.jsonl` grade lines that were handed out; the shares are over those that have a grade. Files with `second`
in their names are the second rater's, with `blind` those of graders who had not seen the code: everything is counted for each
rater by itself, and beside it how far they agree. A
folder of data may have its own `labels/`.
"""

import glob
import json
import os
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from benchmarks.facts_answers import SpotAdvice, SpotLine
from benchmarks.foresight import (
    Failure,
    applies,
    collect_activity,
    command_keys,
    command_of,
    covers,
    guidance_of,
    learn_lessons,
    take_notes,
)
from benchmarks.fork_tree import Repository
from benchmarks.labelled import FOLDER, folder_of
from benchmarks.measuring import SHARED, table
from benchmarks.real import real_sessions, sources
from benchmarks.recorded import EarlierSessions, RecordedSession, Replay, read_commits, read_folders
from preheat.agents import LIVE, instruction_files_of
from preheat.app.analysis.assessment import assess
from preheat.app.analysis.one_pass import prepare_for_learners
from preheat.app.facts import read_log
from preheat.app.live.hooks import PROMPT_TOKENS, START_TOKENS
from preheat.calls.files import changed_files, changed_lines, file_of, written_files
from preheat.calls.judged import JudgedCall, JudgedSession
from preheat.calls.words import telling_words
from preheat.commands.purposes import is_test_file
from preheat.facts import EMPTY_TREE, ProjectTree, derive_facts, wanted_files
from preheat.facts.call_choice import Place, choose_for_call
from preheat.facts.choice import choose_for_prompt
from preheat.facts.failure_choice import choose_after_check, choose_after_failure
from preheat.facts.join import join_facts
from preheat.facts.start_choice import choose_for_start
from preheat.facts.stated import checks_stated, without_stated
from preheat.facts.summary import SUMMED_UP
from preheat.lessons.command_use import ASTRAY as _ASTRAY
from preheat.live.debt import is_written_source
from preheat.live.mistake import find_hint_before_command, index_lessons
from preheat.model.lesson import Lesson
from preheat.projects.folders import main_folder
from preheat.provisioning import provision
from preheat.provisioning.lesson_text import describe_lesson
from preheat.provisioning.tokens import estimate_tokens
from preheat.stated import NO_STATEMENTS, Statements, read_statements

EARLIER = 0.6
_SHOWN = 600
"""Characters of a prompt that a rater is shown."""
FEWEST = 5
TASK = "add a feature and test it"
SHOWN = ("fix the failing lint", "add an endpoint")
SHARED_FOLDERS = ("corpus-projects", "corpus-projects-2")
_PATHS = re.compile(r"[\w@.-]+(?:/[\w@.-]+)+")
_NO_MODULE = re.compile(r"(?i)module not found|cannot find (?:module|package)|no module named|node_modules missing")
_RUN = re.compile(r"\b(npm|pnpm|yarn) run (?=\w)")
_NOT_FOUND = re.compile(r"(?:command not found: |: )?([\w.+-]+)(?:: (?:command )?not found|$)")


class LabelledFact(NamedTuple):
    """A fact as a rater wrote it down."""

    project: str
    id: str
    rater: str
    texts: tuple[str, ...]
    patterns: tuple["re.Pattern[str]", ...]

    def is_in(self, line: str) -> bool:
        plain = _without_run(line)
        return any(pattern.search(plain) for pattern in self.patterns)

    def is_same(self, other: "LabelledFact") -> bool:
        """Whether a text of one of them names the other."""
        return any(self.is_in(text) for text in other.texts) or any(other.is_in(text) for text in self.texts)


class Line(NamedTuple):
    """A line that a session is told."""

    moment: str
    text: str
    lesson: Lesson
    prompt: str = ""
    """The last prompt before it."""
    call: str = ""
    """The command or file that it was said at."""


class Project(NamedTuple):
    """A project with its sessions in time order."""

    name: str
    repository: str
    sessions: list[JudgedSession]
    recorded: Mapping[str, RecordedSession] = MappingProxyType({})
    """By key, those whose working tree can be made anew: with a commit before them, on a machine with our kind of paths."""


# Data
def load_labels(project: str, folder: str = FOLDER) -> list[LabelledFact]:
    return [
        LabelledFact(project, f"{rater}-{number}", rater, tuple(each["any"]), tuple(map(_pattern, each["any"])))
        for rater, rows in _rated_lines(folder, "facts-").items()
        for number, each in enumerate(rows)
        if each["project"] == project
    ]


def _rated_lines(folder: str, start: str) -> dict[str, list[dict[str, Any]]]:
    """The lines of the files whose names begin so, by rater; grades are no facts."""
    found: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for path in sorted(glob.glob(os.path.join(folder, f"{start}*.jsonl"))):
        name = os.path.basename(path)
        if ("grades" in name) == ("grades" in start):
            with open(path, encoding="utf-8") as stream:
                found[_rater_of(name)] += [json.loads(line) for line in stream]
    return found


def _without_run(text: str) -> str:
    """A text in which `npm run test` is `npm test`, the same script (`bun test` is another program than `bun run test`)."""
    return _RUN.sub(r"\1 ", text)


def _pattern(text: str) -> "re.Pattern[str]":
    """A text as whole words in this order; `…` for any between."""
    parts = [r"\s+".join(map(re.escape, part.split())) for part in _without_run(text).split("…")]
    body = r"[^`]*?".join(parts)
    before = r"(?<![\w-])" if text[:1].isalnum() else ""
    return re.compile(before + body + (r"(?![\w-])" if text[-1:].isalnum() else ""))


def _rater_of(name: str) -> str:
    """Whose a file is: graders who had not seen the code are other raters than the one who wrote it."""
    which = "second" if "second" in name else "first"
    return f"{which} blind" if "blind" in name else which


def load_grades(folder: str = FOLDER) -> dict[str, dict[tuple[str, str], str]]:
    """By rater: the grade of a line of a project."""
    return {
        rater: {(each["project"], each["line"]): each["grade"] for each in rows}
        for rater, rows in _rated_lines(folder, "facts-grades-").items()
    }


def load_projects(data: str, repositories: str, wanted: Sequence[str] = ()) -> Iterator[Project]:
    for folder in [data] if data else [os.path.join(SHARED, each) for each in SHARED_FOLDERS]:
        by_source: defaultdict[str, list[tuple[JudgedSession, dict[int, str], str]]] = defaultdict(list)
        names = [each.name for each in sources(folder)]
        if wanted and not any(part in name for part in wanted for name in names):
            continue
        commits: dict[str, dict[str, str]] = {}
        for each in real_sessions(data=folder):
            name = each.source.removeprefix("projects: ").partition("__")[2]
            if name and (not wanted or any(part in name for part in wanted)):
                if name not in commits:
                    commits[name] = read_commits(each.folder)
                records = assess(each.session).records
                judged = prepare_for_learners(each.session, records, main_folder(each.session.project))
                by_source[name].append((judged, read_folders(each.path), commits[name].get(each.session.id, "")))
        for name, found in sorted(by_source.items()):
            place = os.path.join(repositories, name, "repo") if repositories else ""
            repository = place if os.path.isdir(place) else ""
            ordered = sorted(
                (judged for judged, _, _ in found), key=lambda each: (each.session.started_at or 0.0, each.key)
            )
            if len(ordered) >= FEWEST:
                recorded = {each.session.key: each for each in _with_commits(found, repository)}
                yield Project(name, repository, ordered, recorded)


def _with_commits(found: Sequence[tuple[JudgedSession, dict[int, str], str]], place: str) -> Iterator[RecordedSession]:
    """The sessions whose tree can be made anew, each with the commit that the data states, else the last one before it."""
    repository = Repository(place)
    for judged, folders, stated in found if place else ():
        commit = stated or repository.commit_before(judged.session.started_at or 0.0)
        if commit and judged.session.project.startswith("/"):
            yield RecordedSession(judged, folders, commit)


class Trees:
    """The trees of a repository, by commit."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[str, tuple[ProjectTree, list[Lesson], dict[str, str]]] = {}

    def at(self, started: float | None) -> tuple[ProjectTree, list[Lesson], dict[str, str]]:
        """The tree before a moment with its facts and its instruction files; the newest without one."""
        if not self._project.repository:
            return EMPTY_TREE, [], {}
        commit = "HEAD"
        if started is not None:
            when = datetime.fromtimestamp(started, UTC).isoformat()
            commit = self._git("rev-list", "-1", f"--before={when}", "HEAD").strip() or self._first()
        if commit not in self._known:
            self._known[commit] = self._read(commit)
        return self._known[commit]

    def _first(self) -> str:
        return self._git("rev-list", "--max-parents=0", "HEAD").split()[0]

    def _read(self, commit: str) -> tuple[ProjectTree, list[Lesson], dict[str, str]]:
        paths = self._git("ls-tree", "-r", "--name-only", commit).splitlines()
        files = {name.lower() for agent in LIVE for name in instruction_files_of(agent)}
        stated = [path for path in paths if path.lower() in files]
        texts = self._show(commit, [*wanted_files(paths), *stated])
        log = read_log(self._git("log", "-60", "--format=%x00%s", "--name-only", commit))
        wanted = {path: text for path, text in texts.items() if path not in stated and text}
        tree = ProjectTree(frozenset(paths), wanted, **log, project=self._project.name)
        return tree, derive_facts(tree), {path: texts.get(path, "") for path in stated}

    def _show(self, commit: str, paths: Sequence[str]) -> dict[str, str]:
        asked = "".join(f"{commit}:{path}\n" for path in paths)
        output = subprocess.run(
            ["git", "-C", self._project.repository, "cat-file", "--batch"],
            input=asked.encode(),
            capture_output=True,
            check=False,
        ).stdout
        found: dict[str, str] = {}
        place = 0
        for path in paths:
            head, _, _ = output[place:].partition(b"\n")
            place += len(head) + 1
            words = head.split()
            if len(words) == 3 and words[1] == b"blob":
                size = int(words[2])
                found[path] = output[place : place + size].decode("utf-8", "replace")
                place += size + 1
        return found

    def _git(self, *words: str) -> str:
        done = subprocess.run(["git", "-C", self._project.repository, *words], capture_output=True, check=False)
        return done.stdout.decode("utf-8", "replace")


# The moments of a session
def statements_for(agent: str, instructions: dict[str, str]) -> Statements:
    wanted = {name.lower() for name in instruction_files_of(agent)}
    texts = [text for path, text in instructions.items() if path.lower() in wanted]
    imported = [
        instructions[word[1:]] for text in texts for word in text.split() if word[1:] in instructions and word[0] == "@"
    ]
    return read_statements(*texts, *imported) if texts else NO_STATEMENTS


def start_lines(
    lessons: Sequence[Lesson], project: str, agent: str, now: float, stated: frozenset[str], task: str = ""
) -> list[Line]:
    chosen = {each.id: each for each in choose_for_start(lessons, stated)}
    by_id = {lesson.id: lesson for lesson in lessons if lesson.packet is None} | chosen
    context = provision(
        list(by_id.values()), task=task, now=now, agent=agent, project=project, budget=START_TOKENS,
        asked=frozenset(chosen), at_start=True,
    )  # fmt: skip
    return [Line("start", item.text, by_id[item.lesson]) for item in context.items]


def prompt_lines(
    lessons: Sequence[Lesson], prompt: str, told: set[str], stated: frozenset[str], ran: Sequence[str] = ()
) -> list[Line]:
    found = []
    room = PROMPT_TOKENS // 2  # the other half is orientation's
    files = _PATHS.findall(prompt[:4000])
    for each in choose_for_prompt(lessons, prompt, files, frozenset(told), stated, ran):
        text = describe_lesson(each.lesson)
        cost = estimate_tokens(f"- {text}\n")
        if text and cost <= room:
            found.append(Line("prompt", text, each.lesson))
            told.add(each.lesson.id)
            room -= cost
    return found


class Doings:
    """What a session did so far, as far as a line depends on it."""

    def __init__(self) -> None:
        self.edited: dict[str, None] = {}
        self.ran: list[str] = []
        self.turn = ""
        self.turns = 0
        self.said: list[int] = []
        self.moved = False
        """A command went to another folder, where the shell may have stayed."""

    def folder_of(self, call: JudgedCall, session: JudgedSession) -> str | None:
        """The shell's folder, relative to the project: the one that the call names; the project's own while no command went to
        another one; None where that is not known."""
        named = next((call.call.input[name] for name in _FOLDERS if isinstance(call.call.input.get(name), str)), "")
        if named:
            found = session.relative(named).strip("/") if not session.relative(named).startswith("/") else named
            return "" if found == "." else found
        return None if self.moved else ""

    def may_say(self) -> bool:
        """Whether a line at a call fits the budget of advice, here the same in every phase."""
        return sum(turn > self.turns - _TURNS for turn in self.said) < _MOST_IN_TURNS

    def note(self, call: JudgedCall, command: str, changed: Sequence[str]) -> None:
        if not call.call.response or call.call.response != self.turn:
            self.turn, self.turns = call.call.response, self.turns + 1
        self.edited.update(dict.fromkeys(changed))
        self.moved = self.moved or bool(command and _MOVING.search(command))
        if command and call.record.activity in _CHECKING:
            self.ran = [*self.ran, command][-_CHECKS_KEPT:]


_MISSING = re.compile(r"command not found: (?=([\w.+-]+))|(?<![\w.+-])(?=([\w.+-]+): (?:command )?not found\s*$)")
_REFUSED = re.compile(r"(?i)refused|could not connect|couldn't connect|failed to connect|fetch failed")
_MOVING = re.compile(r"(?:^|[;&|]\s*)(?:cd|pushd)\s+(?!\.\s*(?:$|[;&|]))")
_FOLDERS = ("workdir", "cwd", "working_directory", "dir")
_NO_MATCH = "no matches found"
_TURNS, _MOST_IN_TURNS = 10, 2
"""The budget of advice: lines at calls in ten turns. In the daemon it is 1 to 3, by phase and trust."""
_CHECKING = frozenset(["shell:test", "shell:lint", "shell:typecheck", "shell:build"])
_CHECKS_KEPT = 4


def call_lines(
    lessons: Sequence[Lesson],
    known: Any,
    session: JudgedSession,
    call: JudgedCall,
    told: set[str],
    tree: ProjectTree,
    doings: Doings,
    stated: frozenset[str],
    warn: Callable[[], bool],
) -> list[Line]:
    """What is said before a call; `warn`: whether a warning is, which then stands alone."""
    command = command_of(call, session)
    changed = changes_of(call, session) if not command else []
    there = tree.paths.union(doings.edited)
    message = (call.record.signature or "") if call.failed else ""
    place = Place(
        folder=doings.folder_of(call, session),
        has_match=lambda pattern: _NO_MATCH not in message,
        has_program=lambda name: all(name not in found.groups() for found in _MISSING.finditer(message)),
        is_there=there.__contains__,
        edited=tuple(doings.edited),
        ran=tuple(doings.ran),
        stated=stated,
        created=tuple(session.relative(path) for path in written_files(call.call)) if changed else (),
        lines=changed_lines(call.call) if changed else (),
        has_kind=lambda folder, ending: any(
            path.endswith(ending) and path.rpartition("/")[0] == folder for path in there
        ),
        listens=lambda port: not _REFUSED.search(message),
    )
    doings.note(call, command, changed if call.worked else ())
    hint = find_hint_before_command(known, command, session.session.agent) if command else None
    if hint is not None and hint.lesson not in told and doings.may_say():
        told.add(hint.lesson)
        doings.said.append(doings.turns)
        return [Line("call", hint.text, next(each for each in lessons if each.id == hint.lesson))]
    if warn() or not doings.may_say():
        return []
    lesson = (
        choose_for_call(lessons, command, changed, frozenset(told), place)
        if call.call.kind in ("shell", "edit", "write")
        else None
    )
    if lesson is None or not (text := describe_lesson(lesson)):
        return []
    told.add(lesson.id)
    doings.said.append(doings.turns)
    return [Line("call", text, lesson)]


def changes_of(call: JudgedCall, session: JudgedSession) -> list[str]:
    """The files that a call changes, relative to the project."""
    if call.call.kind not in ("edit", "write"):
        return []
    paths = (*changed_files(call.call).splitlines(), file_of(call.call))
    return list(dict.fromkeys(session.relative(path).replace("\\", "/") for path in paths if path))


def failure_line(
    lessons: Sequence[Lesson], session: JudgedSession, call: JudgedCall, told: set[str], doings: Doings
) -> Lesson | None:
    """What is said after a call that failed, or a check that found something."""
    purpose = call.record.activity.removeprefix("shell:")
    if call.record.cause == "finding":
        return choose_after_check(lessons, [purpose], command_of(call, session), frozenset(told), tuple(doings.edited))
    if call.call.kind != "shell" or not call.record.signature:
        return None
    return choose_after_failure(lessons, call.record.signature, frozenset(told), command_of(call, session))


class Played(NamedTuple):
    """What one later session was told, and what it met."""

    lines: list[Line]
    told_before: dict[str, bool]
    """By labelled fact that the session used: whether it had been told before."""
    failures: dict[int, bool]
    """By number of the call that failed by mistake or environment: whether something said before names it."""
    applied: list[bool]
    """By line, whether its command, file or error occurs in the session."""


def play(
    session: JudgedSession,
    lessons: list[Lesson],
    project: str,
    labels: Sequence[LabelledFact],
    tree: ProjectTree = EMPTY_TREE,
    stated: frozenset[str] = frozenset(),
    spot: SpotAdvice | None = None,
) -> Played:
    """A session moment by moment; with `spot` also with what is said on the spot, as the product does."""
    agent, now = session.session.agent, session.session.started_at or 0.0
    lines = start_lines(lessons, project, agent, now, stated)
    told = {line.lesson.id for line in lines}
    known = index_lessons(lessons, now)
    prompts = {message.line: message.text for message in session.human_messages()}
    asked = sorted(prompts.items())
    told_before: dict[str, bool] = {}
    failures: dict[int, bool] = {}
    by_seq = session.calls_by_seq()
    doings = Doings()
    last = asked[0][1] if asked else ""
    lines = [line._replace(prompt=last) for line in lines]
    for call in session.calls:
        while asked and asked[0][0] <= call.call.line:
            prompt = asked.pop(0)[1]
            lines += (line._replace(prompt=prompt) for line in prompt_lines(lessons, prompt, told, stated, doings.ran))
            last = prompt
        command = command_of(call, session)
        for fact in labels:
            if command and fact.id not in told_before and fact.is_in(command):
                told_before[fact.id] = any(fact.is_in(line.text) for line in lines)
        at = command or ", ".join(changes_of(call, session)) or session.relative(file_of(call.call))
        warn = partial(spot.warn, call, last, at) if spot is not None else _say_nothing
        said = call_lines(lessons, known, session, call, told, tree, doings, stated, warn)
        lines += (line._replace(prompt=last, call=at) for line in said)
        if call.failed and call.record.cause in ("mistake", "environment"):
            is_named = _is_named(call, session, by_seq, lines)
            failures[call.record.seq] = is_named or (spot is not None and spot.names(call))
        after = _line_after(lessons, session, call, told, doings, spot, at, last)
        lines += [after._replace(prompt=last, call=at)] if after is not None else []
    for _, text in asked:
        lines += (line._replace(prompt=text) for line in prompt_lines(lessons, text, told, stated))
    there = collect_activity(session)
    return Played(lines, told_before, failures, [_applied(line.lesson, session, there) for line in lines])


def _say_nothing() -> bool:
    return False


def _line_after(
    lessons: Sequence[Lesson], session: JudgedSession, call: JudgedCall, told: set[str], doings: Doings,
    spot: SpotAdvice | None, at: str, prompt: str,
) -> Line | None:  # fmt: skip
    """The line after a call that failed: what a lesson says of it (on the spot only), else a fact, where nothing is answered."""
    if spot is not None and spot.go_on(call, prompt, at):
        return None
    found: Line | None = None
    hint = spot.find_hint() if spot is not None and call.failed else ""
    if hint and hint not in told and (lesson := next((each for each in lessons if each.id == hint), None)):
        found = Line("hint", describe_lesson(lesson), lesson)
    if found is None:
        fact = failure_line(lessons, session, call, told, doings) if call.failed else None
        text = describe_lesson(fact) if fact is not None else ""
        found = Line("failure", text, fact) if fact is not None and text else None
    if found is None or not doings.may_say():
        return None
    told.add(found.lesson.id)
    doings.said.append(doings.turns)
    return found


def _is_named(call: JudgedCall, session: JudgedSession, by_seq: dict[int, JudgedCall], lines: Sequence[Line]) -> bool:
    """Whether a line handed out so far names the failure: what repaired it, its error, the program that was missing."""
    own = [line.lesson for line in lines if not (line.lesson.scope.tool and line.lesson.topic != "shell")]
    repair = by_seq.get(call.record.seq + call.record.recovered_in) if call.record.recovered_in is not None else None
    commands = (
        command_keys(command_of(repair, session)) if repair is not None and repair.call.kind == "shell" else frozenset()
    )
    file = session.relative(file_of(repair.call)) if repair is not None and repair.call.kind != "shell" else ""
    failure = Failure(telling_words(call.record.signature), commands, file)
    if covers(guidance_of(own), failure):
        return True
    missing = _NOT_FOUND.search(call.record.signature) if "not found" in call.record.signature else None
    if missing and any(
        missing[1] in (lesson.details.get("name"), *lesson.details.get("names", "").split(",")) for lesson in own
    ):
        return True
    return any(_names_cause(lesson, call.record.signature, command_of(call, session)) for lesson in own)


def _names_cause(lesson: Lesson, signature: str, command: str) -> bool:
    """Whether a fact names what a command failed by: its hook, its variable, its folder, the modules that are not
    installed, the pattern without a match."""
    if lesson.topic == "hook":
        return "git commit" in command and bool(re.search(r"(?i)husky|pre-commit|hook|lint-staged", signature))
    if lesson.topic == "variable":
        return any(name and name in signature for name in lesson.details.get("names", "").split(","))
    if lesson.topic == "pattern":
        return "no matches found" in signature
    if lesson.topic == "folder" and _ASTRAY.search(signature):
        return lesson.details.get("program", "?") in command.split()
    return lesson.topic == "setup" and bool(_NO_MODULE.search(signature))


def _applied(lesson: Lesson, session: JudgedSession, there: Any) -> bool:
    if applies(lesson, there):
        return True
    if any(not command_keys(each).isdisjoint(there.worked | there.failed) for each in commands_said(lesson)):
        return True
    if lesson.topic in ("hook", "commit"):
        return any("git commit" in command_of(call, session) for call in session.calls)
    if lesson.topic in ("branch", "pull_request", "release"):
        return any(
            re.search(r"git (?:checkout -b|switch -c)|gh pr create|changeset", command_of(call, session))
            for call in session.calls
        )
    body = lesson.details.get("body", "")
    if body and not command_keys(body).isdisjoint(there.worked | there.failed):
        return True
    if lesson.topic == "missing":
        names = set(lesson.details.get("names", "").split(","))
        return any(not names.isdisjoint(command_of(call, session).split()) for call in session.calls)
    return False


def commands_said(lesson: Lesson) -> list[str]:
    """The commands that the line of a fact names, of several checks each."""
    details = lesson.details
    if lesson.topic == "checks":
        named = [each for topic in SUMMED_UP for each in (details.get(topic, ""), details.get(f"{topic}_one", ""))]
        named += details.get("others", "").split("\n")
        named += dict.fromkeys(topic for topic, name in _CUSTOMS if details.get(name))
    else:
        named = [lesson.use, details.get("one", ""), details.get("merge", ""), *details.get("parts", "").split("\n")]
    return [each for each in named if each]


_CUSTOMS = (
    ("commit", "types"),
    ("commit", "beginnings"),
    ("branch", "prefixes"),
    ("pull_request", "pull_request"),
    ("release", "release"),
)


def count_facts(lines: Sequence[Line]) -> list[tuple[str, int]]:
    """The texts of lines, with how many facts each has that none before it had."""
    known: set[str] = set()
    found = []
    for line in lines:
        topic = line.lesson.topic
        facts = set(commands_said(line.lesson)) or {topic if topic in dict(_CUSTOMS) else line.text}
        found.append((line.text, len(facts - known)))
        known |= facts | {topic}
    return found


# Figures
def measure(project: Project, folder: str = FOLDER) -> dict[str, Any]:
    labels = load_labels(project.name, folder)
    trees = Trees(project)
    cut = int(len(project.sessions) * EARLIER)
    pages = take_notes(project.sessions)
    lessons = learn_lessons(project.name, pages[:cut])
    later = project.sessions[cut:]
    tree, facts, _ = trees.at(later[0].session.started_at)
    known = join_facts(lessons, facts, tree)
    told_in: defaultdict[str, list[bool]] = defaultdict(list)
    handed: set[str] = set()
    stated: set[str] = set()
    lines: dict[str, tuple[Line, str]] = {}
    said: list[dict[str, Any]] = []
    counts: defaultdict[str, int] = defaultdict(int)
    failures: list[dict[str, Any]] = []
    on_the_spot: list[tuple[str, SpotLine]] = []
    earlier = EarlierSessions()
    for session in project.sessions[:cut]:
        earlier.add(session)
    for session in later:
        tree, facts, instructions = trees.at(session.session.started_at)
        statements = statements_for(session.session.agent, instructions)
        joined = join_facts(lessons, facts, tree)
        usable = without_stated(joined, statements)
        checked = checks_stated(statements, joined)
        played = play(session, usable, project.name, labels, tree, checked)
        with_spot, said_there = played, []
        if (recorded := project.recorded.get(session.key)) is not None:
            replay = Replay(recorded, Repository(project.repository), earlier.summarise(), earlier.paths)
            spot = SpotAdvice(replay, index_lessons(usable, session.session.started_at or 0.0), session.session.agent)
            with_spot = play(session, usable, project.name, labels, tree, checked, spot)
            on_the_spot += ((session.key, line) for line in spot.lines)
            said_there = [line.text for line in spot.lines]
        earlier.add(session)
        failures += _describe_failures(session, played.failures, with_spot.failures)
        for fact in labels:
            if any(map(fact.is_in, (*(line.text for line in played.lines), *said_there))):
                handed.add(fact.id)
            if any(fact.is_in(code) for code in statements.codes):
                stated.add(fact.id)
        for name, was_told in played.told_before.items():
            told_in[name].append(was_told or name in stated)
        for line, applied in zip(played.lines, played.applied, strict=True):
            lines.setdefault(line.text, (line, session.key))
            said.append(_describe_occurrence(line, session.key, applied))
            counts["judged"] += line.moment in _UNASKED
            counts["applied"] += applied and line.moment in _UNASKED
    warned = [line.is_right for _, line in on_the_spot if line.moment == "warning" and line.is_right is not None]
    counts.update(
        failures=len(failures), covered=sum(each["named"] for each in failures),
        covered_told=sum(each["named_on_the_spot"] for each in failures), warned=len(warned), warned_right=sum(warned),
        answered=sum(line.moment == "answer" for _, line in on_the_spot),
    )  # fmt: skip
    first_tree = trees.at(later[0].session.started_at)[1]
    every = {text for lesson in known if (text := describe_lesson(lesson))}
    alone = {text for lesson in first_tree if (text := describe_lesson(lesson))}
    reached = _Reached(
        handed, stated, {name: 2 * sum(each) >= len(each) for name, each in told_in.items()}, every, alone
    )
    raters = sorted({fact.rater for fact in labels}) or ["first"]
    return {
        "project": project.name,
        "sessions": len(project.sessions),
        "later": len(later),
        "raters": {
            rater: _tally([fact for fact in labels if fact.rater == rater], labels, reached) for rater in raters
        },
        **{name: counts[name] for name in _OF_LINES},
        "task": [[text, number] for text, number in count_facts(lines_for_task(project, pages, trees))],
        "read": len(checks_read(project, trees)),
        "lines": [
            *([line.moment, text] for text, (line, _) in lines.items()),
            *([line.moment, line.text] for line in {line.text: line for _, line in on_the_spot}.values()),
        ],
        "said": [*said, *(_describe_spot_line(line, session) for session, line in on_the_spot)],
        "failed": failures,
    }


_UNASKED = ("start", "prompt")
"""Moments whose lines strict precision is about."""


def _describe_occurrence(line: Line, session: str, applied: bool) -> dict[str, Any]:
    """A line as one session was told it."""
    return {
        "session": session, "moment": line.moment, "prompt": line.prompt[:_SHOWN], "call": line.call[:_SHOWN],
        "line": line.text, "applied": applied, "reach": line.lesson.reach,
    }  # fmt: skip


def _describe_spot_line(line: SpotLine, session: str) -> dict[str, Any]:
    """A warning or an answer as one session was told it; a warning applied where its call failed."""
    return {
        "session": session, "moment": line.moment, "prompt": line.prompt[:_SHOWN], "call": line.call[:_SHOWN],
        "line": line.text, "applied": line.is_right, "reach": None, "rule": line.rule,
    }  # fmt: skip


def _describe_failures(
    session: JudgedSession, alone: dict[int, bool], on_the_spot: dict[int, bool]
) -> list[dict[str, Any]]:
    """The failures of a session, and which of them something said before names."""
    calls = session.calls_by_seq()
    return [
        {
            "session": session.key, "call": number, "cause": calls[number].record.cause, "tool": calls[number].call.tool,
            "failed": (command_of(calls[number], session) or session.relative(file_of(calls[number].call)))[:_SHOWN],
            "error": calls[number].record.signature, "named": is_named, "named_on_the_spot": on_the_spot[number],
        }
        for number, is_named in alone.items()
    ]  # fmt: skip


class _Reached(NamedTuple):
    """What of a project's facts was reached: ids, and the texts of what is known."""

    handed: set[str]
    stated: set[str]
    in_time: dict[str, bool]
    known: set[str]
    tree: set[str]


def _tally(facts: Sequence[LabelledFact], all_facts: Sequence[LabelledFact], reached: _Reached) -> dict[str, Any]:
    """The figures of one rater's facts."""
    others = [fact for fact in all_facts if fact.rater != facts[0].rater] if facts else []
    ids = {fact.id for fact in facts}
    return {
        "facts": len(facts),
        "handed": len(reached.handed & ids),
        "handed_or_stated": len((reached.handed | reached.stated) & ids),
        "in_time": sum(was for name, was in reached.in_time.items() if name in ids),
        "used": len(ids & reached.in_time.keys()),
        "known": sum(
            fact.id in reached.handed | reached.stated or any(map(fact.is_in, reached.known)) for fact in facts
        ),
        "tree": sum(any(map(fact.is_in, reached.tree)) for fact in facts),
        "shared": sum(any(map(fact.is_same, others)) for fact in facts),
        "has_other": len(facts) if others else 0,
        "missed": [fact.texts[0] for fact in facts if fact.id not in reached.handed | reached.stated],
        "unknown": [
            fact.texts[0]
            for fact in facts
            if fact.id not in reached.handed | reached.stated and not any(map(fact.is_in, reached.known))
        ],
    }


def lines_for_task(project: Project, pages: Any, trees: Trees, task: str = TASK) -> list[Line]:
    """What a session with a task is told over its moments, after all sessions."""
    tree, facts, instructions = trees.at(None)
    agent = project.sessions[-1].session.agent
    statements = statements_for(agent, instructions)
    joined = join_facts(learn_lessons(project.name, pages), facts, tree)
    lessons = without_stated(joined, statements)
    stated = checks_stated(statements, joined)
    found = start_lines(lessons, project.name, agent, project.sessions[-1].session.started_at or 0.0, stated)
    told = {line.lesson.id for line in found}
    found += prompt_lines(lessons, task, told, stated)
    edited: tuple[str, ...] = ()
    steps = [("", each) for each in usual_files(project, tree)] + [(each, "") for each in usual_steps(project)]
    for command, path in steps:
        place = Place(folder="", edited=edited, stated=stated)
        fact = choose_for_call(lessons, command, [path] if path else [], frozenset(told), place)
        text = describe_lesson(fact) if fact is not None else ""
        edited += (path,) if path else ()
        if fact is not None and text:
            told.add(fact.id)
            found.append(Line("call", text, fact))
    return found


_STEPS = (
    ("git switch -c add-feature", r"\bgit (?:checkout -b|switch -c)\b"), ("git commit", r"\bgit commit\b"),
    ("git push", r"\bgit push\b"), ("gh pr create", r"\bgh pr create\b"),
)  # fmt: skip
"""How a change comes in, where sessions of a project bring theirs in so."""


def usual_steps(project: Project) -> list[str]:
    """The steps by which sessions bring a change in, as far as two of them did; a commit is always one."""
    done = Counter(
        step
        for session in project.sessions
        for step, pattern in _STEPS
        if any(re.search(pattern, command_of(call, session)) for call in session.calls)
    )
    return [step for step, _ in _STEPS if step == "git commit" or done[step] > 1]


def checks_read(project: Project, trees: Trees) -> frozenset[str]:
    """The topics of checks of which the project's agent reads a command by itself."""
    _, facts, instructions = trees.at(None)
    return checks_stated(statements_for(project.sessions[-1].session.agent, instructions), facts)


def usual_files(project: Project, tree: ProjectTree) -> list[str]:
    """The source and the test that sessions changed most, of those in a tree."""
    counted = Counter(
        path for session in project.sessions for call in session.calls for path in changes_of(call, session)
    )
    code = [path for path, _ in counted.most_common() if path in tree.paths and is_written_source(path)]
    tests = [path for path in code if is_test_file(path.rpartition("/")[2])]
    return [each[0] for each in ([path for path in code if path not in tests], tests) if each]


def run(quick: bool = False, data: str = "", repositories: str = "", projects: Sequence[str] = ()) -> dict[str, Any]:
    wanted = projects or (("git-sync",) if quick else ())
    folder = folder_of(data)
    found = [measure(project, folder) for project in load_projects(data, repositories, wanted)]
    together = add_up(found, load_grades(folder))
    show(found, together)
    return {"projects": found, "together": together}


_OF_FACTS = ("facts", "handed", "handed_or_stated", "in_time", "used", "known", "tree", "shared", "has_other")
_OF_LINES = ("failures", "covered", "covered_told", "warned", "warned_right", "answered", "applied", "judged")
_ON_THE_SPOT = ("warning", "answer")
"""Moments whose lines are no facts."""


def add_up(found: Sequence[dict[str, Any]], grades: dict[str, dict[tuple[str, str], str]]) -> dict[str, Any]:
    raters = sorted({rater for each in found for rater in each["raters"]})
    large = [each for each in found if each["sessions"] >= 8]
    together: dict[str, Any] = {name: sum(each.get(name, 0) for each in found) for name in _OF_LINES}
    together["raters"] = {
        rater: {name: sum(each["raters"].get(rater, {}).get(name, 0) for each in found) for name in _OF_FACTS}
        for rater in raters
    }
    lines = [(each["project"], text) for each in found for moment, text in each["lines"] if moment not in _ON_THE_SPOT]
    graded = {rater: [of_rater[line] for line in lines if line in of_rater] for rater, of_rater in grades.items()}
    together["grades"] = {
        rater: {"graded": len(some), "useful": some.count("useful"), "wrong": some.count("wrong")}
        for rater, some in graded.items()
        if some
    }
    blind = [of_rater for rater, of_rater in grades.items() if rater.endswith("blind")]
    both = [line for line in lines if len(blind) > 1 and all(line in of_rater for of_rater in blind)]
    together["graded_alike"] = [sum(len({of_rater[line] for of_rater in blind}) == 1 for line in both), len(both)]
    # A line for the task counts where no rater calls it useless or wrong.
    bad = {line for of_rater in grades.values() for line, grade in of_rater.items() if grade != "useful"}
    together["large"] = len(large)
    heard = [sum(facts for text, facts in each["task"] if (each["project"], text) not in bad) for each in large]
    together["five"] = sum(facts >= 5 for facts in heard)
    together["five_or_read"] = sum(facts + each["read"] >= 5 for facts, each in zip(heard, large, strict=True))
    return together


def show(found: Sequence[dict[str, Any]], together: dict[str, Any]) -> None:
    rows = [["project", "sessions", "rater", "facts", "handed out or stated", "handed out", "in time", "known", "tree alone",
             "in the other's list", "failures named", "… with warnings", "warnings right", "answers", "strict precision",
             "facts for the task + read"]]  # fmt: skip
    for each in (*found, {"project": "together", "sessions": "", **together}):
        task = _describe_task(each)
        of_lines = [_share(each["covered"], each["failures"]), _share(each["covered_told"], each["failures"])]
        of_lines += [_share(each["warned_right"], each["warned"]), str(each["answered"])]
        of_lines += [_share(each["applied"], each["judged"]), task]
        for rater, facts in each["raters"].items():
            shares = [_share(facts[name], facts["facts"]) for name in ("handed_or_stated", "handed")]
            shares.append(_share(facts["in_time"], facts["used"]))
            shares += [_share(facts[name], facts["facts"]) for name in ("known", "tree")]
            shares.append(_share(facts["shared"], facts["has_other"]))
            rows.append([each["project"], each["sessions"], rater, facts["facts"], *shares, *of_lines])
            of_lines = [""] * len(of_lines)
    table([[str(cell) for cell in row] for row in rows])
    for rater, of_rater in together["grades"].items():
        useful = _share(of_rater["useful"], of_rater["graded"])
        print(f"lines graded by the {rater} rater: {of_rater['graded']}, useful {useful}, wrong {of_rater['wrong']}")
    alike, both = together["graded_alike"]
    if both:
        print(f"graded by both blind graders: {both}, alike {_share(alike, both)}")


def _describe_task(each: dict[str, Any]) -> str:
    """How many facts a session with the task hears, and how many checks its agent reads by itself."""
    if "task" in each:
        return f"{sum(facts for _, facts in each['task'])} + {each['read']}"
    return f"{each['five']}, with what is read {each['five_or_read']} of {each['large']}"


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} % ({part:.0f} of {whole:.0f})" if whole else ""

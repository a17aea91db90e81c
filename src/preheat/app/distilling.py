"""Distilling: a person's own agent (or an endpoint) reads sessions in short and proposes lessons, which are verified.

Only when a person asks for it, after saying what it will cost; nothing of it runs in the background. The agent works in an empty
folder with the permissions to answer and nothing else; its session carries Preheat's mark, so nothing is learned from it.
"""

import os
import shutil
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import closing
from typing import Any, NamedTuple
from uuid import uuid4

import msgspec

from preheat.agents import WITH_HEADLESS, places_of
from preheat.agents.headless import find_program, headless_of, session_files
from preheat.agents.sources import read
from preheat.amounts import format_count
from preheat.app.analysis.assessment import assess
from preheat.app.analysis.one_pass import analyse_archive, prepare_for_learners
from preheat.app.lessons import Lessons
from preheat.app.project_assignment import assign_archive
from preheat.app.projects import find_place, find_project, find_repository, require_project
from preheat.app.sessions.archive import load_session
from preheat.archive.connect import connect
from preheat.archive.database import ArchiveConnection
from preheat.archive.lessons import load_lessons
from preheat.archive.projects import load_project_folders
from preheat.archive.queries import list_sessions
from preheat.archive.results import load_shell_runs
from preheat.calls.judged import LEARNABLE_STARTERS, JudgedSession
from preheat.calls.words import summarise
from preheat.distill.candidates import CitedCall, Known, VerifiedAnswer, read_answer, verify_answer
from preheat.distill.prompt import DistillPrompt, digest_session, make_prompt
from preheat.errors import UserError
from preheat.files import read_text
from preheat.ingest.redact import redact
from preheat.lab.programs import changed_files, one_line_end, run_program
from preheat.model.headless import HeadlessProgram, HeadlessRequest
from preheat.model.lesson import Lesson, WrittenLesson
from preheat.model.listing import SessionFilter
from preheat.model.outcome import FAILURES
from preheat.model.progress import SILENT, Progress
from preheat.model.session import AssistantMessage, Session, Usage, UserMessage, sum_usage
from preheat.provisioning.tokens import estimate_tokens
from preheat.stated import Statements, read_statements

LEAST_BUDGET = 2_000
USUAL_BUDGET = 20_000
USUAL_SESSIONS = 30
_ANSWER_SHARE, _MOST_ANSWER = 5, 4_000
"""A fifth of the budget is for the answer, and no more than this."""
_LONGEST_ARGUMENT = 120_000
"""Bytes of a prompt that a program takes as an argument."""
_OUTPUT_BYTES = 400_000
_NOTE = 200
"""Characters of what a program printed that an error quotes."""
_MOST_FILE = 400_000
_WRONG_KEY = "; `--key-variable NAME` names the variable with a key that it takes"
_ADVICE = {401: _WRONG_KEY, 403: _WRONG_KEY, 404: "; the address ends with `/v1`, and `--model` is one that it has"}
"""By the code of an answer, what to do next."""


class DistillRequest(NamedTuple):
    """What a person asks for."""

    project: str
    using: str
    """The name of an agent, or the address of an endpoint up to and with `/v1`."""
    budget: int = USUAL_BUDGET
    """Tokens of prompt and answer together."""
    sessions: int = USUAL_SESSIONS
    """The newest sessions that are looked at, at most."""
    model: str = ""
    key_variable: str = ""
    """The environment variable with the endpoint's key."""
    program: str = ""
    """The path of the agent's program; empty: as on the PATH."""
    timeout: float = 300.0


class DistillPlan(NamedTuple):
    """What would be run, and what it would cost."""

    request: DistillRequest
    project: str
    key: str
    """The key of the project."""
    name: str
    """The name of this run, which its prompt carries."""
    title: str
    """Who would be asked."""
    program: str
    """The path of the program; empty for an endpoint."""
    prompt: DistillPrompt
    answer_tokens: int
    known_sessions: int
    """Sessions of the project that could be read."""
    missing: str = ""
    """What is missing to run it here and now; empty if nothing is."""

    @property
    def description(self) -> str:
        """What will be done, in a sentence for the person who decides."""
        return (
            f"{self.title} would read {format_count(len(self.prompt.sessions), 'session')} of `{self.project}` (of"
            f" {self.known_sessions:,}), without secrets: about {self.prompt.tokens:,} tokens in and at most"
            f" {self.answer_tokens:,} out, of a budget of {self.request.budget:,}."
        )


class DistillReport(NamedTuple):
    """What came of it."""

    lessons: tuple[Lesson, ...]
    """New ones, which wait for a review."""
    verified: VerifiedAnswer
    used: Usage | None
    """The tokens that were used, as the agent or the endpoint says; None where it does not."""
    seconds: float
    over_budget: bool


class _Answer(NamedTuple):
    text: str
    used: Usage | None


class Distilling:
    """Lessons proposed by a person's own agent."""

    def __init__(self, folder: str, environment: Mapping[str, str] | None = None) -> None:
        """`environment`: the variables of the agent's program; this process's own unless given."""
        self._folder = folder
        self._environment = dict(os.environ if environment is None else environment)

    def agents(self) -> tuple[str, ...]:
        """The agents that can be asked."""
        return tuple(agent for agent in WITH_HEADLESS if (found := headless_of(agent)) and found.answer_only)

    def plan(self, progress: Progress = SILENT, *, only_cost: bool = False, **options: Any) -> DistillPlan:
        """What would be asked and what it would cost; nothing is run. The options are the fields of `DistillRequest`. Raises
        UserError, also where something is missing to run it, unless only the cost is asked for."""
        request = DistillRequest(**options)
        if request.budget < LEAST_BUDGET:
            raise UserError(
                f"a budget of {request.budget:,} tokens is too small for one session; give {LEAST_BUDGET:,} or more"
            )
        headless, title = self._find_asked(request)
        program, missing = self._find_missing(request, headless)
        if missing and not only_cost:
            raise UserError(missing)
        analyse_archive(self._folder, progress)
        answer = min(_MOST_ANSWER, request.budget // _ANSWER_SHARE)
        with closing(connect(self._folder)) as connection:
            assign_archive(connection)
            name = require_project(connection, request.project)
            found = find_project(connection, request.project)
            key = found.key if found is not None else ""
            keys = _newest_sessions(connection, key)
            digests = [digest_session(_load_seen(connection, each)) for each in keys[: request.sessions]]
        longest = 0 if headless is None or headless.reads_input else _LONGEST_ARGUMENT
        run = uuid4().hex[:12]
        digests = [each for each in digests if each.calls]
        prompt = make_prompt(run, name, digests, request.budget - answer, estimate_tokens, longest=longest)
        if not prompt.sessions:
            raise UserError(f"no session of `{name}` fits into {request.budget:,} tokens; raise `--budget`")
        prompt = prompt._replace(text=_redact(prompt.text))
        return DistillPlan(request, name, key, run, title, program, prompt, answer, len(keys), missing)

    def run(self, plan: DistillPlan) -> DistillReport:
        """Ask, verify what comes back, and store what is left for a review. Raises UserError if no answer comes back."""
        if plan.missing:
            raise UserError(plan.missing)
        started = time.monotonic()
        answer = self._ask_program(plan) if plan.program else self._ask_endpoint(plan)
        candidates = read_answer(answer.text)
        if candidates is None:
            said = one_line_end(answer.text)[:200] or "nothing"
            raise UserError(f"{plan.title} did not answer in the form asked for, so nothing was kept; it said: {said}")
        with closing(connect(self._folder)) as connection:
            known = _load_known(connection, plan)
        verified = verify_answer(candidates, known, time.time(), _redact)
        Lessons(self._folder).propose(WrittenLesson(each, plan.key, "", time.time()) for each in verified.lessons)
        used = answer.used
        total = used.input + used.cache_read + used.cache_write + used.output if used is not None else 0
        return DistillReport(
            verified.lessons, verified, used, time.monotonic() - started, over_budget=total > plan.request.budget
        )

    # Whom to ask.
    def _find_asked(self, request: DistillRequest) -> tuple[HeadlessProgram | None, str]:
        """How the agent is started and its title; no program for an endpoint. Raises UserError."""
        if request.using.startswith(("http://", "https://")):
            return None, f"{request.model or 'a model'} at {request.using}"
        headless = headless_of(request.using) if request.using in self.agents() else None
        if headless is None:
            raise UserError(
                f"`{request.using}` cannot be asked; there are {', '.join(self.agents())}, or the address of an endpoint"
                " (`http://localhost:8080/v1`)"
            )
        return headless, places_of(request.using).title

    def _find_missing(self, request: DistillRequest, headless: HeadlessProgram | None) -> tuple[str, str]:
        """The path of the agent's program (none for an endpoint), and what is missing to ask."""
        if headless is not None:
            try:
                return find_program(headless, request.program), ""
            except UserError as error:
                return "", str(error)
        if not request.model:
            return "", "an endpoint needs the name of a model: `--model NAME`"
        if request.key_variable and not self._environment.get(request.key_variable):
            return "", f"the variable `{request.key_variable}` is not set; it should have the endpoint's key"
        return "", ""

    def _ask_program(self, plan: DistillPlan) -> _Answer:
        agent, request = plan.request.using, plan.request
        headless = headless_of(agent)
        if headless is None:
            raise UserError(f"`{agent}` cannot be asked")
        # Preheat's installed hooks do nothing in such a run.
        environment = {**self._environment, **headless.environment, "PREHEAT_RUN": "1"}
        folder = os.path.realpath(tempfile.mkdtemp(prefix="preheat-distill-"))
        record = headless.record_path(folder, plan.name)
        options = HeadlessRequest(plan.prompt.text, request.model, headless.answer_only, record, turns=1)
        before = session_files(agent, environment)
        try:
            ended = run_program(
                [plan.program, *headless.arguments(options)],
                folder,
                environment,
                request.timeout,
                plan.prompt.text if headless.reads_input else None,
                output_bytes=_OUTPUT_BYTES,
            )
            if ended.code is None:
                last = f"; it said last: {words}" if (words := _last_words(one_line_end(ended.output))) else ""
                raise UserError(f"{plan.title} did not answer within {request.timeout:.0f} s; nothing was kept{last}")
            session = _find_session(changed_files(before, session_files(agent, environment), record), plan.name)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        text = _assistant_text(session) if session is not None else ""
        if ended.code != 0 and read_answer(text) is None:
            raise UserError(
                f"{plan.title} ended with exit code {ended.code}: {_last_words(ended.note) or 'it printed nothing'};"
                f" is it logged in? `{headless.program}` in a terminal shows"
            )
        return _Answer(text if read_answer(text) is not None else ended.output, sum_usage(session) if session else None)

    def _ask_endpoint(self, plan: DistillPlan) -> _Answer:
        request = plan.request
        body: dict[str, Any] = {
            "model": request.model,
            "messages": [{"role": "user", "content": plan.prompt.text}],
            "max_tokens": plan.answer_tokens,
        }
        headers = {"content-type": "application/json"}
        if request.key_variable:
            headers["authorization"] = f"Bearer {self._environment[request.key_variable]}"
        address = f"{request.using.rstrip('/')}/chat/completions"
        asked = urllib.request.Request(address, data=msgspec.json.encode(body), headers=headers)  # noqa: S310 - http(s) only
        try:
            with urllib.request.urlopen(asked, timeout=request.timeout) as answer:  # noqa: S310
                document = msgspec.json.decode(answer.read(_OUTPUT_BYTES), type=dict[str, Any])
            text = document["choices"][0]["message"]["content"]
        except urllib.error.HTTPError as error:
            words = one_line_end(error.read(400).decode("utf-8", "replace"))
            raise UserError(f"`{address}` answered {error.code}: {words[:200]}{_ADVICE.get(error.code, '')}") from error
        except TimeoutError as error:
            raise UserError(f"{plan.title} did not answer within {request.timeout:.0f} s; nothing was kept") from error
        except (msgspec.MsgspecError, UnicodeDecodeError, KeyError, IndexError, TypeError) as error:
            raise UserError(f"`{address}` did not answer with a chat completion, so nothing was kept") from error
        except (OSError, ValueError) as error:
            why = getattr(error, "reason", error)
            raise UserError(
                f"`{address}` cannot be reached: {why}; is the server running, and the address right?"
            ) from error
        return _Answer(text if isinstance(text, str) else "", _read_usage(document.get("usage")))


def _last_words(printed: str) -> str:
    """The end of what a program printed, beginning with a whole word."""
    return printed if len(printed) <= _NOTE else f"… {printed[-_NOTE:].partition(' ')[2]}"


def _read_usage(stated: Any) -> Usage | None:
    if not isinstance(stated, dict):
        return None
    put_in, came_out = stated.get("prompt_tokens"), stated.get("completion_tokens")
    return Usage(input=put_in, output=came_out) if isinstance(put_in, int) and isinstance(came_out, int) else None


def _redact(text: str) -> str:
    return redact(text.encode("utf-8", "replace"))[0].decode("utf-8", "replace")


# Sessions.
def _newest_sessions(connection: ArchiveConnection, project: str) -> list[str]:
    """The keys of a project's sessions that may be learned from, the newest first."""
    found = list_sessions(connection, SessionFilter(project_key=project))
    usable = [each for each in found if each.starter in LEARNABLE_STARTERS and each.calls]
    if not usable:
        raise UserError("no session of this project has calls to learn from; `preheat sync` reads new ones")
    return [each.key for each in sorted(usable, key=lambda each: -(each.started_at or 0.0))]


def _load_seen(connection: ArchiveConnection, key: str) -> JudgedSession:
    session = load_session(connection, key)
    return prepare_for_learners(session, assess(session).records, find_place(session).root)


def _load_known(connection: ArchiveConnection, plan: DistillPlan) -> Known:
    calls: dict[tuple[str, int], CitedCall] = {}
    for key in plan.prompt.sessions.values():
        seen = _load_seen(connection, key)
        for each in seen.calls:
            command = seen.relative(summarise(each.call.input))
            seq = each.record.seq
            calls[key, seq] = CitedCall(key, seq, command, seen.relative(each.record.signature), each.ran, each.call.at)
    runs = [
        CitedCall(run.session, run.seq, run.command, "", run.status not in FAILURES or run.cause == "finding", run.at)
        for run in load_shell_runs(connection, plan.key)
        if run.status in ("ok", "empty", "failed", "partial")
    ]
    return Known(
        plan.project, plan.prompt.sessions, calls, runs, load_lessons(connection, ("", plan.project)),
        _read_project_files(connection, plan),
    )  # fmt: skip


def _read_project_files(connection: ArchiveConnection, plan: DistillPlan) -> Statements:
    """What the Markdown files at the root of the project state, if it is on this machine."""
    folder = os.path.abspath(os.path.expanduser(plan.request.project))
    folders = [folder] if os.path.isdir(folder) else load_project_folders(connection, plan.project)
    root = next((find_repository(each) or each for each in folders if os.path.isdir(each)), "")
    texts = []
    for name in sorted(os.listdir(root)) if root else ():
        if name.lower().endswith(".md"):
            try:
                texts.append(read_text(os.path.join(root, name), _MOST_FILE, errors="replace"))
            except (OSError, UserError):
                continue
    return read_statements("\n\n".join(texts))


# The agent's answer.
def _find_session(files: list[str], name: str) -> Session | None:
    """The session of a run, by the mark in its prompt."""
    wanted = f'distill="{name}"'
    for path in files:
        try:
            sessions = read(path)
        except (UserError, OSError):
            continue
        for session in sessions:
            if any(isinstance(event, UserMessage) and wanted in event.text for event in session.events):
                return session
    return None


def _assistant_text(session: Session) -> str:
    return "\n".join(event.text for event in session.events if isinstance(event, AssistantMessage) and event.text)

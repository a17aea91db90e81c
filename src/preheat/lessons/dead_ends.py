"""BuildDeadEndMemory: what sessions tried again and again, in vain, and gave up. Knows no archive.

An attempt has a key: the program or the file that is missing, the intent of a command, the tool with its arguments. A success
with the same key in the same session, or in any later one, takes a dead end away; time does too. A failing test is no dead
end (the command works), nor is an error that many different commands meet.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from shlex import quote
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from preheat.amounts import format_count
from preheat.calls.judged import JudgedCall, JudgedSession
from preheat.calls.shell import command_aim, command_form
from preheat.calls.words import telling_words
from preheat.commands import Command, command_text, is_trivial, understand
from preheat.commands.words import name_set
from preheat.lessons.call_facts import describe_call, safe_touches, says_file_missing
from preheat.lessons.learner import Learner, SessionNotes
from preheat.mistakes.failure import commonest, title
from preheat.model.lesson import DAY, Evidence, Lesson, LessonStatus, Scope, Support, lesson_id, select_evidence
from preheat.safe_text.cleanup import one_line
from preheat.safe_text.reasons import hidden_reason, junk_reason

# What one session tried in vain, and what worked
Obstacle: TypeAlias = Literal["program", "file", "command", "tool", "denied"]
"""Why an attempt failed: a missing program or file, any other error of a command or a tool, or a person who refused."""

_NOT_FOUND = (
    re.compile(r"(?:^|[\s:])([\w.+-]+): (?:command )?not found", re.MULTILINE),
    re.compile(r"command not found: ([\w.+-]+)"),
    re.compile(r"'?([\w.+-]+)'? is not recognized as"),
)
_SHELL_CODE = 127
_PROGRAM = re.compile(r"[\w][\w.+-]*")
_VAGUE = name_set("python node bash sh zsh ruby perl powershell pwsh cat echo printf cd sed awk")
"""Programs that run whatever their arguments say: one failure of `python` predicts nothing about the next `python`."""
_SAFE_GIT = frozenset(["status", "diff", "log", "show", "ls-files", "rev-parse", "describe", "blame"])
_SAFE = frozenset(["read", "search", "list", "test", "lint", "typecheck"])
_SAFE_WRAPPERS = frozenset(["npx", "pnpm", "yarn", "uv", "poetry", "bundle", "bunx", "mise", "time", "timeout"])
_PURPOSEFUL = frozenset(f"shell:{purpose}" for purpose in ("test", "build", "lint", "typecheck", "format", "search"))
_CHANGES = re.compile(
    r"--(?:fix|write|in-place|update|apply|delete|force|unsafe|output|commit|pre|hook|exec)"
    r"|^-(?:u|w|i|D|d|f|o|X|delete|exec|execdir|ok|okdir|fprint|fls)\b"
)
"""Options by which a program that looks or checks does more than that."""
_WRITES = re.compile(r">(?!&[12]|\s*/dev/null)")
_PROGRAMMABLE = frozenset(["sed", "awk", "gawk", "perl", "jq", "yq"])
"""Programs with a script language of their own, which Preheat does not read."""
_VERSION = re.compile(r"(?<![\w.])v?(\d+\.\d+(?:\.\d+)?)(?![\w.]*/)")
_ASKS_VERSION = frozenset(["--version", "-V", "-v", "version", "-version"])
_LONGEST = 200
_ALTERNATIVE_CALLS = 5
_MOST_ATTEMPTS = 200
_MOST_VERSIONS = 6


class Attempt(msgspec.Struct, frozen=True, array_like=True):
    """One call that failed."""

    key: str
    obstacle: Obstacle
    shown: str
    """What was tried: the command, the file, the tool with its arguments."""
    form: str
    seq: int
    at: float | None
    signature: str
    environment: bool
    instead: str = ""
    """The form of what was done instead, where that is clear."""
    recheck: str = ""
    seconds: float = 0.0
    tokens: int = 0


class AttemptNotes(msgspec.Struct, frozen=True, array_like=True):
    """Of one session."""

    failed: tuple[Attempt, ...] = ()
    worked: tuple[str, ...] = ()
    """The keys that successes prove wrong."""
    model: str = ""
    branch: str = ""
    versions: dict[str, str] = {}
    """Of programs, where the session asked for them."""


def take_notes(seen: JudgedSession) -> AttemptNotes | None:
    """What a session tried in vain, and what worked."""
    failed: list[Attempt] = []
    worked: set[str] = set()
    versions: dict[str, str] = {}
    for place, each in enumerate(seen.calls):
        if each.ran:
            worked.update(_success_keys(seen, each))
            versions.update(_versions(each))
        elif each.record.status == "denied" or (each.failed and each.record.cause != "finding"):
            attempt = _make_attempt(seen, place)
            if attempt is not None:
                failed.append(attempt)
    if not failed and not worked:
        return None
    kept = dict(sorted(versions.items())[:_MOST_VERSIONS])
    session = seen.session
    return AttemptNotes(tuple(failed[-_MOST_ATTEMPTS:]), tuple(sorted(worked)), session.model, session.branch, kept)


def _make_attempt(seen: JudgedSession, place: int) -> Attempt | None:
    each = seen.calls[place]
    record = each.record
    found = _denial_key(seen, each) if record.status == "denied" else _failure_key(seen, each)
    if found is None:
        return None
    key, obstacle, shown = found
    if junk_reason(shown) or len(shown) > _LONGEST:
        return None
    command = seen.relative(command_text(each.call.input)) if each.call.kind == "shell" else ""
    return Attempt(
        key,
        obstacle,
        shown,
        command_form(command) if command else record.tool,
        record.seq,
        each.call.at,
        "" if obstacle == "denied" else record.signature,
        record.cause == "environment",
        "" if obstacle in ("denied", "file") else _alternative_form(seen, place),
        _recheck_command(obstacle, shown),
        record.lost_seconds,
        record.lost_tokens,
    )


def _failure_key(seen: JudgedSession, each: JudgedCall) -> tuple[str, Obstacle, str] | None:
    """The key of a failed call, why it failed, and the call as text; None where other sessions cannot use it."""
    call = each.call
    if call.kind == "shell":
        text = seen.relative(command_text(call.input)).strip()
        program = _missing_program(each)
        if program:
            return f"program {program}", "program", program
        key = _command_key(text)
        return (key, "command", text) if key and "\n" not in text else None
    if call.kind == "read":
        if not says_file_missing(each):
            return None
        path = next((path for path, _ in safe_touches(seen, each)), "")
        return (f"file {path}", "file", path) if path else None
    if call.kind in ("edit", "write", "search"):  # about texts that differ every time
        return None
    key = _tool_key(seen, each)
    return key, "tool", key.removeprefix("tool ")


def _denial_key(seen: JudgedSession, each: JudgedCall) -> tuple[str, Obstacle, str] | None:
    """The key of a refused call. It is made from the form: whether a person refuses depends on the options."""
    call = each.call
    if call.kind == "shell":
        form = command_form(seen.relative(command_text(call.input)))
        return (f"denied {form}", "denied", form) if form else None
    return (f"denied {call.tool}", "denied", call.tool) if call.kind == "other" else None


def _success_keys(seen: JudgedSession, each: JudgedCall) -> Iterator[str]:
    """The keys that a success proves wrong."""
    call = each.call
    if call.kind == "shell":
        text = seen.relative(command_text(call.input))
        yield f"denied {command_form(text)}"
        yield _command_key(text) or "nothing"
        for command in understand(text).commands:
            yield f"program {command.program}"
    elif call.kind not in ("read", "edit", "write", "search"):
        yield f"denied {call.tool}"
        yield f"tool {call.tool}"
        yield _tool_key(seen, each)
    for path, how in safe_touches(seen, each):
        if how != "removed":
            yield f"file {path}"


def _missing_program(each: JudgedCall) -> str:
    """The program that a shell did not find."""
    signature = each.record.signature
    for pattern in _NOT_FOUND:
        found = pattern.search(signature)
        if found and (each.record.exit_code in (None, _SHELL_CODE) or "command" in signature or "recogn" in signature):
            program = found[1]
            commands = understand(command_text(each.call.input)).commands
            return program if any(command.program == program for command in commands) else ""
    return ""


def _command_key(text: str) -> str:
    """The key of a command's intent; empty where its words do not show the intent."""
    understood = understand(text)
    main = understood.main
    if main is None or not understood.complete or not _PROGRAM.fullmatch(main.program):
        return ""
    aim = command_aim(text)
    return "" if aim[1:] and aim[1] in _VAGUE and len(aim) < 3 else " ".join(("command", *aim))


def _tool_key(seen: JudgedSession, each: JudgedCall) -> str:
    """The tool with its arguments if they are few and short, else the tool alone: then none of its calls ever worked."""
    return f"tool {describe_call(seen, each)}"


def _alternative_form(seen: JudgedSession, place: int) -> str:
    """The form of the call that worked instead: the recovery that the record names, or the next success with the same
    purpose."""
    each = seen.calls[place]
    recovered = each.record.seq + each.record.recovered_in if each.record.recovered_in else None
    for other in seen.calls[place + 1 : place + 1 + _ALTERNATIVE_CALLS]:
        same = other.record.activity == each.record.activity and each.record.activity in _PURPOSEFUL
        mended = other.record.seq == recovered and other.record.activity == each.record.activity
        if mended or (recovered is None and same and other.worked):
            if other.call.kind != "shell":
                return other.record.tool
            return command_form(seen.relative(command_text(other.call.input)))
    return ""


def _recheck_command(obstacle: Obstacle, shown: str) -> str:
    """A command that shows whether it still fails, and changes nothing."""
    if obstacle == "program":
        return f"command -v {shown}"
    if obstacle == "file":
        return f"test -e {quote(shown)}"
    if obstacle != "command":
        return ""
    understood = understand(shown)
    if _WRITES.search(shown):
        return ""
    return shown if understood.complete and all(_is_safe(command) for command in understood.commands) else ""


def _is_safe(command: Command) -> bool:
    """Whether a command is known to only look or check."""
    if command.wrappers and not _SAFE_WRAPPERS.issuperset(command.wrappers):
        return False
    if command.program in _PROGRAMMABLE or any(_CHANGES.search(word) for word in command.words[1:]):
        return False
    if command.purpose == "vcs":
        return command.program == "git" and any(word in _SAFE_GIT for word in command.words[1:2])
    return command.purpose in _SAFE or (is_trivial(command) and command.program in ("cd", "echo", "true"))


def _versions(each: JudgedCall) -> Iterator[tuple[str, str]]:
    """The program and the version that it printed."""
    if each.call.kind != "shell" or each.result is None or not each.worked:
        return
    main = understand(command_text(each.call.input)).main
    if main is not None and len(main.words) == 2 and main.words[1] in _ASKS_VERSION:
        found = _VERSION.search(each.result.text[:400])
        if found:
            yield main.program, found[1]


# What never worked since, over many sessions
EXPIRES = 30.0
"""Days after the last attempt."""
EXPIRES_ENVIRONMENT = 7.0
"""Days, where the environment was to blame (a network, a program that is not there): that changes sooner."""
_TRIES = 2
_COMMON = 3
"""An error that so many different commands met is not about any of these commands."""
_MOST_LISTED = 5


class _SessionAttempt(NamedTuple):
    session: SessionNotes[AttemptNotes]
    attempt: Attempt

    @property
    def at(self) -> float | None:
        return self.attempt.at if self.attempt.at is not None else self.session.ended_at or self.session.started_at


def learn(project: str, sessions: Sequence[SessionNotes[AttemptNotes]]) -> list[Lesson]:
    """What failed and never worked since."""
    if not project:
        return []
    tried: defaultdict[str, list[_SessionAttempt]] = defaultdict(list)
    worked: Counter[str] = Counter()
    for session in sessions:
        notes = session.notes
        for key in notes.worked:
            tried.pop(key, None)
            worked[key] += 1
        for attempt in notes.failed:
            if attempt.key not in notes.worked:
                tried[attempt.key].append(_SessionAttempt(session, attempt))
    common = _common_errors(tried.values())
    found = []
    for key, tries in tried.items():
        own = [each for each in tries if each.attempt.obstacle != "command" or _words(each.attempt) not in common]
        own = _with_same_error(own)
        if len(own) >= _TRIES:
            found.append(_lesson(project, key, own, worked[key]))
    return sorted(found, key=lambda each: (-each.support.sessions_for, -each.support.calls_for, each.id))


def _common_errors(tried: Iterable[list[_SessionAttempt]]) -> set[tuple[str, ...]]:
    commands_by_error: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    for tries in tried:
        for _, attempt in tries:
            if attempt.obstacle == "command":
                commands_by_error[_words(attempt)].add(attempt.key)
    return {words for words, keys in commands_by_error.items() if len(keys) >= _COMMON}


def _with_same_error(tries: list[_SessionAttempt]) -> list[_SessionAttempt]:
    """The attempts of a command that met the same error: failing differently each time is no dead end."""
    if not tries or tries[0].attempt.obstacle != "command":
        return tries
    error_counts = Counter(_words(each.attempt) for each in tries)
    most = min(error_counts, key=lambda words: (-error_counts[words], words))
    return [each for each in tries if _words(each.attempt) == most]


def _words(attempt: Attempt) -> tuple[str, ...]:
    return telling_words(attempt.signature)


def _lesson(project: str, key: str, tries: list[_SessionAttempt], worked: int) -> Lesson:
    last = max(tries, key=lambda each: (each.at or 0.0, each.session.session, each.attempt.seq))
    attempt = last.attempt
    scope = Scope(agent=last.session.agent if attempt.obstacle == "tool" else "", project=project)
    sessions = {each.session.session for each in tries}
    times = [at for each in tries if (at := each.at) is not None]
    environment = sum(each.attempt.environment for each in tries) * 2 > len(tries) and attempt.obstacle != "denied"
    days = EXPIRES_ENVIRONMENT if environment else EXPIRES
    form = _most_usual(each.attempt.form for each in tries)
    shown = _common_text([each.attempt.shown for each in tries]) or form
    instead = _most_usual((each.attempt.instead for each in tries), form)
    evidence = [
        Evidence(each.session.session, each.attempt.seq, each.at, text=one_line(each.attempt.shown), failed=True)
        for each in tries
    ]
    error = _most_usual([each.attempt.signature for each in tries])
    status, why = _status(tries, error)
    return Lesson(
        id=lesson_id("dead_end", scope, key),
        kind="dead_end",
        scope=scope,
        topic=attempt.obstacle,
        text=_text(attempt, shown, len(tries), len(sessions), error if status != "quarantined" else "", instead),
        use=instead,
        avoid=shown,
        error=error,
        signatures=commonest((each.attempt.signature for each in tries), _MOST_LISTED),
        forms=commonest((each.attempt.form for each in tries), _MOST_LISTED)
        if _is_whole(attempt)
        else _describe_tool(attempt),
        files=(attempt.shown,) if attempt.obstacle == "file" else (),
        recheck=attempt.recheck,
        environment=_fingerprint(last.session),
        support=Support(len(tries), len(sessions), worked, worked),
        first_seen=min(times, default=None),
        last_seen=max(times, default=None),
        half_life=days,
        expires_at=max(times) + days * DAY if times else None,
        evidence=select_evidence(evidence),
        cost_seconds=round(sum(each.attempt.seconds for each in tries), 3),
        cost_tokens=sum(each.attempt.tokens for each in tries),
        status=status,
        why=why,
    )


def _status(tries: list[_SessionAttempt], error: str) -> tuple[LessonStatus, str]:
    reason = hidden_reason(error) or next((why for each in tries if (why := hidden_reason(each.attempt.signature))), "")
    if reason:
        return "quarantined", reason
    if len({each.session.session for each in tries}) < 2:
        return "weak", "from one session only"
    return "active", ""


def _text(attempt: Attempt, shown: str, count: int, sessions: int, error: str, instead: str) -> str:
    where = f"{count} times in {format_count(sessions, 'session')}"
    quoted = f" (`{title(error)}`)" if error else ""
    if attempt.obstacle == "denied":
        return f"`{shown}` was refused {where}, and never allowed since"
    if attempt.obstacle == "file":
        return f"`{shown}` does not exist: it was looked for {where}"
    if attempt.obstacle == "program":
        text = f"`{shown}` is not installed: it was tried {where}"
        return f"{text}; `{instead}` was used instead" if instead else text
    text = f"`{one_line(shown, 120)}` was tried {where} and failed{quoted}"
    return f"{text}; abandoned for `{one_line(instead, 80)}`" if instead else text


def _is_whole(attempt: Attempt) -> bool:
    """Whether the attempt is about a whole command or tool, not about one file or one set of arguments."""
    return attempt.obstacle != "file" and (attempt.obstacle != "tool" or attempt.shown == attempt.form)


def _describe_tool(attempt: Attempt) -> tuple[str, ...]:
    """The tool with its arguments."""
    return (attempt.shown,) if attempt.obstacle == "tool" else ()


def _common_text(shown: list[str]) -> str:
    """The text of the attempts, where all have the same."""
    return shown[0] if len(set(shown)) == 1 else ""


def _most_usual(texts: Iterable[str], but: str = "") -> str:
    """The commonest of the texts that say something."""
    return next(iter(commonest(text for text in texts if text != but)), "")


def _fingerprint(session: SessionNotes[AttemptNotes]) -> dict[str, str]:
    """The model, branch and program versions of the session in which it failed last."""
    notes = session.notes
    known = {"agent": session.agent, "model": notes.model, "branch": notes.branch, **notes.versions}
    return {name: value for name, value in known.items() if value}


def describe(lessons: Sequence[Lesson]) -> str:
    """One line on what was learned."""
    if not lessons:
        return "nothing that was tried in vain"
    active = sum(each.status == "active" for each in lessons)
    return f"{format_count(active, 'dead end')} that several sessions met, {len(lessons) - active} that only one did"


BUILD_DEAD_END_MEMORY = Learner(
    name="BuildDeadEndMemory", version=3, notes_type=AttemptNotes, take_notes=take_notes, learn=learn, describe=describe
)

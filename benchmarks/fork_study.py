"""The cases of the fork study, from real sessions: failures that a later call repaired, as commands of one shell tool.

What Preheat says of a failure is the text: before the call if it would have warned, else after the error. Where it says
nothing, the text names the repair outright in the sentence of a known failure. Cases hold text of real sessions: they stay
outside of the repository, where only figures go.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from benchmarks.forks import Fork, walk_projects
from benchmarks.nextcall import prompt_before
from benchmarks.recorded import RecordedSession
from preheat.answers import sentences
from preheat.calls.files import file_of
from preheat.calls.judged import JudgedCall, JudgedSession
from preheat.commands import command_text
from preheat.lab.study.forks.cases import ForkCase, give_old_texts, give_other_texts, take_turns
from preheat.lab.study.prompts import Message

SHORTEST, LONGEST = 4, 240
"""Characters of a command."""
MOST_OF_A_SESSION = 3
"""Cases of one session in a stratum."""
_PROMPT, _COMMAND, _RESULT, _ERROR = 400, 240, 160, 300
_BEGINNING = re.compile(r"[A-Za-z./]")


def make_cases(data: str, repositories: str, earlier: Sequence[ForkCase] = ()) -> list[ForkCase]:
    """All cases, with their other texts, in the order in which they are run; given an earlier plan, those that it has too and
    of which Preheat says something, with what it said then."""
    found: list[ForkCase] = []
    for recorded, forks in walk_projects(False, data, repositories, defaultdict(Counter)):
        of_session: Counter[str] = Counter()
        for case in _cases_of(recorded, forks):
            of_session[case.stratum] += 1
            if of_session[case.stratum] <= MOST_OF_A_SESSION:
                found.append(case)
    return give_other_texts(take_turns(give_old_texts(found, earlier) if earlier else found))


def _cases_of(recorded: RecordedSession, forks: list[Fork]) -> Iterator[ForkCase]:
    session = recorded.session
    calls = session.calls_by_seq()
    for fork in forks:
        failed = calls[fork.call]
        repair = calls.get(fork.call + fork.repaired_by) if fork.repaired_by is not None else None
        if repair is None or failed.result is None:
            continue
        first, second = _as_command(failed, session), _as_command(repair, session)
        if first == second or not (_is_fit(first) and _is_fit(second)):
            continue
        said = fork.before or fork.after
        rule = fork.before_rule or fork.after_rule
        remedies = fork.before_remedies if fork.before else fork.remedies if fork.after else [second]
        text = said or sentences.KNOWN_REPAIR.write(use=second, worked=sentences.count_sessions(2), sessions=2)
        if text:
            yield ForkCase(
                f"{session.key}/{fork.call}", fork.project, "product" if said else "named", fork.group, rule,
                _conversation(session, failed), first, _shorten(session.relative(failed.result.text)), second, text, "", "",
                tuple(remedies),
            )  # fmt: skip


def _as_command(each: JudgedCall, session: JudgedSession) -> str:
    """A call as a command of the shell, with paths relative to the project; a read of a file as `cat`; empty for others."""
    if each.call.kind == "shell":
        return session.relative(command_text(each.call.input)).strip()
    path = session.relative(file_of(each.call)) if each.call.kind == "read" else ""
    return f"cat {path}" if path and " " not in path else ""


def _is_fit(command: str) -> bool:
    return SHORTEST <= len(command) <= LONGEST and "\n" not in command and bool(_BEGINNING.match(command))


def _shorten(text: str) -> str:
    """The beginning and the end of a result."""
    half = _ERROR // 2
    return text if len(text) <= _ERROR else f"{text[:half]} … {text[-half:]}"


def _conversation(session: JudgedSession, asked: JudgedCall) -> tuple[Message, ...]:
    """The last thing that a person said before the call, and the two calls before it that can be shown as commands."""
    messages = [Message("user", session.relative(prompt_before(session, asked))[:_PROMPT] or "Go on.")]
    before = [
        (earlier, command)
        for earlier in session.calls
        if earlier.record.seq < asked.record.seq and (command := _as_command(earlier, session))
    ][-2:]
    for earlier, command in before:
        result = session.relative(earlier.result.text)[:_RESULT] if earlier.result is not None else ""
        messages.append(Message("assistant", "", command[:_COMMAND]))
        messages.append(Message("tool", result))
    return tuple(messages)

"""Answers on the spot in a running session: from a hook event to an advisory. Knows no agent's form and no daemon.

What the rules are is in `preheat.answers`; this module hands them the call, the disk, the history of the project, and makes an
advisory of what they say. An answer is said once in a session and takes nothing from the budget of the signals.
"""

from collections.abc import Iterator
from hashlib import blake2b

from msgspec import structs

from preheat.answers import NO_HISTORY, Answer, Failure, History, PlannedCall, SessionFacts, answer_failure, warn_before
from preheat.answers.history import PastCommand, summarise_history
from preheat.answers.sentences import HELD_ONCE
from preheat.app.live.advice import tool_kind
from preheat.app.live.project_files import NO_NAMES, DiskFiles, NameIndex
from preheat.archive.database import ArchiveConnection
from preheat.archive.judgements import shell_calls
from preheat.archive.projects import load_project_places
from preheat.live.advice import format_advisory
from preheat.live.signal import Thresholds
from preheat.live.state import LiveState
from preheat.model.live import ANSWER, WARNING, Advisory, CallEvent, HookEvent, LiveEvent, answer_subject, strip_marks
from preheat.model.outcome import FAILURES
from preheat.safe_text.paths import make_paths_relative

_MOST_NAMES = 12
_MOST_CALLS = 20_000
"""Shell calls of earlier sessions that are looked at, the newest."""


def load_history(connection: ArchiveConnection, project: str) -> History:
    """What the archive knows of the commands of a project, given its key. Slow."""
    places = load_project_places(connection, project)

    def calls() -> Iterator[PastCommand]:
        for key, command, status, cause, signature, repair in shell_calls(connection, project, _MOST_CALLS):
            folder, root = places.get(key, ("", ""))
            yield PastCommand(
                key,
                make_paths_relative(command, root, folder),
                status,
                cause,
                signature,
                make_paths_relative(repair, root, folder),
            )

    return summarise_history(calls())


def planned_call(event: HookEvent) -> PlannedCall:
    """The call of a hook event."""
    workdir = event.arguments.get("workdir") or event.arguments.get("cwd")
    call = PlannedCall(tool_kind(event), event.tool, event.arguments, event.cwd)
    return structs.replace(call, folder=call.absolute(workdir)) if isinstance(workdir, str) and workdir else call


def advise_after_failure(
    state: LiveState, event: LiveEvent, hook: HookEvent, root: str, names: NameIndex = NO_NAMES,
    history: History = NO_HISTORY, facts: SessionFacts | None = None, *, thresholds: Thresholds,
) -> Advisory | None:  # fmt: skip
    """The answer to a call that failed by mistake or because of its environment; None for nearly all events."""
    if not isinstance(event, CallEvent) or event.status not in FAILURES or event.cause == "finding" or not hook.tool:
        return None
    found = answer_failure(Failure(planned_call(hook), hook.result or ""), DiskFiles(root, names), history, facts)
    return _make_advisory(state, found, ANSWER, thresholds, root)


def warn_before_call(
    state: LiveState, hook: HookEvent, root: str, names: NameIndex = NO_NAMES, history: History = NO_HISTORY,
    facts: SessionFacts | None = None, *, thresholds: Thresholds,
) -> Advisory | None:  # fmt: skip
    """The warning before a call that is known to fail."""
    if hook.subagent or not hook.tool:
        return None
    found = warn_before(planned_call(hook), DiskFiles(root, names), history, facts)
    return _make_advisory(state, found, WARNING, thresholds, root)


def word_hold(advisory: Advisory, thresholds: Thresholds) -> Advisory:
    """A warning as the text that refuses its call: an agent that reads only the reason takes the call for forbidden."""
    text = format_advisory(strip_marks(advisory.text), thresholds.advice_tokens, HELD_ONCE.write())
    return structs.replace(advisory, text=text)


def _make_advisory(
    state: LiveState, found: Answer | None, moment: str, thresholds: Thresholds, root: str
) -> Advisory | None:
    if found is None:
        return None
    about = blake2b(found.about.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    cause = f"{moment} {found.rule} {about}"
    if answer_subject(cause) in state.mistake.given_lessons:
        return None
    text = format_advisory(found.text, thresholds.advice_tokens)
    return Advisory(signal="mistake", text=text, cause=cause, turn=state.turn, names=_read_names(found, root))


def _read_names(found: Answer, root: str) -> tuple[str, ...]:
    """What an answer names, as a later call would say it; of lines to edit, their file."""
    places = (found.about.rpartition(" ")[0],) if found.rule == "edit text" else found.remedies
    return tuple(place.removeprefix(f"{root.rstrip('/')}/") for place in places[:_MOST_NAMES] if place)

"""Passes on to the daemon what Hermes reports of its sessions, and puts the answers where Hermes takes them.

Standard library only. Knows no signal and no lesson. Hermes runs tools in threads, and several sessions in one process. Subagents
get nothing, nor does the program's own review of a session, which bears that session's id and is known by its turn.

Hermes reports a finished call twice: first to observers, then to those who may change the result. The event goes out the first
time, and the answer waits for the second.
"""

import functools
import json
import logging
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from .daemon import LIMIT, START, Daemon, working_folder

# Inserting text into what Hermes is about to show the model.
ADVISORY = "preheat_advisory"
"""The key of our advisory in a result; the reader of sessions takes it out again."""
_LONG_RESULT = 60_000
"""Characters from which Hermes may show the model the beginning of a result only."""
_SENT_FIELDS = ("role", "content", "tool_calls", "tool_call_id")
"""The fields of a message that are sent; the others are Hermes's own, and no provider knows them."""
_JSON = json.JSONDecoder()


def with_advisory(result: str, advisory: str) -> str | None:
    """A result with an advisory in its first JSON object: after the object, it would hide the exit code from Hermes."""
    start = len(result) - len(result.lstrip())
    found = _read_object(result, start)
    if found is None or ADVISORY in found[0]:
        return None
    value, end = found
    entry = f"{json.dumps(ADVISORY)}: {_encode_text(advisory)}"
    if not value:
        return f"{result[: start + 1]}{entry}{result[start + 1 :]}"
    if end - start > _LONG_RESULT:
        return f"{result[: start + 1]}{entry}, {result[start + 1 :]}"
    return f"{result[: end - 1]}, {entry}{result[end - 1 :]}"


def with_output(result: str, output: str) -> str | None:
    """A command's result with its output replaced."""
    found = _read_object(result, len(result) - len(result.lstrip()))
    if found is None or not isinstance(found[0].get("output"), str):
        return None
    value, end = found
    value["output"] = _clean(output)
    return json.dumps(value, ensure_ascii=False) + result[end:]


def _read_object(text: str, start: int) -> tuple[dict[str, Any], int] | None:
    try:
        value, end = _JSON.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return (value, end) if isinstance(value, dict) else None


def _encode_text(text: str) -> str:
    return json.dumps(_clean(text), ensure_ascii=False)


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def with_messages(request: Any, messages: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """The messages of a request with ours after the system message; only for the shape that most providers share."""
    sent = request.get("messages") if isinstance(request, dict) else None
    if not isinstance(sent, list) or len(sent) < 2 or "input" in request or "system" in request:
        return None
    if not all(isinstance(each, dict) and isinstance(each.get("role"), str) for each in sent):
        return None
    if sent[0]["role"] not in ("system", "developer") or sent[1]["role"] not in ("user", "assistant"):
        return None
    return [sent[0], *({name: each[name] for name in _SENT_FIELDS if name in each} for each in messages), *sent[1:]]


def valid_messages(found: Any) -> list[dict[str, Any]]:
    """The messages of an answer; none unless all of them are valid."""
    all_valid = isinstance(found, list) and all(
        isinstance(each, dict) and isinstance(each.get("role"), str) for each in found
    )
    return found if all_valid else []


# The callbacks.
REVIEW = "Review the conversation above and"
"""The beginning of the prompt with which Hermes reviews a session by itself."""
END = 1.0
"""Seconds to wait for the line at the end of a session that a person attends."""
_COMMANDS = ("terminal", "execute_code")
"""Tools whose calls a rule may refuse."""
_MOST_TEXT = 20_000
_MOST_CONTEXT = 9_900
"""The most characters of context: Hermes puts 10,000 and more into a file."""
_MOST_RESULT = 4_000_000
_MOST_ENTRIES = 500
_ONE_QUESTION_OPTIONS = ("-q", "-Q", "-z", "--query", "--quiet", "--oneshot")
_REFUSAL_CODES = (400, 422)
"""Status codes of a provider that does not understand a request."""
_LOG = logging.getLogger(__name__)

Key = TypeVar("Key")
Value = TypeVar("Value")
Callback = Callable[..., Any]


def safe(callback: Callback) -> Callback:
    """A callback that takes Hermes's keyword arguments as one dictionary, and never raises."""

    @functools.wraps(callback)
    def call_safely(self: "SessionWatcher", **event: Any) -> Any:
        try:
            return callback(self, event)
        except Exception as error:  # noqa: BLE001 - a session must never notice
            _LOG.debug("Preheat: %s: %s", callback.__name__, error)
            return None

    return call_safely


class _Recent(Generic[Key, Value]):
    """The newest entries up to a limit, safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: OrderedDict[Key, Value] = OrderedDict()

    def __setitem__(self, key: Key, value: Value) -> None:
        with self._lock:
            self._entries[key] = value
            self._entries.move_to_end(key)
            if len(self._entries) > _MOST_ENTRIES:
                self._entries.popitem(last=False)

    def __contains__(self, key: Key) -> bool:
        return key in self._entries

    def get(self, key: Key) -> Value | None:
        return self._entries.get(key)

    def pop(self, key: Key) -> Value | None:
        with self._lock:
            return self._entries.pop(key, None)

    def pop_all(self, wanted: Callable[[Key, Value], bool]) -> list[Value]:
        """Remove and return all wanted values."""
        with self._lock:
            found = [key for key, value in self._entries.items() if wanted(key, value)]
            return [self._entries.pop(key) for key in found]


class PendingAnswer:
    """What is to be inserted into a call's result."""

    def __init__(self, request: str) -> None:
        self.request = request
        """The response that made the call."""
        self.advisories: list[str] = []
        self.output = ""


class SessionWatcher:
    """Watches all sessions of this process."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self._unwatched: _Recent[str, str] = _Recent()
        """Sessions and turns that are not watched, and why."""
        self._first_ids: _Recent[str, str] = _Recent()
        """The first id of a session that got another id when it was compacted."""
        self._reported: _Recent[tuple[str, str], bool] = _Recent()
        """Calls that were reported to the daemon."""
        self._blocked: _Recent[tuple[str, str], bool] = _Recent()
        self._answers: _Recent[tuple[str, str], PendingAnswer] = _Recent()
        self._seeds: _Recent[str, list[dict[str, Any]]] = _Recent()
        """The messages that sessions were started with."""
        self._answered_sessions: _Recent[str, bool] = _Recent()
        """Sessions in which the model has answered: a call was made, or a turn is complete."""
        self._pending: Callable[[str], str] | None = None

    def hooks(self) -> dict[str, Callback]:
        """The callbacks to register, by Hermes's name of the hook."""
        return {
            "pre_llm_call": self.before_turn,
            "pre_tool_call": self.before_call,
            "post_tool_call": self.after_call,
            "transform_tool_result": self.change_result,
            "pre_verify": self.before_stop,
            "subagent_start": self.note_subagent,
            "on_session_end": self.after_turn,
            "on_session_finalize": self.end_session,
            "api_request_error": self.note_refusal,
        }

    def add_pending(self, pending: Callable[[str], str]) -> None:
        """Add a function that gives the text for the next turn of a session, by its id."""
        self._pending = pending

    # Prompts.
    @safe
    def before_turn(self, event: dict[str, Any]) -> dict[str, str] | None:
        """A turn begins; the first turn of a session gets its warm start."""
        session, turn = self._first_id(event), _text(event, "turn_id")
        message = event.get("user_message")
        if not session:
            return None
        if event.get("platform") == "subagent":
            self._unwatched[session] = "subagent"
            return None
        if isinstance(message, str) and message.lstrip().startswith(REVIEW):
            self._unwatched[turn] = self._unwatched[_thread_name()] = "review"
            return None
        first = event.get("is_first_turn") is True
        more = {
            "user_message": _shorten(message),
            "is_first_turn": first,
            "model": event.get("model"),
            "platform": event.get("platform"),
        }
        answer = self._daemon.ask(_make_event("pre_llm_call", session, more), START if first else LIMIT, start=first)
        texts = [_text(answer, "context")]
        if first and (found := valid_messages(answer.get("messages"))):
            self._seeds[session] = found
        if self._pending is not None:
            texts.append(self._pending(_text(event, "session_id")) or "")
        context = "\n\n".join(text for text in texts if text)
        return {"context": context[:_MOST_CONTEXT]} if context else None

    @safe
    def change_request(self, event: dict[str, Any]) -> None:
        """A request to the model: our messages are inserted into it in place. It is not returned, because that would discard
        the changes of other plugins."""
        messages = self._seeds.get(self._first_id(event))
        if not messages or self._why_unwatched(event):
            return
        request = event.get("request")
        found = with_messages(request, messages)
        if found is not None and isinstance(request, dict):
            request["messages"] = found
        else:
            self._seeds.pop(self._first_id(event))
            _LOG.warning(
                "Preheat: this model is not asked in a way that takes messages at the start of a session, so it got none; "
                'set `start_as = "text"` below `[live]` in `settings.toml`'
            )

    @safe
    def note_refusal(self, event: dict[str, Any]) -> None:
        """A provider that refuses our messages gets none from then on."""
        session = self._first_id(event)
        if (
            event.get("status_code") in _REFUSAL_CODES
            and session not in self._answered_sessions
            and self._seeds.pop(session)
        ):
            _LOG.warning("Preheat: the provider refused a request with messages of ours; it gets none from here on")

    # Calls.
    @safe
    def before_call(self, event: dict[str, Any]) -> dict[str, str] | None:
        """A command is about to run: it may be refused. An advisory on it comes with its result."""
        session = self._first_id(event)
        if not session or event.get("tool_name") not in _COMMANDS:
            return None
        unwatched = self._why_unwatched(event)
        answer = self._daemon.ask(_make_event("pre_tool_call", session, _call_fields(event, unwatched), event))
        if answer.get("action") == "block" and _text(answer, "message"):
            self._blocked[_key(event)] = True
            return {"action": "block", "message": _text(answer, "message")}
        if not unwatched:
            self._keep_answer(event, answer)
        return None

    @safe
    def after_call(self, event: dict[str, Any]) -> None:
        """A call has ended; one that we refused is not reported."""
        if not self._blocked.pop(_key(event)):
            self._reported[_key(event)] = True
            self._report(event)

    @safe
    def change_result(self, event: dict[str, Any]) -> str | None:
        """A call's result is about to be shown to the model."""
        if not self._reported.pop(_key(event)):
            self._report(event)
        result, session = event.get("result"), self._first_id(event)
        if not isinstance(result, str) or not session or self._why_unwatched(event):
            return None
        own = self._answers.pop(_key(event))
        request = _text(event, "api_request_id")
        # Some tools' results cannot be changed; an advisory for one of those comes with the next result that can.
        late = self._answers.pop_all(lambda key, kept: key[0] == _text(event, "session_id") and kept.request != request)
        advisories = [text for each in (*late, *([own] if own else [])) for text in each.advisories]
        changed = (with_output(result, own.output) if own and own.output else None) or result
        if advisories:
            changed = with_advisory(changed, "\n".join(dict.fromkeys(advisories))) or changed
        return changed if changed != result else None

    def _report(self, event: dict[str, Any]) -> None:
        session = self._first_id(event)
        if session and not self._why_unwatched(event):
            self._answered_sessions[session] = True
            self._keep_answer(
                event, self._daemon.ask(_make_event("post_tool_call", session, _call_fields(event, ""), event))
            )

    def _keep_answer(self, event: dict[str, Any], answer: dict[str, Any]) -> None:
        advisory, output = _text(answer, "advisory"), _text(answer, "output")
        if not advisory and not output:
            return
        key = _key(event)
        kept = self._answers.get(key) or PendingAnswer(_text(event, "api_request_id"))
        kept.advisories += [advisory] if advisory else []
        kept.output = output
        self._answers[key] = kept

    # Ends.
    @safe
    def before_stop(self, event: dict[str, Any]) -> dict[str, str] | None:
        """The agent is about to stop after it changed files."""
        session = self._first_id(event)
        if not session or self._why_unwatched(event):
            return None
        answer = self._daemon.ask(
            _make_event("pre_verify", session, {"attempt": event.get("attempt"), "platform": event.get("platform")})
        )
        if answer.get("action") == "continue" and _text(answer, "message"):
            return {"action": "continue", "message": _text(answer, "message")}
        return None

    @safe
    def after_turn(self, event: dict[str, Any]) -> None:
        """A turn has ended (Hermes's name of the hook is misleading)."""
        session = self._first_id(event)
        if session and not self._why_unwatched(event):
            if event.get("completed") is True:
                self._answered_sessions[session] = True
            self._daemon.ask(_make_event("on_session_end", session, {"interrupted": event.get("interrupted")}))
        self._unwatched.pop(_thread_name())

    @safe
    def end_session(self, event: dict[str, Any]) -> None:
        """A session has ended."""
        session = self._first_id(event)
        if not session or self._why_unwatched(event):
            return
        # A session that was compacted is stored in parts, so there is no score for the whole.
        attended = _is_attended(event) and session == _text(event, "session_id")
        answer = self._daemon.ask(
            _make_event("on_session_finalize", session, {"attended": attended}), END if attended else LIMIT
        )
        if attended and _text(answer, "person"):
            print(_text(answer, "person"), flush=True)
        self._seeds.pop(session)

    # Which sessions are watched.
    @safe
    def note_subagent(self, event: dict[str, Any]) -> None:
        child = _text(event, "child_session_id")
        if child:
            self._unwatched[child] = "subagent"

    def _why_unwatched(self, event: dict[str, Any]) -> str:
        """Why an event's session or turn is not watched; empty if it is."""
        for name in (_text(event, "session_id"), _text(event, "turn_id") or _thread_name()):
            if found := self._unwatched.get(name):
                return found
        return "subagent" if event.get("platform") == "subagent" else ""

    def _first_id(self, event: dict[str, Any]) -> str:
        """The session's first id: a compaction may change it in the middle of a turn, and the turn's id still begins with the
        id before."""
        session = _text(event, "session_id")
        before, end, _ = _text(event, "turn_id").rpartition(f":{_text(event, 'task_id')}:")
        if session and end and before not in ("", "session", session) and session not in self._first_ids:
            self._first_ids[session] = self._first_ids.get(before) or before
        return self._first_ids.get(session) or session


def _make_event(name: str, session: str, more: dict[str, Any], call: dict[str, Any] | None = None) -> dict[str, Any]:
    """An event in the form of Hermes's own shell hooks, so that both are read alike."""
    event: dict[str, Any] = {
        "hook_event_name": name,
        "session_id": session,
        "cwd": _cwd(),
        "home": _home(),
        "extra": more,
    }
    if call is not None:
        event |= {"tool_name": call.get("tool_name"), "tool_input": call.get("args")}
    return event


def _call_fields(event: dict[str, Any], unwatched: str) -> dict[str, Any]:
    more: dict[str, Any] = {
        name: event[name] for name in ("tool_call_id", "api_request_id", "duration_ms") if name in event
    }
    if "result" in event:
        result = event["result"]
        more["result"] = result[:_MOST_RESULT] if isinstance(result, str) else result
    return {**more, "platform": "subagent"} if unwatched else more


def _key(event: dict[str, Any]) -> tuple[str, str]:
    """The key of a call; without an id it is the thread that the call runs in."""
    return _text(event, "session_id"), _text(event, "tool_call_id") or _thread_name()


def _thread_name() -> str:
    return f"thread {threading.get_ident()}"


def _text(event: dict[str, Any], name: str) -> str:
    found = event.get(name)
    return found if isinstance(found, str) else ""


def _shorten(message: Any) -> Any:
    if isinstance(message, list):
        return [
            {"text": _text(part, "text")[:_MOST_TEXT]}
            for part in message
            if isinstance(part, dict) and part.get("text")
        ]
    return message[:_MOST_TEXT] if isinstance(message, str) else ""


def _cwd() -> str:
    """The agent's working folder by Hermes's own setting, which may differ between sessions; empty on another machine."""
    if os.environ.get("TERMINAL_ENV", "local").strip().lower() not in ("", "local"):
        return ""
    resolve = getattr(sys.modules.get("agent.runtime_cwd"), "resolve_agent_cwd", None)
    return str(resolve()) if resolve is not None else working_folder()


def _home() -> str:
    """Hermes's home, where it keeps its sessions."""
    find = getattr(sys.modules.get("hermes_constants"), "get_hermes_home", None)
    return str(find()) if find is not None else os.environ.get("HERMES_HOME") or os.path.expanduser("~/.hermes")


def _is_attended(event: dict[str, Any]) -> bool:
    """Whether a person attends an interactive chat; a script that asks one question is not attended."""
    if event.get("platform") != "cli" or any(word.partition("=")[0] in _ONE_QUESTION_OPTIONS for word in sys.argv[1:]):
        return False
    return bool(sys.stdin and sys.stdin.isatty() and sys.stdout and sys.stdout.isatty())

"""What Hermes tells the plugin, passed on; and what is answered, put where Hermes takes it. Knows no signal and no lesson.

Standard library only. Hermes runs tools in threads, and several sessions in one process. Left alone: subagents, and the
program's own look back at a session, which bears that session's id and is known by its turn.

Hermes tells of a finished call twice: first for whoever watches, then for whoever changes the result. The event goes out the
first time, and the answer waits for the second.
"""

import functools
import logging
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from .inserting import seeds, with_advisory, with_messages, with_output
from .program import working_folder
from .wire import LIMIT, START, Daemon

REVIEW = "Review the conversation above and"
"""How the program begins when it looks back at a session by itself."""
END = 1.0
"""Seconds for the line at the end of a session, where a person sits."""
_COMMANDS = ("terminal", "execute_code")
"""Tools that a rule may refuse."""
_MOST_TEXT = 20_000
_MOST_CONTEXT = 9_900
"""Characters that go before the model: Hermes puts 10,000 and more into a file."""
_MOST_RESULT = 4_000_000
_KEPT = 500
_ONE_QUESTION = ("-q", "-Q", "-z", "--query", "--quiet", "--oneshot")
_REFUSED = (400, 422)
"""What a provider says to a request that it does not understand."""
_LOG = logging.getLogger(__name__)

Key = TypeVar("Key")
Value = TypeVar("Value")
Callback = Callable[..., Any]


def safe(callback: Callback) -> Callback:
    """A callback after which Hermes goes on, whatever happened in it."""

    @functools.wraps(callback)
    def called(self: "Watching", **told: Any) -> Any:
        try:
            return callback(self, told)
        except Exception as error:  # noqa: BLE001 - a session must never notice
            _LOG.debug("Preheat: %s: %s", callback.__name__, error)
            return None

    return called


class _Recent(Generic[Key, Value]):
    """The newest so and so many, for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, Value] = OrderedDict()

    def __setitem__(self, key: Key, value: Value) -> None:
        with self._lock:
            self._kept[key] = value
            self._kept.move_to_end(key)
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)

    def __contains__(self, key: Key) -> bool:
        return key in self._kept

    def get(self, key: Key) -> Value | None:
        return self._kept.get(key)

    def pop(self, key: Key) -> Value | None:
        with self._lock:
            return self._kept.pop(key, None)

    def taken(self, wanted: Callable[[Key, Value], bool]) -> list[Value]:
        """All that are wanted, which are then not here any more."""
        with self._lock:
            found = [key for key, value in self._kept.items() if wanted(key, value)]
            return [self._kept.pop(key) for key in found]


class Answered:
    """What is to be put into a call's result."""

    def __init__(self, request: str) -> None:
        self.request = request
        """The response that made the call."""
        self.advisories: list[str] = []
        self.output = ""


class Watching:
    """All sessions of this process."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self._alone: _Recent[str, str] = _Recent()
        """Sessions and turns that are left alone, and why."""
        self._first: _Recent[str, str] = _Recent()
        """The session that one goes on from, which got another id when it was compacted."""
        self._told: _Recent[tuple[str, str], bool] = _Recent()
        """Calls that the daemon was told of."""
        self._blocked: _Recent[tuple[str, str], bool] = _Recent()
        self._answers: _Recent[tuple[str, str], Answered] = _Recent()
        self._seeds: _Recent[str, list[dict[str, Any]]] = _Recent()
        """What sessions were given at their start in messages."""
        self._taken: _Recent[str, bool] = _Recent()
        """Sessions in which the model has answered: a call was made, or a turn is complete."""
        self._pending: Callable[[str], str] | None = None

    def hooks(self) -> dict[str, Callback]:
        """What to register."""
        return {
            "pre_llm_call": self.asked,
            "pre_tool_call": self.calling,
            "post_tool_call": self.called,
            "transform_tool_result": self.shown,
            "pre_verify": self.stopping,
            "subagent_start": self.delegated,
            "on_session_end": self.stopped,
            "on_session_finalize": self.ended,
            "api_request_error": self.refused,
        }

    def also(self, pending: Callable[[str], str]) -> None:
        """Whoever has something for the next turn of a session, by its id."""
        self._pending = pending

    # Prompts.
    @safe
    def asked(self, told: dict[str, Any]) -> dict[str, str] | None:
        """A turn begins; on the first one the session is given what was learned."""
        session, turn = self._session(told), _text(told, "turn_id")
        said = told.get("user_message")
        if not session:
            return None
        if told.get("platform") == "subagent":
            self._alone[session] = "subagent"
            return None
        if isinstance(said, str) and said.lstrip().startswith(REVIEW):
            self._alone[turn] = self._alone[_thread()] = "review"
            return None
        first = told.get("is_first_turn") is True
        more = {
            "user_message": _short(said),
            "is_first_turn": first,
            "model": told.get("model"),
            "platform": told.get("platform"),
        }
        answer = self._daemon.ask(_event("pre_llm_call", session, more), START if first else LIMIT, start=first)
        texts = [_text(answer, "context")]
        if first and (found := seeds(answer.get("messages"))):
            self._seeds[session] = found
        if self._pending is not None:
            texts.append(self._pending(_text(told, "session_id")) or "")
        context = "\n\n".join(text for text in texts if text)
        return {"context": context[:_MOST_CONTEXT]} if context else None

    @safe
    def requested(self, told: dict[str, Any]) -> None:
        """A request to the model, which is ours to change: our own copy of it. It is not returned, because then it would stand in
        the place of what another plugin has made of it; who comes after us sees ours."""
        messages = self._seeds.get(self._session(told))
        if not messages or self._left_alone(told):
            return
        request = told.get("request")
        found = with_messages(request, messages)
        if found is not None and isinstance(request, dict):
            request["messages"] = found
        else:
            self._seeds.pop(self._session(told))
            _LOG.warning(
                "Preheat: this model is not asked in a way that takes messages at the start of a session, so it got none; "
                'set `start_as = "text"` below `[live]` in `settings.toml`'
            )

    @safe
    def refused(self, told: dict[str, Any]) -> None:
        """A provider that does not take our messages is not sent them again."""
        session = self._session(told)
        if told.get("status_code") in _REFUSED and session not in self._taken and self._seeds.pop(session):
            _LOG.warning("Preheat: the provider refused a request with messages of ours; it gets none from here on")

    # Calls.
    @safe
    def calling(self, told: dict[str, Any]) -> dict[str, str] | None:
        """A command is about to run. A word on it comes with its result; here it can only be refused, if that was asked for."""
        session = self._session(told)
        if not session or told.get("tool_name") not in _COMMANDS:
            return None
        alone = self._left_alone(told)
        answer = self._daemon.ask(_event("pre_tool_call", session, _call(told, alone), told))
        if answer.get("action") == "block" and _text(answer, "message"):
            self._blocked[_key(told)] = True
            return {"action": "block", "message": _text(answer, "message")}
        if not alone:
            self._keep(told, answer)
        return None

    @safe
    def called(self, told: dict[str, Any]) -> None:
        """A call is done. One that was refused was not: there is nothing to tell of."""
        if not self._blocked.pop(_key(told)):
            self._told[_key(told)] = True
            self._tell(told)

    @safe
    def shown(self, told: dict[str, Any]) -> str | None:
        """Its result is about to be put before the model."""
        if not self._told.pop(_key(told)):
            self._tell(told)
        result, session = told.get("result"), self._session(told)
        if not isinstance(result, str) or not session or self._left_alone(told):
            return None
        own = self._answers.pop(_key(told))
        request = _text(told, "api_request_id")
        # Results of some tools cannot be changed; what was to be said with one of those comes with the next that can.
        late = self._answers.taken(lambda key, kept: key[0] == _text(told, "session_id") and kept.request != request)
        advisories = [text for each in (*late, *([own] if own else [])) for text in each.advisories]
        changed = (with_output(result, own.output) if own and own.output else None) or result
        if advisories:
            changed = with_advisory(changed, "\n".join(dict.fromkeys(advisories))) or changed
        return changed if changed != result else None

    def _tell(self, told: dict[str, Any]) -> None:
        session = self._session(told)
        if session and not self._left_alone(told):
            self._taken[session] = True
            self._keep(told, self._daemon.ask(_event("post_tool_call", session, _call(told, ""), told)))

    def _keep(self, told: dict[str, Any], answer: dict[str, Any]) -> None:
        advisory, output = _text(answer, "advisory"), _text(answer, "output")
        if not advisory and not output:
            return
        key = _key(told)
        kept = self._answers.get(key) or Answered(_text(told, "api_request_id"))
        kept.advisories += [advisory] if advisory else []
        kept.output = output
        self._answers[key] = kept

    # Ends.
    @safe
    def stopping(self, told: dict[str, Any]) -> dict[str, str] | None:
        """The agent thinks that it is done, after it changed files."""
        session = self._session(told)
        if not session or self._left_alone(told):
            return None
        answer = self._daemon.ask(
            _event("pre_verify", session, {"attempt": told.get("attempt"), "platform": told.get("platform")})
        )
        if answer.get("action") == "continue" and _text(answer, "message"):
            return {"action": "continue", "message": _text(answer, "message")}
        return None

    @safe
    def stopped(self, told: dict[str, Any]) -> None:
        """A turn is over, whatever the hook's name says."""
        session = self._session(told)
        if session and not self._left_alone(told):
            if told.get("completed") is True:
                self._taken[session] = True
            self._daemon.ask(_event("on_session_end", session, {"interrupted": told.get("interrupted")}))
        self._alone.pop(_thread())

    @safe
    def ended(self, told: dict[str, Any]) -> None:
        """A session is over."""
        session = self._session(told)
        if not session or self._left_alone(told):
            return
        # One that was compacted into another is stored in parts, none of which tells how the whole went.
        attended = _attended(told) and session == _text(told, "session_id")
        answer = self._daemon.ask(
            _event("on_session_finalize", session, {"attended": attended}), END if attended else LIMIT
        )
        if attended and _text(answer, "person"):
            print(_text(answer, "person"), flush=True)
        self._seeds.pop(session)

    # Who is who.
    @safe
    def delegated(self, told: dict[str, Any]) -> None:
        child = _text(told, "child_session_id")
        if child:
            self._alone[child] = "subagent"

    def _left_alone(self, told: dict[str, Any]) -> str:
        """Why; empty where it is not."""
        for name in (_text(told, "session_id"), _text(told, "turn_id") or _thread()):
            if found := self._alone.get(name):
                return found
        return "subagent" if told.get("platform") == "subagent" else ""

    def _session(self, told: dict[str, Any]) -> str:
        """The session's first id: a compaction may give it another one in the middle of a turn, whose own id begins with the
        one before."""
        session = _text(told, "session_id")
        before, end, _ = _text(told, "turn_id").rpartition(f":{_text(told, 'task_id')}:")
        if session and end and before not in ("", "session", session) and session not in self._first:
            self._first[session] = self._first.get(before) or before
        return self._first.get(session) or session


def _event(name: str, session: str, more: dict[str, Any], call: dict[str, Any] | None = None) -> dict[str, Any]:
    """In the words of Hermes's own shell hooks, so that both are read alike."""
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


def _call(told: dict[str, Any], alone: str) -> dict[str, Any]:
    more: dict[str, Any] = {
        name: told[name] for name in ("tool_call_id", "api_request_id", "duration_ms") if name in told
    }
    if "result" in told:
        result = told["result"]
        more["result"] = result[:_MOST_RESULT] if isinstance(result, str) else result
    return {**more, "platform": "subagent"} if alone else more


def _key(told: dict[str, Any]) -> tuple[str, str]:
    """A call; one without an id is known by the thread that it runs in."""
    return _text(told, "session_id"), _text(told, "tool_call_id") or _thread()


def _thread() -> str:
    return f"thread {threading.get_ident()}"


def _text(told: dict[str, Any], name: str) -> str:
    found = told.get(name)
    return found if isinstance(found, str) else ""


def _short(said: Any) -> Any:
    if isinstance(said, list):
        return [
            {"text": _text(part, "text")[:_MOST_TEXT]} for part in said if isinstance(part, dict) and part.get("text")
        ]
    return said[:_MOST_TEXT] if isinstance(said, str) else ""


def _cwd() -> str:
    """Where the agent works: as the program itself has it, which may differ from session to session; empty on another machine."""
    if os.environ.get("TERMINAL_ENV", "local").strip().lower() not in ("", "local"):
        return ""
    resolve = getattr(sys.modules.get("agent.runtime_cwd"), "resolve_agent_cwd", None)
    return str(resolve()) if resolve is not None else working_folder()


def _home() -> str:
    """The program's own folder, where it keeps its sessions."""
    find = getattr(sys.modules.get("hermes_constants"), "get_hermes_home", None)
    return str(find()) if find is not None else os.environ.get("HERMES_HOME") or os.path.expanduser("~/.hermes")


def _attended(told: dict[str, Any]) -> bool:
    """Whether a person sits before a chat that goes on, and not a script before one question."""
    if told.get("platform") != "cli" or any(word.partition("=")[0] in _ONE_QUESTION for word in sys.argv[1:]):
        return False
    return bool(sys.stdin and sys.stdin.isatty() and sys.stdout and sys.stdout.isatty())

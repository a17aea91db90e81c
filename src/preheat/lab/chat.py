"""A minimal agent: a chat loop with one tool that runs commands in a folder, at any OpenAI-compatible endpoint.

Needs no agent program. Writes the conversation as OpenAI chat messages, which Preheat's reader reads. Knows no lab.
"""

import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from preheat.files import write_atomically
from preheat.lab.programs import run_program
from preheat.lab.state import Ending

SYSTEM = (
    "You are a coding agent. You work in a folder by running shell commands with the bash tool. "
    "When the task is done, answer without calling the tool."
)
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "bash",
        "description": "Run a shell command in the folder of the task. Each call is a new shell.",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string", "description": "The command."}},
            "required": ["command"],
        },
    },
}
DEFAULT_TURNS = 50
"""The default limit of turns."""
_COMMAND_SECONDS = 120.0
"""Seconds for one command."""
_OUTPUT_BYTES = 20_000
_RETRY_PAUSES = (1.0, 3.0, 9.0)
"""Seconds before each retry, if the server cannot answer now."""
_RETRY_STATUSES = frozenset([408, 409, 425, 429, 500, 502, 503, 504])
_SENT_FIELDS = ("role", "content", "tool_calls", "reasoning_content")


class Chat(NamedTuple):
    """The endpoint and limits of a conversation."""

    url: str
    model: str
    key: str
    """The key itself; empty: none."""
    folder: str
    environment: Mapping[str, str]
    seconds: float
    turns: int = DEFAULT_TURNS
    tokens: int = 0
    """All that go in and come out; 0: no limit."""


class ChatResult(NamedTuple):
    ending: Ending
    seconds: float
    note: str = ""


class _Stopped(Exception):  # noqa: N818 - reads as a sentence where it is raised
    """The conversation is over."""

    def __init__(self, ending: Ending, note: str = "") -> None:
        super().__init__(note)
        self.ending, self.note = ending, note


def run_chat(chat: Chat, prompt: str, name: str, record: str) -> ChatResult:
    """Run the loop until the model calls no tool or a limit is reached. The conversation is written to `record` in any case."""
    conversation = _Conversation(chat, prompt)
    try:
        conversation.go_on()
        ending: Ending = "well"
        note = ""
    except _Stopped as stopped:
        ending, note = stopped.ending, stopped.note
    finally:
        _write(record, {"id": name, "model": chat.model, "created": conversation.began, "messages": conversation.kept})
    return ChatResult(ending, time.time() - conversation.began, note)


class _Conversation:
    def __init__(self, chat: Chat, prompt: str) -> None:
        self._chat = chat
        self.began = time.time()
        self._end = time.monotonic() + chat.seconds
        self._tokens = 0
        self._messages: list[dict[str, Any]] = []
        self.kept: list[dict[str, Any]] = []
        self._add({"role": "system", "content": SYSTEM})
        self._add({"role": "user", "content": prompt})

    def _add(self, message: dict[str, Any], **more: Any) -> None:
        """Add a message to the request and to the record."""
        self._messages.append(message)
        self.kept.append({**message, "timestamp": time.time(), **more})

    def go_on(self) -> None:
        for _ in range(self._chat.turns):
            answer = self._ask_model()
            calls = answer.get("tool_calls") or []
            if not calls:
                return
            for call in calls:
                result = self._run_call(call)
                self._add({"role": "tool", "tool_call_id": str(call.get("id") or ""), "content": result})
            if self._chat.tokens and self._tokens >= self._chat.tokens:
                raise _Stopped("over its tokens", f"{self._tokens:,} tokens")
        raise _Stopped("over its turns", f"{self._chat.turns} turns")

    def _ask_model(self) -> dict[str, Any]:
        document = self._post()
        try:
            message = document["choices"][0]["message"]
            calls = message.get("tool_calls") or []
            usage = document.get("usage") or {}
            self._tokens += int(usage.get("total_tokens") or 0)
        except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
            raise _Stopped("failed", f"no chat completion came back: {str(document)[:200]}") from error
        message = {name: message[name] for name in _SENT_FIELDS if message.get(name) is not None}
        message.setdefault("content", None if calls else "")
        self._add(message, usage=usage, **({"id": document["id"]} if isinstance(document.get("id"), str) else {}))
        return message

    def _run_call(self, call: Any) -> str:
        """Run a call; its result, with the exit code in the first line."""
        function = call.get("function") if isinstance(call, dict) else None
        function = function if isinstance(function, dict) else {}
        if function.get("name") != "bash":
            return f"Error: there is no tool `{function.get('name')}`; there is `bash`"
        try:
            command = msgspec.json.decode(function.get("arguments") or "", type=dict[str, Any])["command"]
        except (msgspec.MsgspecError, KeyError, TypeError, UnicodeEncodeError):
            return 'Error: the arguments are no JSON object with a text "command"'
        if not isinstance(command, str):
            return 'Error: "command" is a text'
        chat = self._chat
        seconds = min(_COMMAND_SECONDS, max(1.0, self._seconds_left()))
        ended = run_program(["bash", "-c", command], chat.folder, chat.environment, seconds, output_bytes=_OUTPUT_BYTES)
        if ended.code is None:
            return f"<returncode>124</returncode>\n<output>\n{ended.output}\nnot over after {seconds:.0f} s: ended\n</output>"
        return f"<returncode>{ended.code}</returncode>\n<output>\n{ended.output}\n</output>"

    def _seconds_left(self) -> float:
        return self._end - time.monotonic()

    def _timeout(self) -> _Stopped:
        return _Stopped("timed out", f"ran out of time after {self._chat.seconds:.0f} s")

    def _post(self) -> Any:
        body = {"model": self._chat.model, "messages": self._messages, "tools": [TOOL]}
        for pause in (*_RETRY_PAUSES, None):
            if self._seconds_left() <= 0:
                raise self._timeout()
            try:
                return self._request(msgspec.json.encode(body))
            except urllib.error.HTTPError as error:
                message = error.read(400).decode("utf-8", "replace")
                if error.code not in _RETRY_STATUSES or pause is None:
                    raise _Stopped("failed", f"HTTP {error.code}: {message}") from error
            except TimeoutError as error:
                raise self._timeout() from error
            except (OSError, ValueError) as error:  # no connection, or an answer that is no JSON
                if pause is None:
                    raise _Stopped("failed", str(error)[:400]) from error
            time.sleep(max(0.0, min(pause, self._seconds_left())))
        raise AssertionError("the last question either was answered or raised")

    def _request(self, body: bytes) -> Any:
        headers = {"content-type": "application/json"}
        if self._chat.key:
            headers["authorization"] = f"Bearer {self._chat.key}"
        address = f"{self._chat.url.rstrip('/')}/chat/completions"
        request = urllib.request.Request(address, data=body, headers=headers)  # noqa: S310 - checked to be http(s)
        with urllib.request.urlopen(request, timeout=max(0.1, self._seconds_left())) as answer:  # noqa: S310
            try:
                return msgspec.json.decode(answer.read())
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise ValueError(f"no JSON came back: {error}") from error


def _write(path: str, document: dict[str, Any]) -> None:
    write_atomically(path, msgspec.json.encode(document), make_folders=True)

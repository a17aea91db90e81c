"""A scripted model on loopback: OpenAI chat completions and responses, Gemini content, Anthropic messages; streamed or
whole, with token counts and a models list.

Knows no agent. Requests with tools are answered from the script in order; requests without tools are the side
tasks of agents (titles, summaries) and get a short fixed text, so that they never use up the script.

    with ModelServer([Reply(calls=[Call("shell", {"command": "ls"})]), Reply("Done.")]) as server:
        run_agent(base_url=server.url)      # http://127.0.0.1:<port>/v1; `server.root` is without `/v1`
    assert server.requests[0].body["model"] == "scripted"

From the command line, `python -m preheat.testing.model_server --script replies.json` prints the port and
serves until it is stopped.
"""

import argparse
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, cast

import msgspec

from preheat.testing import anthropic_messages, chat_completions, generate_content, responses
from preheat.testing.script import Call, NumberedReply, Reply

__all__ = ["AUXILIARY_TEXT", "FINAL_TEXT", "MODEL", "Call", "ModelServer", "Reply", "Request"]

MODEL = "scripted"
FINAL_TEXT = "Done."
AUXILIARY_TEXT = "Scripted side answer"
_CHAT = "/chat/completions"
_RESPONSES = "/responses"
_MESSAGES = "/messages"
_COUNT = "/messages/count_tokens"
_MODELS = "/models"
_SECRET_HEADERS = frozenset(("authorization", "x-api-key", "x-goog-api-key"))
_SECRET_QUERY = re.compile(r"(?<=[?&])key=[^&]*&?")


class Request(msgspec.Struct, frozen=True):
    """One request that reached the server, without the key it came with."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any
    """Parsed; text where it was no JSON, None where there was none."""
    auxiliary: bool = False
    """A request without tools: answered with a fixed text."""
    at: float = 0.0
    """When it arrived, in seconds of the monotonic clock."""


class ModelServer:
    """The server; use it as a context manager."""

    def __init__(
        self,
        script: Iterable[Reply] = (),
        *,
        model: str = MODEL,
        port: int = 0,
        side_text: str = AUXILIARY_TEXT,
        decide: Callable[[Request], Reply] | None = None,
    ) -> None:
        self.script = tuple(script)
        self._decide = decide
        """Answers requests with tools, in the place of a script."""
        self.model = model
        self.side_text = side_text
        """The answer to requests without tools; some agents want a summary of a certain form."""
        self.requests: list[Request] = []
        self._lock = threading.Lock()
        self._next = 0
        self._answers = 0
        self._calls = 0
        self._server = _Listener(("127.0.0.1", port), _Exchange)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        return self._server.server_address[1]

    @property
    def root(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """What clients call the base address."""
        return f"{self.root}/v1"

    @property
    def main_requests(self) -> list[Request]:
        """The requests that were answered from the script (or past its end), in order."""
        return [request for request in self.requests if request.method == "POST" and not request.auxiliary]

    @property
    def unused_replies(self) -> int:
        """How many replies of the script are not used yet."""
        return len(self.script) - self._next

    def __enter__(self) -> "ModelServer":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def record(self, request: Request) -> None:
        with self._lock:
            self.requests.append(request)

    def answer(self, request: Request, model: str = "") -> NumberedReply:
        """Record a request and return the next reply; `model` is given where it is not in the body."""
        body = request.body if isinstance(request.body, dict) else {}
        with self._lock:
            self.requests.append(request)
            self._answers += 1
            if request.auxiliary:
                reply = Reply(self.side_text)
            elif self._decide is not None:
                reply = self._decide(request)
            elif self._next < len(self.script):
                reply = self.script[self._next]
                self._next += 1
            else:
                reply = Reply(FINAL_TEXT)
            calls = tuple(self._number(call) for call in reply.calls)
            return NumberedReply(
                f"resp_{self._answers}",
                model or str(body.get("model") or self.model),
                reply,
                calls,
                frozenset(_custom_tools(body)),
                dict(_namespaces(body)),
            )

    def _number(self, call: Call) -> Call:
        self._calls += 1
        return call if call.id else msgspec.structs.replace(call, id=f"call_{self._calls}")

    def models(self) -> dict[str, Any]:
        """The answer to the question which models there are."""
        entry = {"id": self.model, "object": "model", "created": 0, "owned_by": "preheat"}
        return {"object": "list", "data": [{**entry, "context_length": 200_000}]}


def _custom_tools(body: dict[str, Any]) -> Iterator[str]:
    tools = body.get("tools")
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict) and tool.get("type") == "custom":
            yield str(tool.get("name"))


def _namespaces(body: dict[str, Any]) -> Iterator[tuple[str, str]]:
    tools = body.get("tools")
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict) and tool.get("type") == "namespace":
            for inner in tool.get("tools") or ():
                yield str(inner.get("name")), str(tool.get("name"))


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    owner: ModelServer

    def handle_error(self, request: object, client_address: object) -> None:
        # A client that hangs up in the middle of an answer is part of what gets tested.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(cast(Any, request), client_address)


class _Exchange(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Listener

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        """Print nothing: the requests are recorded."""

    def do_GET(self) -> None:
        self.server.owner.record(self._request(None))
        if self._path().endswith(f"/v1beta{_MODELS}"):
            self._document(200, generate_content.list_models(self.server.owner.model))
        elif self._path().endswith(_MODELS):
            self._document(200, self.server.owner.models())
        else:
            self._missing()

    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers.get("content-length") or 0))
        body = _parse(text)
        path = self._path()
        if path.endswith((_COUNT, ":countTokens")):
            self.server.owner.record(self._request(body, auxiliary=True))
            counter = anthropic_messages if path.endswith(_COUNT) else generate_content
            self._document(200, counter.count_tokens(body))
        elif path.endswith((_CHAT, _RESPONSES, _MESSAGES, *generate_content.ENDINGS)):
            self._answer(path, body)
        else:
            self.server.owner.record(self._request(body))
            self._missing()

    def _answer(self, path: str, body: Any) -> None:
        fields = body if isinstance(body, dict) else {}
        request = self._request(body, auxiliary=not fields.get("tools"))
        is_gemini = path.endswith(generate_content.ENDINGS)
        numbered = self.server.owner.answer(request, generate_content.model_of(path) if is_gemini else "")
        if numbered.reply.delay:
            time.sleep(numbered.reply.delay)
        if numbered.reply.status != 200:
            self._document(numbered.reply.status, _error(path, numbered.reply))
        elif is_gemini:
            self._gemini(path, numbered)
        elif path.endswith(_CHAT):
            self._chat(numbered, fields)
        else:
            wire = anthropic_messages if path.endswith(_MESSAGES) else responses
            if fields.get("stream"):
                self._stream((event["type"], event) for event in wire.events(numbered))
            else:
                self._document(200, wire.document(numbered))

    def _gemini(self, path: str, numbered: NumberedReply) -> None:
        if path.endswith(":generateContent"):
            self._document(200, generate_content.document(numbered))
        elif "alt=sse" in self.path:
            self._stream(("", chunk) for chunk in generate_content.chunks(numbered))
        else:
            self._document(200, list(generate_content.chunks(numbered)))

    def _chat(self, numbered: NumberedReply, fields: dict[str, Any]) -> None:
        if not fields.get("stream"):
            self._document(200, chat_completions.document(numbered))
            return
        options = fields.get("stream_options")
        with_usage = isinstance(options, dict) and bool(options.get("include_usage"))
        self._stream((("", chunk) for chunk in chat_completions.chunks(numbered, with_usage)), done=True)

    def _path(self) -> str:
        return self.path.partition("?")[0].rstrip("/")

    def _request(self, body: Any, auxiliary: bool = False) -> Request:
        headers = {name.lower(): value for name, value in self.headers.items() if name.lower() not in _SECRET_HEADERS}
        path = _SECRET_QUERY.sub("", self.path).rstrip("?&")
        return Request(self.command, path, headers, body, auxiliary, time.monotonic())

    def _missing(self) -> None:
        self._document(404, {"error": {"message": f"no such path: {self.path}", "type": "not_found"}})

    def _document(self, status: int, value: dict[str, Any] | list[dict[str, Any]]) -> None:
        data = msgspec.json.encode(value)
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: Iterable[tuple[str, dict[str, Any]]], done: bool = False) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("cache-control", "no-cache")
        self.send_header("connection", "close")
        self.end_headers()
        for name, event in events:
            if name:
                self.wfile.write(f"event: {name}\n".encode())
            self.wfile.write(b"data: " + msgspec.json.encode(event) + b"\n\n")
        if done:
            self.wfile.write(b"data: [DONE]\n\n")
        self.wfile.flush()


def _error(path: str, reply: Reply) -> dict[str, Any]:
    if path.endswith(_MESSAGES):
        return anthropic_messages.error(reply.status, reply.text)
    if path.endswith(generate_content.ENDINGS):
        return generate_content.error(reply.status, reply.text)
    return {"error": {"message": reply.text, "type": "scripted_error", "code": None}}


def _parse(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return text.decode("utf-8", "replace")


def main(arguments: list[str] | None = None) -> None:
    """Serve a script from a file until stopped."""
    options = argparse.ArgumentParser(prog="model_server", description="A scripted model on loopback.")
    options.add_argument("--script", required=True, help="a JSON list of replies")
    options.add_argument("--port", type=int, default=0, help="0 (the default) takes a free one")
    options.add_argument("--record", help="append each request to this file, one JSON object a line")
    chosen = options.parse_args(arguments)
    with open(chosen.script, "rb") as file:
        script = msgspec.json.decode(file.read(), type=list[Reply])
    with ModelServer(script, port=chosen.port) as server:
        print(server.port, flush=True)
        written = 0
        try:
            while True:
                time.sleep(0.1)
                if chosen.record and written < len(server.requests):
                    with open(chosen.record, "ab") as record:
                        for request in server.requests[written:]:
                            record.write(msgspec.json.encode(request) + b"\n")
                            written += 1
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    main()

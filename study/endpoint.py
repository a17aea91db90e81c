"""The same tasks at an OpenAI-compatible endpoint: only what it writes counts, nothing is prefilled and nothing scored.

An endpoint gives no logits of a given command, and its placebo is as long as the warm context in characters, since its tokens
are not known. Standard library only.
"""

import json
import os
import re
import urllib.error
import urllib.request
from typing import Any

from study.chat import TOOL, endpoint_messages
from study.errors import EndpointFailed
from study.given import ArmContext, fit_to_length
from study.plan import Plan
from study.run import Identity, begin_file, remaining

_SECONDS = 300.0
_IN_FENCE = re.compile(r"```(?:json|bash|sh)?\s*\n(.*?)```", re.DOTALL)
_UNFIT = re.compile(r"[^A-Za-z0-9.]+")


class Endpoint:
    """Where the model is; a key is taken from `OPENAI_API_KEY` if there is one."""

    def __init__(self, url: str, model: str) -> None:
        self.url, self.model = url.rstrip("/"), model
        self.label = _UNFIT.sub("-", model or "endpoint").strip("-")

    def ask(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """The message that it answers with."""
        body = {"model": self.model, "messages": messages, "tools": [TOOL], "temperature": 0, "max_tokens": 256}
        headers = {"content-type": "application/json"}
        if key := os.environ.get("OPENAI_API_KEY"):
            headers["authorization"] = f"Bearer {key}"
        request = urllib.request.Request(f"{self.url}/chat/completions", json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
                document = json.load(answer)
            message: dict[str, Any] = document["choices"][0]["message"]
        except (urllib.error.URLError, OSError, ValueError, LookupError, TypeError) as error:
            raise EndpointFailed(f"`{self.url}` did not answer as it should: {error}; start again to go on") from error
        return message


def find_command(message: dict[str, Any]) -> str | None:
    """The command of an answer: of its first call, else of a JSON object in its text, which is what small models write."""
    for call in message.get("tool_calls") or ():
        found = _command_of(str((call.get("function") or {}).get("arguments") or ""))
        if found is not None:
            return found
    text = str(message.get("content") or "")
    for part in (*_IN_FENCE.findall(text), text, *re.findall(r"\{.*\}", text, re.DOTALL)):
        found = _command_of(part.strip())
        if found is not None:
            return found
    return None


def _command_of(text: str) -> str | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    if isinstance(value, dict) and isinstance(value.get("arguments"), dict):
        value = value["arguments"]
    command = value.get("command") if isinstance(value, dict) else None
    return command if isinstance(command, str) else None


def run_endpoint(of: Plan, endpoint: Endpoint, plan: str, protocol: str, path: str, limit: int = 0) -> int:
    """Ask what has not been asked yet."""
    identity = Identity(endpoint.url, endpoint.model, plan, protocol, 0, 0, "endpoint")
    done = begin_file(path, identity)
    count = 0
    with open(path, "a", encoding="utf-8") as stream:
        for cell in remaining(of, done):
            if limit and count >= limit:
                break
            task, given = of.tasks[cell.task], _given(of, cell.context)
            command = find_command(endpoint.ask(endpoint_messages(given.messages, given.note, task.conversation)))
            row = {
                "task": task.id,
                "arm": cell.arm,
                "cluster": task.cluster,
                "kind": task.kind,
                "text": command or "",
                "closed": command is not None,
                "exact": command is not None and command.strip() == task.answer,
            }
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            stream.flush()
            count += 1
    return count


def _given(of: Plan, name: str) -> ArmContext:
    other = of.matched.get(name)
    return of.contexts[name] if other is None else fit_to_length(of.contexts[name], len(of.contexts[other].prefix), len)

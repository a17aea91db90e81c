"""mini-swe-agent: reads its trajectories (`.traj.json`, 1.x and 2.x), one JSON document a run, and starts it without a terminal.

Version 2 says what it ran and how that ended (`extra.actions`, `extra.returncode`); version 1 only wrote it into the text, by
rules that are followed here. `mini --yolo` asks nobody and runs whatever the model asks for. Knows nothing of where a
document comes from.
"""

import os
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from preheat.agents.chat import (
    CallMatcher,
    RequestedCall,
    calls_of,
    count,
    images_in,
    mapping,
    sequence,
    string,
    text_of,
    usage_of,
)
from preheat.agents.documents import DocumentParser, repository_of_task
from preheat.agents.headless import model_option
from preheat.agents.parsing import Draft, decode_json, epoch_seconds, frame_of, origin_of
from preheat.agents.reader import Framing, Heading, Parser
from preheat.model.headless import Endpoint, HeadlessProgram, HeadlessRequest, HeadlessSetup
from preheat.model.outcome import Dialect
from preheat.model.session import (
    PREHEAT_RUN,
    AssistantMessage,
    Other,
    Reasoning,
    ToolCall,
    ToolKind,
    ToolResult,
    UserMessage,
)

# How mini-swe-agent words what it does not run.
DIALECT = Dialect(
    fields={"exception": {"timeout": "timeout", "TimeoutExpired": "timeout"}},
    timeout=(r"The last command <command>[\s\S]{0,20000}?</command> timed out",),
    mistake=(
        r"Please always provide EXACTLY ONE action in triple backticks", r"Format error:",
        r"Tool call error:", r"No tool calls found in the response", r"Unknown tool ",
    ),
)  # fmt: skip


# Starting it without a terminal.
def arguments(request: HeadlessRequest) -> list[str]:
    """The options. With `--config` the program no longer loads its default configuration, so `mini.yaml` is named first."""
    record = ["--output", request.record] if request.record else []
    turns = ["--config", f"agent.step_limit={request.turns}"] if request.turns else []
    fixed_options = ["--yolo", "--exit-immediately", *record, *model_option(request), "--config", "mini.yaml", *turns]
    return [*fixed_options, *request.options, f"--task={request.prompt}"]


def set_up_endpoint(endpoint: Endpoint, home: str, environment: Mapping[str, str]) -> HeadlessSetup:
    """Settings for an endpoint. The program's client takes the key from `OPENAI_API_KEY` only, and fetches no price list."""
    settings = (f"model.model_kwargs.api_base={endpoint.url}", "model.cost_tracking=ignore_errors")
    return HeadlessSetup(
        environment={
            "MSWEA_CONFIGURED": "true",
            "MSWEA_GLOBAL_CONFIG_DIR": f"{home}/.config/mini-swe-agent",
            "OPENAI_API_KEY": environment.get(endpoint.key, "") or "none",
            "LITELLM_LOCAL_MODEL_COST_MAP": "true",
        },
        options=tuple(part for setting in settings for part in ("--config", setting)),
        model=f"openai/{endpoint.model}",
    )


HEADLESS = HeadlessProgram(
    "mini",
    arguments,
    tested_version="2.4.6",
    set_up=set_up_endpoint,
    record_suffix=".traj.json",
    out_of_turns="LimitsExceeded",
)


# Reading trajectories.
AGENT = "mini_swe_agent"
TOOL = "bash"
_FORMAT = re.compile(rb'"trajectory_format"\s*:\s*"mini-swe-agent-')
_BEGINNING = re.compile(rb'\s*\{\s*"info"\s*:\s*\{\s*"(?:exit_status|submission|model_stats)"\s*:')
_FENCES = ("```bash", "```mswea_bash_command")
_RETURN_CODE = re.compile(r"\s*<returncode>(-?\d{1,10})</returncode>\s*")
_TIMED_OUT = "The last command <command>"
_FORMAT_ERROR = "FormatError"
_NOT_EXECUTED = "action was not executed"
"""Recorded for a call that ended the run: it has no result, but did not fail."""
_TASK = 2
"""The number of the message with the task, after the system message."""


class TrajectoryParser(DocumentParser):
    """One document, one session."""

    agent = AGENT

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._draft = Draft(Heading(starter="headless"))
        self._matcher = CallMatcher()
        self._is_malformed = False
        """Whether the newest response has no command or several, which version 1 refuses to run."""

    def read(self, block: bytes, line: int) -> None:
        stem = os.path.basename(self.path.replace("\\", "/")).partition(".traj")[0]
        self._draft.heading.id = stem or "trajectory"
        self.add(self._draft)
        try:
            document = decode_json(block)
        except (ValueError, RecursionError) as error:
            self.add_problem(f"not a whole JSON document ({str(error)[:120]})", line)
            return
        messages = mapping(document).get("messages")
        if not isinstance(messages, list):
            self.add_problem("a trajectory without `messages`", line)
            self._draft.events.append(Other(line=line, name="unreadable", raw=document))
            return
        info = mapping(document.get("info"))
        self._fill_heading(string(document.get("instance_id")) or stem, info, messages)
        for number, message in enumerate(messages, 1):
            self._take_message(mapping(message), message, number, number == len(messages), info)
        ending = {name: info[name] for name in ("exit_status", "submission", "model_stats") if name in info}
        if ending:
            self._draft.events.append(Other(line=len(messages) + 1, name="ending", raw=ending))

    def _fill_heading(self, name: str, info: dict[str, Any], messages: list[Any]) -> None:
        config = mapping(info.get("config"))
        heading = self._draft.heading
        heading.version = string(info.get("mini_version"))
        heading.model = string(mapping(config.get("model")).get("model_name"))
        heading.project = string(mapping(config.get("environment")).get("cwd"))
        heading.repository = repository_of_task(name)
        mode = mapping(config.get("agent")).get("mode")
        if "interactive" in string(config.get("agent_type")).lower() and mode != "yolo":
            heading.starter = "human"
        # The same task may be run many times: the first response tells the runs apart.
        first = next((extra for extra in map(_extra, messages) if "response" in extra or "timestamp" in extra), {})
        mark = string(mapping(first.get("response")).get("id")) or str(first.get("timestamp", ""))
        task = text_of(mapping(messages[1]).get("content")) if len(messages) > 1 else ""
        digest = sha256((mark or task).encode("utf-8", "replace")).hexdigest()[:12]
        heading.id = f"{name}-{digest}" if name else digest

    def _take_message(self, message: dict[str, Any], raw: Any, line: int, is_last: bool, info: dict[str, Any]) -> None:
        extra = mapping(message.get("extra"))
        at = epoch_seconds(extra.get("timestamp")) or epoch_seconds(mapping(extra.get("response")).get("created"))
        self._draft.heading.include_time(at)
        role = message.get("role")
        if role == "assistant" or message.get("object") == "response":
            self._add_answer(message, extra, line, at)
        elif role == "tool" or message.get("type") == "function_call_output":
            self._add_result(message, extra, line, at)
        elif role == "user":
            self._take_user(message, extra, line, at, is_last, info)
        elif role in ("system", "developer", "exit"):
            self._draft.events.append(Other(line=line, at=at, name=str(role), raw=raw))
        else:
            self.add_problem("a message of no role that is known; kept as it is", line)
            self._draft.events.append(Other(line=line, at=at, name="unknown", raw=raw))

    def _add_answer(self, message: dict[str, Any], extra: dict[str, Any], line: int, at: float | None) -> None:
        """Add a response and its calls."""
        self._matcher.drop_open_calls()
        response = mapping(extra.get("response")) or message
        name = string(response.get("id")) or f"message {line}"
        text, thought = text_of(message.get("content")), _reasoning(message, response)
        if message.get("object") == "response":
            text, thought = _text_of_items(message, "message"), _text_of_items(message, "reasoning")
        if thought:
            self._draft.events.append(Reasoning(line=line, at=at, text=thought, response=name))
        self._draft.events.append(
            AssistantMessage(
                line=line,
                at=at,
                text=text,
                response=name,
                usage=usage_of(response.get("usage")),
                model=string(response.get("model")),
            )
        )
        self._add_calls(_requested_calls(message, extra), text, name, line, at)

    def _add_calls(self, requested: list[RequestedCall], text: str, response: str, line: int, at: float | None) -> None:
        self._is_malformed = False
        if not requested:
            commands = fenced_commands(text)
            self._is_malformed = len(commands) != 1
            # Version 1 then ran nothing and said so; the attempt counts as a call.
            requested = [RequestedCall("", TOOL, {"command": "\n".join(commands)} if commands else {})]
        for number, call in enumerate(requested, 1):
            call_id = self._matcher.open_call(call, f"{line}.{number}")
            kind: ToolKind = "shell" if call.tool == TOOL else "other"
            self._draft.events.append(
                ToolCall(
                    line=line,
                    at=at,
                    call_id=call_id,
                    tool=call.tool,
                    kind=kind,
                    input=call.input,
                    response=response,
                )
            )

    def _take_user(
        self,
        message: dict[str, Any],
        extra: dict[str, Any],
        line: int,
        at: float | None,
        is_last: bool,
        info: dict[str, Any],
    ) -> None:
        text = text_of(message.get("content"))
        if extra.get("interrupt_type") == _FORMAT_ERROR:
            self._add_refused_response(message, extra, line, at)
        elif is_last and line > 2 and info.get("exit_status") and not _RETURN_CODE.match(text) and not extra:
            self._draft.events.append(Other(line=line, at=at, name="exit", raw=message))
        elif self._matcher.has_open_calls and not extra.get("interrupt_type"):
            self._add_result(message, extra, line, at)
        else:
            images = images_in(message.get("content"))
            origin = origin_of(text, injected=False)
            if line == _TASK and PREHEAT_RUN in text:  # the program's own words come before the task
                self._draft.heading.starter = "preheat"
            self._draft.events.append(UserMessage(line=line, at=at, text=text, origin=origin, images=images))

    def _add_refused_response(
        self, message: dict[str, Any], extra: dict[str, Any], line: int, at: float | None
    ) -> None:
        """Add a response that could not be run; version 2 records it inside the message that refuses it."""
        response = mapping(extra.get("response"))
        choice = mapping(next(iter(sequence(response.get("choices"))), None))
        answer = mapping(choice.get("message")) or {"content": string(extra.get("model_response"))}
        self._add_answer({**answer, "role": "assistant"}, {"response": response}, line, at)
        self._is_malformed = True
        while self._matcher.has_open_calls:
            self._add_result({"content": message.get("content")}, {}, line, at)

    def _add_result(self, message: dict[str, Any], extra: dict[str, Any], line: int, at: float | None) -> None:
        name = string(message.get("tool_call_id")) or string(message.get("call_id"))
        call_id = self._matcher.close_call(name)
        if not call_id:
            self._draft.events.append(Other(line=line, at=at, name="result without a call", raw=message))
            return
        text = text_of(message.get("output") if "output" in message else message.get("content"))
        code, failed, detail = _read_ending(text, extra)
        if self._is_malformed:
            failed, detail = True, {"format_error": True}
        output = extra.get("raw_output")
        output_text = output if isinstance(output, str) else _unwrap_output(text)
        self._draft.events.append(
            ToolResult(
                line=line,
                at=at,
                call_id=call_id,
                text=output_text,
                is_error=failed,
                exit_code=code,
                detail=detail,
                frame=frame_of(text, output_text),
            )
        )


def _extra(message: object) -> dict[str, Any]:
    return mapping(mapping(message).get("extra"))


def _requested_calls(message: dict[str, Any], extra: dict[str, Any]) -> list[RequestedCall]:
    """The calls that the program found in the response, else the response's own tool calls."""
    actions = [action for action in sequence(extra.get("actions")) if isinstance(action, dict)]
    if not actions:
        return calls_of(message)
    return [
        RequestedCall(
            string(action.get("tool_call_id")),
            TOOL,
            {name: value for name, value in action.items() if name != "tool_call_id"},
        )
        for action in actions
    ]


def _reasoning(message: dict[str, Any], response: dict[str, Any]) -> str:
    if "reasoning_content" in message:
        return string(message["reasoning_content"])
    choice = mapping(next(iter(sequence(response.get("choices"))), None))
    answer = mapping(choice.get("message"))
    return string(answer.get("reasoning_content")) or string(answer.get("reasoning"))


def _text_of_items(message: dict[str, Any], kind: str) -> str:
    """The text of one sort of item in a response of the newer interface."""
    items = [mapping(item) for item in sequence(message.get("output"))]
    return "\n".join(
        text_of(item.get("content") or item.get("summary") or "") for item in items if item.get("type") == kind
    )


def _read_ending(text: str, extra: dict[str, Any]) -> tuple[int | None, bool | None, dict[str, Any]]:
    """Exit code, error flag and details, as far as the program recorded them."""
    exception = string(extra.get("exception_info"))
    if exception == _NOT_EXECUTED:
        return None, None, {"exception": exception}
    if exception:
        # The program then writes -1 in place of an exit code.
        return None, True, {"exception": string(extra.get("exception_type")) or exception[:200]}
    code = extra.get("returncode")
    if isinstance(code, int) and not isinstance(code, bool):
        return code if count(abs(code)) == abs(code) else None, None, {}
    if found := _RETURN_CODE.match(text):
        return int(found[1]), None, {}
    if text.startswith(_TIMED_OUT):
        return None, True, {"exception": "timeout"}
    return None, None, {}


def _unwrap_output(text: str) -> str:
    """The output alone, without the tags that the program puts around it."""
    found = _RETURN_CODE.match(text)
    if found is None:
        return text
    rest = text[found.end() :].strip()
    if rest.startswith("<output>") and rest.endswith("</output>"):
        return rest[len("<output>") : -len("</output>")].strip("\n")
    return rest


def fenced_commands(text: str) -> list[str]:
    """The commands in a response, as version 1 finds them: fenced blocks marked as shell."""
    commands, position = [], 0
    while (begin := min((at for at in (text.find(f, position) for f in _FENCES) if at >= 0), default=-1)) >= 0:
        line_end = text.find("\n", begin)
        end = text.find("\n```", line_end) if line_end >= 0 else -1
        if end < 0:
            break
        if text[begin:line_end].strip() in _FENCES:
            commands.append(text[line_end + 1 : end].strip())
            position = end + 4
        else:
            position = line_end
    return commands


class TrajectoryReader:
    """Reads `.traj.json`."""

    agent = AGENT

    def framing(self, path: str) -> Framing:
        return "document"

    def detect(self, head: bytes, path: str) -> bool:
        # The mark of the format stands after all messages; a long file shows only how it begins.
        return head.lstrip()[:1] == b"{" and bool(_FORMAT.search(head) or _BEGINNING.match(head))

    def parser(self, path: str, part: str = "") -> Parser:
        return TrajectoryParser(path)


READER = TrajectoryReader()

"""Reads SWE-agent's trajectories (`.traj`): one JSON document a run, written anew after every step.

Tools are commands of its own shell, written out by the model or called as functions. A step says what was run and what came
back, but there is no exit code and no flag. Knows nothing of where the document comes from.
"""

import os
import re
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
)
from preheat.agents.documents import CUT, DocumentParser, beginning_of, outline, repository_of_task
from preheat.agents.parsing import Draft, decode_json, origin_of
from preheat.agents.reader import Framing, Heading, Parser
from preheat.model.outcome import Dialect
from preheat.model.session import (
    AssistantMessage,
    Other,
    Reasoning,
    ToolCall,
    ToolKind,
    ToolResult,
    Usage,
    UserMessage,
)

# How SWE-agent words what it does not run, and its editor's errors.
DIALECT = Dialect(
    timeout=(r"EXECUTION TIMED OUT", r"The command '[^\n]{1,2000}' (?:was cancelled because it took|timed out)"),
    mistake=(
        r"Your proposed edit has introduced (?:new )?syntax error", r"(?:Usage|Error): (?:edit|open|goto|search_|create)\b",
        r"No replacement was performed", r"Your (?:last )?(?:output|command|response) (?:was not formatted|format)",
        r"Your output was not formatted correctly", r"Text not found: ", r"File [^\n]{1,500} not found$",
    ),
    failed=(r"Operation '[^\n]{1,400}' is not supported by this environment",),
    worked=(
        r"\[File: [^\n]{1,500} \(\d+ lines total\)\]", r"\[File updated", r"Text replaced\.", r"File updated\. ",
        r"Your command ran successfully and did not produce any output",
    ),
    empty=(r"No matches found for ",),
)  # fmt: skip


# SWE-agent's tools
SHELL = "bash"
_KINDS: dict[str, ToolKind] = {
    "open": "read",
    "goto": "read",
    "scroll_up": "read",
    "scroll_down": "read",
    "view_image": "read",
    "filemap": "read",
    "edit": "edit",
    "insert": "edit",
    "undo_edit": "edit",
    "str_replace_editor": "edit",
    "create": "write",
    "find_file": "search",
    "search_dir": "search",
    "search_file": "search",
    "submit": "other",
    "exit_forfeit": "other",
    "review_on_submit": "other",
}
_EDITOR_KINDS: dict[str, ToolKind] = {"view": "read", "create": "write"}


def call_of_action(requested: RequestedCall, action: str) -> tuple[str, ToolKind, dict[str, Any]]:
    """Tool, kind and arguments of a step's call: as the model called it, else from the command that was run."""
    words = action.split(maxsplit=2)
    first = words[0]
    tool = requested.tool or (first if first in _KINDS else SHELL)
    tool_input = requested.input if requested.tool else {"command": action}
    if tool == "str_replace_editor":
        subcommand = str(tool_input.get("command")) if requested.tool else words[1] if len(words) > 1 else ""
        return tool, _EDITOR_KINDS.get(subcommand, "edit"), tool_input
    if tool.startswith(("debug_", "start_", "connect_", "disass", "decompile")):
        return tool, "other", tool_input
    return tool, _KINDS.get(tool, "shell" if tool in (SHELL, "execute_bash") else "other"), tool_input


# Reading trajectories.
AGENT = "swe_agent"
TOTAL_RESPONSE = "run total"
"""The response that carries the usage: the program counts tokens for the whole run only."""
_STEP = re.compile(r'\[\s*\{\s*"(?:action|response|observation|thought|query|message_type)"\s*:')
_ENDING = ("exit_status", "submission", "model_stats", "edited_files30", "edited_files50", "edited_files70", "score")
_LONGEST_SECONDS = 1e9


class TrajectoryParser(DocumentParser):
    """One document, one session."""

    agent = AGENT

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._draft = Draft(Heading(starter="headless"))
        self._matcher = CallMatcher()

    def read(self, block: bytes, line: int) -> None:
        stem = os.path.basename(self.path.replace("\\", "/")).partition(".traj")[0] or AGENT
        self._draft.heading.id = stem
        self.add(self._draft)
        try:
            document = decode_json(block)
        except (ValueError, RecursionError) as error:
            self.add_problem(f"not a whole JSON document ({str(error)[:120]})", line)
            return
        steps = mapping(document).get("trajectory")
        if not isinstance(steps, list):
            self.add_problem("a document without `trajectory`", line)
            self._draft.events.append(Other(line=line, name="unreadable", raw=document))
            return
        self._fill_heading(stem, document, steps)
        answers = self._add_beginning(sequence(document.get("history")))
        for number, step in enumerate(steps, 1):
            self._add_step(step, answers, number)
        self._add_ending(mapping(document.get("info")), len(steps) + 1)

    def _fill_heading(self, stem: str, document: dict[str, Any], steps: list[Any]) -> None:
        heading = self._draft.heading
        info, first = mapping(document.get("info")), mapping(next(iter(steps), None))
        heading.version = string(info.get("swe_agent_version"))
        heading.project = string(_object(first.get("state")).get("working_dir"))
        heading.repository = repository_of_task(stem)
        agent = mapping(_object(document.get("replay_config")).get("agent"))
        heading.model = string(mapping(agent.get("model")).get("name"))
        # The same task may be run many times: the time of the first step, if recorded, tells the runs apart.
        first_messages = [text_of(mapping(message).get("content")) for message in sequence(document.get("history"))[:2]]
        mark = [*first_messages, text_of(first.get("response")), str(first.get("execution_time"))]
        heading.id = f"{stem}-{sha256(repr(mark).encode('utf-8', 'replace')).hexdigest()[:12]}"

    def _add_beginning(self, history: list[Any]) -> list[dict[str, Any]]:
        """Add the messages before the first step; returns the assistant's messages, which hold the calls of the steps.

        Demonstrations are in the history too, but did not happen: they become `Other`.
        """
        answers: list[dict[str, Any]] = []
        for message in map(mapping, history):
            role, content = message.get("role"), message.get("content")
            if message.get("is_demo"):
                self._draft.events.append(Other(line=0, name="demonstration", raw=message))
            elif role == "assistant":
                answers.append(message)
            elif not answers and role == "user":
                text = text_of(content)
                origin = origin_of(text, injected=False)
                self._draft.events.append(UserMessage(line=0, text=text, origin=origin, images=images_in(content)))
            elif not answers:
                self._draft.events.append(Other(line=0, name=string(role) or "unknown", raw=message))
        return answers

    def _add_step(self, value: Any, answers: list[dict[str, Any]], line: int) -> None:
        step, response = mapping(value), f"step {line}"
        if not step:
            self.add_problem("a step that is no object; kept as it is", line)
            self._draft.events.append(Other(line=line, name="unknown", raw=value))
            return
        answer = _find_answer(step, answers)
        if thought := string(answer.get("reasoning_content")) or _thoughts_in(answer.get("thinking_blocks")):
            self._draft.events.append(Reasoning(line=line, text=thought, response=response))
        text = text_of(step.get("response")) or text_of(step.get("thought"))
        self._draft.events.append(
            AssistantMessage(line=line, text=text, response=response, model=self._draft.heading.model)
        )
        action, observation = string(step.get("action")), text_of(step.get("observation"))
        if not action.strip():
            # The response could not be parsed, or the run was ended from outside: there was no call.
            if observation:
                self._draft.events.append(Other(line=line, name="observation", raw=step.get("observation")))
            return
        seconds = step.get("execution_time")
        requested = calls_of(answer) or [RequestedCall("", "", {})]
        # Only one call of a response is run, and the step records that one.
        tool, kind, tool_input = call_of_action(requested[0], action)
        call_id = self._matcher.open_call(RequestedCall(requested[0].id, tool, tool_input), str(line))
        self._draft.events.append(
            ToolCall(line=line, call_id=call_id, tool=tool, kind=kind, input=tool_input, response=response)
        )
        self._draft.events.append(
            ToolResult(line=line, call_id=call_id, text=observation, seconds=seconds if _is_time(seconds) else None)
        )

    def _add_ending(self, info: dict[str, Any], line: int) -> None:
        ending = {name: info[name] for name in _ENDING if name in info}
        if ending:
            self._draft.events.append(Other(line=line, name="ending", raw=ending))
        stated = mapping(info.get("model_stats"))
        usage = Usage(input=count(stated.get("tokens_sent")), output=count(stated.get("tokens_received")))
        if usage != Usage():
            heading = self._draft.heading
            heading.reported = usage
            self._draft.events.append(
                AssistantMessage(line=line, text="", response=TOTAL_RESPONSE, model=heading.model, usage=usage)
            )


def _find_answer(step: dict[str, Any], answers: list[dict[str, Any]]) -> dict[str, Any]:
    """The assistant's message of a step, which has its calls; messages that were requested again are skipped."""
    for index, answer in enumerate(answers):
        if answer.get("action") == step.get("action") and answer.get("thought") == step.get("thought"):
            del answers[: index + 1]
            return answer
    return {}


def _thoughts_in(blocks: object) -> str:
    return "\n".join(text for block in sequence(blocks) if (text := string(mapping(block).get("thinking"))))


def _object(value: object) -> dict[str, Any]:
    """A dictionary, also where it was written as JSON text."""
    if isinstance(value, str):
        try:
            value = decode_json(value.encode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return {}
    return mapping(value)


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _LONGEST_SECONDS


class TrajectoryReader:
    """Reads `.traj`."""

    agent = AGENT

    def framing(self, path: str) -> Framing:
        return "document"

    def detect(self, head: bytes, path: str) -> bool:
        members = outline(head)
        steps = members.get("trajectory")
        if steps is CUT:
            return bool(_STEP.match(beginning_of(head, "trajectory")))
        first = mapping(next(iter(sequence(steps)), None))
        if first:
            return "action" in first and "observation" in first
        return isinstance(steps, list) and path.endswith(".traj") and ("history" in members or "info" in members)

    def parser(self, path: str, part: str = "") -> Parser:
        return TrajectoryParser(path)


READER = TrajectoryReader()

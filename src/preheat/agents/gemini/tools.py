"""Gemini CLI's tools, present and former: what each is for, how a call ended by its record, and how refusals are worded.

A result is status and text, with lines that the shell tool adds to the output. Knows nothing of messages.
"""

import re
from typing import Any, NamedTuple

from preheat.agents.chat import mapping, sequence, string, text_of
from preheat.agents.parsing import frame_of
from preheat.model.outcome import Dialect
from preheat.model.session import ToolKind

SHELL = "run_shell_command"

_KINDS: dict[str, ToolKind] = {
    SHELL: "shell",
    "list_background_processes": "shell",
    "read_background_output": "shell",
    "read_file": "read",
    "read_many_files": "read",
    "replace": "edit",
    "write_file": "write",
    "glob": "search",
    "grep_search": "search",
    "list_directory": "search",
    "search_file_content": "search",
    "google_web_search": "web",
    "web_fetch": "web",
    "enter_plan_mode": "plan",
    "exit_plan_mode": "plan",
    "update_topic": "plan",
    "write_todos": "plan",
    "codebase_investigator": "delegate",
    "delegate_to_agent": "delegate",
    "generalist": "delegate",
    "invoke_agent": "delegate",
}


def kind_of(tool: str) -> ToolKind:
    """What a tool is for."""
    return _KINDS.get(tool, "other")


# How a call ended, as Gemini CLI records it.
ENDED_STATUSES = frozenset(("success", "error", "cancelled"))
"""The statuses of a call that has a result."""
_UNTRUSTED = ("<untrusted_context>\n", "\n</untrusted_context>")
_HOOK = ("\n\n<hook_context>", "</hook_context>")
_OUTPUT = "Output: "
_EMPTY = "(empty)"
_TRAILER = re.compile(
    r"(?:\nExit Code: (?P<code>-?\d{1,10}|\(none\)))?(?:\nSignal: (?P<signal>[^\n]*))?"
    r"(?:\nBackground PIDs: (?P<background>[^\n]*))?(?P<group>\nProcess Group PGID: [^\n]*)?\s*\Z"
)
_LONGEST_TRAILER = 1_000
_NO_SIGNAL = ("(none)", "0")
_TIMED_OUT = "Command was automatically cancelled because it exceeded the timeout"
_INTERRUPTED = "Command was cancelled by user"
_SUBAGENT = re.compile(r"Subagent '[^'\n]{1,200}' finished\.\nTermination Reason: (\w{1,60})")


class RecordedResult(NamedTuple):
    """The result of a call, as recorded by the program."""

    text: str
    is_error: bool | None
    exit_code: int | None
    detail: dict[str, Any]
    hook_text: str = ""
    """The text that hooks added to the result."""
    frame: tuple[str, str] = ("", "")


def result_of(call: dict[str, Any], call_id: str) -> RecordedResult:
    """The result in a finished call's record. The status says whether the tool worked, not how its command ended."""
    status = string(call.get("status"))
    text, stated_error = response_text(call.get("result"), call_id)
    text, hook_text = _without_hooks(text)
    is_error = {"success": False, "error": True, "cancelled": True}.get(status, stated_error)
    detail: dict[str, Any] = {"status": status} if status else {}
    if string(call.get("name")) != SHELL:
        if found := _SUBAGENT.match(text):
            detail["termination"] = found[1]
        return RecordedResult(_unwrap(text), is_error, None, detail, hook_text)
    return _result_of_shell(_unwrap(text), call.get("resultDisplay"), is_error, detail, hook_text)


def response_text(result: object, call_id: str) -> tuple[str, bool | None]:
    """The text of a call's response, and True if it is under `error`.

    A result may hold the responses of its sibling calls too: only its own is used.
    """
    parts = [result] if isinstance(result, dict) else sequence(result)
    responses = [mapping(mapping(part).get("functionResponse")) for part in parts]
    own_responses = [response for response in responses if response and response.get("id") == call_id]
    if not own_responses:
        own_responses = [response for response in responses if response]
    if not own_responses:
        return text_of(result), None
    texts, failed = [], None
    for response in own_responses:
        content = response.get("response")
        body = mapping(content)
        if "error" in body and "output" not in body:
            failed = True
            texts.append(_text_of_value(body["error"]))
        else:
            texts.append(_text_of_value(body.get("output", content)))
    return "\n".join(texts), failed


def _text_of_value(value: object) -> str:
    if isinstance(value, dict) and isinstance(value.get("message"), str):
        return str(value["message"])
    return text_of(value)


def _without_hooks(text: str) -> tuple[str, str]:
    opening, closing = _HOOK
    at = text.rfind(opening)
    if at < 0 or not text.endswith(closing):
        return text, ""
    return text[:at], text[at + len(opening) : -len(closing)]


def _unwrap(text: str) -> str:
    opening, closing = _UNTRUSTED
    if text.startswith(opening) and text.endswith(closing):
        return text[len(opening) : -len(closing)]
    return text


def _result_of_shell(
    text: str, display: object, is_error: bool | None, detail: dict[str, Any], hook_text: str
) -> RecordedResult:
    if text.startswith((_TIMED_OUT, _INTERRUPTED)):
        why = "timeout" if text.startswith(_TIMED_OUT) else "interrupted"
        return RecordedResult(text, True, None, {**detail, "exception": why}, hook_text)
    begin, found = _find_trailer(text, display)
    code = _exit_code(text, found)
    for name in ("signal", "background"):
        if found and (stated := found[name]) and stated not in _NO_SIGNAL:
            detail[name] = stated
    output = _output_only(text[:begin])
    # The status of a command that ran is always `success`, so an exit code counts instead.
    return RecordedResult(
        output, None if code is not None else is_error, code, detail, hook_text, frame_of(text, output)
    )


def _output_only(text: str) -> str:
    """The output alone, without the command and folder before it and the error after it that older versions added."""
    if text.startswith("Command: "):
        at = text.find(f"\n{_OUTPUT}", max(0, text.find("\nDirectory: ")))
        text = text[at + 1 :].removesuffix("\nError: (none)") if at >= 0 else text
    if not text.startswith(_OUTPUT):
        return text
    output = text[len(_OUTPUT) :]
    return "" if output == _EMPTY else output


def _find_trailer(text: str, display: object) -> tuple[int, "re.Match[str] | None"]:
    """Where the program's own lines begin. A command may print the same lines; the display shows which are its output."""
    if isinstance(display, str) and display and text.startswith(_OUTPUT + display):
        begin = len(_OUTPUT) + len(display)
        if found := _TRAILER.match(text, begin):
            return begin, found
    found = _TRAILER.search(text, max(0, len(text) - _LONGEST_TRAILER))
    return (found.start(), found) if found else (len(text), None)


def _exit_code(text: str, found: "re.Match[str] | None") -> int | None:
    if found is None:
        return None
    stated = found["code"]
    if stated is not None:
        return None if stated == "(none)" else int(stated)
    # The line is left out only for exit code 0; after a signal there is no exit code.
    ended = text.startswith(_OUTPUT) and found["group"] and not found["signal"]
    return 0 if ended else None


# How Gemini CLI words refusals, cancellations and its tools' own errors.
DIALECT = Dialect(
    fields={"status": {"cancelled": "interrupted"}, "exception": {"timeout": "timeout", "interrupted": "interrupted"}},
    denied=(r"\[Operation Cancelled\] Reason: User (?:denied|did not allow)", r"Tool execution (?:denied|blocked)"),
    interrupted=(r"\[Operation Cancelled\]", r"Command was cancelled by user", r"User cancelled"),
    timeout=(r"Command was automatically cancelled because it exceeded the timeout",),
    mistake=(
        r"Failed to edit, (?:could not find|0 occurrences|expected)", r"(?:Error: )?Tool \"[^\"\n]{1,200}\" not found",
        r"(?:Error: )?params(?:\.| )", r"File (?:path must|not found)",
    ),
    empty=(r"No matches found for pattern", r"No files found matching", r"Directory [^\n]{1,500} is empty"),
)  # fmt: skip

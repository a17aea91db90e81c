"""Codex's code mode: a tool `exec` whose JavaScript calls the other tools, read as the calls that it makes.

A script with one call is that call. A script with several is as many calls, if each text that it prints belongs to one of them;
otherwise it is one call with all of its commands, or stays a call of `exec`. A script that goes on running is a cell, at which
`wait` looks again; a command that goes on running is a process, at which `write_stdin` looks: what these see is the late ending
of the command. Knows the records of no rollout.
"""

import re
from typing import Any, NamedTuple

import msgspec

from preheat.agents.chat import mapping, sequence, string
from preheat.agents.codex import SCRIPTED_PREFIX
from preheat.agents.codex.records import whole_number
from preheat.agents.codex.tools import CallOutput, RecordedResult, kind_of
from preheat.agents.parsing import decode_json
from preheat.agents.scripts import Script, ScriptCall, join_commands, read_script, split_texts
from preheat.model.session import ToolKind

SCRIPT_TOOL, WAIT_TOOL = "exec", "wait"
_COMMAND, _INPUT, _PATCH = "exec_command", "write_stdin", "apply_patch"
_COMMANDS = (_COMMAND, _INPUT)
_UNKNOWN = "unknown"
"""The process of a command that still runs, where the script does not print it."""
_ENDS_OF = {
    "exec_command_end": _COMMAND, "CommandExecution": _COMMAND, "patch_apply_end": _PATCH, "FileChange": _PATCH,
    "mcp_tool_call_end": "mcp__", "McpToolCall": "mcp__",
}  # fmt: skip
"""Records of an ending, and how the names of the tools begin that they are about."""
_HEADER = re.compile(
    r"Script (?P<status>completed|failed|terminated|running with cell ID (?P<cell>\S{1,40}))\n"
    r"Wall time (?P<seconds>[\d.]{1,20}) seconds\nOutput:\n?"
)
_ERROR = re.compile(r"\AScript error:\n")
_SHORTENED = re.compile(r"\AWarning: truncated output \(original token count: \d+\)\n(?:Total output lines: \d+\n)?\n?")
_BEGINNING = re.compile(
    r'\{\s*(?:"chunk_id":\s?"[^"]{0,40}",\s*)?"wall_time_seconds":\s?(?P<seconds>[\d.]{1,20}),\s*'
    r'(?:"exit_code":\s?(?P<code>-?\d{1,10}),\s*)?(?:"session_id":\s?(?P<session>\d{1,18}),\s*)?'
    r'(?:"original_token_count":\s?\d{1,18},\s*)?"output":\s?'
)
"""The value of a command as far as its output, for one that was cut."""
_STATED_CODE = re.compile(r"(?i)(?:^|\n)\W{0,8}exit[_ ]?(?:code|status)?\W{1,3}(?P<code>-?\d{1,10})\W{0,8}\Z")
_STATED_PROCESS = re.compile(r"(?i)\A\W{0,8}session[_ ]?(?:id)?\w{0,4}\W{1,3}(?P<session>\d{1,18})\W{0,8}\Z")
_LEAST_WAIT, _MOST_WAIT, _USUAL_WAIT, _LEAST_LOOK = 0.25, 30.0, 10.0, 5.0
"""Seconds that Codex waits for a command before it answers that it runs; the last for a look without input."""


class MadeCall(NamedTuple):
    """A call that a script makes."""

    call_id: str
    tool: str
    kind: ToolKind
    input: dict[str, Any]


class Answer(NamedTuple):
    """The result of one call, and what it says about an earlier one that was still running."""

    call_id: str
    output: CallOutput
    ending: RecordedResult | None = None


class LateEnding(NamedTuple):
    """The ending of a call whose result had said that it still runs; the result of another call tells of it."""

    call_id: str
    exit_code: int | None
    told_by: str
    told_of: str = ""
    """The call in a script that looked at it."""


class NestedCall(msgspec.Struct, omit_defaults=True):
    """A call of a script, until its result is known."""

    call_id: str
    tool: str
    commands: tuple[str, ...] = ()
    process: str = ""
    """Of the command that a look is about."""
    stops: bool = False
    """It ends its command by Ctrl-C."""
    wait: float = 0.0
    """Seconds after which its command is left running."""
    endings: list[RecordedResult] = []
    """The program's own records of its end."""


class OpenScript(msgspec.Struct, omit_defaults=True):
    """A script, until it has ended."""

    calls: list[NestedCall]
    printed: tuple[int, ...] | None
    at: float | None = None
    states_code: bool = False
    """It prints exit codes."""
    own: bool = False
    """It is a call of its own, because the calls in it cannot be told."""


class Cells(msgspec.Struct, omit_defaults=True):
    """The scripts of a session that have not ended; part of the parser's saved state."""

    open: dict[str, OpenScript] = {}
    """Without an output so far, by the id of the call."""
    running: dict[str, OpenScript] = {}
    """By the id of the cell."""
    looks: dict[str, str] = {}
    """Calls of `wait` without an output so far, with their cells."""
    processes: dict[str, str] = {}
    """The ids of running commands, with the calls that started them."""

    def begin(self, call_id: str, text: str, at: float | None) -> list[MadeCall]:
        """The calls that a script makes; the script itself where they cannot be told."""
        script = read_script(text)
        made = _calls_of(script, call_id) or [MadeCall(call_id, SCRIPT_TOOL, "other", {"text": text})]
        printed = script.printed if len(made) > 1 else None
        own = made[0].tool == SCRIPT_TOOL
        self.open[call_id] = OpenScript([_nested_call(each) for each in made], printed, at, "exit_code" in text, own)
        return made

    def look(self, call_id: str, arguments: dict[str, Any]) -> bool:
        """Note a call of `wait`; whether it is about a cell, not about an agent."""
        cell = arguments.get("cell_id")
        if isinstance(cell, str | int):
            self.looks[call_id] = str(cell)
        return isinstance(cell, str | int)

    def take_ending(self, call_id: str, record: str, command: object, ending: RecordedResult) -> bool:
        """Note the program's record of the end of a call inside a script; false if it belongs to none."""
        if not call_id.startswith(SCRIPTED_PREFIX):
            return False
        tool = _ENDS_OF.get(record, "")
        words = sequence(command)
        typed = string(words[-1]) if words else string(command)
        found = [
            call
            for script in (*self.open.values(), *self.running.values())
            for call in script.calls
            if tool and call.tool.startswith(tool) and len(call.endings) < max(1, len(call.commands))
        ]
        same = [call for call in found if typed in call.commands]
        if same or (found and not typed):
            (same or found)[0].endings.append(ending)
        return bool(found)

    def finish(self, call_id: str, output: object, at: float | None) -> tuple[list[Answer], list[LateEnding]]:
        """The results that an output of a script, or of a look at one, has for calls."""
        text = read_output(output)
        cell = self.looks.pop(call_id, None)
        if cell is not None:
            return self._finish_look(call_id, cell, text, at)
        script = self.open.pop(call_id)
        if text is None:
            return [], []
        if text.cell:
            self.running[text.cell] = script
            return [Answer(call.call_id, _still_running(text)) for call in script.calls], []
        return self._settle(script, text, text.seconds)

    def _finish_look(
        self, call_id: str, cell: str, text: "ScriptOutput | None", at: float | None
    ) -> tuple[list[Answer], list[LateEnding]]:
        script = self.running.get(cell)
        if text is None:
            return [], []
        if text.cell or script is None:
            output = _still_running(text) if text.cell else _join(text)
            return [Answer(call_id, output)], []
        del self.running[cell]
        seconds = at - script.at if at is not None and script.at is not None else text.seconds
        answers, late = self._settle(script, text, seconds, call_id)
        settled = {each.told_of for each in late}
        for answer in answers:
            if not answer.output.running and answer.call_id not in settled:
                recorded = answer.ending.exit_code if answer.ending is not None else None
                code = answer.output.exit_code if recorded is None else recorded
                late.append(LateEnding(answer.call_id, code, call_id))
        whole = _join(text)
        if len(answers) == 1:  # the value of the one call, without what is around it
            whole.text, whole.running = answers[0].output.text, answers[0].output.running
        whole.is_error = None if whole.running else text.failed
        return [Answer(call_id, whole)], late

    def _settle(
        self, script: OpenScript, text: "ScriptOutput", seconds: float | None, look: str = ""
    ) -> tuple[list[Answer], list[LateEnding]]:
        """The results of a script's calls, and the endings of earlier commands at which its calls looked."""
        answers = _answers(script, text, seconds)
        calls = {call.call_id: call for call in script.calls}
        late: list[LateEnding] = []
        for answer in answers:
            call, output = calls[answer.call_id], answer.output
            if output.running not in ("", _UNKNOWN) and call.tool == _COMMAND:
                self.processes[output.running] = call.call_id
            if call.process and not output.running and (begun := self.processes.pop(call.process, "")):
                # The look worked; what it saw is the ending of the command. One that the agent stopped never came to its own.
                if not call.stops:
                    late.append(LateEnding(begun, output.exit_code, look or answer.call_id, answer.call_id))
                output.exit_code, output.is_error = None, bool(output.is_error)
        return answers, late


# The calls of a script.
def _calls_of(script: Script, call_id: str) -> list[MadeCall]:
    calls = script.calls
    if not calls or any(call.argument is None and not call.whole for call in calls):
        return []
    if len(calls) == 1:
        return [_call_of(calls[0], call_id)]
    if script.printed is not None:
        return [_call_of(call, f"{call_id}/{number}") for number, call in enumerate(calls, 1)]
    made = [_call_of(call, call_id) for call in calls]
    if all(call.tool == _PATCH for call in made):
        return [made[0]._replace(input={"text": "\n".join(string(call.input.get("text")) for call in made)})]
    joined = join_commands([call.input for call in made], "cmd") if all(call.tool == _COMMAND for call in made) else {}
    return [made[0]._replace(input=joined)] if joined else []


def _call_of(call: ScriptCall, call_id: str) -> MadeCall:
    argument = call.argument
    call_input = argument if isinstance(argument, dict) else {} if argument is None else {"text": _plain(argument)}
    return MadeCall(call_id, call.tool, kind_of(call.tool), call_input)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _nested_call(call: MadeCall) -> NestedCall:
    commands = call.input.get("commands") or [string(call.input.get("cmd"))]
    wait = whole_number(call.input.get("yield_time_ms"))
    seconds = _USUAL_WAIT if wait is None else wait / 1000
    if call.tool == _INPUT:
        least = _LEAST_WAIT if call.input.get("chars") else _LEAST_LOOK
        process = whole_number(call.input.get("session_id"))
        return NestedCall(
            call.call_id,
            call.tool,
            process="" if process is None else str(process),
            stops="\x03" in string(call.input.get("chars")),
            wait=min(max(seconds, least), _MOST_WAIT),
        )
    if call.tool == _COMMAND:
        wait_for = min(max(seconds, _LEAST_WAIT), _MOST_WAIT) if len(commands) == 1 else 0.0
        return NestedCall(call.call_id, call.tool, tuple(filter(None, commands)), wait=wait_for)
    return NestedCall(call.call_id, call.tool)


# The output of a script.
class ScriptOutput(NamedTuple):
    """An output of `exec` or `wait`: what the program says of the script, and each text that the script printed."""

    header: str
    failed: bool
    seconds: float | None
    cell: str
    texts: list[str]
    images: int = 0


def read_output(output: object) -> ScriptOutput | None:
    """An output that begins as those of scripts do; None for any other."""
    parts = [mapping(part) for part in sequence(output)] if isinstance(output, list) else [{"text": output}]
    texts = [string(part.get("text")) for part in parts if "text" in part]
    found = _HEADER.match(texts[0]) if texts else None
    if found is None:
        return None
    rest = [texts[0][found.end() :]] if found.end() < len(texts[0]) else []
    failed = found["status"] == "failed"
    images = sum("image" in string(part.get("type")) for part in parts)
    return ScriptOutput(
        found[0], failed, float(found["seconds"].rstrip(".") or 0), found["cell"] or "", rest + texts[1:], images
    )


def _answers(script: OpenScript, text: ScriptOutput, seconds: float | None) -> "list[Answer]":
    """The result of each call in order; calls that did not come to run have none."""
    calls, texts, error = script.calls, list(text.texts), ""
    if text.failed and texts:
        error = _ERROR.sub("", texts.pop())
    if len(calls) == 1:
        return [_answer(script, calls[0], text, texts, seconds, error)]
    parts = split_texts(script.printed or (), _without_remarks(texts), len(calls))
    if parts is None and not text.failed:  # shortened to one text: it cannot be told what belongs to which
        return [_answer(script, calls[0], text, texts, None, error)]
    if parts is None:
        done = (script.printed or ())[: len(texts)]
        parts = [
            [each for call, each in zip(done, texts, strict=False) if call == number] for number in range(len(calls))
        ]
        first = next((number for number in range(len(calls)) if number not in done), len(calls) - 1)
        calls = calls[: first + 1]
    last = len(calls) - 1
    return [
        _answer(script, call, text, part, None, error if number == last else "")
        for number, (call, part) in enumerate(zip(calls, parts, strict=False))
        if part or call.tool not in _COMMANDS or (error and number == last)
    ]


def _without_remarks(texts: list[str]) -> list[str]:
    """The texts without those that only name a running command, which a script prints where there is one."""
    return [text for number, text in enumerate(texts) if number == 0 or not _STATED_PROCESS.match(text)]


def _answer(
    script: OpenScript, call: NestedCall, text: ScriptOutput, texts: list[str], seconds: float | None, error: str
) -> Answer:
    is_command = call.tool in _COMMANDS
    output = _command_output(texts, script.states_code) if is_command else CallOutput("\n".join(texts))
    output.header, output.images = text.header, text.images
    if output.seconds is None:
        output.seconds = text.seconds
    if error:
        output.text = f"{output.text}\n{error}" if output.text else error
        output.is_error = True
    elif not is_command:
        output.is_error = None if script.own else _says_error(output.text)
    elif output.exit_code is None and not output.running and seconds is not None and 0 < call.wait <= seconds:
        output.running = _UNKNOWN  # it answered when its time was over, not when the command had ended
    return Answer(call.call_id, output, _worst(call))


def _worst(call: NestedCall) -> RecordedResult | None:
    """The program's record of the end: of several commands, the one that failed."""
    if not call.endings:
        return None
    failed = next((each for each in call.endings if each.exit_code or each.is_error), None)
    return failed or (call.endings[0] if len(call.endings) >= len(call.commands) else None)


def _command_output(texts: list[str], states_code: bool) -> CallOutput:
    """The value of a command, in the forms in which scripts print it: its text, all of it as JSON, or some members."""
    output = CallOutput("")
    shown: list[str] = []
    for number, text in enumerate(texts):
        plain = _SHORTENED.sub("", text)
        if plain.startswith("{") and (value := _value_of(plain)) is not None:
            output.exit_code = whole_number(value.get("exit_code", output.exit_code))
            process = whole_number(value.get("session_id"))
            output.running = output.running if process is None else str(process)
            spent = value.get("wall_time_seconds")
            output.seconds = float(spent) if isinstance(spent, int | float) and 0 <= spent < 1e9 else output.seconds
            shown += [value["output"]] if isinstance(value.get("output"), str) else []
        elif number and (process_stated := _STATED_PROCESS.match(text)):
            output.running = process_stated["session"]
        else:
            code = _STATED_CODE.search(text[-80:]) if states_code else None
            output.exit_code = int(code["code"]) if code else output.exit_code
            if not (code and number and len(text) < 40):
                shown.append(text)
    output.text = "\n".join(shown)
    if output.exit_code is not None:
        output.running = ""
    return output


def _value_of(text: str) -> dict[str, Any] | None:
    """The value of a command, which a script printed as JSON; None for any other JSON."""
    try:
        value = mapping(decode_json(text.encode("utf-8", "replace")))
    except (ValueError, RecursionError):
        cut = _BEGINNING.match(text)
        if cut is None:
            return None
        value = {"wall_time_seconds": float(cut["seconds"].rstrip(".") or 0), "output": text[cut.end() :].strip('"}')}
        value |= {"exit_code": int(cut["code"])} if cut["code"] else {}
        return value | ({"session_id": int(cut["session"])} if cut["session"] else {})
    if "wall_time_seconds" in value or ("output" in value and value.keys() <= {"output", "exit_code", "session_id"}):
        return value
    return value if value and value.keys() <= {"exit_code", "session_id"} else None


def _says_error(text: str) -> bool:
    """Whether the value of a tool that is no command says that it failed; the script had it, so the tool answered."""
    return text.startswith("{") and text.endswith("}") and '"isError":true' in text[-200:]


def _still_running(text: ScriptOutput) -> CallOutput:
    return CallOutput(
        "\n".join(text.texts), seconds=text.seconds, running=f"cell {text.cell}", images=text.images, header=text.header
    )


def _join(text: ScriptOutput) -> CallOutput:
    texts = [_ERROR.sub("", each) for each in text.texts]
    return CallOutput(
        "\n".join(texts), is_error=text.failed, seconds=text.seconds, images=text.images, header=text.header
    )

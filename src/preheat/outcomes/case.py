"""One call and its result, as the rungs of the judge look at it. Knows no verdicts.

It has what was asked, what came back, what the agent's program says, and the exit code, recorded or stated in the text.
"""

import re
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from preheat.commands import Understanding, command_text, understand
from preheat.commands.words import name_set
from preheat.model.outcome import CallEnding, Dialect
from preheat.model.session import ToolCall, ToolResult
from preheat.outcomes import lines
from preheat.outcomes.structure import output_in

# Exit codes that stand in the text
_BEGINNING = re.compile(
    r"\s*(?:(?:Chunk ID|Wall time|Command|Directory|Original token count|Total output lines)\b[^\n]*\n){0,6}"
    r"(?:<returncode>(?P<tag>-?\d{1,10})</returncode>"
    r"|(?:(?:Command|Process) )?(?:failed with )?(?:[Ee]xit(?:ed with)?(?: (?:code|status))|[Rr]eturn ?code|exit_code)"
    r"[:=]? ?(?P<line>-?\d{1,10})\b)"
)
_END = re.compile(
    r"(?:<returncode>(?P<tag>-?\d{1,10})</returncode>"
    r"|(?:^|[\n<\[(])[^\n<\[(]{0,80}?\b(?:exit(?:ed)?(?: with)?(?: exit)? ?(?:code|status)|exited with code|return ?code)"
    r"[:=]? ?(?P<line>-?\d{1,10})[.>\])]*)"
    r"(?:\n(?:Signal|Background PIDs|Process Group PGID|Error|Wall time)[^\n]*|\s|</output>|\[[^\n\]]*\]){0,8}\Z",
    re.IGNORECASE,
)
_LONGEST_END = 600
_ECHOED = re.compile(r"^[^\n\d$]{0,40}?(\d{1,3})\s*\Z", re.MULTILINE)


def stated_code(text: str) -> int | None:
    """The exit code that the text states in a place of its own."""
    end = text[-_LONGEST_END:]
    found = _BEGINNING.match(text)
    if found is None and ("code" in end or "Code" in end or "status" in end):
        found = _END.search(text, max(0, len(text) - _LONGEST_END))
    if found is None:
        return None
    code = int(found["tag"] or found["line"])
    return code if abs(code) < 2**31 else None


def echoed_code(text: str) -> int | None:
    """What `echo $?` printed at the end, for a command that has it there."""
    found = _ECHOED.search(text.rstrip()[-80:])
    return int(found[1]) if found else None


# A call with its result
_NOTHING = re.compile(
    r"\s*[\[(<]?(?:(?:\w+ )?(?:(?:command|tool|it) )?(?:completed|ran|executed|succeeded|finished)?(?: successfully)?"
    r"(?: with| and(?: did not produce(?: any)?| produced)?)? ?(?:no|any) output|no content|empty|no output|none)?"
    r"[\])>]?\.?\s*\Z",
    re.IGNORECASE,
)
_FEW_LINES = 3
_WRAPPED = re.compile(r"\s*<output>\s*\n?([\s\S]*?)\s*</output>\s*\Z")
_READING = name_set("log show diff blame grep cat-file status branch ls-files reflog shortlog ls-tree tag")
"""Subcommands of git that only print."""


Value = TypeVar("Value")


class lazy(Generic[Value]):  # noqa: N801 - used like `property`
    """Computed once, when first asked for. `functools.cached_property` takes a lock each time, and there are millions."""

    def __init__(self, compute: "Callable[[Any], Value]") -> None:
        self._compute = compute
        self._name = compute.__name__

    def __get__(self, case: "Case", owner: object = None) -> Value:
        value = self._compute(case)
        case.__dict__[self._name] = value
        return value


class DialectPatterns:
    """A dialect, compiled."""

    def __init__(self, dialect: Dialect) -> None:
        self.fields = dialect.fields
        for name in ("denied", "interrupted", "timeout", "mistake", "failed", "worked", "empty", "running"):
            texts: tuple[str, ...] = getattr(dialect, name)
            pattern = re.compile("|".join(f"(?:{text})" for text in texts)) if texts else None
            setattr(self, name, pattern)

    denied: "re.Pattern[str] | None"
    interrupted: "re.Pattern[str] | None"
    timeout: "re.Pattern[str] | None"
    mistake: "re.Pattern[str] | None"
    failed: "re.Pattern[str] | None"
    worked: "re.Pattern[str] | None"
    empty: "re.Pattern[str] | None"
    running: "re.Pattern[str] | None"

    def ending_by_field(self, detail: dict[str, object]) -> CallEnding | None:
        """What the program's own record of the call means."""
        for name, meaning in self.fields.items():
            value = detail.get(name)
            if value is None or value is False:
                continue
            if isinstance(meaning, str):
                return meaning
            if isinstance(value, str) and value in meaning:
                return meaning[value]
        return None

    def says_running(self, text: str) -> bool:
        """Whether the result says that the command is still running."""
        return self.running is not None and self.running.match(text) is not None

    def ending_by_text(self, text: str) -> CallEnding | None:
        """The ending that a text of the agent's program in place of a result means."""
        if self.denied and self.denied.match(text):
            return "denied"
        if self.interrupted and self.interrupted.match(text):
            return "interrupted"
        if self.timeout and self.timeout.match(text):
            return "timeout"
        return "running" if self.says_running(text) else None


class Case:
    """A call with its result."""

    def __init__(self, call: ToolCall, result: ToolResult, dialect: DialectPatterns, late_code: int | None) -> None:
        self.call = call
        self.result = result
        self.dialect = dialect
        self.is_error = result.is_error
        self.kind = call.kind
        self.late_code = late_code
        self.recorded = late_code if result.exit_code is None else result.exit_code

    @lazy
    def code(self) -> int | None:
        """The exit code that was recorded, or for a command the one that its text states."""
        if self.recorded is not None:
            return self.recorded
        return stated_code(self.result.model_text) if self.kind == "shell" else None

    @lazy
    def shell(self) -> Understanding | None:
        return understand(command_text(self.call.input)) if self.kind == "shell" else None

    @lazy
    def text(self) -> str:
        """The result without colours, by its two ends where it is long."""
        text = self.result.text
        if self.kind == "shell" and text.startswith("{"):
            inner = output_in(text)
            text = text if inner is None else inner
        text = lines.ends_of(text)
        wrapped = _WRAPPED.match(text) if text.endswith("</output>") else None
        return wrapped[1] if wrapped else text

    @lazy
    def is_blank(self) -> bool:
        """Nothing came back, or a sentence that says so."""
        text = self.result.text
        return len(text) < 100 and _NOTHING.match(text) is not None

    @lazy
    def programs(self) -> frozenset[str]:
        return frozenset(command.program for command in self.shell.commands) if self.shell else frozenset()

    @lazy
    def shows(self) -> bool:
        """The command prints what lies there: a file, a listing, a history."""
        shell = self.shell
        if shell is None or shell.main is None:
            return False
        if shell.purpose in ("read", "list", "search", "poll"):
            return True
        return shell.purpose == "vcs" and not _READING.isdisjoint(shell.main.words[1:3])

    @lazy
    def failure_line(self) -> lines.FailureLine | None:
        """The line that says what went wrong, if there is one."""
        return _find_failure_line(self)


def _find_failure_line(case: Case) -> lines.FailureLine | None:
    text, shell = case.text, case.shell
    if shell is None:
        return None
    own = lines.find_program_complaints(text, case.programs) if lines.names_program(text, case.programs) else []
    if own:
        return lines.FailureLine(own[-1])
    if case.shows:  # what is shown may say anything: only the shell and the programs themselves are listened to
        vcs = shell.purpose == "vcs" and text.startswith(("fatal:", "error:"))
        short = shell.purpose == "list" and text.count("\n") < _FEW_LINES  # a listing that is but a message
        return lines.find_shell_failure(text) or (
            lines.find_vcs_failure(text) if vcs else lines.find_failure_at_edges(text) if short else None
        )
    if not lines.is_notable(text):
        return lines.find_failure_at_edges(text)
    if failure := lines.find_shell_failure(text):
        return failure
    if shell.purpose == "vcs":
        return (
            None
            if lines.vcs_succeeded(text)
            else lines.find_vcs_failure(text) or lines.find_check_failure(text) or lines.find_failure_at_edges(text)
        )
    if shell.checks or shell.purpose == "format":
        return (
            lines.find_check_failure(text)
            or lines.find_uncaught_exception(text)
            or lines.find_run_failure(text)
            or lines.find_failure_at_edges(text)
        )
    if shell.purpose == "edit":
        return lines.find_uncaught_exception(text) or lines.find_failure_at_edges(text)
    if lines.has_caught_exception(text):
        return None
    return (
        lines.find_uncaught_exception(text)
        or lines.find_run_failure(text)
        or lines.find_check_failure(text)
        or lines.find_failure_at_edges(text)
    )

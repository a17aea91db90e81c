"""One call and its result, as the rungs of the judge look at it. Knows no verdicts.

It has what was asked, what came back, what the agent's program says, and the exit code, recorded or stated in the text.
"""

import re
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from preheat.commands import Understanding, command_text, understand
from preheat.commands.understand import is_look
from preheat.commands.words import name_set, operands
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


_HEADER = re.compile(
    r"\s*(?:[A-Z][\w ]{2,40}(?:: | )[^\n]*\n){0,6}Output:\n(?:Warning: truncated[^\n]*\n)?(?:Total output lines: \d+\n\s*)?"
)
_FOOTER = re.compile(r"\n\s*(?:Command|Process) exited with (?:exit )?(?:code|status)[: ] ?-?\d{1,10}\s*\Z")
_LONGEST_HEADER = 300


def without_frame(text: str) -> str:
    """An output without what the agent's program put around it: lines on the run above `Output:`, its exit code below."""
    if "Output:\n" in text[:_LONGEST_HEADER] and (header := _HEADER.match(text)):
        text = text[header.end() :]
    if " exited with " in text[-80:] and (footer := _FOOTER.search(text, max(0, len(text) - 100))):
        text = text[: footer.start()]
    return text


# Commands that outlive the call that started them
_PROCESS_NAMES = ("session_id", "bash_id", "shell_id", "shellId", "cell_id", "process_id", "task_id")
_STARTED = re.compile(r"running\b[^\n]{0,40}?\bID:? ?([\w-]{1,40})")
_STARTED_WITHIN = 400
_INTERRUPTED = frozenset([130, -2, 143, -15])


def process_of(call: ToolCall) -> str:
    """The id of the running command that a call looks at or writes to; empty for one that starts its own."""
    found = next((value for name in _PROCESS_NAMES if (value := call.input.get(name)) is not None), None)
    return "" if found is None or command_text(call.input) else str(found)


def started_process(result: ToolResult) -> str:
    """The id of the command that a result says is running; empty where it says nothing of the kind."""
    if "running" not in result.detail and "running" not in result.text[:_STARTED_WITHIN]:
        return ""
    found = _STARTED.search(result.text, 0, _STARTED_WITHIN)
    return str(result.detail.get("running", "")) or (found[1] if found else "")


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

    def __init__(
        self, call: ToolCall, result: ToolResult, dialect: DialectPatterns, late_code: int | None, started: str = ""
    ) -> None:
        self.call = call
        self.started = started
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
        return understand(command_text(self.call.input) or self.started) if self.kind == "shell" else None

    @lazy
    def is_look(self) -> bool:
        """It only looks at a command that another call started, in a script: the ending is that command's."""
        return (
            self.kind == "shell"
            and bool(self.call.script or "cell_id" in self.call.input)
            and process_of(self.call) != ""
        )

    @lazy
    def was_stopped(self) -> bool:
        """The agent itself ended the command, by Ctrl-C, and the command ended by that signal."""
        if self.kind != "shell" or "\x03" not in str(self.call.input.get("chars", "")):
            return False
        return self.code in _INTERRUPTED

    @lazy
    def text(self) -> str:
        """The result without colours, by its two ends where it is long."""
        text = self.result.text
        if self.kind == "shell" and text.startswith("{"):
            inner = output_in(text)
            text = text if inner is None else inner
        text = without_frame(lines.ends_of(text))
        wrapped = _WRAPPED.match(text) if text.endswith("</output>") else None
        return wrapped[1] if wrapped else text

    @lazy
    def bare_text(self) -> str:
        """The result without what the agent's program put around it."""
        return without_frame(self.result.text)

    @lazy
    def is_blank(self) -> bool:
        """Nothing came back, or a sentence that says so."""
        text = self.result.text
        return len(text) < 100 and _NOTHING.match(text) is not None

    @lazy
    def programs(self) -> frozenset[str]:
        return frozenset(command.program for command in self.shell.commands) if self.shell else frozenset()

    @lazy
    def heard(self) -> frozenset[str]:
        """Programs whose complaint counts: the main one, and those whose failure would be that of the whole line."""
        shell = self.shell
        if shell is None or shell.main is None or len(shell.commands) == 1:
            return self.programs
        deaf = {each.program for each in shell.commands if each.purpose == "edit"}
        return self.programs - (deaf - {shell.main.program} - {each.program for each in shell.decides})

    @lazy
    def shows(self) -> bool:
        """The command prints what lies there: a file, a listing, a history."""
        shell = self.shell
        if shell is None or shell.main is None:
            return False
        if shell.purpose in ("read", "list", "search", "poll"):
            return True
        return shell.purpose == "vcs" and not _READING.isdisjoint(self.subcommands)

    @lazy
    def subcommands(self) -> tuple[str, ...]:
        """The first two words of the main command that are no options: `pr view` of `gh -R a/b pr view`."""
        main = self.shell.main if self.shell is not None else None
        return () if main is None else tuple(operands(main.words, _GIT_VALUED)[:2])

    @lazy
    def commits(self) -> bool:
        """Version control is to make a commit, by itself or after other commands."""
        commands = self.shell.commands if self.shell is not None else ()
        return any(each.program == "git" and "commit" in operands(each.words, _GIT_VALUED)[:1] for each in commands)

    @lazy
    def asks_silently(self) -> bool:
        """The command looks for something and throws away what programs say about it not being there."""
        shell = self.shell
        if shell is None or not shell.decides or not all(map(is_look, shell.decides)):
            return False
        return _SILENT.search(command_text(self.call.input)) is not None

    @lazy
    def asks_help(self) -> bool:
        """The command asks a program how it is used, or which version it is."""
        main = self.shell.main if self.shell is not None else None
        return main is not None and not _HELP.isdisjoint(main.words[1:])

    @lazy
    def runs_script(self) -> bool:
        """An interpreter runs a script, whatever that is for."""
        main = self.shell.main if self.shell is not None else None
        return (
            main is not None
            and main.program in _SCRIPTS
            and (len(main.words) == 1 or main.words[1].startswith("-") or "." in main.words[1])
        )

    @lazy
    def failure_line(self) -> lines.FailureLine | None:
        """The line that says what went wrong, if there is one."""
        shell = self.shell
        if shell is None:
            return None
        found = _find_failure_line(self, shell, self.text)
        if found is not None or not shell.checks:
            return found
        bare = lines.without_task_names(self.text)
        return None if bare is self.text else _find_failure_line(self, shell, bare)


_SILENT = re.compile(r"(?:2|&)>\s*(?:/dev/null|nul)\b")
_GIT_VALUED = ("-C", "-c", "--git-dir", "--work-tree", "-R", "--repo")
_HOOKED = frozenset(["commit", "push", "merge", "rebase"])
"""Subcommands of git that run the checks of a project."""
_HELP = frozenset(["--help", "-h", "-help", "help", "--version", "-V", "/?"])
_SCRIPTS = frozenset(["python", "python3", "ruby"])
"""Interpreters that say in a form of their own that a script has failed; what scripts print is their own affair."""


def _find_failure_line(case: Case, shell: Understanding, text: str) -> lines.FailureLine | None:
    own = lines.find_program_complaints(text, case.heard) if lines.names_program(text, case.heard) else []
    if own:
        return lines.FailureLine(own[-1])
    if case.asks_help:
        return lines.find_shell_failure(text) or lines.find_lone_complaint(text)
    if usage := lines.find_usage_failure(text):
        return usage
    if case.shows:  # what is shown may say anything: only the shell and the programs themselves are listened to
        return lines.find_shell_failure(text) or _find_in_shown(case, text)
    if not lines.is_notable(text):
        nothing = lines.refuses_commit(text) if case.commits and not lines.vcs_changed_something(text) else None
        return None if case.runs_script else nothing or _find_at_edges(text)
    if failure := lines.find_shell_failure(text):
        return failure
    if shell.purpose == "vcs":
        return _find_vcs_failure(case, text)
    if case.runs_script:  # what it prints is its own affair: an interpreter says that a script has failed
        return lines.find_uncaught_exception(text) or lines.find_runner_verdict(text) or lines.find_run_failure(text)
    if shell.checks or shell.purpose == "format":
        return (
            lines.find_check_failure(text)
            or lines.find_uncaught_exception(text)
            or lines.find_run_failure(text)
            or _find_at_edges(text)
        )
    if shell.purpose == "edit":
        return lines.find_uncaught_exception(text) or lines.find_run_failure(text) or _find_at_edges(text)
    if lines.has_caught_exception(text):
        return None
    return (
        lines.find_uncaught_exception(text)
        or lines.find_run_failure(text)
        or lines.find_check_failure(text)
        or _find_at_edges(text)
    )


def _find_in_shown(case: Case, text: str) -> lines.FailureLine | None:
    """What says that a look failed: a forge's program speaks without its name, a listing may be but a message."""
    purpose = case.shell.purpose if case.shell is not None else "other"
    if "gh" in case.programs and purpose != "read":
        failed_check = lines.find_vcs_failure(text) if "\tfail\t" in text else None
        return failed_check or lines.find_failure_at_start(text) or lines.find_lone_complaint(text)
    if purpose == "vcs" and text.startswith(("fatal:", "error:")):
        return lines.find_vcs_failure(text)
    if purpose == "list":
        short = text.count("\n") < _FEW_LINES
        return lines.find_failure_at_edges(text) if short else lines.find_failure_at_start(text)
    return None


def _find_at_edges(text: str) -> lines.FailureLine | None:
    return lines.find_failure_at_edges(text) or lines.find_lone_complaint(text)


def _find_vcs_failure(case: Case, text: str) -> lines.FailureLine | None:
    """What version control refuses; of a commit or a push that the project's checks stop, what these found."""
    if lines.vcs_succeeded(text):
        return None
    refused = lines.find_vcs_failure(text)
    hooked = not _HOOKED.isdisjoint(case.subcommands)
    verdict = lines.find_verdict(text) if hooked or refused is None else None
    if verdict is not None and not (refused is not None and refused.line.startswith("fatal: ")):
        return verdict
    nothing = lines.refuses_commit(text) if case.commits and not lines.vcs_changed_something(text) else None
    return refused or nothing or lines.find_check_failure(text) or _find_at_edges(text)

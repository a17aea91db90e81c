"""The state in which a session ended: its checks, its git branch and commit, and the task it was about. Knows no lesson."""

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from preheat.calls.judged import JudgedCall
from preheat.calls.shell import command_aim, command_form
from preheat.commands import CHECKS, Command, Purpose, command_text, understand
from preheat.lessons.typed_commands import split_commands
from preheat.safe_text.cleanup import one_line
from preheat.safe_text.reasons import danger_reason, hidden_reason, junk_reason

# Which checks (tests, builds, linters) passed and failed at the end of a session
LONGEST_COMMAND = 160
_SURE = 0.8
_VARIABLE = re.compile(r"\$\{?[A-Za-z_]")
"""Set by what came before it: the command alone means nothing."""
_REPAIR_SUFFIX = re.compile(r":(?:fix|write)$")
_WIDE = frozenset(["./...", ".", "./", "...", "all"])
_WHOLE = frozenset(["test", "tests", "check", "lint", "build", "typecheck", "ci", "verify"])


class CheckRun(NamedTuple):
    """One check as it was run."""

    seq: int
    at: float | None
    command: str
    """The command without filters of its output; `cd FOLDER &&` comes first if it runs in a folder."""
    form: str
    purpose: Purpose
    passed: bool
    signature: str
    folder: str
    aim: tuple[str, ...]
    targets: frozenset[str]
    """What it was narrowed to; nothing means everything."""


def find_check_runs(calls: Iterable[JudgedCall], relative: Callable[[str], str]) -> list[CheckRun]:
    """The checks that passed or failed, in order; mistyped and interrupted ones are left out."""
    found: list[CheckRun] = []
    for each in calls:
        if each.call.kind == "shell" and each.ran and each.record.confidence >= _SURE:
            text = command_text(each.call.input)
            if understand(text).checks:
                found += _runs_in_call(each, relative(text))
    return found


def latest_check_runs(runs: Iterable[CheckRun]) -> list[CheckRun]:
    """The last state of each distinct check: failing ones first, then the newest."""
    last: dict[tuple[str, tuple[str, ...], frozenset[str]], CheckRun] = {}
    for run in runs:
        if run.passed:
            for key in [key for key, before in last.items() if not before.passed and _covers(run, before)]:
                del last[key]
        last[run.folder, run.aim, run.targets] = run
    return sorted(last.values(), key=lambda run: (run.passed, -run.seq, run.command))


def _runs_in_call(each: JudgedCall, text: str) -> Iterator[CheckRun]:
    """Of a text that passed each check in it; of one that failed the text, since any of them may be the one."""
    parts = [
        (_with_folder(part.folder, part.text), part.folder) for part in split_commands(text) if part.purpose in CHECKS
    ]
    if not parts:  # a script: only its main command is known
        main = understand(text).main
        parts = [(shlex.join(main.words), "")] if main and main.wrappers in ((), ("env",)) else []
    if not each.worked and len(parts) > 1:
        parts = [(" && ".join(shown for shown, _ in parts), "")]
    for shown, folder in parts:
        unfit = (
            "\n" in shown
            or len(shown) > LONGEST_COMMAND
            or junk_reason(shown)
            or hidden_reason(shown)
            or danger_reason(shown)
        )
        if not unfit and not _VARIABLE.search(shown):
            yield _make_run(each, shown, folder)


def _with_folder(folder: str, text: str) -> str:
    return f"cd {shlex.quote(folder)} && {text}" if folder else text


def _make_run(each: JudgedCall, text: str, folder: str) -> CheckRun:
    understood = understand(text)
    aim = tuple(_REPAIR_SUFFIX.sub("", word) for word in command_aim(text))  # `lint:fix` looks at what `lint` looks at
    checks = [command.words for command in understood.commands if command.checks]
    about = frozenset(word for words in checks for word in words[1:] if _is_narrowing(word)) - frozenset(aim)
    signature = "" if each.worked else each.record.signature
    return CheckRun(
        each.record.seq, each.call.at, text, command_form(text), understood.purpose, each.worked, signature, folder, aim, about
    )  # fmt: skip


def _is_narrowing(word: str) -> bool:
    if word.startswith("-"):
        _, separator, value = word.partition("=")
        return bool(separator) and not value[:1].isdigit()
    return not word[:1].isdigit()


def _covers(passed: CheckRun, failed: CheckRun) -> bool:
    """Whether a check that passed covers everything that an earlier failed check looked at."""
    if passed.purpose != failed.purpose:
        return False
    wide = not passed.targets or not passed.targets.isdisjoint(_WIDE)
    if passed.aim == failed.aim and passed.folder == failed.folder:
        return wide or passed.targets <= failed.targets
    # A project's own task for the purpose runs everything, whichever program the narrower check was.
    return wide and passed.aim[-1] in _WHOLE and passed.aim[1:2] != failed.aim[1:2] and not passed.folder


# What a session's calls show of the repository
_ELSEWHERE = re.compile(r"\b(?:cd|pushd)\s+[\"']?(?:/|~|\.\.|\$|[A-Za-z]:)|\bgit\s+(?:-C|--git-dir)\b|worktrees[\\/]")
_COMMITTED = re.compile(r"^\[(?P<branch>[^\]\s]+|detached HEAD)(?: \(root-commit\))? (?P<head>[0-9a-f]{7,40})\] ", re.M)
_SWITCHED = re.compile(r"^(?:Switched to (?:a new )?branch|Already on) '([^']+)'", re.M)
_ON_BRANCH = re.compile(r"^On branch (\S+)$", re.M)
_LOG_OUTPUT = re.compile(r"^(?:commit )?([0-9a-f]{7,40})(?:\s|$)", re.M)
_FORWARD = re.compile(r"^Updating [0-9a-f]{7,40}\.\.([0-9a-f]{7,40})$", re.M)
_MOVING = frozenset(["checkout", "switch", "pull", "merge", "rebase", "reset", "cherry-pick", "revert", "commit", "am"])
_PLAIN_LOG = re.compile(r"-(?:\d+|n\d*|-oneline|-decorate|-stat|-max-count=\d+|-no-pager|-no-decorate)$|\d+$|HEAD$")


class GitState(NamedTuple):
    """Where a session left the repository."""

    branch: str = ""
    head: str = ""
    commit_seq: int = -1
    """The place of its last commit among its calls; -1 where it made none."""


def find_git_state(calls: Iterable[JudgedCall], branch: str = "") -> GitState:
    """The state by the last outputs of git; `branch` is the branch in the session's own record."""
    found = GitState(branch)
    for each in calls:
        if each.call.kind != "shell" or each.result is None or not each.worked:
            continue
        text = command_text(each.call.input)
        if "git" in text and not _ELSEWHERE.search(text):
            found = _state_after(found, text, each.result.text, each.record.seq)
    return found


def _state_after(before: GitState, text: str, output: str, seq: int) -> GitState:
    commands = [command for command in understand(text).commands if command.program == "git"]
    subcommands = [_subcommand(command) for command in commands]
    if not subcommands:
        return before
    branch, head, committed = before
    if "commit" in subcommands:
        committed = seq
    if not _MOVING.isdisjoint(subcommands):
        head = ""
    if not {"status", "checkout", "switch"}.isdisjoint(subcommands):
        named = [*_ON_BRANCH.findall(output), *_SWITCHED.findall(output)]
        branch = named[-1] if named else branch
    for made in _COMMITTED.finditer(output) if "commit" in subcommands else ():
        head = made["head"]
        branch = branch if made["branch"] == "detached" or " " in made["branch"] else made["branch"]
    if not {"pull", "merge"}.isdisjoint(subcommands) and (forward := _FORWARD.search(output)):
        head = forward[1]
    last = commands[-1]
    if (subcommands[-1] == "log" and _is_plain_log(last)) or (
        subcommands[-1] == "rev-parse" and last.words[-1] == "HEAD"
    ):
        logged = _LOG_OUTPUT.search(output)
        head = logged[1] if logged and len(set(subcommands) & {"diff", "show", "blame", "reflog"}) == 0 else head
    return GitState(branch, head, committed)


def _subcommand(command: Command) -> str:
    return next((word for word in command.words[1:] if not word.startswith("-")), "")


def _is_plain_log(command: Command) -> bool:
    """A log that begins at HEAD: no other name, no range, no file."""
    after = command.words[command.words.index("log") + 1 :]
    return all(_PLAIN_LOG.match(word) for word in after)


# The task among the prompts of a session
LONGEST_GOAL = 300
_SHORT = 80
"""A task shorter than this hardly says what it is about, so the first task of the session is added."""
_FEWEST_LOG_LINES = 3
_FEWEST_WORDS = 4
_ASSENT = re.compile(
    r"(?i)^(?:(?:ok(?:ay)?|yes|yeah|yep|yup|sure|no|nope|thanks?|thank you|great|good|nice|perfect|cool|fine|done|stop|exit|quit|"
    r"clear|continue|proceed|resume|go(?: on| ahead| for it)?|do (?:it|this|that)|please|lgtm|looks? good|that works|it works|"
    r"works|now|then|and|so|let'?s|keep going|carry on|next|retry|try again|again|both|all|the (?:first|second|last)(?: one)?|"
    r"option|all of them|hi|hello|hey|ping|test|\d+|[a-z])\b[\s.,!;:)?]*)+$"
)
_HOUSEKEEPING = re.compile(
    r"(?i)\b(?:commit|push|pull|merge|rebase|amend|squash|stage|stash|tag|branch|main|master|pr|pull request|remote|origin)\b"
)
_HOUSEKEEPING_MOST = 9
"""Words: a longer sentence with `commit` in it is about something."""
_QUESTION = re.compile(
    r"(?i)^(?:(?:and|ok(?:ay)?|so|but|hm+|wait|also|well|yes|no|right)[\s,.]+)*(?:what|where|why|when|who|which|how|is|are|was|were|"
    r"do|does|did|has|have|should|isn'?t|aren'?t|don'?t|doesn'?t|any|you)\b"
)
_REQUEST = re.compile(
    r"(?i)\b(?:can|could|would|will) (?:you|we|u)\b|\bplease\b|\blet'?s\b|\bi(?:'d| would)? (?:want|like|need)\b"
    r"|\b(?:we|you) (?:need|should)\b"
)
_HEADING = re.compile(r"(?m)^#{1,4} ")
_LOG_LINE = re.compile(
    r"^\s*(?:[\d:.TZ+-]{8,}|\[[^\]]*\]|[$%❯✓✗×] |at |File \"|Traceback|\w+Error\b|error\b|warning\b|npm ERR|npm warn|"
    r"panic:|goroutine |--- FAIL|FAIL\b|ok  |\S+:\d+(?::\d+)?[: ]|\S+@\S+ )"
)


def find_goal(prompts: Sequence[str], relative: Callable[[str], str] = str) -> str:
    """The last task, on one line; empty if no prompt sets one."""
    tasks = [text for each in prompts if (text := _task(each))]
    if not tasks:
        own_words = [text for each in prompts if (text := _own_words(each)) and not _ASSENT.match(text)]
        tasks = ([text for text in own_words if not is_housekeeping(text)] or own_words)[-1:]
    if not tasks:
        return ""
    last = one_line(relative(_first_section(tasks[-1])), LONGEST_GOAL)
    if len(tasks) > 1 and len(last) < _SHORT and tasks[0] != tasks[-1]:
        return one_line(f"{last} (the session began with: {relative(_first_section(tasks[0]))}", LONGEST_GOAL - 1) + ")"
    return last


def is_housekeeping(text: str) -> bool:
    """Whether a prompt asks for no more than to commit, to push and the like: once done, there is nothing in it to go on with."""
    return len(text.split()) <= _HOUSEKEEPING_MOST and _HOUSEKEEPING.search(text) is not None


def _first_section(text: str) -> str:
    """The first section of a long text with headings (a plan)."""
    second = [match.start() for match in _HEADING.finditer(text)][1:2]
    return text[: second[0]] if second and len(text) > LONGEST_GOAL else text


def _task(text: str) -> str:
    """The text of a prompt that sets a task; empty for any other."""
    text = _own_words(text)
    words = text.split()
    if len(words) < _FEWEST_WORDS or _ASSENT.match(text):
        return ""
    if is_housekeeping(text):
        return ""
    first, _, rest = text.partition("\n")
    plain_question = not rest and (_QUESTION.match(first) or first.endswith("?")) and not _REQUEST.search(text)
    return "" if plain_question else text


def _own_words(text: str) -> str:
    """The person's own words: no slash command, and no pasted log."""
    text = text.strip()
    if text.startswith(("/", "<", "!")) or not text:
        return ""
    lines = text.splitlines()
    logged = [bool(_LOG_LINE.match(line)) for line in lines]
    if len(lines) < _FEWEST_LOG_LINES or sum(logged) * 3 < len(lines):
        return text
    kept = [line for line, log in zip(lines, logged, strict=True) if not log]
    return kept[0].strip() if kept and not logged[0] else ""

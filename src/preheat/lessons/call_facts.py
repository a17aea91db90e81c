"""What several learners ask about one call: how to describe it, which files it touched, whether it ran a script that the session
wrote itself. Knows no lesson.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from preheat.calls.files import Touch, base_name, changed_files, file_names_in, find_touches, says_missing
from preheat.calls.judged import JudgedCall, JudgedSession
from preheat.commands import command_text, understand
from preheat.commands.words import name_set
from preheat.model.session import ToolCall
from preheat.safe_text.reasons import hidden_reason

# How a call is named
_MOST_ARGUMENTS = 2
_LONGEST_ARGUMENTS = 80


def describe_tool_call(tool: str, arguments: Mapping[str, Any]) -> str:
    """The tool with its arguments; the tool alone where they are many, long or not plain."""
    plain = all(isinstance(value, str | int | float | bool) for value in arguments.values())
    if not plain or not 0 < len(arguments) <= _MOST_ARGUMENTS:
        return tool
    shown = ", ".join(f"{name}={value}" for name, value in sorted(arguments.items()))
    return f"{tool} {shown}" if len(shown) <= _LONGEST_ARGUMENTS and "\n" not in shown else tool


def describe_call(seen: JudgedSession, each: JudgedCall) -> str:
    """A call of a session, its paths relative to the project."""
    return seen.relative(describe_tool_call(each.record.tool, each.call.input))


# Which calls run a script that the session itself wrote, in a file or inside the call
_INTERPRETERS = name_set("python python3 node ruby perl php deno bun tsx")
_INLINE = frozenset(("-c", "-e", "--eval", "-"))
_WRITTEN = re.compile(r">>?\s*([\w./-]+\.\w+)|\btee\s+(?:-a\s+)?([\w./-]+\.\w+)")
_READ = 8192
"""Characters of a shell text in which files that it writes are looked for."""


def find_own_script_runs(seen: JudgedSession) -> frozenset[int]:
    """The places of the calls that run a script of the session's own."""
    own: set[str] = set()
    found: set[int] = set()
    for each in seen.calls:
        if each.call.kind == "shell":
            text = command_text(each.call.input)
            if _runs_own_script(text, own):
                found.add(each.record.seq)
            own.update(find_written_names(text))
        elif each.call.kind == "write" and each.worked:
            own.update(changed_names(each))
    return frozenset(found)


def _runs_own_script(text: str, own: set[str]) -> bool:
    main = understand(text).main
    if main is None:
        return False
    if main.program in _INTERPRETERS and (not _INLINE.isdisjoint(main.words[1:]) or len(main.words) == 1):
        return True
    return not own.isdisjoint(base_name(word.strip("'\"")) for word in main.words)


def find_written_names(text: str) -> list[str]:
    """The names of the files that a shell text writes by a redirection or `tee`."""
    if ">" not in text and "tee" not in text:
        return []
    return [base_name(name) for pair in _WRITTEN.findall(text[:_READ]) for name in pair if name]


def changed_names(each: JudgedCall) -> list[str]:
    """The names of the files that an edit or a write changes."""
    paths = changed_files(each.call)
    return [base_name(path) for path in (paths.split("\n") if paths else file_names_in(command_text(each.call.input)))]


# Which files of the project a call of a session touched, and how
def safe_touches(seen: JudgedSession, each: JudgedCall) -> list[Touch]:
    """The files that a call named, as it named them, whether or not it worked."""
    known: dict[int, list[Touch]] = seen.cache.setdefault("safe touches", {})
    found = known.get(each.record.seq)
    if found is None:
        found = [touch for touch in all_touches(seen, each.record.seq, each.call) if not _gives_orders(touch.path)]
        known[each.record.seq] = found
    return found


def all_touches(seen: JudgedSession, seq: int, call: ToolCall) -> list[Touch]:
    """The files that a call named, also those whose names read like orders to a model."""
    known: dict[int, list[Touch]] = seen.cache.setdefault("touches", {})
    if seq not in known:
        known[seq] = find_touches(call, seen.relative)
    return known[seq]


@lru_cache(maxsize=8192)
def _gives_orders(path: str) -> bool:
    """Whether a path reads like an order to a model."""
    return bool(hidden_reason(path))


def says_file_missing(each: JudgedCall) -> bool:
    """Whether a failed call says that its file is not there."""
    return each.failed and says_missing(each.record.signature)

"""Which calls run a script that the session itself wrote, in a file or inside the call. Knows no lesson.

An error of such a script depends on its content, and teaches the next session nothing about the project.
"""

import re

from preheat.calls.files import base_name, changed_files, file_names_in
from preheat.calls.seen import JudgedCall, JudgedSession
from preheat.commands import command_text, understand
from preheat.commands.words import name_set

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
            if ">" in text or "tee" in text:
                own.update(base_name(name) for pair in _WRITTEN.findall(text[:_READ]) for name in pair if name)
        elif each.call.kind == "write" and each.worked:
            own.update(_written_names(each))
    return frozenset(found)


def _runs_own_script(text: str, own: set[str]) -> bool:
    main = understand(text).main
    if main is None:
        return False
    if main.program in _INTERPRETERS and (not _INLINE.isdisjoint(main.words[1:]) or len(main.words) == 1):
        return True
    return not own.isdisjoint(base_name(word.strip("'\"")) for word in main.words)


def _written_names(each: JudgedCall) -> list[str]:
    paths = changed_files(each.call)
    return [base_name(path) for path in (paths.split("\n") if paths else file_names_in(command_text(each.call.input)))]

"""Exit codes that stand in the text: in a line that a program put around an output, or printed by the command itself.

Knows no agent: the forms are few and alike everywhere. Only the very beginning and the very end are looked at; further in
it is whatever a command printed.
"""

import re

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

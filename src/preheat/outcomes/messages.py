"""Results of tools that are no shells: which of them are error messages, and which say that nothing was found. Knows no agent."""

import re

from preheat.model.session import ToolKind
from preheat.outcomes.case import Case
from preheat.outcomes.structure import nothing_in

_ERROR = re.compile(
    r"\s*(?:<[\w-]*error[\w-]*>|#{1,4} ?Error\b|(?:[A-Z]\w+ )?(?:[Ee]rror|ERROR)\b(?: [\w -]{1,60})?[:!]|(?:Error|ERROR) \w"
    r"|(?:Failed|Unable) to |Failure\b|Cannot |Can't |Could not |Couldn't |Invalid |Unknown |No such |Missing (?:required|value)"
    r"|[\w.]*(?:Error|Exception)\b(?:: |$)|E(?:NOENT|ISDIR|ACCES|PERM|NOTDIR|EXIST)\b|Request failed|MCP error"
    r"|Argument Validation|(?:Permission|Access) denied|(?:Request |Operation |Tool )?[Tt]imed out"
    r"|String to replace not found|Traceback \(most recent"
    r"|[^\n.:]{1,120}\b(?:not found|does not exist|doesn't exist|is not (?:valid|allowed|supported|recognized)|failed)\b)"
)
"""How a result begins that is an error message."""
_PLAIN_ERROR = re.compile(
    r"\s*(?:<[\w-]*error[\w-]*>|(?:Error|ERROR|error): |MCP error -?\d|Request failed with status code \d"
    r"|(?:Failed|Unable) to (?:\w+ ){0,4}\w+: |[\w.]+(?:Error|Exception): )"
)
"""The same, so plain that it overrules a flag that only says that the tool ran."""
_NOT_PERFORMED = re.compile(r"Error (?:performing|executing|running|calling) \S+: ")
_NO_PAGE = re.compile(r"\s*(?:HTTP )?(?:404|410)\b|[^\n]{0,80}\b(?:status code|HTTP) ?(?:4\d\d|5\d\d)\b")
_FOUND_NOTHING = re.compile(
    r"\s*(?:no (?:matches|files|results|matching|occurrences|entries|documents|data|items)\b[^\n]{0,200}"
    r"|(?:found )?0 (?:matches|results|files)[^\n]{0,100}|nothing found[^\n]{0,100})\s*\Z",
    re.IGNORECASE,
)
_SHORT, _FEW_LINES = 600, 8
LOOKS: frozenset[ToolKind] = frozenset(["search", "web"])
"""Tools that may find nothing."""
_CONTENT: frozenset[ToolKind] = frozenset(["read", "search", "web", "delegate"])
"""Tools whose result is somebody else's text."""


def says_error(case: Case) -> bool:
    """Whether the result has the form of an error message."""
    text = case.result.text
    if case.kind in _CONTENT and (len(text) > _SHORT or text.count("\n") > _FEW_LINES):
        return False
    return _ERROR.match(text) is not None


def says_failure_despite_flag(case: Case) -> bool:
    """Whether the result says that the tool failed although the flag says that it ran."""
    text, kind = case.result.text, case.kind
    if kind == "web":
        return _NO_PAGE.match(text) is not None
    if len(text) >= _SHORT:
        return False
    if kind == "search":
        return _NOT_PERFORMED.match(text) is not None
    return kind not in _CONTENT and _PLAIN_ERROR.match(text) is not None


def says_nothing_found(case: Case) -> bool:
    """Whether the result says that nothing was found."""
    text, kind = case.result.text, case.kind
    if len(text) < 8 and text.strip() in ("[]", "{}"):
        return kind in ("read", "search", "other")
    if kind == "search" and case.is_blank:
        return True
    if kind in LOOKS and _FOUND_NOTHING.match(text) is not None:
        return True
    return (case.dialect.empty is not None and case.dialect.empty.match(text) is not None) or nothing_in(
        text, case.call.tool
    )

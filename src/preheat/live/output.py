"""Shortens a tool's long output: its beginning and end, every failure, the totals, and how to get the rest.

Keeps more lines where the command failed; gives the text back unchanged where shortening would not help. Knows no program, no
agent and no disk: the caller stores the whole text under its id first.
"""

from bisect import bisect_right
from collections.abc import Iterator
from hashlib import blake2b
from itertools import accumulate
from typing import Any

import msgspec
import re2

from preheat.model.session import PREHEAT_MARK

MARK = f"{PREHEAT_MARK}output>"
_END = f"</{PREHEAT_MARK[1:]}output>"
LEAST_LINES = 10
"""The fewest lines that a caller can ask for."""
_HEAD, _TAIL = 0.25, 0.5
"""Shares of the lines for the beginning and the end."""
_LEAST_GAP = 3
"""The fewest lines that are replaced by an omission line."""
_MOST_TOTALS = 12
_LONG_LINE, _LONG_FAILURE = 2_000, 8_000
"""Bytes of a line; the middle of a longer line is left out."""
_FAILURE_FACTOR = 4
"""Most lines of failures, as a multiple of the lines asked for (at least 200); of more, the first and last are kept."""
_MOST_UNRELATED, _CONTINUATION = 4, b" \t|>+-^=E"
"""A failure ends after so many lines that do not begin with one of these characters."""
_MOST_SECTION, _MOST_UNENDED = 120, 30
"""Most lines of a failure section; of a section without an end."""
_MOST_BYTES = 4_000_000
"""Bytes that are searched for failures; the middle of a longer text is skipped."""


def _pattern(text: str) -> Any:
    return re2.compile(text.encode())


_CLEAR_FAILURE = (
    r"(?:\x1b\[[0-9;]*m|[ \t>|❯⎯])*(?:FAILED|FAIL|FAILURE|FATAL|ERROR|BUILD FAILED)\b"
    r"|[ \t>|]*(?:error|fatal|panic|Error|ERR!)(?:\[[\w-]+\])?:? "
    r"|Traceback \(most recent|thread '.*' panicked|panic: |--- FAIL|not ok\b|npm (?:ERR!|error)"
    r"|E {2,}\S|[ \t]*[✗✘✕×●❌] "
    r"|[ \t]*[\w.]*(?:Error|Exception|Failure)(?::|$)"
    r"|[^\n]*(?::\d+|\(\d+,\d+\)|\d+:\d+)(?::\d+)?:? +(?:fatal )?error\b"
    r"|[^\n]*\berror TS\d+:"
    r"|[^\n]*(?:command not found|No such file or directory|Permission denied|Segmentation fault|cannot find module"
    r"|AssertionError)"
)
_POSSIBLE_FAILURE = (
    r"(?i)[^\n]*(?:\b(?:error|failed|failure|exception|cannot|can't|could not|unable to|invalid|undefined|unexpected|unknown|"
    r"missing|denied|refused|timed out|not found|does not exist|panic\w*|mismatch|conflict|rejected|aborted|unresolved|killed)\b"
    r"|\berrors\b|\bassert\w*|[\w./\\-]+:\d+:\d+:? )"
)
_NO_FAILURE = _pattern(r"(?i)\b(?:0|no) (?:errors?|failed|failures?|failing|problems?)\b|\berrors?:? ?0\b|error=null")
_CLEAR_PATTERN = _pattern(rf"(?m)^(?:\x1b\[[0-9;]*m)*(?:{_CLEAR_FAILURE})")
_POSSIBLE_PATTERN = _pattern(rf"(?m)^{_POSSIBLE_FAILURE}")
_TOTALS = _pattern(
    r"(?mi)^[^\n]*\b\d+ (?:tests? )?(?:passed|failed|failing|passing|errors?|warnings?|problems?|skipped|pending|examples?|"
    r"failures?|issues?|findings?|files? (?:changed|checked|formatted|would)|suites?|assertions?|vulnerabilities)\b"
    r"|^(?:test result:|ran \d+ tests?|tests?:|test suites:|ok\b|found \d+|total\b|summary\b|process exited"
    r"|exit (?:code|status))[^\n]*"
)
_SECTION_START = _pattern(r"(?m)^(?:_{4,} .+ _{4,}|● .+|-{4,} .+ -{4,}|[ \t]*\d+\) .+|FAIL:? .+|ERROR: .+)$")
_SECTION_END = _pattern(r"(?:_{4,} .+ _{4,}|={4,}.*|● .+|[ \t]*\d+\) .+|FAIL:? .+|ERROR: .+|-{20,})$")


class ShortOutput(msgspec.Struct, frozen=True):
    text: str
    dropped_lines: int = 0
    """0: the text is unchanged."""
    id: str = ""
    """The id of the whole text; empty where nothing was left out."""


def output_id(text: str) -> str:
    """The id under which a whole text is stored."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def shorten(text: str, exit_code: int | None, lines: int) -> ShortOutput:
    """An output cut to about so many lines; more where failures need them."""
    lines = max(lines, LEAST_LINES)
    if (len(text) <= _LONG_LINE and text.count("\n") < lines) or MARK in text:
        return ShortOutput(text)
    found = text.encode("utf-8", "surrogatepass").split(b"\n")
    if len(found) <= lines and max(map(len, found)) <= _LONG_LINE:
        return ShortOutput(text)
    if len(found) == 1 and text[:1] in "{[" and text[-1:] in "}]":
        return ShortOutput(text)  # a JSON value: a part of it could not be parsed
    return _shorten_lines(text, found, exit_code, lines)


def _shorten_lines(text: str, found: list[bytes], exit_code: int | None, lines: int) -> ShortOutput:
    failing, kept = _choose_lines(found, exit_code, lines)
    gaps = _gaps(found, kept)
    left_out = sum(end - start for start, end in gaps)
    name = output_id(text)
    pieces: list[bytes] = []
    position, cut = 0, 0
    for number, (start, end) in enumerate((*gaps, (len(found), len(found)))):
        for index in range(position, start):
            line = _cut(found[index], _LONG_FAILURE if index in failing else _LONG_LINE)
            pieces.append(line)
            if line is not found[index]:
                cut += 1
                if not gaps and cut == 1:  # after the first cut line, never at the beginning
                    pieces.append(_first_omission(0, len(found), exit_code, name))
        if start < end:
            pieces.append(_omission(end - start) if number else _first_omission(left_out, len(found), exit_code, name))
        position = end
    shorter = b"\n".join(pieces).decode("utf-8", "surrogatepass")
    if not (gaps or cut) or len(shorter) >= len(text):
        return ShortOutput(text)
    return ShortOutput(shorter, left_out, name)


def _first_omission(left_out: int, total: int, exit_code: int | None, name: str) -> bytes:
    code = "" if exit_code is None else f"; exit code {exit_code}"
    what = f"{left_out} of {total} lines left out" if left_out else "parts of long lines left out"
    return f"{MARK}{what}{code}; `preheat admin output {name}` prints all{_END}".encode()


def _omission(left_out: int) -> bytes:
    return f"{MARK}{left_out} lines left out{_END}".encode()


def _cut(line: bytes, longest: int) -> bytes:
    if len(line) <= longest:
        return line
    first, last = longest * 2 // 3, longest // 4
    start = line[:first].decode("utf-8", "ignore").encode()  # no incomplete character
    end = line[-last:].decode("utf-8", "ignore").encode()
    return start + f" … {len(line) - len(start) - len(end):,} bytes … ".encode() + end


# Which lines are kept.
def _choose_lines(found: list[bytes], exit_code: int | None, lines: int) -> tuple[set[int], set[int]]:
    """The lines of failures, and all lines that are kept."""
    head, tail = max(1, int(lines * _HEAD)), max(1, int(lines * _TAIL))
    search = _LineSearch(found)
    failing = _first_and_last(search.failing(exit_code), max(200, _FAILURE_FACTOR * lines))
    counted = search.lines_of(_TOTALS)
    kept = {*range(min(head, len(found))), *range(max(0, len(found) - tail), len(found))}
    return failing, kept | failing | set(counted[-_MOST_TOTALS:])


def _first_and_last(failing: set[int], most: int) -> set[int]:
    if len(failing) <= most:
        return failing
    ordered = sorted(failing)
    return {*ordered[: most * 3 // 4], *ordered[-most // 4 :]}


def _gaps(found: list[bytes], kept: set[int]) -> list[tuple[int, int]]:
    """Runs of dropped lines that are long enough for an omission line."""
    gaps: list[tuple[int, int]] = []
    start = -1
    for index in range(len(found) + 1):
        if index < len(found) and index not in kept:
            start = index if start < 0 else start
        elif start >= 0:
            size = sum(len(line) + 1 for line in found[start:index])
            if index - start >= _LEAST_GAP and size > 2 * len(_omission(index - start)):
                gaps.append((start, index))
            start = -1
    return gaps


class _LineSearch:
    """Searches patterns in all lines of a text at once."""

    def __init__(self, found: list[bytes]) -> None:
        self._lines = found
        self._starts = list(accumulate((len(line) + 1 for line in found), initial=0))[:-1]
        self._parts: list[tuple[int, bytes]] = []
        whole = b"\n".join(found)
        if len(whole) > _MOST_BYTES:
            half = _MOST_BYTES // 2
            second = whole.find(b"\n", len(whole) - half) + 1 or len(whole) - half
            self._parts = [(0, whole[: whole.rfind(b"\n", 0, half) + 1 or half]), (second, whole[second:])]
        else:
            self._parts = [(0, whole)]

    def lines_of(self, pattern: Any) -> list[int]:
        """The indexes of the lines in which a pattern is found."""
        found: dict[int, None] = {}
        for offset, part in self._parts:
            for match in pattern.finditer(part):
                found[bisect_right(self._starts, offset + match.start()) - 1] = None
        return list(found)

    def failing(self, exit_code: int | None) -> set[int]:
        """The indexes of the lines of all failures, with the lines that belong to them."""
        plain = [index for index in self.lines_of(_CLEAR_PATTERN) if not _NO_FAILURE.search(self._lines[index])]
        found: set[int] = set()
        for index in plain:
            found.update(self._block(index, 40))
        if exit_code or (exit_code is None and plain):
            for index in self.lines_of(_POSSIBLE_PATTERN):
                if index not in found and not _NO_FAILURE.search(self._lines[index]):
                    found.update(self._block(index, 6))
        if exit_code or plain:
            for index in self.lines_of(_SECTION_START):
                found.update(self._section(index))
        return found

    def _block(self, index: int, most: int) -> Iterator[int]:
        """The line of a failure, up to two lines before it, and the lines below that continue it."""
        lines = self._lines
        start = index
        while start > 0 and index - start < 2 and lines[start - 1].strip():
            start -= 1
        end, plain = index + 1, 0
        while end < len(lines) and end - index < most and lines[end].strip() and plain < _MOST_UNRELATED:
            plain = 0 if lines[end][:1] in _CONTINUATION else plain + 1
            end += 1
        yield from range(start, end)

    def _section(self, index: int) -> Iterator[int]:
        """The lines from a heading to the next one."""
        last = min(index + _MOST_SECTION, len(self._lines))
        end = next((line for line in range(index + 1, last) if _SECTION_END.match(self._lines[line])), 0)
        yield from range(index, end or min(last, index + _MOST_UNENDED))

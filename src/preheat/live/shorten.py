"""A tool's long output, shorter: its beginning and end, every failure as it stands, the counts, and how to get the rest.

Knows no program, no host and no disk: whoever replaces an output stores the whole text under the id first. Generous where the
command failed, strict where it did not; a text is given back as it is wherever shortening would not make it shorter.
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
"""A shorter output is never asked for."""
_HEAD, _TAIL = 0.25, 0.5
"""Of the lines: what comes last tells most."""
_GAP = 3
"""Lines that are worth a line that says so."""
_COUNTS_KEPT = 12
_LONG_LINE, _LONG_FAILURE = 2_000, 8_000
"""Letters; of a longer line the middle is left out."""
_FAILING_MOST = 4
"""Times the lines asked for, and at least 200: so many lines of failures stand. Of more, the first and the last."""
_PLAIN, _GOES_ON = 4, b" \t|>+-^=E"
"""Lines below a failure that neither are indented nor look like a part of it: after so many it is over."""
_SECTION, _UNENDED = 120, 30
"""Lines of a failure under a heading; of one without an end."""
_EXAMINED = 4_000_000
"""Bytes; the middle of a longer text is not looked at."""


def _pattern(text: str) -> Any:
    return re2.compile(text.encode())


_PLAINLY = (
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
_LOOSELY = (
    r"(?i)[^\n]*(?:\b(?:error|failed|failure|exception|cannot|can't|could not|unable to|invalid|undefined|unexpected|unknown|"
    r"missing|denied|refused|timed out|not found|does not exist|panic\w*|mismatch|conflict|rejected|aborted|unresolved|killed)\b"
    r"|\berrors\b|\bassert\w*|[\w./\\-]+:\d+:\d+:? )"
)
_NOTHING_WRONG = _pattern(
    r"(?i)\b(?:0|no) (?:errors?|failed|failures?|failing|problems?)\b|\berrors?:? ?0\b|error=null"
)
_STRICT = _pattern(rf"(?m)^(?:\x1b\[[0-9;]*m)*(?:{_PLAINLY})")
_GENEROUS = _pattern(rf"(?m)^{_LOOSELY}")
_COUNTED = _pattern(
    r"(?mi)^[^\n]*\b\d+ (?:tests? )?(?:passed|failed|failing|passing|errors?|warnings?|problems?|skipped|pending|examples?|"
    r"failures?|issues?|findings?|files? (?:changed|checked|formatted|would)|suites?|assertions?|vulnerabilities)\b"
    r"|^(?:test result:|ran \d+ tests?|tests?:|test suites:|ok\b|found \d+|total\b|summary\b|process exited"
    r"|exit (?:code|status))[^\n]*"
)
_SECTION_START = _pattern(r"(?m)^(?:_{4,} .+ _{4,}|● .+|-{4,} .+ -{4,}|[ \t]*\d+\) .+|FAIL:? .+|ERROR: .+)$")
_SECTION_END = _pattern(r"(?:_{4,} .+ _{4,}|={4,}.*|● .+|[ \t]*\d+\) .+|FAIL:? .+|ERROR: .+|-{20,})$")


class Shortened(msgspec.Struct, frozen=True):
    text: str
    dropped_lines: int = 0
    """0: the text is as it was."""
    id: str = ""
    """Of the whole text; empty where nothing was left out."""


def output_id(text: str) -> str:
    """The id under which a whole text is kept."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def shorten(text: str, exit_code: int | None, lines: int) -> Shortened:
    """An output of about so many lines; more where failures need them, never more than there were."""
    lines = max(lines, LEAST_LINES)
    if (len(text) <= _LONG_LINE and text.count("\n") < lines) or MARK in text:
        return Shortened(text)
    found = text.encode("utf-8", "surrogatepass").split(b"\n")
    if len(found) <= lines and max(map(len, found)) <= _LONG_LINE:
        return Shortened(text)
    if len(found) == 1 and text[:1] in "{[" and text[-1:] in "}]":
        return Shortened(text)  # a value for a program: half of it is none
    return _shortened(text, found, exit_code, lines)


def _shortened(text: str, found: list[bytes], exit_code: int | None, lines: int) -> Shortened:
    failing, kept = _kept(found, exit_code, lines)
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
                if not gaps and cut == 1:  # never the first line: how an output begins tells what it is
                    pieces.append(_told_first(0, len(found), exit_code, name))
        if start < end:
            pieces.append(_told(end - start) if number else _told_first(left_out, len(found), exit_code, name))
        position = end
    shorter = b"\n".join(pieces).decode("utf-8", "surrogatepass")
    if not (gaps or cut) or len(shorter) >= len(text):
        return Shortened(text)
    return Shortened(shorter, left_out, name)


def _told_first(left_out: int, of: int, exit_code: int | None, name: str) -> bytes:
    code = "" if exit_code is None else f"; exit code {exit_code}"
    what = f"{left_out} of {of} lines left out" if left_out else "parts of long lines left out"
    return f"{MARK}{what}{code}; `preheat output {name}` prints all{_END}".encode()


def _told(left_out: int) -> bytes:
    return f"{MARK}{left_out} lines left out{_END}".encode()


def _cut(line: bytes, longest: int) -> bytes:
    if len(line) <= longest:
        return line
    first, last = longest * 2 // 3, longest // 4
    start = line[:first].decode("utf-8", "ignore").encode()  # no half letter
    end = line[-last:].decode("utf-8", "ignore").encode()
    return start + f" … {len(line) - len(start) - len(end):,} bytes … ".encode() + end


# Which lines stay.
def _kept(found: list[bytes], exit_code: int | None, lines: int) -> tuple[set[int], set[int]]:
    """Lines of failures, and all lines that stay."""
    head, tail = max(1, int(lines * _HEAD)), max(1, int(lines * _TAIL))
    examined = _Examined(found)
    failing = _bounded(examined.failing(exit_code), max(200, _FAILING_MOST * lines))
    counted = examined.lines_of(_COUNTED)
    kept = {*range(min(head, len(found))), *range(max(0, len(found) - tail), len(found))}
    return failing, kept | failing | set(counted[-_COUNTS_KEPT:])


def _bounded(failing: set[int], most: int) -> set[int]:
    if len(failing) <= most:
        return failing
    ordered = sorted(failing)
    return {*ordered[: most * 3 // 4], *ordered[-most // 4 :]}


def _gaps(found: list[bytes], kept: set[int]) -> list[tuple[int, int]]:
    """Runs of lines that go, each worth the line that says so."""
    gaps: list[tuple[int, int]] = []
    start = -1
    for index in range(len(found) + 1):
        if index < len(found) and index not in kept:
            start = index if start < 0 else start
        elif start >= 0:
            size = sum(len(line) + 1 for line in found[start:index])
            if index - start >= _GAP and size > 2 * len(_told(index - start)):
                gaps.append((start, index))
            start = -1
    return gaps


class _Examined:
    """The lines of a text, and patterns over all of them at once."""

    def __init__(self, found: list[bytes]) -> None:
        self._lines = found
        self._starts = list(accumulate((len(line) + 1 for line in found), initial=0))[:-1]
        self._parts: list[tuple[int, bytes]] = []
        whole = b"\n".join(found)
        if len(whole) > _EXAMINED:
            half = _EXAMINED // 2
            second = whole.find(b"\n", len(whole) - half) + 1 or len(whole) - half
            self._parts = [(0, whole[: whole.rfind(b"\n", 0, half) + 1 or half]), (second, whole[second:])]
        else:
            self._parts = [(0, whole)]

    def lines_of(self, pattern: Any) -> list[int]:
        """The numbers of the lines in which a pattern is found."""
        found: dict[int, None] = {}
        for offset, part in self._parts:
            for match in pattern.finditer(part):
                found[bisect_right(self._starts, offset + match.start()) - 1] = None
        return list(found)

    def failing(self, exit_code: int | None) -> set[int]:
        """The lines of all failures, with what belongs to them."""
        plain = [index for index in self.lines_of(_STRICT) if not _NOTHING_WRONG.search(self._lines[index])]
        found: set[int] = set()
        for index in plain:
            found.update(self._block(index, 40))
        if exit_code or (exit_code is None and plain):
            for index in self.lines_of(_GENEROUS):
                if index not in found and not _NOTHING_WRONG.search(self._lines[index]):
                    found.update(self._block(index, 6))
        if exit_code or plain:
            for index in self.lines_of(_SECTION_START):
                found.update(self._section(index))
        return found

    def _block(self, index: int, most: int) -> Iterator[int]:
        """A line that fails with what stands right before it and what goes on below it."""
        lines = self._lines
        start = index
        while start > 0 and index - start < 2 and lines[start - 1].strip():
            start -= 1
        end, plain = index + 1, 0
        while end < len(lines) and end - index < most and lines[end].strip() and plain < _PLAIN:
            plain = 0 if lines[end][:1] in _GOES_ON else plain + 1
            end += 1
        yield from range(start, end)

    def _section(self, index: int) -> Iterator[int]:
        """From a heading to the next one."""
        last = min(index + _SECTION, len(self._lines))
        end = next((line for line in range(index + 1, last) if _SECTION_END.match(self._lines[line])), 0)
        yield from range(index, end or min(last, index + _UNENDED))

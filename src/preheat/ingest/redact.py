"""Redacts secrets in the raw bytes of transcripts before anything is stored.

Knows no agent and no JSON: it works on bytes, in which text may be escaped once, twice or not at all. A linear-time automaton
finds candidates, exact patterns check them. A secret becomes `[REDACTED:kind]`, without quotes and backslashes, so that a JSON
line stays a JSON line.
"""

import re
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import re2

from preheat.ingest import secret_forms
from preheat.ingest.secret_commands import PIPES, PROGRAMS, examine_command, examine_pipe
from preheat.ingest.secret_forms import is_basic
from preheat.ingest.secret_random import ENDS_RANDOM, PREFIXED, RANDOM, find_prefixed, find_random, skip_base64
from preheat.ingest.secret_shapes import (
    Examined,
    NamedValue,
    QuotingStyle,
    Span,
    begins_word,
    character_changes,
    compile_later,
    is_secret,
)
from preheat.ingest.secret_tokens import TOKENS, Token

# A part of a candidate in which another one can begin is bounded: with an open end the automaton could run to the end of the
# block for each one. Others are open, which makes the automaton smaller.
_FIRST = rb"[A-Za-z0-9_+/.~!@#%^&*?-]"
_LATER = rb"[A-Za-z0-9_+/.~!@#%^&*?$:=-]"
_QUOTE = rb"(?:\\*[\"'`])?"
_JOINT = rb"[ \t]*(?::[ ]?[A-Za-z&]{3,8}[ ]?=|:=|=>|[:=])[ \t]*"
_HOST = rb"[^\s/:@\"'\\<>{}\[\]`]{0,64}"
_URL_PASSWORD = rb"[^\s/@\"'\\<>{}\[\]`]{3,128}"
_PASSWORD_NAME = rb"(?i:passw(?:or)?d|passwd|passphrase|pwd|secret|credential)"
_COLOUR = rb"(?:(?:\x1b|\\+(?:u001b|x1b|033|e))\[[0-9;]*m)"
_AWS_CONTEXT = rb"(?i:aws.{0,8}secret|secret.?access.?key)"


def _after_name(least: int) -> bytes:
    """What follows a telling name: a joint and a value, maybe coloured, a block of YAML, or another argument. In one pattern,
    because two that count the letters of a name make the automaton larger than both."""
    return (
        rb"(?:"
        + (_QUOTE + _JOINT + _QUOTE + _FIRST + _LATER + rb"{%d}" % least)
        + (rb"|" + _COLOUR + rb"?" + _JOINT + _COLOUR + rb"|" + _COLOUR + _JOINT + _FIRST)
        + rb"|:[ ][|>][+-]?(?:\\+n|\r?\n)"
        # Not `"token_count","…`, which is in every line of some transcripts: compact JSON that is not escaped.
        + (rb"|(?:\\*'[ ]?,[ ]?\\*'|\\*\"[ ]?,[ ]\\*\"|\\+\",\\+\")" + _FIRST)
        + rb")"
    )


def _tokens(whole_word: bool) -> list[bytes]:
    return [
        token.prefix + b"[" + token.body + b"]{%d}" % min(token.least, 16)
        for token in TOKENS
        if (token.whole_word and not token.before) == whole_word
    ]


_WORD_BEGIN = rb"(?:[^A-Za-z0-9]|\\[bfnrt]|\\u[0-9a-fA-F]{4})"
CANDIDATES = (
    *_tokens(whole_word=False),
    # With the byte before them: otherwise each word of which they could be the end makes the automaton larger and slower.
    _WORD_BEGIN + rb"(?:" + b"|".join((*_tokens(whole_word=True), PROGRAMS)) + rb")",
    rb":AA[A-Za-z0-9_-]{8}",
    rb"eyJ[A-Za-z0-9_-]{8}",
    rb"-----BEGIN [A-Z0-9 ]*PRIVATE KEY",
    # Open, because no other one of its kind can begin before its end: with counts the automaton is slower by a tenth.
    rb"://[^\s/@\"'\\<>{}\[\]`]{4,}@",
    rb"(?i:authorization)" + _QUOTE + _JOINT + _QUOTE + rb"(?i:bearer|basic|token|bot|apikey)[ ]" + _FIRST + rb"{6}",
    rb"(?i:bearer|basic)[ ]" + _FIRST + rb"{16}",
    _AWS_CONTEXT,
    _PASSWORD_NAME + rb"[A-Za-z0-9_-]{0,24}" + _after_name(5),
    # Neither `keyword`, `tokens` nor `tokenUsage`, which are everywhere.
    rb"(?i:key|token)(?:[A-TV-Za-rt-vx-z0-9_-][A-Za-z0-9_-]{0,23})?" + _after_name(7),
    rb"--[a-z-]{0,16}(?:password|token|secret|key)[ ]" + _QUOTE + _FIRST + _LATER + rb"{7}",
    rb"<[A-Za-z0-9-]{0,40}(?i:password|secret|token|key)>" + _FIRST + _LATER + rb"{5}",
    rb"(?i:[_-]pass|psk|_pw)" + _QUOTE + _JOINT + _QUOTE + _FIRST + _LATER + rb"{5}",
    *secret_forms.CANDIDATES,
    PIPES,
    PREFIXED,
    RANDOM,
)

_RUNS = {body: compile_later(b"[%s]*+" % body) for body in {token.body for token in TOKENS}}
_BEFORE = {token.before: compile_later(token.before + rb"\Z") for token in TOKENS if token.before}
_LONGEST_BEFORE = 64
_FIRST_PART = compile_later(rb"\(\?:[^()]*\)|\[[^\]]*\]|\\.|.")
_RUN_BEFORE = compile_later(rb"[^A-Za-z0-9_-][A-Za-z0-9]*+\Z")
_LOW_VARIETY = 6
"""A token whose body has fewer different characters is a placeholder (`ghp_xxxx…`)."""
_TOKEN_PLACEHOLDER = compile_later(rb"(?i)[_-](?:your|insert|replace|placeholder|example)[_-]|x{6,}|\*{4,}|\.{3}")
_JWT = compile_later(
    rb"eyJ[A-Za-z0-9_-]{12,}+(?:\.[A-Za-z0-9_-]{12,}+(?:\.[A-Za-z0-9_-]*+){0,3}|\.\.[A-Za-z0-9_.-]{20,}+)"
)
_WORD_RUN = compile_later(rb"[A-Za-z0-9_-]*+")
_TELEGRAM = compile_later(rb":AA[A-Za-z0-9_-]{30,}+")
_URL = compile_later(rb"://(" + _HOST + rb"):(" + _URL_PASSWORD + rb")@(?=[A-Za-z0-9.%_-])(?!example\.)")
_URL_DUMMY = compile_later(
    rb"(?i)^(?:redacted|[$%].*|x+|\*+|\.+|(?:your|my)?[-_]?(?:pass(?:word|wd|phrase)?|pwd|pw|secret|token|key|postgres|root|admin|test|user)s?)$"
)
_AUTHORIZATION = compile_later(
    rb"(?i)(?:authorization(?:\\{0,15}+[\"'`])?+[ \t]{0,16}+(?:=>|[:=])[ \t]{0,16}+"
    rb"(?:\\{0,15}+[\"'`])?+(?=[a-z]{3,6}+ )|(?=b))"
    rb"(bearer|basic|token|bot|apikey)[ ]{1,4}+([A-Za-z0-9_.~+/=:!@#%^&*-]{6,4096}+)"
)
_ASSIGNMENT = compile_later(
    rb"(?:(?P<element><[A-Za-z0-9-]{3,64}+>)|--(?P<flag>[a-z-]{3,40}+)[ ]"
    rb"|(?P<name>[A-Za-z0-9_-]{3,64}+)(?P<closed>(?:\\{0,15}+[\"'`])?+)"
    rb"(?:(?:\x1b|\\{1,15}+(?:u001b|x1b|033|e))\[[0-9;]{0,12}+m)?"
    rb"(?P<joint>[ \t]{0,16}+(?::[ ]?[A-Za-z&]{3,8}[ ]?=|:=|=>|:[ ][|>][+-]?(?:\\{1,15}+n|\r?\n)|[:=]"
    rb"|(?<=[\"'])[ ]?,[ ]?(?=\\{0,15}+[\"']))[ \t]{0,16}+"
    rb"(?:(?:\x1b|\\{1,15}+(?:u001b|x1b|033|e))\[[0-9;]{0,12}+m)?))"
    rb"(?P<opened>(?:\\{0,15}+[\"'`])?+)"
)
_ONLY_ONCE = b"+" if sys.version_info >= (3, 11, 5) else b""
"""Makes a repetition possessive, so that any text takes linear time. Earlier Pythons match possessive alternatives wrongly."""
_QUOTED = {
    quote: compile_later(rb"(?:[^\s\\%s]|\\++u[0-9a-fA-F]{4}|\\++/){6,8192}" % quote + _ONLY_ONCE)
    for quote in (b'"', b"'", b"`")
}
_VALUE = rb"[^\s\"'`\\,;<>(){}\[\]|=]"
_UNQUOTED = compile_later(rb"[A-Za-z0-9_+/.~%-]" + _VALUE + rb"{5,512}+(?:=++" + _VALUE + rb"{0,512}+)?+")
_NO_QUOTE_AFTER = compile_later(rb"\s|\\+[nrt]")
_NAME_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_AWS_SECRET = compile_later(rb"(?<![A-Za-z0-9+/_.-])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=_-])")
_AWS_REACH = 160
_AWS = compile_later(_AWS_CONTEXT)
_BACKSLASH = ord("\\")
_ESCAPES = (b"b", b"f", b"n", b"r", b"t")
_KEY_BEGIN = compile_later(rb"-----BEGIN [A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = compile_later(
    rb"(?:[A-Za-z0-9+/=\s:,.|>*#;]|-(?!----)|\xe2\x86\x92|\\++[nrt\"'`]|\\++u2192|['`])*" + _ONLY_ONCE
)
_KEY_END = compile_later(rb"-----END [A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINES = compile_later(
    rb"(?:(?:[\s>|+*#;-]|\\++[nrt]|\xe2\x86\x92|\\++u2192|[0-9]{1,6}(?=\xe2|\\|[:|\t]))*"
    + _ONLY_ONCE
    + rb"(?:[A-Z][A-Za-z-]{3,12}: [A-Za-z0-9 .,<>@()/+-]{1,80}(?=\\|\s)|[A-Za-z0-9+/=]{16,}+))+"
    + _ONLY_ONCE
    + rb"(?:(?:\s|\\++[nrt])*"
    + _ONLY_ONCE
    + rb"[A-Za-z0-9+/=]{1,76}(?![A-Za-z0-9 ]))?"
)
_BASE64_RUN = compile_later(rb"[A-Za-z0-9+/=]{16,}")


def redact(block: bytes) -> tuple[bytes, dict[str, int]]:
    """The block without its secrets, and how many of each kind it had; the same object if it had none.

    Redacting one secret can bring another within reach of its context, so this repeats around each until nothing is found.
    """
    counts: dict[str, int] = {}
    values: dict[bytes, str] = {}
    spans = find_secrets(block)
    for _ in range(_ROUNDS):
        if not spans:
            break
        spans = [_name_kind(block, span) for span in spans]
        values |= {block[span.start : span.end]: span.kind for span in spans if span.kind in _GIVEN}
        block, places = _take_out(block, spans)
        for span in spans:
            counts[span.kind] = counts.get(span.kind, 0) + 1
        spans = _find(block, places)
    return _take_out_copies(block, values, counts), counts


def looks_secret(text: str) -> str:
    """Why a text looks like a secret; empty if it does not."""
    counts = redact(text.encode("utf-8", "replace"))[1]
    return f"it looks like a secret ({', '.join(sorted(counts))})" if counts else ""


def _name_kind(block: bytes, span: Span) -> Span:
    """A secret that a name gave away, by the kind of its own form where it has one."""
    if span.kind != "assigned-secret" or (found := _token_at(block, span.start)) is None or found[1].before:
        return span
    return span._replace(kind=found[1].kind)


def _take_out_copies(block: bytes, values: dict[bytes, str], counts: dict[str, int]) -> bytes:
    """The block without the values that a name or a command gave away, wherever they stand alone."""
    for value, kind in list(values.items())[:_MOST_COPIES]:
        if len(value) >= _LEAST_COPY and (number := block.count(value)):
            block = block.replace(value, b"[REDACTED:%s]" % kind.encode())
            counts[kind] += number
    return block


_GIVEN = frozenset(
    ("assigned-secret", "command-password", "authorization", "url-password", "url-user", "cookie", "sql-password")
)
_LEAST_COPY = 12
_MOST_COPIES = 50


def find_secrets(block: bytes) -> list[Span]:
    """Where the secrets of a block are, without those that only show when others are gone."""
    return _find(block, [(0, len(block))])


def _take_out(block: bytes, spans: list[Span]) -> tuple[bytes, list[tuple[int, int]]]:
    """The block without these secrets, and the places around them, which do not overlap."""
    pieces: list[bytes] = []
    places: list[tuple[int, int]] = []
    done = size = 0
    for start, end, kind in spans:
        # Lines keep their numbers: the line ends within a secret are kept.
        mark = b"[REDACTED:%s]%s" % (kind.encode(), b"\n" * block.count(b"\n", start, end))
        pieces += (block[done:start], mark)
        size += start - done
        begin = max(size - _AROUND, places[-1][1] if places else 0)
        size += len(mark)
        places.append((begin, size + _AROUND))
        done = end
    pieces.append(block[done:])
    return b"".join(pieces), places


_AROUND = 1024
"""Bytes beside a secret that are looked at again, more than any context reaches."""
_ROUNDS = 4
_AUTOMATON = 64 << 20
"""Bytes that the automaton may take: with fewer it is thrown away and built again and again."""


@cache
def _candidates() -> Any:
    """Compiled on first use, so that importing stays fast."""
    options = re2.Options()
    options.max_mem = _AUTOMATON
    options.never_capture = True
    options.encoding = re2.Options.Encoding.LATIN1  # bytes, whatever they mean: the automaton is smaller
    return re2.compile(b"|".join(CANDIDATES), options)


def _find(block: bytes, places: list[tuple[int, int]]) -> list[Span]:
    """The secrets that begin in these places of a block, in order and without overlaps."""
    found = [span for begin, end in places for span in _search(block, begin, end)]
    found = sorted(span._replace(start=_after_escape(block, span.start)) for span in found)
    apart: list[Span] = []
    for span in found:
        if not apart or span.start >= apart[-1].end:
            apart.append(span)
        elif span.end > apart[-1].end:
            apart[-1] = apart[-1]._replace(end=span.end)
    return apart


def _search(block: bytes, position: int, stop: int) -> list[Span]:
    search = _candidates().search
    found: list[Span] = []
    while True:
        # What begins a word is searched for with the byte before it, which is behind us.
        examined = _examine_word(block, position) if position < stop else None
        if examined is None:
            candidate = search(block, position, stop)
            if candidate is None:
                return found
            start, end = candidate.span()
            is_random = ENDS_RANDOM().match(block, end - 3)
            examined = _examine_random(block, start, end - 3) if is_random else _examine(block, start)
        spans, position = examined
        found += spans


def _examine(block: bytes, start: int) -> Examined:
    """The secrets at a candidate, and the position to continue from."""
    word = _word_after(block, start)
    if word > start and (examined := _examine_word(block, word)) is not None:
        return examined
    for examine in _dispatch()[block[start]]:
        if (examined := examine(block, start)) is not None:
            return examined
    return [], max(word, start + 1)


def _word_after(block: bytes, start: int) -> int:
    """The position after the byte or the escape that separates words; the same one if there is none."""
    if block[start] == _BACKSLASH:
        letter = block[start + 1 : start + 2]
        return start + (6 if letter == b"u" else 2 if letter in _ESCAPES else 1)
    return start if block[start : start + 1].isalnum() else start + 1


def _examine_word(block: bytes, start: int) -> Examined | None:
    """The secrets of the token or the command that begins with a word at a position."""
    if not block[start : start + 1].isalnum() or not begins_word(block, start):
        return None
    for examine in (_token, examine_command):
        if (examined := examine(block, start)) is not None and examined[0]:
            return examined
    return None


@cache
def _dispatch() -> list[tuple[Callable[[bytes, int], Examined | None], ...]]:
    """The examiners by the first byte of a candidate: most can be ruled out by it."""
    starts = ((_token, bytes(_tokens_by_start())), *_EXAMINERS)
    return [tuple(examine for examine, first in starts if byte in first) for byte in range(256)]


def _examine_random(block: bytes, start: int, last: int) -> Examined:
    """What is at a run of letters and digits, of which the last three look random; it begins after `start`."""
    if not _RUN_BEFORE().match(block, start, last) or block.startswith(b":AA", start):
        return _examine(block, start)
    word = _word_after(block, start)
    if (examined := _token(block, word)) is not None and examined[0]:
        return examined
    if block.startswith(_LONG_STARTS, word):
        return [], word
    if (after := skip_base64(block, last)) > last:
        return [], after
    begin, end, position = find_random(block, last)
    if begin == end:
        # Something else may still begin in it.
        return [], max(position, start + 1)
    return [Span(begin, end, "random-token")], position


_LONG_STARTS = (b"eyJ", b"LS0tLS1CRUdJTi")
"""What base64 begins with that is looked for by itself."""


@cache
def _tokens_by_start() -> dict[int, list[Token]]:
    """The tokens by their first byte."""
    found: dict[int, list[Token]] = {}
    for token in TOKENS:
        part = _FIRST_PART().match(token.prefix)
        for byte in _first_bytes(part[0]) if part else b"":
            found.setdefault(byte, []).append(token)
    return found


def _first_bytes(part: bytes) -> bytes:
    """The bytes that the first part of a prefix can begin with: a choice of texts, a class or a character."""
    if part.startswith(b"(?:"):
        return bytes({option[0] for option in part[3:-1].split(b"|")})
    if len(part) == 1:
        return part
    match = re.compile(part).match
    return bytes(byte for byte in range(128) if match(bytes([byte])))


@cache
def _tokens_from(byte: int) -> tuple[re.Pattern[bytes], list[Token]] | None:
    """What finds the tokens that begin with a byte, and these: compiled when one of them may be there."""
    tokens = _tokens_by_start().get(byte)
    if not tokens:
        return None
    forms = (
        b"(%s[%s]{%d,%d}+)%s"
        % (token.prefix, token.body, token.least, token.most, b"(?![A-Za-z0-9])" if token.whole_word else b"")
        for token in tokens
    )
    return re.compile(b"|".join(forms)), tokens


def _token_at(block: bytes, start: int) -> tuple[re.Match[bytes], Token] | None:
    if start >= len(block) or (known := _tokens_from(block[start])) is None:
        return None
    match = known[0].match(block, start)
    return (match, known[1][match.lastindex - 1]) if match and match.lastindex else None


def _token(block: bytes, start: int) -> Examined | None:
    at = _token_at(block, start)
    if at is None:
        return None
    match, token = at
    text = match[0]
    if token.before:
        left = _BEFORE[token.before]().search(block, max(0, start - _LONGEST_BEFORE), start)
        if left is None:
            return None
        start = left.start()
        text = block[start : match.end()]
    if (token.whole_word and not begins_word(block, start)) or _is_placeholder(text):
        return None if token.before else ([], start + 3)
    # Only the first 256 bytes are judged, to keep hostile input from costing quadratic time.
    rest = _RUNS[token.body]().match(block, match.end())
    end = rest.end() if rest else match.end()
    spans = [Span(start, end, token.kind)]
    if token.kind == "aws-access-key-id":
        spans += _aws_secrets(block, max(0, start - _AWS_REACH), end + _AWS_REACH)
    return spans, end


def _is_placeholder(token: bytes) -> bool:
    return len(set(token[4:])) < _LOW_VARIETY or _TOKEN_PLACEHOLDER().search(token) is not None


def _after_escape(block: bytes, start: int) -> int:
    """The position after what may be an escape: `\\npm_…` can be a line end and `pm_…`."""
    if block[start - 1 : start] == b"\\" and block[start : start + 1] in _ESCAPES:
        return start + 1
    escape = block.rfind(b"\\u", max(0, start - 5), start)
    return max(start, escape + 6) if escape >= 0 else start


def _aws_secrets(block: bytes, start: int, end: int) -> list[Span]:
    return [
        Span(match.start(), match.end(), "aws-secret-key")
        for match in _AWS_SECRET().finditer(block, start, end)
        if character_changes(match[0]) > 0.3 and match[0] != match[0].lower() and not match[0].isalpha()
    ]


def _aws_context(block: bytes, start: int) -> Examined | None:
    match = _AWS().match(block, start)
    if match is None:
        return None
    spans = _aws_secrets(block, match.end(), match.end() + _AWS_REACH)
    return spans, spans[-1].end if spans else start + 3


def _named_value(block: bytes, start: int) -> Examined | None:
    """An assignment to a name: only the value is redacted."""
    match = _ASSIGNMENT().match(block, start)
    if match is None:
        return None
    begin = match.end()
    if _token_at(block, begin) or _JWT().match(block, begin):
        return [], begin
    value = _quoted_value(block, match) if match["opened"] else _unquoted_value(block, match)
    if not value:
        return [], begin
    name = match["name"] or match["flag"] or match["element"]
    style: QuotingStyle = "quoted" if match["opened"] or match["element"] else "plain"
    if match["name"]:
        left = block[max(0, start - 48) : start]
        before = len(left) - len(left.rstrip(_NAME_BYTES))
        name = block[_after_escape(block, start - before) : match.end("name")]
        if match["joint"] == b"=" and name.isupper():
            style = "environment"
    if not is_secret(NamedValue(name, value, style)):
        return [], begin
    return [Span(begin, begin + len(value), "assigned-secret")], begin + len(value)


def _quoted_value(block: bytes, match: re.Match[bytes]) -> bytes:
    found = _QUOTED[match["opened"][-1:]]().match(block, match.end())
    # With a space in it, it is a sentence; with a line end in it, code between two quotes.
    return found[0] if found and not _NO_QUOTE_AFTER().match(block, found.end()) else b""


def _unquoted_value(block: bytes, match: re.Match[bytes]) -> bytes:
    found = _UNQUOTED().match(block, match.end())
    # The value of a quoted name is quoted, or it is a number or a name, which must stay.
    if found is None or match["closed"]:
        return b""
    value, after = found[0], block[found.end() : found.end() + 1]
    if match["element"]:
        return value if block[found.end() : found.end() + 2] == b"</" else b""
    if block[match.start() - 1 : match.start()] in (b"?", b"&") or (b"&" in value and b"=" in value):
        value = value.split(b"&", 1)[0]
    elif after and after in (b"([{" if match["joint"] == b"=" else b"([{,;)}]<|"):
        return b""
    return value.rstrip(b".:!?")


def _authorization(block: bytes, start: int) -> Examined | None:
    match = _AUTHORIZATION().match(block, start)
    if match is None:
        return None
    begin, end = match.span(2)
    value = match[2]
    if _token_at(block, begin) or _JWT().match(block, begin):
        return [], begin
    if match[1].lower() == b"basic":
        secret = is_basic(value)
    else:
        header = match.start(1) > start
        secret = is_secret(NamedValue(b"API_TOKEN", value, "quoted" if header else "plain"))
    return ([Span(begin, end, "authorization")], end) if secret else ([], begin)


def _url(block: bytes, start: int) -> Examined | None:
    match = _URL().match(block, start)
    if match is None:
        return None
    user, password = match[1], match[2]
    if _token_at(block, match.start(2)):
        return [], match.start(2)
    if _URL_DUMMY().match(password) or password == user or not password.strip(b"0123456789"):
        return [], match.end()
    return [Span(match.start(2), match.end(2), "url-password")], match.end()


def _jwt(block: bytes, start: int) -> Examined | None:
    if not block.startswith(b"eyJ", start):
        return None
    match = _JWT().match(block, start)
    if match is None:
        run = _WORD_RUN().match(block, start)
        return [], run.end() if run else start + 3
    return [Span(start, match.end(), "jwt")], match.end()


def _telegram(block: bytes, start: int) -> Examined | None:
    match = _TELEGRAM().match(block, start)
    if match is None:
        return None
    left = block[max(0, start - 18) : start]
    left = left[left.rfind(b"\\u") + 6 :] if b"\\u" in left else left
    digits = len(left) - len(left.rstrip(b"0123456789"))
    if not 7 <= digits <= 11 or _is_placeholder(match[0]):
        return [], start + 3
    return [Span(start - digits, match.end(), "telegram-token")], match.end()


def _private_key(block: bytes, start: int) -> Examined | None:
    begin = _KEY_BEGIN().match(block, start)
    if begin is None:
        return None
    body = _KEY_BODY().match(block, begin.end())
    end = _KEY_END().match(block, body.end()) if body else None
    if body and end and _BASE64_RUN().search(body[0]):
        return [Span(start, end.end(), "private-key")], end.end()
    # The key is cut off before its end: redact only lines that look like a key.
    lines = _KEY_LINES().match(block, begin.end())
    if lines and _BASE64_RUN().search(lines[0]):
        return [Span(start, lines.end(), "private-key")], lines.end()
    return [], begin.end()


def _token_after_prefix(block: bytes, start: int) -> Examined | None:
    begin, end = find_prefixed(block, start)
    return ([Span(begin, end, "prefixed-token")], end) if begin < end else None


_LETTERS = bytes(range(65, 91)) + bytes(range(97, 123))
_EXAMINERS: tuple[tuple[Callable[[bytes, int], Examined | None], bytes], ...] = (
    (_aws_context, b"aAsS"),
    (_authorization, b"aAbB"),
    (_url, b":"),
    (_jwt, b"e"),
    (_private_key, b"-"),
    (_telegram, b":"),
    *secret_forms.EXAMINERS,
    (_named_value, _LETTERS + b"-<_"),
    (examine_pipe, b"ps|-"),
    (_token_after_prefix, _LETTERS),
)
"""Looks at a candidate in this order, each with the first bytes of its candidates."""

"""Redacts secrets in the raw bytes of transcripts before anything is stored.

Knows no agent and no JSON: it works on bytes, in which text may be escaped once, twice or not at all. A linear-time automaton
finds candidates, exact patterns check them. A secret becomes `[REDACTED:kind]`, without quotes and backslashes, so that a JSON
line stays a JSON line.
"""

import re
import sys
from base64 import b64decode
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import re2

from preheat.ingest.secret_shapes import TOKENS, NamedValue, QuotingStyle, character_changes, compile_later, is_secret

# Every part of a candidate is bounded: with an open end the automaton could run to the end of the block for
# each one.
_FIRST = rb"[A-Za-z0-9_+/.~!@#%^&*?-]"
_LATER = rb"[A-Za-z0-9_+/.~!@#%^&*?$:=-]"
_QUOTE = rb"(?:\\{0,7}[\"'`])?"
_JOINT = rb"[ \t]{0,8}(?::[ ]?[A-Za-z&]{3,8}[ ]?=|:=|=>|[:=])[ \t]{0,4}"
_HOST = rb"[^\s/:@\"'\\<>{}\[\]`]{0,64}"
_URL_PASSWORD = rb"[^\s/@\"'\\<>{}\[\]`]{3,128}"
_PASSWORD_NAME = rb"(?i:passw(?:or)?d|passwd|passphrase|pwd|secret|credential)"
_AWS_CONTEXT = rb"(?i:aws.{0,8}secret|secret.?access.?key)"
CANDIDATES = (
    *(token.prefix + b"[" + token.body + b"]{%d}" % min(token.least, 16) for token in TOKENS),
    rb":AA[A-Za-z0-9_-]{30}",
    rb"eyJ[A-Za-z0-9_-]{12}",
    rb"-----BEGIN [A-Z0-9 ]{0,24}PRIVATE KEY",
    rb"://" + _HOST + rb":" + _URL_PASSWORD + rb"@",
    rb"(?i:authorization)" + _QUOTE + _JOINT + _QUOTE + rb"(?i:bearer|basic|token|bot|apikey)[ ]" + _FIRST + rb"{6}",
    rb"(?i:bearer|basic)[ ]" + _FIRST + rb"{16}",
    _AWS_CONTEXT,
    _PASSWORD_NAME + rb"[A-Za-z0-9_-]{0,24}" + _QUOTE + _JOINT + _QUOTE + _FIRST + _LATER + rb"{5}",
    rb"(?i:key|token)[A-Za-z0-9_-]{0,24}" + _QUOTE + _JOINT + _QUOTE + _FIRST + _LATER + rb"{7}",
    rb"--[a-z-]{0,16}(?:password|token|secret|key)[ ]" + _QUOTE + _FIRST + _LATER + rb"{7}",
    rb"<(?i:password|secret|token|api-?key)>" + _FIRST + _LATER + rb"{5}",
)

_TOKEN = compile_later(
    b"|".join(
        b"(%s[%s]{%d,256}+)%s"
        % (token.prefix, token.body, token.least, b"(?![A-Za-z0-9])" if token.whole_word else b"")
        for token in TOKENS
    )
)
_RUNS = {token.body: compile_later(b"[%s]*+" % token.body) for token in TOKENS}
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
    rb"(?:(?P<element><[A-Za-z-]{3,16}+>)|--(?P<flag>[a-z-]{3,40}+)[ ]"
    rb"|(?P<name>[A-Za-z0-9_-]{3,64}+)(?P<closed>(?:\\{0,15}+[\"'`])?+)"
    rb"(?P<joint>[ \t]{0,16}+(?::[ ]?[A-Za-z&]{3,8}[ ]?=|:=|=>|[:=])[ \t]{0,16}+))"
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
_UNICODE_ESCAPE = compile_later(rb"\\u[0-9a-fA-F]{4}")
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


class Span(NamedTuple):
    """A secret in a block."""

    start: int
    end: int
    kind: str


_Examined: TypeAlias = tuple[list[Span], int]


def redact(block: bytes) -> tuple[bytes, dict[str, int]]:
    """The block without its secrets, and how many of each kind it had; the same object if it had none.

    Redacting one secret can bring another within reach of its context, so this repeats until nothing is found.
    """
    counts: dict[str, int] = {}
    for _ in range(_ROUNDS):
        spans = _find(block)
        if not spans:
            break
        pieces: list[bytes] = []
        done = 0
        for start, end, kind in spans:
            # Lines keep their numbers: the line ends within a secret are kept.
            pieces += (
                block[done:start],
                b"[REDACTED:%s]" % kind.encode(),
                b"\n" * block.count(b"\n", start, end),
            )
            counts[kind] = counts.get(kind, 0) + 1
            done = end
        pieces.append(block[done:])
        block = b"".join(pieces)
    return block, counts


_ROUNDS = 4


@cache
def _candidates() -> Any:
    """Compiled on first use, so that importing stays fast."""
    return re2.compile(b"|".join(CANDIDATES))


def _find(block: bytes) -> list[Span]:
    search = _candidates().search
    found: list[Span] = []
    position = 0
    while (candidate := search(block, position)) is not None:
        spans, position = _examine(block, candidate.start())
        found += spans
    found = sorted(span._replace(start=_after_escape(block, span.start)) for span in found)
    apart: list[Span] = []
    for span in found:
        if not apart or span.start >= apart[-1].end:
            apart.append(span)
        elif span.end > apart[-1].end:
            apart[-1] = apart[-1]._replace(end=span.end)
    return apart


def _examine(block: bytes, start: int) -> tuple[list[Span], int]:
    """The secrets at a candidate, and the position to continue from."""
    for examine in _EXAMINERS:
        if (examined := examine(block, start)) is not None:
            return examined
    return [], start + 2


@cache
def _prefixes() -> Any:
    """Only the prefixes of tokens: quick to compile, and mostly enough to rule a token out."""
    return re2.compile(b"|".join(token.prefix for token in TOKENS))


def _token_at(block: bytes, start: int) -> re.Match[bytes] | None:
    return _TOKEN().match(block, start) if _prefixes().match(block, start) else None


def _token(block: bytes, start: int) -> _Examined | None:
    match = _token_at(block, start)
    if match is None:
        return None
    token = TOKENS[match.lastindex - 1] if match.lastindex else TOKENS[0]
    text = match[0]
    if (token.whole_word and not _begins_word(block, start)) or _is_placeholder(text):
        return [], start + 3
    # Only the first 256 bytes are judged, to keep hostile input from costing quadratic time.
    rest = _RUNS[token.body]().match(block, match.end())
    end = rest.end() if rest else match.end()
    spans = [Span(start, end, token.kind)]
    if token.kind == "aws-access-key-id":
        spans += _aws_secrets(block, max(0, start - _AWS_REACH), end + _AWS_REACH)
    return spans, end


def _is_placeholder(token: bytes) -> bool:
    return len(set(token[4:])) < _LOW_VARIETY or _TOKEN_PLACEHOLDER().search(token) is not None


def _begins_word(block: bytes, start: int) -> bool:
    """Whether no letter or digit comes before, other than one of an escape such as `\\n`."""
    if start == 0 or not block[start - 1 : start].isalnum():
        return True
    return block[start - 2 : start - 1] == b"\\" or _UNICODE_ESCAPE().match(block, max(start - 6, 0)) is not None


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


def _aws_context(block: bytes, start: int) -> _Examined | None:
    match = _AWS().match(block, start)
    if match is None:
        return None
    spans = _aws_secrets(block, match.end(), match.end() + _AWS_REACH)
    return spans, spans[-1].end if spans else start + 3


def _named_value(block: bytes, start: int) -> _Examined | None:
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


def _authorization(block: bytes, start: int) -> _Examined | None:
    match = _AUTHORIZATION().match(block, start)
    if match is None:
        return None
    begin, end = match.span(2)
    value = match[2]
    if _token_at(block, begin) or _JWT().match(block, begin):
        return [], begin
    if match[1].lower() == b"basic":
        secret = _is_basic(value)
    else:
        header = match.start(1) > start
        secret = is_secret(NamedValue(b"API_TOKEN", value, "quoted" if header else "plain"))
    return ([Span(begin, end, "authorization")], end) if secret else ([], begin)


def _is_basic(value: bytes) -> bool:
    try:
        return b":" in b64decode(value + b"=" * (-len(value) % 4), validate=True)
    except ValueError:
        return False


def _url(block: bytes, start: int) -> _Examined | None:
    match = _URL().match(block, start)
    if match is None:
        return None
    user, password = match[1], match[2]
    if _TOKEN().match(block, match.start(2)):
        return [], match.start(2)
    if _URL_DUMMY().match(password) or password == user or not password.strip(b"0123456789"):
        return [], match.end()
    return [Span(match.start(2), match.end(2), "url-password")], match.end()


def _jwt(block: bytes, start: int) -> _Examined | None:
    if not block.startswith(b"eyJ", start):
        return None
    match = _JWT().match(block, start)
    if match is None:
        run = _WORD_RUN().match(block, start)
        return [], run.end() if run else start + 3
    return [Span(start, match.end(), "jwt")], match.end()


def _telegram(block: bytes, start: int) -> _Examined | None:
    match = _TELEGRAM().match(block, start)
    if match is None:
        return None
    left = block[max(0, start - 18) : start]
    left = left[left.rfind(b"\\u") + 6 :] if b"\\u" in left else left
    digits = len(left) - len(left.rstrip(b"0123456789"))
    if not 7 <= digits <= 11 or _is_placeholder(match[0]):
        return [], start + 3
    return [Span(start - digits, match.end(), "telegram-token")], match.end()


def _private_key(block: bytes, start: int) -> _Examined | None:
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


_EXAMINERS = (_token, _aws_context, _authorization, _named_value, _url, _jwt, _private_key, _telegram)

"""Secrets that nothing gives away but their look: long random tokens, and random tokens behind a prefix such as `acme_live_`.

What looks random and is no secret must stay: identifiers of calls, requests and messages, hashes, UUIDs, base64 of images, hashes
in lock files, public keys. Knows nothing of names beside a value, except those that say that it is none.
"""

from preheat.ingest.secret_shapes import character_changes, compile_later, is_placeholder, is_wordlike, weigh_name

RANDOM = rb"(?:[^A-Za-z0-9_\\-]|\\[bfnrt])[A-Za-z0-9]*(?:[0-9][a-ln-wyz][A-Z]|[A-Z][0-9][a-z])"
"""A run with three characters that nine of ten random tokens have and few words do (`2mP` is a colour and a word, `0xA` a
number, `\\u201cMy` a quote). It must not begin behind `_`: identifiers such as `call_…` are everywhere in sessions, and each
would cost a look."""
ENDS_RANDOM = compile_later(rb"[0-9][a-z][A-Z]|[A-Z][0-9][a-z]")
PREFIXED = (
    rb"(?:live|secret|key|pat|token|api|sk|tok|uat)[_-][A-Za-z0-9]{14}"
    rb"|[a-z]_(?:test|prod|production|sandbox)_[A-Za-z0-9]{14}"
)
"""The end of a prefix that says what comes: `acme_live_…`, `acmepat_…`."""
_LOWER, _UPPER, _DIGITS = b"abcdefghijklmnopqrstuvwxyz", b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"0123456789"
_RUN_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_BASE64_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_RUN = compile_later(rb"[A-Za-z0-9_-]{0,400}+")  # with an open end hostile text would cost quadratic time
_BASE64 = compile_later(rb"[A-Za-z0-9+/]*+=*+")
_LEFT = 192
_LEAST = 30
_LEAST_PREFIXED = 32
_LONGEST = 160
_LONG_BASE64 = 120
_KEY_SIZES = (40, 44, 88)
"""Lengths of base64 that keys have: of 30, 32 and 64 bytes."""
_ID_PREFIX = compile_later(
    rb"(?:toolu|tooluse|call|msg|req|resp|rs|fc|fco|item|run|thread|asst|file|gen|prt|ses|agent|evt|event|chatcmpl|cmpl|ctc|ws|ci|"
    rb"step|task|job|node|cus|sub|pi|ch|txn|in|prod|price|acct|usr|user|org|proj|sess|session|conv|doc|img|image|chunk|rev|sha|"
    rb"tmp|temp|cache|build|commit|blob|hash|index|main|vendor|page|app|css|font|srvtoolu|ig|mcp|mcpr|cmp|trace|span|batch|upload)"
    rb"[_-]"
)
_NAMED_LEFT = compile_later(rb"([A-Za-z0-9_-]{1,40}+)(?:\\{0,15}[\"'`])?[ \t]{0,4}[:=][ \t]{0,4}(?:\\{0,15}[\"'`])?\Z")
_IS_HASH = compile_later(
    rb"(?i)(?:sha-?[0-9]{1,3}|md5|h1|blake[a-z0-9]{1,4}|base64|integrity|fingerprint|etag|w/\"|nonce)[-:=,~][\"']?\Z|data:[a-z/+;=0-9-]{1,60},\Z"
)
_ID_WORDS = frozenset(
    b"id ids uuid guid hash sha md5 etag nonce signature integrity checksum digest commit cid rev revision "
    b"fingerprint thumbprint content encrypted blob image src href data cursor page offset state etc public cert certificate "
    b"x5c jwk kid n x y modulus salt iv address wallet".split()
)
_WORDS = compile_later(rb"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_UUID = compile_later(rb"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\Z")
_HEX = compile_later(rb"(?:[0-9a-f]+|[0-9A-F]+)\Z")
_BASE58_ADDRESS = compile_later(rb"(?:Qm[1-9A-HJ-NP-Za-km-z]{44}|b[a-z2-7]{58}|[13][1-9A-HJ-NP-Za-km-z]{25,33})\Z")
_VAULT_OLD = 24
"""Letters and digits after `s.` in tokens of Vault before 1.10 (gitleaks' rule `vault-service-token`)."""


def find_random(block: bytes, start: int) -> tuple[int, int, int]:
    """The random token around a position, as start, end and where to go on; start and end are equal if there is none."""
    none = (start, start, 0)
    base64 = _BASE64().match(block, start)
    end64 = base64.end() if base64 else start
    run = _RUN().match(block, start)
    end = run.end() if run else start
    left = block[max(0, start - _LEFT) : start]
    begin = start - (len(left) - len(left.rstrip(_RUN_BYTES)))
    begin64 = start - (len(left) - len(left.rstrip(_BASE64_BYTES)))
    if max(end - begin, end64 - begin64) < _VAULT_OLD or end - begin > _LONGEST:
        return none
    begin, begin64 = _after_escape(block, begin), _after_escape(block, begin64)
    if (begin64 < begin or end64 > end) and _is_base64_key(block, begin64, end64):
        return begin64, end64, end64
    is_part = begin64 < begin or block[end : end + 1] in (b"+", b"/")
    if is_part and (_looks_like_base64(block[begin64:end64]) or block[end : end + 1] == b"+"):
        return none  # only a whole segment of a path can be a token
    if _is_token(block, begin, end):
        return begin, end, end
    return none


def skip_base64(block: bytes, start: int) -> int:
    """The end of base64 that is too long for a token: a picture or an encrypted text; the start if it is not so long."""
    base64 = _BASE64().match(block, start)
    return base64.end() if base64 and base64.end() - start >= _LONG_BASE64 else start


def find_prefixed(block: bytes, start: int) -> tuple[int, int]:
    """The token whose prefix says what it is; start and end are equal if it is none."""
    left = block[max(0, start - 48) : start]
    begin = _after_escape(block, start - (len(left) - len(left.rstrip(_RUN_BYTES))))
    run = _RUN().match(block, start)
    end = run.end() if run else start
    text = block[begin:end]
    joints = [
        at for at in (text.rfind(b"_", 0, start - begin + 12), text.rfind(b"-", 0, start - begin + 12)) if at >= 0
    ]
    if not joints or end - begin > _LONGEST or _neighbour_is_code(block, begin, end):
        return start, start
    cut = max(joints) + 1
    prefix, body = text[:cut], text[cut:]
    if len(prefix) > 32 or len(body) < 14 or weigh_prefix(prefix) == "none" or is_placeholder(text):
        return start, start
    if _HEX().match(body):
        return (begin, end) if len(body) >= 32 and prefix.count(b"_") + prefix.count(b"-") < 3 else (start, start)
    is_random = any(48 <= byte < 58 for byte in body) and character_changes(body) > 0.25 and not is_wordlike(body)
    return (begin, end) if is_random else (start, start)


def weigh_prefix(prefix: bytes) -> str:
    """`none` if a prefix is of something that is no secret."""
    words = [word.lower() for word in _WORDS().findall(prefix)]
    if any(word in _ID_WORDS or (word in (b"task", b"cache", b"test") and len(words) == 1) for word in words):
        return "none"
    return weigh_name(b"secret_" + prefix)


def _after_escape(block: bytes, begin: int) -> int:
    """The position after a letter that may belong to an escape such as `\\n`."""
    if block[begin - 1 : begin] == b"\\" and block[begin : begin + 1] in (b"n", b"r", b"t", b"b", b"f"):
        return begin + 1
    if block[begin - 1 : begin] == b"\\" and block[begin : begin + 1] == b"u":
        return begin + 5
    return begin


def _is_token(block: bytes, begin: int, end: int) -> bool:
    text = block[begin:end].strip(b"-_")
    if len(text) < _VAULT_OLD:
        return False
    if block[begin - 2 : begin] == b"s." and len(text) == _VAULT_OLD and not block[begin - 3 : begin - 2].isalnum():
        return _is_mixed(text) and not _neighbour_is_code(block, begin - 2, end)
    head, joint, body = text.partition(b"_") if b"_" in text[:14] else text.partition(b"-")
    has_prefix = bool(joint) and len(head) <= 12 and head.isalnum() and is_wordlike(head)
    if len(text) < _LEAST or (has_prefix and len(body) < _LEAST_PREFIXED) or not _is_mixed(text):
        return False
    if _ID_PREFIX().match(text) or is_placeholder(text) or _UUID().search(text) or _BASE58_ADDRESS().match(text):
        return False
    return not _neighbour_is_code(block, begin, end) and not _is_called_otherwise(block, begin)


def _is_mixed(text: bytes) -> bool:
    """Whether lower case, upper case and digits are as mixed as chance does it, in every part."""
    lower = len(text) - len(text.translate(None, _LOWER))
    upper = len(text) - len(text.translate(None, _UPPER))
    digits = len(text) - len(text.translate(None, _DIGITS))
    if digits < 2 or len(set(text)) < 14 or text.count(b"_") + text.count(b"-") > max(3, len(text) // 8):
        return False
    if not lower:
        return upper >= 6 and digits >= 5 and character_changes(text) > 0.25 and not _HEX().match(text)
    if upper < 5 or lower < 5:
        return False
    return character_changes(text) > 0.42 and not is_wordlike(text)


def _neighbour_is_code(block: bytes, begin: int, end: int) -> bool:
    """Whether what stands beside a token says that it is part of something else."""
    before, after = block[begin - 1 : begin], block[end : end + 1]
    return (
        before in (b".", b"$", b"@", b"#", b"~")
        or after in (b"(", b"[")
        or (after == b"." and block[end + 1 : end + 2].isalnum())
    )


def _is_called_otherwise(block: bytes, begin: int) -> bool:
    """Whether the name before a token, or the mark of a hash, says that it is no secret."""
    left = block[max(0, begin - 72) : begin]
    if _IS_HASH().search(left):
        return True
    named = _NAMED_LEFT().search(left)
    return named is not None and any(word.lower() in _ID_WORDS for word in _WORDS().findall(named[1]))


def _is_base64_key(block: bytes, begin: int, end: int) -> bool:
    text = block[begin:end]
    padding = len(text) - len(text.rstrip(b"="))
    if len(text) not in _KEY_SIZES or padding != {40: 0, 44: 1, 88: 2}[len(text)] or text.startswith(b"AAAA"):
        return False
    before, after = block[begin - 1 : begin], block[end : end + 1]
    if before in (b"-", b"_", b".", b"%", b"@") or after in (b"-", b"_", b".", b"+", b"/", b"%"):
        return False
    plain = text.replace(b"+", b"").replace(b"/", b"").rstrip(b"=")
    return _is_mixed(plain) and not _is_called_otherwise(block, begin)


def _looks_like_base64(text: bytes) -> bool:
    """Whether a text with slashes is base64 and no path: its parts are no words."""
    return (
        b"+" in text or text.endswith(b"=") or not any(is_wordlike(part) for part in text.split(b"/") if len(part) > 2)
    )

"""Special forms: files and outputs whose syntax says where the secret is, with no telling name beside it, or with one elsewhere.

Password files, docker's `auth`, cookies, tokens as the user of a URL, pairs of `name` and `value`, Kubernetes' secrets, encoded
keys, SQL, one-time passwords. Works on bytes that may be escaped once or more, as `redact.py` does. What the forms are is from
the documentation of the programs that write them.
"""

from base64 import b64decode
from binascii import Error
from collections.abc import Callable

from preheat.ingest.secret_shapes import (
    Examined,
    Span,
    character_changes,
    compile_later,
    is_given_password,
    is_placeholder,
    is_wordlike,
    weigh_name,
)

_QUOTE = rb"(?:\\{0,15}[\"'`])?"
_CLOSED = rb"(?:\\{0,15}[\"'`])"
_SPACE = rb"(?:[ \t\r\n]|\\{1,15}[nrt])"
_NEWLINE = rb"(?:\r?\n|(?:\\{1,15}r)?\\{1,15}n)"
_NAME_PART = rb"(?i:passw|passphrase|secret|token|pwd|api_?key|access_?key|private_?key|credential)"
_VALUE = rb"([^\s\"'`\\,;<>]{5,512})"
_REACH = 400

CANDIDATES = (
    rb"(?i:auth)(?:\\*\")?[ ]?[:=][ ]?(?:\\*\")?[A-Za-z0-9+/]{12}",
    rb":[0-9]{4,5}:[A-Za-z_*][A-Za-z0-9_*-]*:[A-Za-z_*]",
    rb"(?i:cookie)(?:\\*[\"'])?[ ]?:[ ]?",
    rb"(?:-b|--cookie)[ ](?:\\*[\"'])?[A-Za-z0-9_.-]*=",
    rb"(?i:name|key)(?:\\*[\"'])?[ ]?[:=][ ]?(?:\\*[\"'])?[A-Za-z/]*[_/-]?[A-Za-z]*[_/-]?" + _NAME_PART,
    rb"SecureString(?:\\+t|[ \t])",
    rb"(?i:kind)(?:\\*[\"'])?[ ]?:[ ]?(?:\\*[\"'])?Secret\b",
    rb"LS0tLS1CRUdJTi[A-Za-z0-9+/]{6}",
    rb"\$(?:apr1|[156y]|2[abxy]|argon2(?:id|i|d))\$[A-Za-z0-9./=,$+]{8}",
    rb"-----END [A-Z0-9 ]*PRIVATE KEY",
    rb"(?i:identified[ ](?:with[ ][a-z0-9_]+[ ])?by[ ]|password[ ]?\(?)\\*'",
    rb"otpauth://",
    rb"[?&;](?i:sig|x-amz-signature|x-goog-signature|x-amz-security-token)=[A-Za-z0-9%+/]{8}",
    rb"(?:print-access-token|print-identity-token|get-login-password|auth[ ]token|printenv[ ][A-Z0-9_]*)(?:\\+[nr]|[\r\n])",
    rb"(?i:password|passwd|passphrase|pwd|token|secret)[ \t]+(?:is[ ])?[A-Za-z0-9_+/.~!@#%^&*?-]{6}",
    rb"(?:ENV|ARG)[ ][A-Z0-9_]*(?:KEY|AUTH|CREDENTIALS?|DSN)[A-Z0-9_]*[ ][A-Za-z0-9_+/.~!@#%^&*?-]{6}",
)

_AUTH = compile_later(rb"(?i:auth)" + _QUOTE + rb"[ ]?[:=][ ]?" + _QUOTE + rb"([A-Za-z0-9+/]{12,512}={0,2})")
_PGPASS = compile_later(
    rb":[0-9]{4,5}:[A-Za-z0-9_*-]{1,64}:[A-Za-z0-9_*.@-]{1,64}:([^\s:\"'\\<>]{5,128})(?=[\s\"'\\]|\Z)"
)
_COOKIES = compile_later(
    rb"(?i:cookie" + _QUOTE + rb"[ ]?:[ ]?|-b[ ]|--cookie[ ])" + _QUOTE + rb"([^\r\n\"'\\]{8,4096})"
)
_COOKIE = compile_later(rb"=([^;,\s]{12,4096})")
_USER = compile_later(rb"://([A-Za-z0-9_.~%+-]{16,96})@(?=[A-Za-z0-9.%_-])(?!example\.)")
_PAIR_NAME = compile_later(
    rb"(?i:name|key)" + _QUOTE + rb"[ ]{0,2}[:=][ ]{0,2}" + _QUOTE + rb"([A-Za-z0-9_/.-]{1,96})" + _QUOTE
)
_PAIR_VALUE = compile_later(
    _SPACE + rb"*,?" + _SPACE + rb"*(?:" + _QUOTE + rb"(?i:type|kind|description)" + _QUOTE + rb"[ ]?[:=][ ]?" + _QUOTE
    + rb"[A-Za-z]{1,24}" + _QUOTE + rb",?" + _SPACE + rb"*)?" + _QUOTE + rb"(?i:value)" + _QUOTE + rb"[ ]{0,2}[:=][ ]{0,2}"
    + _QUOTE + _VALUE
)  # fmt: skip
_VALUE_BEFORE = compile_later(
    rb"(?i:value)"
    + _QUOTE
    + rb"[ ]{0,2}:[ ]{0,2}"
    + _QUOTE
    + _VALUE
    + _QUOTE
    + _SPACE
    + rb"*,?"
    + _SPACE
    + rb"*"
    + _QUOTE
    + rb"\Z"
)
_SECURE = compile_later(rb"SecureString(?:\\{1,15}t|[ \t]+)" + _VALUE)
_DATA = compile_later(rb"(?:^|[\s\"'{,n])(?:string)?[dD]ata" + _QUOTE + rb"[ ]?:")
_DATA_ITEM = compile_later(
    _QUOTE + rb"([A-Za-z0-9_.-]{1,128})" + _QUOTE + rb"[ ]?:[ ]?" + _QUOTE + rb"([^\s\"'\\,{}]{4,8192})"
)
_NEXT_BLOCK = compile_later(_NEWLINE + rb"(?![ \t-])|\}")
_ENCODED_KEY = compile_later(rb"LS0tLS1CRUdJTi[A-Za-z0-9+/]{16,16384}+={0,2}")
_CRYPT = compile_later(rb"\$(?:apr1|[156y]|2[abxy]|argon2(?:id|i|d))\$[A-Za-z0-9./=,$+]{20,256}+")
_KEY_END = compile_later(rb"-----END [A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)?-----")
_KEY_TAIL = compile_later(
    rb"(?:[A-Za-z0-9+/=]{16,80}"
    + _NEWLINE
    + rb"[ \t>|+*#;0-9\xe2\x86\x92]{0,16}){1,200}(?:[A-Za-z0-9+/=]{1,80}"
    + _NEWLINE
    + rb")?\Z"
)
_SQL = compile_later(
    rb"(?i:identified[ ](?:with[ ][a-z0-9_]{1,24}[ ])?by[ ]|password[ ]?\(?)\\{0,15}'([^'\"\\\s]{4,256})\\{0,15}'"
)
_OTP = compile_later(rb"otpauth://[^\s\"'\\]{1,256}?[?&]secret=([A-Za-z2-7]{8,256}+)")
_SIGNATURE = compile_later(
    rb"[?&;](?i:sig|x-amz-signature|x-goog-signature|x-amz-security-token)=([A-Za-z0-9%+/=_-]{16,2048}+)"
)
_OUTPUT = compile_later(
    rb"(?:print-access-token|print-identity-token|get-login-password|auth[ ]token|printenv[ ]([A-Z0-9_]{2,40}))"
    + _NEWLINE + rb"([^\s\"'\\<>]{8,4096})"
)  # fmt: skip
_SPACED = compile_later(
    rb"(?P<name>(?i:password|passwd|passphrase|pwd|token|secret)[A-Z0-9_]{0,16})(?P<space>[ \t]{1,24}(?:is[ ])?)"
    rb"(?P<value>[^\s\"'`\\,;<>(){}|=]{6,512})(?P<after>[\s\"'`\\<]|\Z)"
)
_DOCKER = compile_later(rb"(?:ENV|ARG)[ ]([A-Z0-9_]{3,48})[ ]" + _VALUE)
_NAME_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"


def is_basic(value: bytes) -> bool:
    """Whether a value is base64 of `user:password`."""
    try:
        text = b64decode(value + b"=" * (-len(value) % 4), validate=True)
    except (ValueError, Error):
        return False
    user, joint, password = text.partition(b":")
    return bool(joint) and len(password) > 2 and user.isascii() and all(32 <= byte < 127 for byte in text)


def _looks_random(value: bytes, least: int = 16) -> bool:
    return (
        len(value) >= least
        and any(48 <= byte < 58 for byte in value)
        and any(byte > 64 for byte in value)
        and not is_wordlike(value)
        and not is_placeholder(value)
        and (character_changes(value) > 0.2 or len(value) >= 32)
    )


def _auth(block: bytes, start: int) -> Examined | None:
    match = _AUTH().match(block, start)
    if match is None or not is_basic(match[1]):
        return None
    return [Span(*match.span(1), "basic-credentials")], match.end()


def _pgpass(block: bytes, start: int) -> Examined | None:
    match = _PGPASS().match(block, start)
    if match is None or not is_given_password(match[1]):
        return None
    return [Span(*match.span(1), "password-file")], match.end()


def _cookie(block: bytes, start: int) -> Examined | None:
    match = _COOKIES().match(block, start)
    if match is None:
        return None
    begin = match.start(1)
    found = [
        Span(begin + each.start(1), begin + each.end(1), "cookie")
        for each in _COOKIE().finditer(match[1])
        if _looks_random(each[1])
    ]
    return (found, found[-1].end) if found else None


def _url_user(block: bytes, start: int) -> Examined | None:
    match = _USER().match(block, start)
    if match is None or not _looks_random(match[1]) or b"." in match[1].strip(b"."):
        return None
    return [Span(*match.span(1), "url-user")], match.end()


def _pair(block: bytes, start: int) -> Examined | None:
    """`"name": "DB_PASSWORD", "value": "…"` in either order."""
    name = _PAIR_NAME().match(block, start)
    if name is None or weigh_name(name[1]) == "none":
        return None
    match = _PAIR_VALUE().match(block, name.end(), name.end() + _REACH)
    if match is None:
        begin = max(0, start - _REACH)
        match = _VALUE_BEFORE().search(block, begin, start)
    if match is None or not is_given_password(match[1]):
        return None
    return [Span(*match.span(1), "assigned-secret")], max(name.end(), match.end())


def _secure_string(block: bytes, start: int) -> Examined | None:
    match = _SECURE().match(block, start)
    if match is None or not is_given_password(match[1]):
        return None
    return [Span(*match.span(1), "assigned-secret")], match.end()


def _kubernetes(block: bytes, start: int) -> Examined | None:
    """The data of a Kubernetes secret, within reach of its kind."""
    if block[start : start + 4].lower() != b"kind":
        return None
    found: list[Span] = []
    begin, end = max(0, start - 4 * _REACH), start + 4 * _REACH
    for data in _DATA().finditer(block[begin:end]):
        at = begin + data.end()
        stop = _NEXT_BLOCK().search(block, at, at + 4 * _REACH)
        found += [
            Span(*item.span(2), "kubernetes-secret")
            for item in _DATA_ITEM().finditer(block, at, stop.start() if stop else at + 4 * _REACH)
            if not is_placeholder(item[2]) and any(byte > 57 for byte in item[2])
        ]
    return (found, max(start + 6, found[-1].end)) if found else None


def _encoded_key(block: bytes, start: int) -> Examined | None:
    match = _ENCODED_KEY().match(block, start)
    if match is None:
        return None
    text = match[0].rstrip(b"=")[:80]
    if b"PRIVATE KEY" not in b64decode(text[: len(text) // 4 * 4]):
        return None
    return [Span(*match.span(), "private-key")], match.end()


def _crypt(block: bytes, start: int) -> Examined | None:
    match = _CRYPT().match(block, start)
    return ([Span(*match.span(), "password-hash")], match.end()) if match else None


def _key_end(block: bytes, start: int) -> Examined | None:
    """The second half of a private key."""
    match = _KEY_END().match(block, start)
    if match is None:
        return None
    tail = _KEY_TAIL().search(block, max(0, start - 8192), start)
    return ([Span(tail.start(), match.end(), "private-key")], match.end()) if tail else ([], match.end())


def _sql(block: bytes, start: int) -> Examined | None:
    match = _SQL().match(block, start)
    if match is None or not is_given_password(match[1]):
        return None
    return [Span(*match.span(1), "sql-password")], match.end()


def _one_time(block: bytes, start: int) -> Examined | None:
    match = _OTP().match(block, start)
    return ([Span(*match.span(1), "one-time-secret")], match.end()) if match else None


def _signature(block: bytes, start: int) -> Examined | None:
    match = _SIGNATURE().match(block, start)
    return ([Span(*match.span(1), "url-signature")], match.end()) if match and _looks_random(match[1]) else None


def _output(block: bytes, start: int) -> Examined | None:
    """What a command prints that prints a secret."""
    match = _OUTPUT().match(block, start)
    if match is None or (match[1] and weigh_name(match[1]) == "none") or not _looks_random(match[2], 8):
        return None
    return [Span(*match.span(2), "assigned-secret")], match.end()


def _value_after_space(block: bytes, start: int) -> Examined | None:
    """A name and its value with only space between them: `.netrc`, tables, `ENV NAME value`, sentences."""
    match = _SPACED().match(block, start)
    if match is None:
        return None
    left = block[max(0, start - 48) : start]
    name = left[len(left.rstrip(_NAME_BYTES)) :] + match["name"]
    value = match["value"].rstrip(b".:!?")
    weight = weigh_name(name)
    if weight == "password":
        secret = is_given_password(value) and not is_wordlike(value) and any(48 <= byte < 58 for byte in value)
    else:
        secret = weight != "none" and _looks_random(value, 20) and character_changes(value) > 0.3
    if not secret or value.startswith((b"-", b"/", b"http")):
        return None
    begin = match.start("value")
    return [Span(begin, begin + len(value), "assigned-secret")], begin + len(value)


def _docker(block: bytes, start: int) -> Examined | None:
    match = _DOCKER().match(block, start)
    if match is None or weigh_name(match[1]) == "none" or not _looks_random(match[2], 8):
        return None
    return [Span(*match.span(2), "assigned-secret")], match.end()


EXAMINERS: tuple[tuple[Callable[[bytes, int], Examined | None], bytes], ...] = (
    (_auth, b"aA"),
    (_pgpass, b":"),
    (_cookie, b"cC-"),
    (_url_user, b":"),
    (_pair, b"nNkK"),
    (_secure_string, b"S"),
    (_kubernetes, b"kK"),
    (_encoded_key, b"L"),
    (_crypt, b"$"),
    (_key_end, b"-"),
    (_sql, b"iIpP"),
    (_one_time, b"o"),
    (_signature, b"?&;"),
    (_output, b"pga"),
    (_value_after_space, b"pPtTsS"),
    (_docker, b"EA"),
)
"""Each with the first bytes of its candidates."""

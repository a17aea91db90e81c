"""What secrets look like that are assigned to a telling name, or that only look random.

Knows nothing of where they are; `redact.py` finds them.
"""

import re
from collections.abc import Callable
from functools import cache, partial
from typing import Literal, NamedTuple, TypeAlias


class Span(NamedTuple):
    """A secret in a block."""

    start: int
    end: int
    kind: str


Examined: TypeAlias = tuple[list[Span], int]
"""The secrets at a candidate, and the position to continue from."""


# Values that are assigned to a name: `API_KEY=…`, `"password": "…"`.
QuotingStyle: TypeAlias = Literal["quoted", "environment", "plain"]
"""`"value"`, `NAME=value` (upper case, no spaces) or anything else without quotes (YAML, INI, code)."""

NameWeight: TypeAlias = Literal["password", "strong", "weak", "none"]
"""How much a name says about its value being a secret; `password`: even a short or wordlike value is one."""


def compile_later(pattern: bytes) -> Callable[[], re.Pattern[bytes]]:
    """A function that compiles the pattern on its first call, so that importing stays fast."""
    return cache(partial(re.compile, pattern))


class NamedValue(NamedTuple):
    """A name and its value, without quotes."""

    name: bytes
    value: bytes
    style: QuotingStyle


_NAME_WORDS = compile_later(rb"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PASSWORD = (b"password", b"passwd", b"passwort", b"passphrase", b"pwd")
_SHORT = (b"pass", b"psk", b"pw", b"passcode")
_STRONG = (b"secret", b"credential", b"apikey", b"authtoken", b"accesstoken", b"accesskey", b"privatekey")
_KEYS = (b"key", b"token")
_QUALIFIERS = frozenset(
    b"api auth access private client secret signing encryption encrypt master session refresh bearer "
    b"account bot webhook deploy admin service app personal pat oauth jwt authorization security registry "
    b"publish".split()
)
_ABOUT = frozenset(
    b"id ids name names file files filename path paths dir url uri endpoint type types kind count counts "
    b"len length size limit max min num total used usage budget field fields label title prompt "
    b"placeholder hint header headers policy format regex pattern prefix suffix public pub expires expiry "
    b"expiration ttl at time date version algorithm alg provider store storage class validator error "
    b"message msg column col index idx map ref env var variable fingerprint sort primary foreign partition "
    b"cache lookup object event translation cursor page next continuation sync binding bindings code board "
    b"boards frame frames word words press down up idempotency dedup query react registered consistency "
    b"signature checksum digest group row arn alias scope scopes strength reset".split()
)
"""Words in names of things that are no secret: facts about a secret, or other kinds of keys."""

_PLACEHOLDER = compile_later(
    rb"(?i)\.\.\.|\xe2\x80\xa6|x{4,}|\*{3,}|#{3,}|\?{3,}|%s|%\(|\$\{|\{\{|://|^[@#%][a-z_]+$|^sha(?:1|256|384|512)[-:]|^AAAA"
    rb"|redacted|placeholder|changeme|change-me|change_me|^(?:process|os|env|ENV|config|settings|self|this|import)\."
)
_DUMMY = compile_later(
    rb"(?i)^(?:your|my|the|an?|some|any|insert|replace|enter|put|todo|example|sample|demo|dummy|fake|mock|stub|test|testing|"
    rb"foo|bar|baz|qux|hello|hidden|masked|none|null|nil|true|false|undefined|default|invalid|wrong|bad|good|valid|correct|"
    rb"expected|old|new|super|secret|password|passwd|pass|passw0rd|p@ssw0rd|pwd|token|key|api|admin|root|user|guest|postgres|"
    rb"mysql|redis|mongo|minio|string|bytes|int|bool|optional|str|local|dev|abc|1234|0000)"
)
_WORD_PART = compile_later(
    rb"(?:[A-Z]{1,}|[A-Z]?[a-z]+)?(?:[A-Z][a-z]{2,})*[A-Z]?[0-9]{0,4}|[0-9]+[a-z]{0,2}|v[0-9]+|[0-9]{1,14}"
)
_PARTS = compile_later(rb"[^A-Za-z0-9]+")
_IDENTIFIER = compile_later(rb"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")
_HEXADECIMAL = compile_later(rb"(?:0x)?(?:[0-9a-f]+|[0-9A-F]+)")
_UUID = compile_later(rb"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_MAIL = compile_later(rb"[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_DIGIT = compile_later(rb"[0-9]")
_LETTER = compile_later(rb"[A-Za-z]")
_SPECIAL = compile_later(rb"[!@#$%^&*~?+=]")
_CHANGES = compile_later(rb"(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[a-z0-9]|(?<=[0-9])[A-Za-z]")


def is_secret(assigned: NamedValue) -> bool:
    """Whether the value is a secret."""
    value = assigned.value
    weight = weigh_name(assigned.name)
    if weight == "none" or _PLACEHOLDER().search(value) or _MAIL().fullmatch(value):
        return False
    if not _LETTER().search(value) or (len(value) < 24 and _DUMMY().match(value)):
        return False
    if weight == "weak" and assigned.style != "plain" and assigned.name.isupper():
        weight = "strong"
    if weight == "password":
        return _is_password(assigned)
    if not _DIGIT().search(value) or is_wordlike(value):
        return False
    if weight == "strong":
        return _is_strong(assigned)
    if _HEXADECIMAL().fullmatch(value) or _UUID().fullmatch(value):
        return False
    return len(value) >= 24 and value != value.lower() and value != value.upper() and character_changes(value) > 0.25


def _is_password(assigned: NamedValue) -> bool:
    value = assigned.value
    if assigned.style == "plain":
        # Without quotes the name of a variable looks just like a password.
        if _IDENTIFIER().fullmatch(value):
            return len(value) >= 8 and bool(_DIGIT().search(value)) and b"." not in value and b"_" not in value
        return bool(_DIGIT().search(value)) and not is_wordlike(value)
    if _DIGIT().search(value) or _SPECIAL().search(value):
        return not (is_wordlike(value) and _PARTS().search(value) and not _SPECIAL().search(value))
    return assigned.style == "environment" and len(value) >= 8 and value.isalpha() and assigned.name.isupper()


def _is_strong(assigned: NamedValue) -> bool:
    value = assigned.value
    if assigned.style == "plain":
        return (
            len(value) >= 16
            and character_changes(value) > 0.2
            and not (b"." in value and _IDENTIFIER().fullmatch(value))
        )
    return len(value) >= 8


def weigh_name(name: bytes) -> NameWeight:
    """How likely the value of a name is a secret."""
    words = [word.lower() for word in _NAME_WORDS().findall(name)]
    weight: NameWeight = "none"
    for index, word in enumerate(words):
        if word in _ABOUT:
            return "none"
        if word.endswith(_PASSWORD) or word in _SHORT:
            weight = "password"
        elif weight != "password" and word.startswith(_STRONG):
            weight = "strong"
        elif weight == "none" and word in _KEYS:
            weight = "strong" if index and words[index - 1] in _QUALIFIERS else "weak"
    return weight


def is_wordlike(value: bytes) -> bool:
    """Whether the value consists of words, numbers and versions: `user-profile_v2`, `src/keys/main.py`."""
    return all(_WORD_PART().fullmatch(part) for part in _PARTS().split(value))


def character_changes(value: bytes) -> float:
    """How often lower case, upper case and digits alternate, per character: about 0.6 if random, under 0.2 in words."""
    return len(_CHANGES().findall(value)) / max(len(value) - 1, 1)


def is_placeholder(value: bytes) -> bool:
    """Whether the value stands for one, such as `${TOKEN}`, `xxxx` or `changeme`."""
    return _PLACEHOLDER().search(value) is not None


def is_given_password(value: bytes) -> bool:
    """Whether a value in the place of a password is one, and no variable, placeholder or common dummy."""
    if len(value) < 5 or value[:1] in b"$%<{[(-@&" or is_placeholder(value) or not _LETTER().search(value):
        return False
    if len(value) < 24 and _DUMMY().match(value):
        return False
    return bool(_DIGIT().search(value) or _SPECIAL().search(value)) or (
        len(value) >= 8 and character_changes(value) > 0.2
    )


_UNICODE_ESCAPE = compile_later(rb"\\u[0-9a-fA-F]{4}")


def begins_word(block: bytes, start: int) -> bool:
    """Whether no letter or digit comes before, other than one of an escape such as `\\n`."""
    if start == 0 or not block[start - 1 : start].isalnum():
        return True
    return block[start - 2 : start - 1] == b"\\" or _UNICODE_ESCAPE().match(block, max(start - 6, 0)) is not None

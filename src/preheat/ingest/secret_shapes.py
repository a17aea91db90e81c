"""What secrets look like: credentials with a prefix of their provider, and values that are assigned to a telling name.

Knows nothing of where they are; `redact.py` finds them.
"""

import re
from collections.abc import Callable
from functools import cache, partial
from typing import Literal, NamedTuple, TypeAlias

# Credentials with a prefix of their provider.
ALNUM = b"A-Za-z0-9"
WORD = b"A-Za-z0-9_-"
HEX = b"0-9a-f"


class Token(NamedTuple):
    """A credential that its own prefix gives away."""

    kind: str
    prefix: bytes
    body: bytes
    least: int
    whole_word: bool = False
    """Whether letters before the prefix mean that it is something else (`task-…` is no `sk-…`)."""


TOKENS = (
    Token("anthropic-key", rb"sk-ant-", WORD, 20),
    Token("openrouter-key", rb"sk-or-", WORD, 20),
    Token("openai-key", rb"sk-(?:proj|svcacct|admin|None)-", WORD, 20),
    Token("langfuse-key", rb"sk-lf-", WORD, 20),
    Token("openai-key", rb"sk-", ALNUM, 20, True),
    Token("github-token", rb"gh[pousr]_", ALNUM, 30),
    Token("github-token", rb"github_pat_", b"A-Za-z0-9_", 22),
    Token("gitlab-token", rb"gl(?:pat|dt|rt|ptt|soat|cbt|agent|imt)-", b"A-Za-z0-9_.-", 20),
    Token("aws-access-key-id", rb"A(?:KIA|SIA)", b"A-Z0-9", 16, True),
    Token("aws-bedrock-key", rb"ABSK", b"A-Za-z0-9+/=", 100, True),
    Token("google-key", rb"AIza", WORD, 35, True),
    Token("google-oauth", rb"ya29\.", WORD, 30),
    Token("google-oauth", rb"GOCSPX-", WORD, 24),
    Token("slack-token", rb"xox[abeoprs]-", b"A-Za-z0-9-", 10),
    Token("slack-token", rb"xapp-[0-9]-", b"A-Za-z0-9-", 20),
    Token("slack-webhook", rb"hooks\.slack\.com/(?:services|workflows|triggers)/", b"A-Za-z0-9_/-", 20),
    Token("discord-webhook", rb"discord(?:app)?\.com/api/webhooks/[0-9]{10,25}/", WORD, 30),
    Token("stripe-key", rb"[sr]k_(?:live|test|prod)_", ALNUM, 16),
    Token("stripe-webhook-secret", rb"whsec_", b"A-Za-z0-9+/=", 24),
    Token("npm-token", rb"npm_", ALNUM, 30),
    Token("pypi-token", rb"pypi-A", WORD, 40),
    Token("rubygems-key", rb"rubygems_", HEX, 40),
    Token("hugging-face-token", rb"hf_", ALNUM, 30),
    Token("sendgrid-key", rb"SG\.[A-Za-z0-9_-]{16,32}\.", WORD, 30),
    Token("twilio-key", rb"SK", HEX, 32, True),
    Token("digitalocean-token", rb"do[opr]_v1_", HEX, 40),
    Token("groq-key", rb"gsk_", ALNUM, 30),
    Token("xai-key", rb"xai-", ALNUM, 40),
    Token("cerebras-key", rb"csk-", ALNUM, 40, True),
    Token("perplexity-key", rb"pplx-", ALNUM, 40),
    Token("tavily-key", rb"tvly-", WORD, 28),
    Token("replicate-token", rb"r8_", ALNUM, 30),
    Token("e2b-key", rb"e2b_", HEX, 40),
    Token("elevenlabs-key", rb"sk_", HEX, 40, True),
    Token("langsmith-key", rb"lsv2_(?:pt|sk)_", b"A-Za-z0-9_", 30),
    Token("cloudflare-key", rb"v1\.0-[0-9a-f]{24}-", HEX, 100),
    Token("databricks-token", rb"dapi", b"0-9a-f-", 32, True),
    Token("doppler-token", rb"dp\.(?:pt|st|ct|sa|scim|audit)\.", b"A-Za-z0-9_.-", 40),
    Token("vault-token", rb"hv[sbr]\.", WORD, 24),
    Token("notion-token", rb"ntn_", ALNUM, 40),
    Token("linear-key", rb"lin_(?:api|oauth)_", ALNUM, 32),
    Token("figma-token", rb"fig[dour]_", WORD, 30),
    Token("shopify-token", rb"shp(?:at|ca|pa|ss|tka)_", HEX, 32),
    Token("postman-key", rb"PMAK-", b"0-9a-f-", 50),
    Token("grafana-token", rb"gl(?:sa|c)_", b"A-Za-z0-9_+/=", 40),
    Token("atlassian-token", rb"ATATT3", b"A-Za-z0-9_=-", 100),
    Token("new-relic-key", rb"NRAK-", b"A-Z0-9", 27),
    Token("sentry-token", rb"sntry[su]_", b"A-Za-z0-9_=+/", 60),
    Token("supabase-key", rb"sb(?:p|_secret)_", b"A-Za-z0-9_-", 20),
    Token("planetscale-token", rb"pscale_(?:tkn|oauth|pw)_", b"A-Za-z0-9_.=-", 32),
    Token("pulumi-token", rb"pul-", HEX, 40),
    Token("fly-token", rb"fm2_", b"A-Za-z0-9+/=", 60),
    Token("netlify-token", rb"nfp_", ALNUM, 36),
    Token("age-secret-key", rb"AGE-SECRET-KEY-1", b"A-Z0-9", 50),
    Token("azure-secret", rb"[78]Q~", b"A-Za-z0-9_~.-", 31),
)


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
        if word.endswith(_PASSWORD):
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

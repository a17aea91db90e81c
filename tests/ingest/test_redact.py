"""Redaction removes every planted secret, changes nothing else, and takes linear time on hostile input."""

import base64
import json
import random
import string
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.ingest.redact import redact
from tests.growth import grows_in_proportion

CHANCE = random.Random(20)
ALNUM = string.ascii_letters + string.digits
WORD = ALNUM + "_-"
HEX = "0123456789abcdef"
BASE64 = ALNUM + "+/"


def random_text(length: int, alphabet: str = ALNUM) -> str:
    """Random text with a letter and a digit near its beginning, like a real secret."""
    middle = "".join(CHANCE.choice(alphabet) for _ in range(length - 4))
    edge = "a7" if "a" in alphabet else "A7"
    return edge + middle + edge


def key(*parts: str) -> str:
    return "".join(parts)


PEM_LINES = [random_text(64, BASE64) for _ in range(4)]
BEGIN, END = key("-----BEGIN RSA PRIV", "ATE KEY-----"), key("-----END RSA PRIV", "ATE KEY-----")
JWT = ".".join(("ey" + "J" + random_text(30, WORD), "ey" + "J" + random_text(60, WORD), random_text(43, WORD)))
AWS_ID = key("AK", "IA", random_text(16, string.ascii_uppercase + "234567"))
AWS_SECRET = random_text(40, BASE64)
BASIC = base64.b64encode(f"deploy:{random_text(18)}".encode()).decode()

# Kind and token.
TOKENS: list[tuple[str, str]] = [
    ("anthropic-key", key("sk-", "ant-api03-", random_text(93, WORD), "AA")),
    ("anthropic-key", key("sk-", "ant-oat01-", random_text(80, WORD))),
    ("anthropic-key", key("sk-", "ant-admin01-", random_text(80, WORD))),
    ("openai-key", key("sk-", "proj-", random_text(120, WORD))),
    ("openai-key", key("sk-", "svcacct-", random_text(80, WORD))),
    ("openai-key", key("sk-", random_text(20), "T3Blbk", "FJ", random_text(20))),
    ("openai-key", key("sk-", random_text(32, HEX))),
    ("openrouter-key", key("sk-", "or-v1-", random_text(64, HEX))),
    ("langfuse-key", key("sk-", "lf-", random_text(36, HEX))),
    ("github-token", key("gh", "p_", random_text(36))),
    ("github-token", key("gh", "o_", random_text(36))),
    ("github-token", key("gh", "u_", random_text(36))),
    ("github-token", key("gh", "s_", random_text(36))),
    ("github-token", key("gh", "r_", random_text(76))),
    ("github-token", key("github", "_pat_", random_text(22), "_", random_text(59))),
    ("gitlab-token", key("gl", "pat-", random_text(20, WORD))),
    ("aws-access-key-id", AWS_ID),
    ("aws-access-key-id", key("AS", "IA", random_text(16, string.ascii_uppercase + "234567"))),
    ("google-key", key("AI", "za", random_text(35, WORD))),
    ("google-oauth", key("ya", "29.", random_text(100, WORD))),
    ("google-oauth", key("GOC", "SPX-", random_text(28, WORD))),
    ("slack-token", key("xo", "xb-", random_text(12, string.digits), "-", random_text(24))),
    ("slack-token", key("xo", "xp-", random_text(12, string.digits), "-", random_text(32, HEX))),
    (
        "slack-webhook",
        key("hooks.sl", "ack.com/services/", "T", random_text(9), "/B", random_text(9), "/", random_text(24)),
    ),
    ("discord-webhook", key("discord.com/api/web", "hooks/", "1" * 9 + "234567890", "/", random_text(68, WORD))),
    ("stripe-key", key("sk", "_live_", random_text(24))),
    ("stripe-key", key("rk", "_live_", random_text(24))),
    ("stripe-webhook-secret", key("wh", "sec_", random_text(32))),
    ("npm-token", key("np", "m_", random_text(36))),
    ("pypi-token", key("py", "pi-", "AgEIcHlwaS5vcmc", random_text(140, WORD))),
    ("rubygems-key", key("ruby", "gems_", random_text(48, HEX))),
    ("hugging-face-token", key("h", "f_", random_text(34))),
    ("sendgrid-key", key("S", "G.", random_text(22, WORD), ".", random_text(43, WORD))),
    ("twilio-key", key("S", "K", random_text(32, HEX))),
    ("digitalocean-token", key("do", "p_v1_", random_text(64, HEX))),
    ("groq-key", key("gs", "k_", random_text(52))),
    ("xai-key", key("xa", "i-", random_text(80))),
    ("perplexity-key", key("pp", "lx-", random_text(48))),
    ("replicate-token", key("r", "8_", random_text(37))),
    ("cloudflare-key", key("v1", ".0-", random_text(24, HEX), "-", random_text(146, HEX))),
    ("azure-secret", key("8", "Q~", random_text(34, WORD))),
    ("databricks-token", key("da", "pi", random_text(32, HEX))),
    ("vault-token", key("hv", "s.", random_text(90, WORD))),
    ("notion-token", key("nt", "n_", random_text(46))),
    ("linear-key", key("lin", "_api_", random_text(40))),
    ("figma-token", key("fi", "gd_", random_text(40, WORD))),
    ("shopify-token", key("shp", "at_", random_text(32, HEX))),
    ("postman-key", key("PM", "AK-", random_text(24, HEX), "-", random_text(34, HEX))),
    ("grafana-token", key("gl", "sa_", random_text(32), "_", random_text(8, HEX))),
    ("atlassian-token", key("AT", "ATT3", random_text(180, WORD))),
    ("new-relic-key", key("NR", "AK-", random_text(27, string.ascii_uppercase + string.digits))),
    ("supabase-key", key("sb", "p_", random_text(40, HEX))),
    ("tavily-key", key("tv", "ly-", random_text(32))),
    ("langsmith-key", key("ls", "v2_pt_", random_text(32, HEX), "_", random_text(10, HEX))),
    ("netlify-token", key("nf", "p_", random_text(36))),
    ("age-secret-key", key("AGE-SEC", "RET-KEY-1", random_text(58, string.ascii_uppercase + string.digits))),
    ("telegram-token", key("712345678", ":A", "A", random_text(33, WORD))),
    ("jwt", JWT),
    ("jwt", JWT.rsplit(".", 1)[0]),
]

HEX32, UUID = random_text(32, HEX), "9f8e7d6c-5b4a-4938-8271-605f4e3d2c1b"
RANDOM = [random_text(24) for _ in range(12)]

IN_CONTEXT: list[tuple[str, str, str]] = [
    ("private-key", PEM_LINES[1], "\n".join((BEGIN, *PEM_LINES, END))),
    ("private-key", PEM_LINES[3], "\n".join((BEGIN, *PEM_LINES))),
    ("private-key", PEM_LINES[2], "\n".join((BEGIN, *PEM_LINES[:3], PEM_LINES[3][:17]))),
    ("private-key", PEM_LINES[2], "\r\n".join((BEGIN, *PEM_LINES, END))),
    (
        "private-key",
        PEM_LINES[2],
        "\n".join((BEGIN, "Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,0A1B2C", "", *PEM_LINES, END)),
    ),
    (
        "private-key",
        PEM_LINES[0],
        "\n".join(f"{number:6}→{line}" for number, line in enumerate((BEGIN, *PEM_LINES, END), 1)),
    ),
    ("private-key", PEM_LINES[2], "\n".join("+" + line for line in (BEGIN, *PEM_LINES, END))),
    ("private-key", PEM_LINES[2], BEGIN.replace("RSA ", "") + "\n" + "\n".join(PEM_LINES)),
    ("private-key", PEM_LINES[2], "\n".join((BEGIN, *PEM_LINES, END)).replace("RSA", "OPENSSH")),
    ("aws-secret-key", AWS_SECRET, f"{AWS_ID} {AWS_SECRET}"),
    ("aws-secret-key", AWS_SECRET, f"Access key ID,Secret\n{AWS_ID},{AWS_SECRET}"),
    ("aws-secret-key", AWS_SECRET, f"AWS_SECRET_ACCESS_KEY={AWS_SECRET}"),
    ("aws-secret-key", AWS_SECRET, f"aws_secret_access_key = {AWS_SECRET}"),
    ("aws-secret-key", AWS_SECRET, f'"SecretAccessKey": "{AWS_SECRET}"'),
    ("aws-secret-key", AWS_SECRET, f"the aws secret is {AWS_SECRET} by the way"),
    ("authorization", RANDOM[0], f"Authorization: Bearer {RANDOM[0]}"),
    ("authorization", RANDOM[0], f'curl -H "Authorization: Bearer {RANDOM[0]}" https://api.host.test'),
    ("authorization", RANDOM[1], f'{{"Authorization": "Bearer {RANDOM[1]}"}}'),
    ("authorization", RANDOM[2], f"authorization: token {RANDOM[2]}"),
    ("authorization", BASIC, f"Authorization: Basic {BASIC}"),
    ("authorization", RANDOM[3], f"sent `bearer {RANDOM[3]}` and got 401"),
    ("url-password", "hunter2", key("postgres://app:", "hunter2", "@db.internal:5432/app")),
    ("url-password", RANDOM[4], f"redis://:{RANDOM[4]}@cache:6379/0"),
    ("url-password", RANDOM[5], f"git clone https://me:{RANDOM[5]}@git.host.test/x.git"),
    ("url-password", "p%40ss:w0rd", key("mongodb+srv://root:", "p%40ss:w0rd", "@cluster0.abc.test/?w=1")),
    ("assigned-secret", RANDOM[6], f"API_KEY={RANDOM[6]}"),
    ("assigned-secret", RANDOM[6], f"export STRANGE_SERVICE_TOKEN={RANDOM[6]}\nNEXT=1"),
    ("assigned-secret", RANDOM[6], f'API_KEY="{RANDOM[6]}"'),
    ("assigned-secret", RANDOM[7], f"api_key: {RANDOM[7]}\nother: 1"),
    ("assigned-secret", RANDOM[7], f"client_secret = '{RANDOM[7]}'"),
    ("assigned-secret", RANDOM[7], f'const apiKey: string = "{RANDOM[7]}";'),
    ("assigned-secret", RANDOM[8], f'{{"accessToken": "{RANDOM[8]}", "ok": true}}'),
    ("assigned-secret", RANDOM[8], f"{{'auth_token': '{RANDOM[8]}'}}"),
    ("assigned-secret", RANDOM[9], f"https://host.test/cb?access_token={RANDOM[9]}&state=1"),
    ("assigned-secret", RANDOM[9], f"run --api-key {RANDOM[9]} now"),
    ("assigned-secret", RANDOM[9], f"run --api-key={RANDOM[9]} now"),
    ("assigned-secret", HEX32, f"SECRET_KEY_BASE={HEX32}"),
    ("assigned-secret", HEX32, f"x-api-key: {HEX32}"),
    ("assigned-secret", UUID, f"HEROKU_API_KEY={UUID}"),
    ("assigned-secret", "hunter2", "DB_PASSWORD=" + "hunter2"),
    ("assigned-secret", "Tr0ub4dor&3", 'password = "' + "Tr0ub4dor&3" + '"'),
    ("assigned-secret", "letmeinplease", "ADMIN_PASSWORD=" + "letmeinplease"),
    ("assigned-secret", "s3cr3tpw", "  password: " + "s3cr3tpw" + "\n  user: app"),
    ("assigned-secret", "kT9vQ2mZ", "<password>" + "kT9vQ2mZ" + "</password>"),
    ("assigned-secret", "kT9v!Q2mZ", '{"db": {"passwd": "' + "kT9v!Q2mZ" + '"}}'),
    ("assigned-secret", RANDOM[10], f"AccountKey={RANDOM[10]}=="),
    ("assigned-secret", RANDOM[11], f"token := `{RANDOM[11]}`".replace("token", "authToken")),
]

PLAIN: list[str] = [
    "password = getpass()",
    "password = getpass.getpass('Password: ')",
    "token = tokens[0]",
    "token = next(tokenizer)",
    "max_tokens=4096",
    '{"usage":{"input_tokens":12345678,"cache_read_input_tokens":123456789,"output_tokens":99}}',
    "sorted(items, key=lambda pair: pair[1])",
    "sorted(items, key=operator.itemgetter(1))",
    "key=str.casefold",
    "API_KEY=your_key_here",
    "API_KEY=xxxxxxxxxxxxxxxx",
    "API_KEY=<your-api-key>",
    "API_KEY=${API_KEY}",
    "API_KEY=$OTHER_API_KEY1",
    "API_KEY=$(cat key.txt)",
    "PASSWORD=changeme",
    'PASSWORD="changeme123"',
    "apiKey: process.env.OPENAI_API_KEY1",
    "api_key=os.environ['OPENAI_API_KEY']",
    'api_key = os.getenv("OPENAI_API_KEY")',
    "password: string;",
    "password: str = ''",
    "password: Optional[str] = None",
    "Password: Please enter your password",
    "the password: it must have 8 characters, 1 digit",
    "PWD=/home/dev/project1",
    "OLDPWD=/var/tmp/build2",
    "KEY_FILE=/etc/ssl/private/server1.pem",
    'secretName: "tls-secret-v1"',
    'cache_key = "user_profile_v2"',
    '{"key": "ArrowDown"}',
    '{"key": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}',
    '{"idempotency_key": "9f8e7d6c-5b4a-4938-8271-605f4e3d2c1b"}',
    '{"token_type": "Bearer", "expires_in": 3600}',
    "commit 8968cbb0a1b2c3d4e5f60718293a4b5c6d7e8f90",
    "git checkout 8968cbb0a1b2c3d4e5f60718293a4b5c6d7e8f90 -- src",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    'integrity="sha512-' + "A1b2C3d4" * 10 + '=="',
    '{"signature":"' + base64.b64encode(bytes(range(256)) * 8).decode() + '"}',
    '{"type":"base64","media_type":"image/png","data":"' + base64.b64encode(b"\x89PNG" * 900).decode() + '"}',
    "https://host.test:8443/path@v1",
    "http://localhost:8080/user@example.com",
    "ssh://git@host.test:2222/repo.git",
    "https://user:password@host.test/",
    "https://user:${PASSWORD}@host.test/",
    "https://{user}:{password}@host.test/",
    "postgres://postgres:postgres@localhost/app",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer <token>",
    "Authorization: Bearer YOUR_API_TOKEN",
    'headers["Authorization"] = f"Bearer {token}"',
    "basic authentication-and-authorization1",
    "Bearer authentication_scheme_v2",
    "if '-----BEGIN RSA PRIV" + "ATE KEY-----' in text: raise ValueError(text)",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
    "task-management-system-overview1, disk-usage-statistics-2024",
    "mask-1a2b3c4d5e6f7a8b9c0d1e2f",
    "risk-0123456789abcdef01234567",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "sk-ant-...",
    "sk-ant-your-key-here-please-now",
    "github_pat_ is the prefix of the new ones",
    "AKIA is the prefix; AKIAs are ids",
    "eyJhbGciOiJIUzI1NiJ9 alone is a header",
    "monkey = 'a7Bc9dEf1GhI2jKl3MnO4pQr5'",
    "keyboard: 'a7Bc9dEf1GhI2jKl3MnO4pQr5'",
    'nextPageToken: "CAUQAAxyz123ABC456def789GHI"',
    "public_key = 'a7Bc9dEf1GhI2jKl3MnO4pQr5'",
    "assert response.json()['token'] == expected_token1",
    "self.token=self._read_token1(stream)",
    "for token in tokenize.generate_tokens(readline1): pass",
    "PASSWORD_FIELD = 'user_password1'",
    "npm_config_registry=1 npm_package_version=2",
    "hf_hub_download(repo_id, filename)",
    "Secret access key: see the console",
]


def once(text: str) -> str:
    return json.dumps({"message": {"content": [{"type": "text", "text": text}]}}, ensure_ascii=False)


def twice(text: str) -> str:
    return json.dumps({"arguments": once(text)})


def plain(text: str) -> str:
    return text


CONTEXTS = [plain, once, twice]
POSITIVE = [(kind, secret, f"before {secret} after") for kind, secret in TOKENS] + IN_CONTEXT


def without_backslashes(text: str) -> str:
    """A text without backslashes: how a secret would be searched for."""
    return text.replace("\\", "")


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize(("kind", "secret", "text"), POSITIVE)
def test_a_secret_is_redacted_in_every_escaping(
    kind: str, secret: str, text: str, context: Callable[[str], str]
) -> None:
    before = context(text)
    after, counts = redact(before.encode())
    assert secret not in without_backslashes(after.decode())
    assert kind in counts
    if context is not plain:
        json.loads(after)
    if context is twice:
        json.loads(json.loads(after)["arguments"])
    assert after.decode().startswith(before[:7]) or before.startswith(text)


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("text", PLAIN)
def test_ordinary_text_is_the_same_object(text: str, context: Callable[[str], str]) -> None:
    block = context(text).encode()
    after, counts = redact(block)
    assert after is block, after
    assert counts == {}


def test_there_are_enough_cases_of_both_sorts() -> None:
    assert len(POSITIVE) >= 60
    assert len(PLAIN) >= 60


@pytest.mark.parametrize(("kind", "secret"), TOKENS)
@pytest.mark.parametrize(
    "neighbour", ["\n", "\r\n", "\t", '"', "'", "`", "(", "=", ":", "/", "\\", "é", "→", "<", ",", "&"]
)
def test_a_token_is_redacted_beside_any_character(kind: str, secret: str, neighbour: str) -> None:
    """A letter of an escape (`\\n`) before a token neither hides the token nor is cut off."""
    for context in CONTEXTS:
        after, counts = redact(context(f"x{neighbour}{secret}{neighbour}y").encode())
        assert secret not in without_backslashes(after.decode())
        assert secret[6:] not in after.decode()
        assert counts
        if context is not plain:
            json.loads(after)


def test_only_the_secret_changes() -> None:
    secret = key("gh", "p_", random_text(36))
    after, counts = redact(f'{{"a":"ünchanged \\u00e9 {secret} \\n rest"}}\n{{"b":1}}\n'.encode())
    assert after == '{"a":"ünchanged \\u00e9 [REDACTED:github-token] \\n rest"}\n{"b":1}\n'.encode()
    assert counts == {"github-token": 1}


def test_redaction_keeps_the_number_of_lines() -> None:
    text = "\n".join(("first", BEGIN, *PEM_LINES, END, "last")).encode()
    after, counts = redact(text)
    assert after.count(b"\n") == text.count(b"\n")
    assert after.startswith(b"first\n[REDACTED:private-key]")
    assert after.endswith(b"\nlast")
    assert counts == {"private-key": 1}


def test_the_kind_is_the_provider_where_it_is_known() -> None:
    assert redact(("OPENAI_API_KEY=" + TOKENS[3][1]).encode())[1] == {"openai-key": 1}
    assert redact(("Authorization: Bearer " + JWT).encode())[1] == {"jwt": 1}


TEXT = st.text(max_size=60)
SPACED = st.sampled_from([" ", "\n", "\t", '"', "'", "(", ",", "\r\n", "→"])
ANY_TOKEN = st.sampled_from([secret for _, secret in TOKENS])
ANY_TEXT = st.one_of(TEXT, st.sampled_from([text for _, _, text in POSITIVE]), st.sampled_from(PLAIN))


@given(st.lists(ANY_TEXT, max_size=5), st.sampled_from(["", " ", "\n", '"', "=", ": "]))
@settings(max_examples=300, deadline=None)
def test_redacting_again_changes_nothing(texts: list[str], joint: str) -> None:
    for context in CONTEXTS:
        first, _ = redact(context(joint.join(texts)).encode("utf-8", "surrogatepass"))
        assert redact(first) == (first, {})


JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), ANY_TEXT),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["password", "apiKey", "token", "text", "SECRET", "id"]), inner, max_size=4),
    ),
    max_leaves=12,
)


def keys_of(value: object) -> object:
    if isinstance(value, dict):
        return {name: keys_of(item) for name, item in value.items()}
    return [keys_of(item) for item in value] if isinstance(value, list) else None


@given(JSON_VALUES)
@settings(max_examples=300, deadline=None)
def test_a_json_line_stays_valid_with_the_same_keys(value: object) -> None:
    line = json.dumps(value).encode()
    after, counts = redact(line)
    assert keys_of(json.loads(after)) == keys_of(value)
    assert after is line or counts


@given(TEXT, SPACED, ANY_TOKEN, SPACED, TEXT)
@settings(max_examples=300, deadline=None)
def test_a_planted_token_is_always_redacted(before: str, left: str, secret: str, right: str, after: str) -> None:
    for context in CONTEXTS:
        result, _ = redact(context(before + left + secret + right + after).encode("utf-8", "surrogatepass"))
        assert secret.encode() not in result


@given(st.text(alphabet="abc \n.,()[]{}", max_size=400))
def test_text_without_candidates_is_unchanged(text: str) -> None:
    block = text.encode()
    assert redact(block)[0] is block


@given(st.binary(max_size=300))
def test_any_bytes_are_accepted(block: bytes) -> None:
    redact(block)


# Hostile input.
HOSTILE = {
    "access key ids": b"AKIA",
    "key ids with bodies": b"AKIAAKIAAKIAAKIAAKIA ",
    "begins": b"-----BEGIN PRIVATE KEY-----",
    "begins with lines": b"-----BEGIN RSA PRIVATE KEY-----\\nMIIEaaaaaaaaaaaaaaaaaaaaaaaa",
    "half begins": b"-----BEGIN ",
    "urls": b"://aaaa:",
    "urls with names": b"http://aaaa:bbbb",
    "web tokens": b"eyJ",
    "web tokens with dots": b"eyJhbGciOiJIUzI1NiJ9.",
    "assignments": b"key=",
    "quoted assignments": b'password="',
    "mixed quotes": b"key=\"abcdefgh'",
    "nested names": b"secret_key_",
    "long names": b"passwordpassword",
    "bearers": b"Bearer ",
    "authorizations": b"authorization: ",
    "short keys": b"sk-",
    "dashes": b"-",
    "backslashes": b"\\",
    "escaped quotes": b'token\\\\\\":\\\\\\"',
    "aws": b"aws secret access key ",
    "flags": b"--token ",
    "telegram": b"123456789:AA",
    "azure": b"7Q~",
    "real tokens": b"ghp" + b"_a7Bc9dEf1GhI2jKl3MnO4pQr5StU6vWx7YzA8 ",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_input_costs_linear_time(name: str) -> None:
    """Eight times the input costs about eight times the time; a quadratic cost would be sixty-four times."""
    text = (HOSTILE[name] * ((1 << 18) // len(HOSTILE[name]))).decode("ascii")
    grows_in_proportion(lambda part: redact(part.encode("ascii")), text)

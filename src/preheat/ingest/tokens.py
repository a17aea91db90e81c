"""Credentials that their own prefix gives away, by provider.

Knows the shapes only; finding them is the work of `redact.py`.
"""

from typing import NamedTuple

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

"""The credentials that their own form gives away: a table of kinds with prefix, alphabet, length, boundary and the fact's source.

Only facts are taken over (prefixes, lengths, alphabets); the rules are ours. Sources: `gl NAME` is a rule of gitleaks' published
configuration (MIT), `gh` GitHub's list of supported secret scanning patterns, `ds NAME` a plugin of detect-secrets (Apache-2.0),
`docs` the provider's own documentation or examples.
`gh` and `docs` are from memory and not looked up. Knows nothing of where a credential stands; `redact.py` finds it.
"""

from typing import NamedTuple

ALNUM = b"A-Za-z0-9"
WORD = b"A-Za-z0-9_-"
HEX = b"0-9a-f"
ANY_HEX = b"0-9a-fA-F"
UPPER = b"A-Z0-9"
LOWER = b"a-z0-9"
LETTERS = b"A-Za-z"
BASE64 = b"A-Za-z0-9+/="
DOTTED = b"A-Za-z0-9_.=-"
_UUID = rb"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}"
_LONGEST = 256
"""Bytes of a token that are judged; what follows of the same alphabet is taken out with it."""


class Token(NamedTuple):
    """A credential that its own form gives away."""

    kind: str
    prefix: bytes
    body: bytes
    least: int
    whole_word: bool = False
    """Whether letters beside it mean that it is something else (`task-…` is no `sk-…`)."""
    source: str = ""
    most: int = _LONGEST
    before: bytes = b""
    """What stands before the prefix and belongs to it. Only the prefix is searched for: a search for any letters is slow."""


# fmt: off
TOKENS = (
    # Models and their tools.
    Token("anthropic-key", rb"sk-ant-", WORD, 20, source="gl anthropic-api-key"),
    Token("openrouter-key", rb"sk-or-", WORD, 20, source="gh"),
    Token("openai-key", rb"sk-(?:proj|svcacct|admin|None)-", WORD, 20, source="gl openai-api-key"),
    Token("langfuse-key", rb"sk-lf-", WORD, 20, source="gh"),
    Token("openai-key", rb"sk-", ALNUM, 20, True, "gl openai-api-key"),
    Token("hugging-face-token", rb"hf_", ALNUM, 30, source="gl huggingface-access-token"),
    Token("hugging-face-token", rb"api_org_", LETTERS, 34, True, "gl huggingface-organization-api-token"),
    Token("groq-key", rb"gsk_", ALNUM, 30, source="gh"),
    Token("xai-key", rb"xai-", ALNUM, 40, source="gh"),
    Token("cerebras-key", rb"csk-", ALNUM, 40, True, "docs"),
    Token("perplexity-key", rb"pplx-", ALNUM, 40, source="gl perplexity-api-key"),
    Token("tavily-key", rb"tvly-", WORD, 28, source="gh"),
    Token("replicate-token", rb"r8_", ALNUM, 30, source="gh"),
    Token("nvidia-key", rb"nvapi-", WORD, 40, True, "gh"),
    Token("pinecone-key", rb"pcsk_", b"A-Za-z0-9_", 40, True, "gh"),
    Token("runpod-key", rb"rpa_", ALNUM, 36, True, "docs"),
    Token("modal-secret", rb"a[ks]-", ALNUM, 22, True, "docs", 22),
    Token("kaggle-token", rb"KGAT_", HEX, 32, True, "docs"),
    Token("brave-search-key", rb"BSA", WORD, 27, True, "docs", 28),
    Token("e2b-key", rb"e2b_", HEX, 40, source="gh"),
    Token("elevenlabs-key", rb"sk_", HEX, 40, True, "gh"),
    Token("langsmith-key", rb"lsv2_(?:pt|sk)_", b"A-Za-z0-9_", 30, source="gh"),
    # Code hosts and builds.
    Token("github-token", rb"gh[pousr]_", ALNUM, 30, source="gl github-pat"),
    Token("github-token", rb"github_pat_", b"A-Za-z0-9_", 22, source="gl github-fine-grained-pat"),
    Token("gitlab-token", rb"gl(?:pat|dt|rt|ptt|soat|cbt|agent|imt|ft|oas)-", b"A-Za-z0-9_.-", 20, source="gl gitlab-pat"),
    Token("bitbucket-token", rb"ATBB", ALNUM, 32, True, "gh", 32),
    Token("atlassian-token", rb"ATATT3", b"A-Za-z0-9_=-", 100, source="gl atlassian-api-token"),
    Token("buildkite-token", rb"bk(?:ua|at)_", HEX, 40, True, "gh"),
    Token("circleci-token", rb"CCIP(?:AT|RJ)_[A-Za-z0-9]{22}_", HEX, 40, True, "gh"),
    Token("sonar-token", rb"sq[upa]_", HEX, 40, True, "gl sonar-api-token"),
    Token("snyk-token", rb"snyk_(?:uat|sat)\.", b"A-Za-z0-9_.-", 40, True, "gh"),
    Token("npm-token", rb"npm_", ALNUM, 30, source="gl npm-access-token"),
    Token("pypi-token", rb"pypi-A", WORD, 40, source="gl pypi-upload-token"),
    Token("rubygems-key", rb"rubygems_", HEX, 40, source="gl rubygems-api-token"),
    Token("nuget-key", rb"oy2", LOWER, 43, True, "gh", 43),
    Token("clojars-token", rb"CLOJARS_", ALNUM, 60, True, "gl clojars-api-token"),
    Token("artifactory-token", rb"cmVmd", ALNUM, 59, True, "gl artifactory-reference-token", 59),
    Token("docker-token", rb"dckr_[op]at_", WORD, 24, True, "gh"),
    Token("octopus-key", rb"API-", UPPER, 26, True, "gl octopus-deploy-api-key", 26),
    Token("prefect-key", rb"pn[bu]_", ALNUM, 36, True, "gl prefect-api-token", 36),
    Token("readme-key", rb"rdme_", LOWER, 70, True, "gl readme-api-token"),
    Token("infracost-key", rb"ico-", ALNUM, 32, True, "gl infracost-api-token", 32),
    Token("dbt-token", rb"dbt[cu]_", WORD, 30, True, "docs"),
    # Clouds.
    Token("aws-access-key-id", rb"A(?:KIA|SIA|BIA|CCA)", b"A-Z0-9", 16, True, "gl aws-access-token"),
    Token("aws-bedrock-key", rb"ABSK", BASE64, 100, True, "gl aws-amazon-bedrock-api-key-long-lived"),
    Token("aws-session-token", rb"(?:IQoJb3JpZ2lu|FwoGZXIvYXdz|FQoGZXIvYXdz)", BASE64, 80, source="docs"),
    Token("aws-mws-token", rb"amzn\.mws\." + _UUID, HEX, 12, source="gh"),
    Token("google-key", rb"AIza", WORD, 35, True, "gl gcp-api-key"),
    Token("google-oauth", rb"ya29\.", WORD, 30, source="gh"),
    Token("google-oauth", rb"GOCSPX-", WORD, 24, source="gh"),
    Token("firebase-key", rb"AAAA[A-Za-z0-9_-]{7}:APA91b", WORD, 100, source="docs"),
    Token("recaptcha-secret", rb"6L[cdef]", WORD, 37, True, "docs", 37),
    Token("azure-secret", rb"[0-9]Q~", b"A-Za-z0-9_~.-", 31, False, "gl azure-ad-client-secret", before=rb"[A-Za-z0-9_~.]{0,3}"),
    Token("alibaba-key", rb"LTAI", ALNUM, 20, True, "gl alibaba-access-key-id", 20),
    Token("tencent-key", rb"AKID", ALNUM, 32, True, "gh", 32),
    Token("scaleway-key", rb"SCW", UPPER, 17, True, "gh", 17),
    Token("digitalocean-token", rb"do[opr]_v1_", HEX, 40, source="gl digitalocean-pat"),
    Token("cloudflare-key", rb"v1\.0-[0-9a-f]{24}-", HEX, 100, source="gl cloudflare-origin-ca-key"),
    Token("fly-token", rb"f(?:m[12][ar]?)_", BASE64, 60, source="gl flyio-access-token"),
    Token("netlify-token", rb"nfp_", ALNUM, 36, source="gh"),
    Token("render-key", rb"rnd_", ALNUM, 28, True, "docs"),
    Token("neon-key", rb"napi_", LOWER, 60, True, "gh"),
    Token("supabase-key", rb"sb(?:p|_secret)_", b"A-Za-z0-9_-", 20, source="gh"),
    Token("planetscale-token", rb"pscale_(?:tkn|oauth|pw)_", DOTTED, 32, source="gl planetscale-api-token"),
    Token("pulumi-token", rb"pul-", HEX, 40, source="gl pulumi-api-token"),
    Token("terraform-token", rb"\.atlasv1\.", DOTTED, 60, False, "gl hashicorp-tf-api-token", before=rb"[A-Za-z0-9]{14}"),
    Token("tailscale-key", rb"tskey-[a-z]{2,9}-", WORD, 24, True, "gh"),
    Token("yandex-key", rb"AQVN", WORD, 35, True, "gl yandex-api-key", 40),
    Token("yandex-token", rb"t1\.[A-Za-z0-9_=-]{16,200}\.", b"A-Za-z0-9_=-", 86, True, "gl yandex-access-token"),
    Token("openshift-token", rb"sha256~", WORD, 43, True, "gl openshift-user-token"),
    Token("scalingo-token", rb"tk-us-", WORD, 48, True, "gl scalingo-api-token"),
    Token("defined-networking-token", rb"dnkey-[A-Za-z0-9=_-]{26}-", WORD, 52, True, "gl defined-networking-api-token"),
    # Secrets about secrets.
    Token("1password-key", rb"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-", UPPER, 5, True,
          "gl 1password-secret-key", 5),
    Token("doppler-token", rb"dp\.(?:pt|st|ct|sa|scim|audit)\.", b"A-Za-z0-9_.-", 40, source="gl doppler-api-token"),
    Token("vault-token", rb"hv[sbr]\.", WORD, 24, source="gl vault-service-token"),
    Token("age-secret-key", rb"AGE-SECRET-KEY-1", b"A-Z0-9", 50, source="gl age-secret-key"),
    Token("authress-key", rb"(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.",
          b"A-Za-z0-9+/_=-", 30, True, "gl authress-service-client-access-key"),
    # Messages and mail.
    Token("slack-token", rb"xox[abeoprs]-", b"A-Za-z0-9-", 10, source="gl slack-bot-token"),
    Token("slack-token", rb"xapp-[0-9]-", b"A-Za-z0-9-", 20, source="gl slack-app-token"),
    Token("slack-webhook", rb"hooks\.slack\.com/(?:services|workflows|triggers)/", b"A-Za-z0-9_/-", 20,
          source="gl slack-webhook-url"),
    Token("discord-webhook", rb"discord(?:app)?\.com/api/webhooks/[0-9]{10,25}/", WORD, 30, source="gh"),
    Token("sendgrid-key", rb"SG\.[A-Za-z0-9_-]{16,32}\.", WORD, 30, source="gl sendgrid-api-token"),
    Token("twilio-key", rb"SK", HEX, 32, True, "gl twilio-api-key"),
    Token("mailchimp-key", rb"-us", b"0-9", 1, True, "gl mailchimp-api-key", 2, rb"[0-9a-f]{32}"),
    Token("hubspot-token", rb"pat-(?:na|eu)[0-9]-" + _UUID, HEX, 12, True, "gh", 12),
    # Payment and shops.
    Token("stripe-key", rb"[sr]k_(?:live|test|prod)_", ALNUM, 16, source="gl stripe-access-token"),
    Token("stripe-webhook-secret", rb"whsec_", BASE64, 24, source="gh"),
    Token("shopify-token", rb"shp(?:at|ca|pa|ss|tka)_", ANY_HEX, 32, source="gl shopify-access-token"),
    Token("square-token", rb"EAAA", WORD, 56, True, "gl square-access-token", 64),
    Token("square-secret", rb"sq0[a-z]{3}-", WORD, 22, True, "ds square_oauth"),
    Token("braintree-token", rb"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$", HEX, 32, True, "docs"),
    Token("plaid-token", rb"access-(?:sandbox|development|production)-" + _UUID, HEX, 12, True, "gl plaid-api-token"),
    Token("razorpay-key", rb"rzp_(?:live|test)_", ALNUM, 14, True, "gh"),
    Token("duffel-token", rb"duffel_(?:test|live)_", DOTTED, 43, source="gl duffel-api-token"),
    Token("easypost-key", rb"EZ[AT]K", ALNUM, 54, True, "gl easypost-api-token"),
    Token("shippo-token", rb"shippo_(?:live|test)_", ANY_HEX, 40, source="gl shippo-api-token"),
    # Watching and data.
    Token("databricks-token", rb"dapi", b"0-9a-f-", 32, True, "gl databricks-api-token"),
    Token("grafana-token", rb"gl(?:sa|c)_", b"A-Za-z0-9_+/=", 40, source="gl grafana-cloud-api-token"),
    Token("grafana-key", rb"eyJrIjoi", BASE64, 70, True, "gl grafana-api-key", 400),
    Token("new-relic-key", rb"NR(?:AK|II|RA|IQ)-", WORD, 27, True, "gl new-relic-user-api-key"),
    Token("dynatrace-token", rb"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.", UPPER, 64, source="gl dynatrace-api-token"),
    Token("honeycomb-key", rb"hc[a-z]{2}[a-z]_", LOWER, 58, True, "gh", 58),
    Token("sentry-token", rb"sntry[su]_", b"A-Za-z0-9_=+/", 60, source="gl sentry-user-token"),
    Token("segment-token", rb"sgp_", ALNUM, 64, True, "gh"),
    Token("clickhouse-key", rb"4b1d", ALNUM, 38, True, "gl clickhouse-cloud-api-secret-key", 38),
    Token("maxmind-key", rb"_mm", b"k", 1, True, "gl maxmind-license-key", 1, rb"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}"),
    # Work and design.
    Token("notion-token", rb"ntn_", ALNUM, 40, source="gl notion-api-token"),
    Token("notion-token", rb"secret_", ALNUM, 43, True, "gh", 43),
    Token("linear-key", rb"lin_(?:api|oauth)_", ALNUM, 32, source="gl linear-api-key"),
    Token("figma-token", rb"fig[dour]_", WORD, 30, source="gh"),
    Token("postman-key", rb"PMAK-", b"0-9a-f-", 50, source="gl postman-api-token"),
    Token("asana-token", rb"[0-9]:", HEX, 32, True, "docs", 32, rb"[12]/(?:[0-9]{16}/)?[0-9]{15}"),
    Token("clickup-token", rb"pk_[0-9]{6,9}_", UPPER, 32, True, "docs", 32),
    Token("contentful-token", rb"CFPAT-", WORD, 43, True, "gh"),
    Token("dropbox-token", rb"sl\.(?:u\.)?", WORD, 120, True, "gl dropbox-short-lived-api-token"),
    Token("adobe-secret", rb"p8e-", ALNUM, 32, True, "gl adobe-client-secret"),
    Token("twitter-token", rb"A{22}", b"A-Za-z0-9%", 80, True, "gl twitter-bearer-token", 120),
    Token("intra42-secret", rb"s-s4t2(?:ud|af)-", HEX, 64, True, "gl intra42-client-secret"),
    Token("settlemint-token", rb"sm_(?:aat|sat)_", ALNUM, 16, True, "gl settlemint-application-access-token"),
    Token("zuplo-key", rb"zpka_", b"0-9a-f_", 32, True, "gh"),
    # Kinds that were held out until the rules above were measured on them (see `benchmarks/secret_kinds.py`).
    Token("1password-token", rb"ops_eyJ", BASE64, 200, source="gl 1password-service-account-token"),
    Token("artifactory-key", rb"AKCp", ALNUM, 69, True, "gl artifactory-api-key"),
    Token("backblaze-key", rb"K00[0-9]", ALNUM, 27, True, "docs", 27),
    Token("bitwarden-token", rb"0\." + _UUID + rb"[0-9a-f]{12}\.", b"A-Za-z0-9+/=:", 40, True, "docs"),
    Token("brevo-key", rb"xkeysib-", WORD, 60, True, "gl sendinblue-api-token"),
    Token("canva-secret", rb"cnvca", WORD, 40, True, "gh"),
    Token("cargo-token", rb"cio", ALNUM, 32, True, "gh", 32),
    Token("elastic-key", rb"essu_", BASE64, 40, True, "docs"),
    Token("facebook-token", rb"EAA[MC]", ALNUM, 80, True, "gl facebook-page-access-token", 512),
    Token("firecrawl-key", rb"fc-", HEX, 32, True, "docs", 32),
    Token("fireworks-key", rb"fw_", ALNUM, 22, True, "gh", 24),
    Token("flutterwave-secret", rb"FLWSECK_(?:TEST|LIVE)-", ANY_HEX, 12, True, "gl flutterwave-secret-key"),
    Token("fly-token", rb"fo1_", WORD, 40, True, "gl flyio-access-token"),
    Token("frameio-token", rb"fio-u-", b"A-Za-z0-9_=-", 60, True, "gl frameio-api-token"),
    Token("gitlab-token", rb"glffct-", WORD, 20, source="gl gitlab-feature-flag-client-token"),
    Token("gitlab-token", rb"GR1348941", WORD, 20, True, "gl gitlab-rrt"),
    Token("google-refresh-token", rb"1//0", WORD, 40, True, "docs"),
    Token("harness-key", rb"[ps]at\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.", ALNUM, 20, True, "gl harness-api-key"),
    Token("heroku-key", rb"HRKU-", WORD, 36, True, "gl heroku-api-key-v2"),
    Token("infisical-token", rb"st\.[0-9a-f]{24}\.[0-9a-f]{32}\.", HEX, 32, True, "docs"),
    Token("jina-key", rb"jina_", ALNUM, 50, True, "docs"),
    Token("launchdarkly-key", rb"(?:sdk|api|mob)-" + _UUID, HEX, 12, True, "gh", 12),
    Token("lob-key", rb"(?:live|test)_(?:pub_)?", HEX, 31, True, "gl lob-api-key", 35),
    Token("mailgun-key", rb"key-", HEX, 32, True, "gl mailgun-private-api-token", 32),
    Token("mandrill-key", rb"md-", WORD, 22, True, "docs", 22),
    Token("mapbox-token", rb"[sp]k\.eyJ", b"A-Za-z0-9_.-", 60, True, "gl mapbox-api-token"),
    Token("mercury-token", rb"mercury_production_[a-z]{3}_", ALNUM, 30, source="gh"),
    Token("posthog-key", rb"ph[xs]_", ALNUM, 40, True, "gh"),
    Token("neon-password", rb"npg_", ALNUM, 12, True, "docs", 16),
    Token("paystack-key", rb"sk_(?:live|test)_", LOWER, 40, True, "docs"),
    Token("resend-key", rb"re_[A-Za-z0-9]{8}_", ALNUM, 20, True, "docs"),
    Token("settlemint-token", rb"sm_pat_", ALNUM, 16, True, "gl settlemint-personal-access-token"),
    Token("sourcegraph-token", rb"sgp_(?:[0-9a-fA-F]{16}|local)_", ANY_HEX, 40, True, "gl sourcegraph-access-token"),
    Token("teams-webhook", rb"webhook\.office\.com/webhookb2/", b"A-Za-z0-9@/-", 80, source="gl microsoft-teams-webhook"),
    Token("together-key", rb"tgp_v1_", WORD, 40, True, "docs"),
    Token("trello-token", rb"ATTA", HEX, 60, True, "docs"),
    Token("typeform-token", rb"tfp_", DOTTED, 40, True, "gl typeform-api-token"),
    Token("voyage-key", rb"pa-", WORD, 43, True, "docs", 43),
)
# fmt: on

"""Kinds of secrets as their providers publish them, for the benchmark `secrets`; knows nothing of our rules.

Each line is a name, the form and where the fact is from. In a form `{A36}` stands for 36 random characters of an alphabet:
`A` letters and digits, `a` lower case and digits, `U` upper case and digits, `l` letters, `h` hexadecimal, `w` letters, digits,
`_` and `-`, `b` base64, `d` digits, `u` a UUID. Sources: `gl` a rule id of gitleaks (MIT), `gh` GitHub's list of supported secret
scanning patterns, `ds` a plugin of detect-secrets (Apache-2.0), `docs` the provider's documentation, `th` a detector of
trufflehog (at 3ab759f). What says `gh` or `docs` was written down from memory and is not looked up, except where
`secret_tokens.py` says so.
"""

import random
import re
import string
from typing import NamedTuple

_ALPHABETS = {
    "A": string.ascii_letters + string.digits,
    "a": string.ascii_lowercase + string.digits,
    "U": string.ascii_uppercase + string.digits,
    "l": string.ascii_letters,
    "h": "0123456789abcdef",
    "w": string.ascii_letters + string.digits + "_-",
    "b": string.ascii_letters + string.digits + "+/",
    "d": string.digits,
}
_SLOT = re.compile(r"\{([AaUlhwbdu])([0-9]*)\}")


class Kind(NamedTuple):
    """A kind of secret."""

    name: str
    form: str
    source: str

    def make(self, chance: random.Random) -> str:
        """A random secret of this kind."""

        def fill(slot: re.Match[str]) -> str:
            if slot[1] == "u":
                text = "".join(chance.choices("0123456789abcdef", k=32))
                return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
            alphabet, length = _ALPHABETS[slot[1]], int(slot[2])
            # No provider's keys begin or end with a dash, as far as their examples show.
            inner = "".join(chance.choices(alphabet, k=length))
            edge = alphabet.rstrip("_-+/")
            return chance.choice(edge) + inner[1:-1] + chance.choice(edge) if length > 2 else inner

        return _SLOT.sub(fill, self.form)


# fmt: off
_TABLE = """
1password-secret-key            A3-{U6}-{U11}-{U5}-{U5}-{U5}            gl 1password-secret-key
1password-service-account       ops_eyJ{A280}                           gl 1password-service-account-token
adobe-client-secret             p8e-{a32}                               gl adobe-client-secret
age-secret-key                  AGE-SECRET-KEY-1{U58}                   gl age-secret-key
airtable-personal-token         pat{A14}.{h64}                          gl airtable-personnal-access-token
alibaba-access-key-id           LTAI{A20}                               gl alibaba-access-key-id
alibaba-secret                  {A30}                                   gl alibaba-secret-key
anthropic-key                   sk-ant-api03-{w93}AA                    gl anthropic-api-key
anthropic-admin-key             sk-ant-admin01-{w93}AA                  gl anthropic-admin-api-key
artifactory-key                 AKCp{A69}                               gl artifactory-api-key
artifactory-reference-token     cmVmd{A59}                              gl artifactory-reference-token
asana-personal-token            1/{d16}:{h32}                           docs
atlassian-token                 ATATT3{w186}                            gl atlassian-api-token
authress-key                    sc_{a12}.{a5}.acc_{a16}.{w48}           gl authress-service-client-access-key
aws-access-key-id               AKIA{U16}                               gl aws-access-token
aws-session-token               IQoJb3JpZ2luX2Vj{b300}                  docs
aws-secret                      {b40}                                   ds aws
aws-bedrock-key                 ABSK{b120}                              gl aws-amazon-bedrock-api-key-long-lived
aws-mws-token                   amzn.mws.{u}                            gh
azure-ad-secret                 {A3}8Q~{w34}                            gl azure-ad-client-secret
azure-storage-key               {b86}==                                 ds azure_storage_key
azure-devops-token              {a52}                                   docs
backblaze-key                   K00{A28}                                docs
bitbucket-app-password          ATBB{A32}                               gh
bitwarden-machine-token         0.{u}.{A30}:{b22}==                     docs
braintree-token                 access_token$production${a16}${h32}     docs
brave-search-key                BSA{w27}                                docs
brevo-key                       xkeysib-{h64}-{A16}                     gl sendinblue-api-token
buildkite-token                 bkua_{h40}                              gh
canva-secret                    cnvca{w45}                              gh
cargo-token                     cio{A32}                                gh
circleci-token                  CCIPAT_{A22}_{h40}                      gh
clickhouse-key                  4b1d{A38}                               gl clickhouse-cloud-api-secret-key
clickup-token                   pk_{d7}_{U32}                           docs
clojars-token                   CLOJARS_{a60}                           gl clojars-api-token
cloudflare-origin-ca            v1.0-{h24}-{h146}                       gl cloudflare-origin-ca-key
cloudflare-token                {w40}                                   gl cloudflare-api-key
cohere-key                      {A40}                                   gl cohere-api-token
contentful-personal-token       CFPAT-{w43}                             gh
databricks-token                dapi{h32}                               gl databricks-api-token
datadog-app-key                 {h40}                                   gl datadog-access-token
dbt-token                       dbtc_{w38}                              docs
defined-networking-token        dnkey-{U26}-{U52}                       gl defined-networking-api-token
digitalocean-token              dop_v1_{h64}                            gl digitalocean-pat
digitalocean-refresh            dor_v1_{h64}                            gl digitalocean-refresh-token
discord-bot-token               MT{A22}.{w6}.{w38}                      ds discord
docker-token                    dckr_pat_{w27}                          gh
doppler-token                   dp.pt.{A43}                             gl doppler-api-token
dropbox-short-token             sl.{w135}                               gl dropbox-short-lived-api-token
duffel-token                    duffel_live_{w43}                       gl duffel-api-token
dynatrace-token                 dt0c01.{U24}.{U64}                      gl dynatrace-api-token
easypost-key                    EZAK{A54}                               gl easypost-api-token
elastic-cloud-key               essu_{b70}                              docs
elevenlabs-key                  sk_{h48}                                gh
facebook-page-token             EAAC{A120}                              gl facebook-page-access-token
fcm-server-key                  AAAA{w7}:APA91b{w134}                   docs
figma-token                     figd_{w40}                              gh
firecrawl-key                   fc-{h32}                                docs
fireworks-key                   fw_{A24}                                gh
flutterwave-secret              FLWSECK_TEST-{h32}-X                    gl flutterwave-secret-key
fly-token                       fo1_{w43}                               gl flyio-access-token
fly-macaroon                    fm2_{b160}                              gl flyio-access-token
frameio-token                   fio-u-{w64}                             gl frameio-api-token
ghost-admin-key                 {h24}:{h64}                             docs
github-token                    ghp_{A36}                               gl github-pat
github-fine-grained             github_pat_{A22}_{A59}                  gl github-fine-grained-pat
gitlab-token                    glpat-{w20}                             gl gitlab-pat
gitlab-feed-token               glft-{w20}                              gl gitlab-feed-token
gitlab-flag-token               glffct-{w20}                            gl gitlab-feature-flag-client-token
gitlab-oauth-secret             gloas-{w64}                             gl gitlab-oauth-app-secret
gitlab-runner-registration      GR1348941{w20}                          gl gitlab-rrt
gocardless-token                live_{w40}                              gl gocardless-api-token
google-key                      AIza{w35}                               gl gcp-api-key
google-oauth-secret             GOCSPX-{w28}                            gh
google-oauth-token              ya29.{w120}                             gh
google-refresh-token            1//0{w60}                               docs
grafana-key                     eyJrIjoi{A90}                           gl grafana-api-key
grafana-service-token           glsa_{A32}_{h8}                         gl grafana-service-account-token
grafana-cloud-token             glc_{b80}                               gl grafana-cloud-api-token
groq-key                        gsk_{A52}                               gh
harness-key                     pat.{w22}.{A24}.{A20}                   gl harness-api-key
heroku-key                      HRKU-AA{w58}                            gl heroku-api-key-v2
hetzner-token                   {A64}                                   docs
honeycomb-key                   hcaik_{a58}                             gh
hubspot-token                   pat-na1-{u}                             gh
hugging-face-token              hf_{l34}                                gl huggingface-access-token
hugging-face-organization       api_org_{l34}                           gl huggingface-organization-api-token
ibm-cloud-key                   {w44}                                   ds ibm_cloud_iam
infisical-token                 st.{h24}.{h32}.{h32}                    docs
infracost-key                   ico-{A32}                               gl infracost-api-token
intra42-secret                  s-s4t2ud-{h64}                          gl intra42-client-secret
jina-key                        jina_{A60}                              docs
kaggle-token                    KGAT_{h32}                              docs
kraken-secret                   {b86}==                                 gl kraken-access-token
langfuse-key                    sk-lf-{u}                               gh
langsmith-key                   lsv2_pt_{h32}_{h10}                     gh
launchdarkly-key                sdk-{u}                                 gh
linear-key                      lin_api_{A40}                           gl linear-api-key
linode-token                    {h64}                                   docs
lob-key                         live_{h35}                              gl lob-api-key
mailchimp-key                   {h32}-us14                              gl mailchimp-api-key
mailgun-key                     key-{h32}                               gl mailgun-private-api-token
mandrill-key                    md-{w22}                                docs
mapbox-token                    sk.eyJ1Ijoi{A60}.{w22}                  gl mapbox-api-token
maxmind-key                     {A6}_{A29}_mmk                          gl maxmind-license-key
mercury-token                   secret-token:mercury_production_wma_{A40}  gh
messagebird-key                 live_{A25}                              docs
mistral-key                     {A32}                                   docs
modal-secret                    as-{A22}                                docs
mollie-key                      live_{A30}                              docs
neon-key                        napi_{a64}                              gh
netlify-token                   nfp_{A36}                               gh
new-relic-key                   NRAK-{U27}                              gl new-relic-user-api-key
new-relic-insert-key            NRII-{w32}                              gl new-relic-insert-key
ngrok-token                     {A27}_{A21}                             docs
notion-token                    ntn_{d11}{A35}                          gl notion-api-token
notion-old-token                secret_{A43}                            gh
npm-token                       npm_{A36}                               gl npm-access-token
nuget-key                       oy2{a43}                                gh
nvidia-key                      nvapi-{w64}                             gh
octopus-key                     API-{U26}                               gl octopus-deploy-api-key
okta-token                      00{w40}                                 gl okta-access-token
openai-key                      sk-proj-{w74}T3BlbkFJ{w74}              gl openai-api-key
openai-old-key                  sk-{A20}T3BlbkFJ{A20}                   gl openai-api-key
openrouter-key                  sk-or-v1-{h64}                          gh
openshift-token                 sha256~{w43}                            gl openshift-user-token
pagerduty-token                 u+{w18}                                 docs
paystack-key                    sk_live_{a40}                           docs
perplexity-key                  pplx-{A48}                              gl perplexity-api-key
pinecone-key                    pcsk_{A6}_{A63}                         gh
plaid-token                     access-production-{u}                   gl plaid-api-token
planetscale-password            pscale_pw_{w43}                         gl planetscale-password
postgres-neon-password          npg_{A12}                               docs
posthog-key                     phx_{A43}                               gh
postman-key                     PMAK-{h24}-{h34}                        gl postman-api-token
postmark-token                  {u}                                     docs
prefect-key                     pnu_{A36}                               gl prefect-api-token
pulumi-token                    pul-{h40}                               gl pulumi-api-token
pypi-token                      pypi-AgEIcHlwaS5vcmc{w140}              gl pypi-upload-token
razorpay-key                    rzp_live_{A14}                          gh
readme-key                      rdme_{a70}                              gl readme-api-token
recaptcha-secret                6L{w38}                                 docs
render-key                      rnd_{A32}                               docs
replicate-token                 r8_{A37}                                gh
resend-key                      re_{A8}_{A24}                           docs
rubygems-key                    rubygems_{h48}                          gl rubygems-api-token
runpod-key                      rpa_{U34}{a6}                           docs
sanity-token                    sk{A80}                                 docs
scaleway-access-key             SCW{U17}                                gh
scalingo-token                  tk-us-{w48}                             gl scalingo-api-token
segment-token                   sgp_{A64}                               gh
sendgrid-key                    SG.{w22}.{w43}                          gl sendgrid-api-token
sentry-org-token                sntrys_eyJpYXQiO{A90}_{A43}             gl sentry-org-token
sentry-user-token               sntryu_{h64}                            gl sentry-user-token
settlemint-token                sm_pat_{A16}                            gl settlemint-personal-access-token
shippo-token                    shippo_live_{h40}                       gl shippo-api-token
shopify-token                   shpat_{h32}                             gl shopify-access-token
shopify-shared-secret           shpss_{h32}                             gl shopify-shared-secret
slack-bot-token                 xoxb-{d12}-{d12}-{A24}                  gl slack-bot-token
slack-app-token                 xapp-1-A{U10}-{d13}-{h64}               gl slack-app-token
slack-refresh-token             xoxe-1-{U146}                           gl slack-config-refresh-token
slack-webhook                   https://hooks.slack.com/services/T{U8}/B{U10}/{A24}  gl slack-webhook-url
snyk-token                      snyk_uat.{h8}.{w60}                     gh
sonar-token                     squ_{h40}                               gl sonar-api-token
sourcegraph-token               sgp_{h16}_{h40}                         gl sourcegraph-access-token
square-token                    EAAA{w60}                               gl square-access-token
square-secret                   sq0csp-{w43}                            ds square_oauth
statsig-key                     secret-{A43}                            gh
stripe-key                      sk_live_{A24}                           gl stripe-access-token
stripe-webhook-secret           whsec_{A32}                             gh
supabase-token                  sbp_{h40}                               gh
supabase-secret                 sb_secret_{w31}                         gh
tailscale-key                   tskey-auth-{A12}CNTRL-{A32}             gh
tavily-key                      tvly-dev-{A32}                          gh
teams-webhook https://acme.webhook.office.com/webhookb2/{u}@{u}/IncomingWebhook/{h32}/{u} gl microsoft-teams-webhook
telegram-token                  {d10}:AA{w33}                           gl telegram-bot-api-token
tencent-secret-id               AKID{A32}                               gh
terraform-cloud-token           {A14}.atlasv1.{w67}                     gl hashicorp-tf-api-token
together-key                    tgp_v1_{w43}                            docs
trello-token                    ATTA{h64}                               docs
twilio-key                      SK{h32}                                 gl twilio-api-key
twitter-bearer                  AAAAAAAAAAAAAAAAAAAAAA{A90}             gl twitter-bearer-token
typeform-token                  tfp_{w59}                               gl typeform-api-token
vault-service-token             hvs.{w95}                               gl vault-service-token
vault-old-token                 s.{A24}                                 gl vault-service-token
voyage-key                      pa-{w43}                                docs
vultr-key                       {U36}                                   docs
weights-and-biases-key          {h40}                                   gh
xai-key                         xai-{A80}                               gh
yandex-key                      AQVN{w36}                               gl yandex-api-key
yandex-static-secret            YC{w38}                                 gl yandex-aws-access-token
yandex-token                    t1.{w60}.{w86}                          gl yandex-access-token
zuplo-key                       zpka_{h32}_{h8}                         gh
"""
# fmt: on

# Fixed before it was measured, from detectors and rules for which we have none. Nobody writes rules for these kinds because of
# the figure.
# Where gitleaks ignores case, long keys are made of both cases and short ones of lower case.
# fmt: off
_FRESH_TABLE = """
algolia-key                     {a32}                                   gl algolia-api-key
apify-token                     apify_api_{A36}                         th apify
beamer-token                    b_{w44}                                 gl beamer-api-token
bitbucket-client-secret         {w64}                                   gl bitbucket-client-secret
bitbucket-data-center-token     BBDC-{w44}                              th bitbucketdatacenter
close-key                       api_{A22}.{A22}                         th closecrm
cloudflare-global-key           cfk_{A40}{h8}                           th cloudflareglobalapikey
cloudflare-old-global-key       {h37}                                   gl cloudflare-global-api-key
contentful-delivery-token       {w43}                                   gl contentful-delivery-api-token
dropbox-long-token              {A11}AAAAAAAAAA{w43}                    gl dropbox-long-lived-api-token
etsy-key                        {a24}                                   gl etsy-access-token
facebook-app-token              {d16}|{w27}                             gl facebook-access-token
fleetbase-key                   flb_live_{A20}                          th fleetbase
flexport-key                    shltm_{w40}                             th flexport
flutterwave-live-secret         FLWSECK-{a32}-X                         th flutterwave
intercom-token                  {w60}                                   gl intercom-api-key
jfrog-identity-token            {A64}                                   gl jfrog-identity-token
mailgun-signing-key             {h32}-{h8}-{h8}                         gl mailgun-signing-key
mattermost-token                {a26}                                   gl mattermost-access-token
pagarme-key                     ak_live_{A30}                           th pagarme
plaid-secret                    {a30}                                   gl plaid-secret-key
pubnub-subscribe-key            sub-c-{u}                               th pubnubsubscriptionkey
ramp-secret                     ramp_sec_{A48}                          th ramp
rapidapi-key                    {w50}                                   gl rapidapi-access-token
robinhood-key                   rh-api-{u}                              th robinhoodcrypto
rootly-key                      rootly_{h64}                            th rootly
salad-key                       salad_cloud_{A6}_{A48}                  th saladcloudapikey
sonarcloud-token                sqco_{A59}                              th sonarcloud
sourcegraph-cody-key            slk_{h64}                               th sourcegraphcody
stripe-payment-secret           pi_{A24}_secret_{A25}                   th stripepaymentintent
sumologic-key                   {A64}                                   gl sumologic-access-token
tines-webhook                   https://acme.tines.com/webhook/{a32}/{a32}  th tineswebhook
twitch-token                    {a30}                                   gl twitch-api-token
twitter-access-secret           {A45}                                   gl twitter-access-secret
twitter-api-secret              {A50}                                   gl twitter-api-secret
ubidots-token                   BBFF-{A30}                              th ubidots
zendesk-secret                  {A40}                                   gl zendesk-secret-key
"""
# fmt: on


def _kinds(table: str) -> list[Kind]:
    lines = (line.split(None, 2) for line in table.strip().splitlines())
    return [Kind(*parts) for parts in lines]


KINDS = _kinds(_TABLE)
FRESH_KINDS = _kinds(_FRESH_TABLE)
"""Kinds that no rule was written for."""

"""Words that identify nobody, though a folder, an account or a branch may be called so. Knows no text.

A name that is one of these is not looked for on its own; where it stands in a path or an address, that goes as a whole.
"""

from preheat.commands.words import name_set

ACCOUNTS = name_set(
    """
    actions admin administrator agent app bar baz bot builder circleci coder codespace contact daemon default
    dependabot dev developer docker ec2-user email example foo git gitlab guest hello help home info jenkins
    linuxbrew localhost mail me name no-reply nobody node none noreply opc pass password path pi placeholder postgres public qux
    redacted root runner sales sandbox service shared someone staff support system team test tester testuser to u
    ubuntu unknown user user1 user2 username users usr vagrant vscode wheel workspace www www-data x xxx y you your-
    name yourname z
    """
)
"""Accounts and mailboxes that belong to a role, not to a person."""

WORDS = name_set(
    """
    a about access account action add admin agent agents ai all alpha amazon an analysis and android anthropic any
    api app apple application apps archive area args art asset assets async audio auth auto aws azure backend backup
    bad base bash basic been benchmark beta bin blob block blog board body bot box branch bug build builder bundle
    button byte bytes c cache calendar call calls campaign cannot card case chain change changes channel char chat
    check checkout chore ci claims class clean cleanup cli client clients cloud cmd code codebase color column com
    command commands comment commit common compact company compare component components computer config configs
    console constants container content context control copy core corporate count course cpp create crypto css
    current custom dashboard data database dataset date db debian debug default delete demo denied dependabot
    dependencies deploy design desktop dev develop developer development device devops diff dir directory dist
    django doc docker docs document documentation documents domain done download downloads draft driver dump e2e
    edit editor edu ember empty end engine enterprise env environment error errors eval event events example
    examples exec exists exit expected experiment experiments export ext extension extensions external failed
    failure false fast fatal feat feature features field file files filter find first fix fixes flag flash flask
    flow folder font forensics fork form format forms found framework free frontend full func function functions
    game games general generate generated generic get git github gitlab global gmail go good google gov graph group
    groups gui handler has hash head header hello help helper helpers here high hook hooks host hosts hotfix hotmail
    html http https icloud icon id image images img impl import improve in inbox include index info infra init
    initial inner input install integration inter interface internal invalid io ios is issue issues item items java
    javascript job jobs js json key keys lab lang language last latest layout left lib library libs life light line
    lines link lint linux list live load local localhost log logger logging logic login logs loop low mac machine
    mail mailbox main make manager map mark master match matches max md media memory menu merge message messages
    meta microsoft migration migrations mil min misc missing mistral mobile mock mode model models module modules
    monitor more move multi music my name net network new next no node none not note notes npm npmjs null number
    object of office old on open openai opt option options org origin other out outer outlook output over overview
    own package packages page pages parse parser part partial patch path paths perf permission personal php pipeline
    pkg place plan platform play plugin plugins point policy port post pr prefix preview private pro process prod
    product production profile program project projects prompt prompts proto protonmail provider proxy public pull
    push pwn py pypi pytest python query question queue quick react read reader readme ready real record ref
    refactor reference register release remote remove render renderer renovate replace repo report reports repos
    repository request require research reset resource resources response rest result results review right role root
    route router rule rules run runner runtime rust safe sample samples sandbox save scan schema scratch script
    scripts search second secret security select self send server servers service services session sessions set
    setting settings setup shared shell shop short show side simple single site size skill skills slow small
    software solution some source sources space spec specs sql src stable stack stage staging standard start starter
    state static stats status step storage store stories story stream string structure stuff style styles sub submit
    such suite summary support svc swift switch sync syntax sys system systems table tag tags target task tasks team
    temp template templates term terminal test testbed tester testing tests text the theme there thread time title
    tmp to todo token tokens tool tooling tools top trace train training tree trial true try ts tutorial type types
    typescript ubuntu ui unable unexpected unit up update upgrade upload url usage use user username users util
    utility utils v v1 v2 v3 valid validate validation value values var vendor vercel verify version versions video
    view views vim visual vue wait warning warnings was watch web webapp website widget wiki will window windows wip
    with word work worker workers workflow workflows working workspace workspaces worktree worktrees wrapper write
    writer www yahoo yaml year zero
    """
)
"""Technical and everyday words that folders, branches and repositories are called by."""

ENDINGS = name_set(
    """
    bash bat bin bz2 c cc cfg cjs clj cmd conf cpp cs css csv dart db diff dll dylib env erl ex exe exs fish gif go
    gradle graphql gz h hcl hpp hs htm html ico ini ipynb j2 jar java jl jpeg jpg js json json5 jsonl jsx kt kts
    less lock log lua m map md mdx mjs ml mm mod parquet patch pdf php pl plist png proto ps1 py pyi r rb rs rst
    sass scala scss sh snap so sql sqlite sqlite3 sum svelte svg swift tar tf tgz tmpl toml tpl ts tsv tsx txt vue
    war wasm webp whl xml xz yaml yml zip zsh zst
    """
)
"""Endings of files that tell a language or a form, and nothing of a project."""

FILES = name_set(
    """
    .env __init__.py agents.md app.js app.py app.ts build.gradle cargo.lock cargo.toml changelog.md config.json
    config.yaml conftest.py contributing.md docker-compose.yaml docker-compose.yml go.mod go.sum index.html index.js
    index.ts index.tsx jest.config.js lib.rs license.md license.txt main.go main.py main.rs manage.py mise.toml
    mod.rs next.js node.js package-lock.json package.json pnpm-lock.yaml poetry.lock pom.xml pyproject.toml
    pytest.ini readme.md requirements.txt settings.json settings.py setup.cfg setup.py tox.ini tsconfig.json uv.lock
    vite.config.ts yarn.lock
    """
)
"""Files that are called so everywhere."""

TOP_LEVELS = name_set(
    """
    ai app at au be biz br ca cc ch cloud cn co com corp cz de dev dk edu es eu fi fr gg gov hk home ie in info int
    internal intranet io it jp kr lan local localdomain ly me mil net nl no nz online org page pl pt ru se sg sh
    site so store tech to tv tw uk us xyz
    """
)
"""Ends of the names of machines."""

NO_TICKETS = name_set(
    """
    AES ASCII COVID CP CVE ECMA ES GMT GPT H HTTP IPV ISO MD MP PEP RFC RSA SHA TLS UCS UTC UTF V X
    """
)
"""What looks like a ticket (`UTF-8`) and is none."""

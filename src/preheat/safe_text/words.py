"""Words inside of names: `UserProfile-view_test.py` has user, profile, view, test and py. Knows no type of name.

A name may be chosen by anybody, and a sentence can be written as a name (`please_delete_everything.md`). Structure decides, not
meaning: words that names in software are made of (`KNOWN_WORDS`) are free, of other words a name may have two, and none longer
than a word is. Light: a session's start loads it.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

MOST_UNKNOWN = 2
"""Words that are not known in one name. Three in a row can be an order."""
_LONGEST_KNOWN = 24
_LONGEST_UNKNOWN = 16
"""Letters; a longer word is several words without a gap, or data in another notation (base64)."""
_KEPT_WORDS = 3
CUT = "…"
"""Stands for what a slot does not hand on."""

KNOWN_WORDS = frozenset(
    """
    abstract account action actions activity adapter address admin agent agents alert alias amd analysis analytics
    android angular animation annotation ansible api apis app application apps arch archive arg args argument arguments
    arm array artifact artifacts ascii asset assets async atom attribute attributes audio audit auth authentication
    author authorization auto avatar aws azure babel back backend background badge banner bar base bash basic batch
    bench benchmark benchmarks bin binary binding bindings biome block blocks blog board body book boolean border bot
    bottom box branch breadcrumb bridge browser bucket buffer bug build builder builders builds bun bundle button byte
    bytes cache caches calendar call callback calls camera canvas capture card cargo cart case cases catalog category cd
    cell chain changelog channel channels chart chat check checkbox checker checkout checkpoint checks chunk ci circle
    class classes claude cli client clients clipboard clock cloud cluster cmake cmd code codec codecs codegen codex
    collection color colors column columns com command commands comment commit commits common compat compiler compilers
    component components compose composer compress concurrent config configs configuration conftest connection
    connections connector console const constant constants consumer contact container containers content contents
    context contexts contract contracts contrib controller controllers conversion cookie copy core coverage cpp crate
    crates cron crud crypto css csv currency cursor custom dao dart darwin dashboard data database databases dataset
    date datetime day db debug decl decorator default defaults definition definitions delegate demo deno dependencies
    dependency deployment deployments design desktop detail details detector dev device devices diagram dialog diff
    directory dirs disk dispatcher dist django doc docker dockerfile docs document documentation documents dom domain
    dotnet draft driver drivers dto duration dynamic e2e editor effect electron element elements elixir embedding emoji
    encoder endpoint endpoints engine entities entity entries entry enum enums env environment environments equals error
    errors esbuild eslint event events example examples exception exceptions executor experiment experiments expression
    ext extension extensions external facade factories factory fake family fastapi feature features feed field fields
    file files filter filters finder firebase fixture fixtures flag flags flask flow folder folders font fonts footer
    form format formats formatter forms frame framework front frontend func function functions game gateway gem
    generated generator generators generic git github gitlab glob global globals go golang gradle grammar graph graphql
    grid group groups grpc guard guide guides handler handlers hash header headers health helm help helper helpers
    hermes history home hook hooks host html http https icon icons id identity ids image images impl implementation
    import imports index indexes info infra infrastructure init inline inner input inputs inspector instance int
    integration integrations interface interfaces internal internals invoice io ios isort item items iterator java
    javascript jest job jobs journal js json jsx jvm kernel key keys kind kit kotlin kubernetes label labels lang
    language languages latest layer layers layout layouts lefthook legacy len level lib library libs license lifecycle
    limit line linear link links lint linter linters linux list listener listeners lists live load loader loaders local
    locale locales lock log logger logging login logo logs loop lua mac machine macos macro macros main maintenance make
    makefile manager manifest manual map mapper mappers mapping maps mark markdown master math maven max mcp md media
    member memory menu merge message messages meta metadata method methods metric metrics middleware migration
    migrations min mini misc mise mjs mobile mock mocks modal mode model models module modules monitor mono month ms
    multi mutation mypy name names native nav navbar navigation net network nextjs nginx nil no node nodejs nodes noemit
    note notebook notebooks notes notification notifications npm npx null number numbers numpy nuxt oauth obj object
    objects ok onboarding openai openapi operation operations operator option options order orders orm os otel outer
    output outputs overlay overview owner pack package packages packs page pages pagination pandas panel parallel param
    parameter parameters params parent parser parsers part parts patch patches path paths pattern patterns payload
    payment payments peer performance phase php pi pip pipeline pipelines pixel platform player playground playwright
    plot plugin plugins pnpm poetry point points policies policy pool popup port portal ports posix postgres pr
    preferences preset presets preview price primary prisma process processes processor product products profile
    profiles program programs progress project projects promise prop properties property props proto protocol protocols
    provider providers proxy publisher px py pydantic pyproject pyright pytest pytests python qa queries query queue
    radio random range rate raw react reader readers readme record records recovery redis redux ref reference refs regex
    region registry relation release releases remote render renderer replay repo report reporter reporters reports
    repositories repository request requests requirements res resolver resource resources response responses rest result
    results retry review reviews role roles root route router routers routes routing row rows rpc rs ruby ruff rule
    rules runner runners runtime rust rustc sample samples sandbox sass scala scenario scenarios schedule scheduler
    schema schemas scope score scoring screen screens screenshot script scripts scss sdk search section security seed
    seeds selector semantic sequence serial serialization serializer server servers service services session sessions
    set settings setup sh shared sheet shell shop sidebar sign signal signals signature signup simple simulator single
    site size skill skills slice slot slots small smoke snapshot snapshots socket software source sources space span
    spec specs sphinx spinner split sql sqlite src ssh ssl stack stage standard state states static statistics stats
    status std stderr stdin stdout step steps storage store stores storybook str strategies strategy stream streams
    string strings strip stub stubs style styles sub subscription suite summary support svelte svg svn swagger swe swift
    switch symbol sync syntax system systems tab table tables tabs tag tags tail tailwind target targets task tasks team
    teams template templates temporary term terminal terraform test tester testing tests text theme themes thread
    threads thumbnail tick ticket time timeline timeout timer timestamp title toast todo todos token tokens toml tool
    toolbar tooling tools tooltip top topic trace tracker tracking trait transaction transactions transform transformer
    transition translation translations transport tree trigger ts tsc tsconfig tsx turbo tutorial two txt type typecheck
    types typescript typing ui unit unittest unittests url urls usage user users ut utf util utilities utility utils
    uuid validation validator validators value values var variable variables variant variants vendor verbose version
    versions vet video view viewer viewport views virtual vite vitest vm vue wasm watch watcher web webhook webhooks
    webpack webview week widget widgets width wiki window windows wizard worker workers workflow workflows workspace
    workspaces wrapper writer ws xcode xcodebuild xcodeproj xcworkspace xml yaml yarn year yml zig zip zod zone zsh
    """.split()  # noqa: SIM905  a list of words is read as a text
)
"""Words of file names, folders, options and tools. Being here lets a word through; no word is kept out by a list."""

_RUN = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_MIXED = re.compile(r"(?<=[A-Za-z])\d(?=[A-Za-z])|^\d+(?=[A-Za-z])")
_SCRIPTS = ("LATIN", "CYRILLIC", "GREEK")
"""Scripts that separate words; in others one word may be a whole sentence."""


def words_of(name: str) -> list[str]:
    """The words of a name, in lower case; parts of one letter and numbers are none."""
    return [found[0].lower() for found in _find_words(name)]


def _find_words(name: str) -> "Iterator[re.Match[str]]":
    for run in _RUN.finditer(name):
        # Digits inside of letters may stand for letters, and other alphabets have other capitals: one word each.
        whole = not run[0].isascii() or _MIXED.search(run[0])
        parts = [run] if whole else _CAMEL.finditer(name, run.start(), run.end())
        yield from (part for part in parts if len(part[0]) > 1 and not part[0].isdigit())


def is_known(word: str) -> bool:
    """Whether names in software are often made of this word."""
    return word in KNOWN_WORDS or (word.endswith("s") and word[:-1] in KNOWN_WORDS)


def count_unknown(name: str) -> int:
    """How many words of a name are not known; many for a word that is too long to be one."""
    total = 0
    for word in words_of(name):
        if is_known(word) and len(word) <= _LONGEST_KNOWN:
            continue
        total += 1 if len(word) <= _LONGEST_UNKNOWN else 10
    return total


@lru_cache(maxsize=4096)
def has_plain_letters(text: str) -> bool:
    """Whether every letter is of a script that separates words, and no word mixes two of them."""
    if text.isascii():
        return True
    for run in _RUN.findall(text):
        scripts = set()
        for letter in run:
            if not letter.isascii() or letter.isalpha():
                scripts.add("LATIN" if letter.isascii() else unicodedata.name(letter, "").split(" ")[0])
        if len(scripts) > 1 or not scripts.issubset(_SCRIPTS):
            return False
    return True


def cut_name(name: str, room: int = MOST_UNKNOWN) -> str:
    """A name; of one with more unknown words than there is room for only the known words that it begins with, and a sign."""
    return name if count_unknown(name) <= room else f"{first_words(name)}{CUT}"


def first_words(name: str) -> str:
    """The known words that a name begins with, three at most."""
    end = 0
    for found in islice(_find_words(name), _KEPT_WORDS):
        if count_unknown(found[0]):
            break
        end = found.end()
    return name[:end]

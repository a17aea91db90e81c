"""Which facts a prompt asks for, by its words and files. Pure; knows no wording."""

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import NamedTuple

from preheat.commands.words import name_set
from preheat.facts.values import FACT_TOPICS
from preheat.model.lesson import Lesson

_WORD = re.compile(r"[^\W\d_]{2,}")
_LONG = 800
_BEGINNING, _END = 250, 200
"""Characters of a long prompt in which its aim stands: a plan mentions everything."""
_PATH = re.compile(r"\S*(?:[/\\@]|\.\w{1,5}\b)\S*")
"""Words of a path or of an address say where something is, not what is to be done."""
_MARKED = re.compile(r"<(?P<tag>[a-z][\w-]{1,40})>.*?</(?P=tag)>", re.DOTALL)
"""What a program puts around a prompt is not what the person asks."""
_TOPIC_WORDS: dict[str, str] = {
    "test": "test tests testing tested spec specs unittest e2e coverage regression pytest vitest jest prueba pruebas teste testes"
    " testen getestet",
    "lint": "lint linter linting linted lints eslint biome ruff clippy golangci",
    "typecheck": "typecheck typescript tsc mypy pyright",
    "build": "build builds compile compiles compilation bundle kompilieren compilar",
    "format": "format formatting formatter prettier gofmt fmt",
    "check": "verify checks ci pipeline",
    "serve": "serve localhost browser screenshot",
    "setup": "install installing dependency dependencies deps packages modules setup",
    "variable": "env environment variable variables credential credentials secret secrets",
    "generate": "generate generated regenerate codegen openapi proto graphql",
    "hook": "commit commits committed hook hooks husky",
    "commit": "commit commits committed",
    "branch": "branch branches pr prs worktree",
    "pull_request": "pr prs",
    "release": "release changelog changeset version publish pr prs",
}
_TOPICS_BY_WORD: dict[str, frozenset[str]] = {}
for _topic, _words in _TOPIC_WORDS.items():
    for _each in _words.split():
        _TOPICS_BY_WORD[_each] = _TOPICS_BY_WORD.get(_each, frozenset()) | {_topic}
_SETTING_UP = frozenset(_TOPIC_WORDS["setup"].split())
_LEAST_SETTING_UP = 2
_BUILD = re.compile(
    r"(?i)\b(?:the|npm|pnpm|yarn|bun|local|production|failing|broken|run|fix)\s+build\b|\bbuild\s+(?:fail|err|brok|command|script|pass|step|lock|it\b)"
    r"|^\s*build\b"
)
"""The build of a project; to build something is to make it."""
_CHANGING = name_set(
    "add adds adding fix fixes implement change refactor update create remove rename feature bug error endpoint support make"
    " write move replace extract migrate improve handle delete introduce rewrite convert port build failing broken crash"
    " crashes wrong hinzufügen ändern korrigiere behebe füge ajoute corrige añade arregla adicione"
)
"""Words of prompts after which code is changed, so that it has to be checked."""
_CREATING = name_set(
    "create open make raise submit push ship new start begin prepare commit finish erstelle öffne crea abre crée ouvre"
)
"""Words after which a branch or a pull request is made, and not only spoken of."""
_MADE = frozenset(["branch", "pull_request"])
_MAKING = name_set("feature features implement endpoint functionality capability")
"""Words of prompts that ask for something new, which is to be shown to work."""
_CHECKED = frozenset(["test", "lint", "typecheck"])
_SHOWING = frozenset(["lint", "typecheck", "check", "build", "format"])
_COMMANDS = frozenset(["test", "build", "lint", "typecheck", "format", "serve", "generate"])
"""Topics of commands of which a project has many: only the usual one is said unless another is named."""
_MEANT = {
    "endpoint": ("api", "openapi"),
    "endpoints": ("api", "openapi"),
    "database": ("db",),
    "docs": ("documentation",),
    "migrations": ("migration", "migrate"),
}
"""Words of prompts, and those that names of scripts have for them."""
_TRYING = re.compile(r"(?:^|\s)(?:dev|start|serve)$")
"""The plain names of scripts that start a project."""
_SEEN = frozenset(["feature", "features"])
_FORGE = ", as the forge runs it"
_FORGE_WORDS = name_set("ci pipeline workflow workflows actions forge")
_GENERIC = name_set(
    "dev start watch clean build test lint run app all main prod fix name path folder value package version key file files"
    " list code types local check ci web src lib"
)
"""Parts of a script's name, and our placeholders, that any prompt may have."""
_VARYING = re.compile(r"^-|\b(?:NAME|PATH|FOLDER|PACKAGE|VALUE)\b|^\.{1,2}/")
_IDLE = name_set("the a an to of in on for and or it is this that run with all not new")
_MOST = 6
_MAIN = 0.35
"""The reach from which a check is one for everybody."""
_ORDER = {topic: place for place, topic in enumerate(FACT_TOPICS)}


class Choice(NamedTuple):
    """A fact with how much a prompt asks for it, 0 to 1."""

    lesson: Lesson
    asked: float


def topics_asked(prompt: str) -> frozenset[str]:
    """The topics that the words of a prompt ask for."""
    found: set[str] = set()
    words = words_of(prompt)
    for word in words:
        if word != "build" or _BUILD.search(prompt[:_LONG]):
            found |= _TOPICS_BY_WORD.get(word, frozenset())
    if len(words & _SETTING_UP) < _LEAST_SETTING_UP:  # one of these words alone is about anything
        found.discard("setup")
    return frozenset(found)


def words_of(text: str) -> frozenset[str]:
    """The words of a prompt's beginning and end, in lower case."""
    text = _PATH.sub(" ", _MARKED.sub(" ", text[:20_000]) if "</" in text else text[:20_000])
    if len(text) > _LONG:
        text = f"{text[:_BEGINNING]}\n{text[-_END:]}"
    return frozenset(word.lower() for word in _WORD.findall(text))


def choose_for_prompt(
    lessons: Iterable[Lesson], prompt: str, files: Sequence[str] = (), told: frozenset[str] = frozenset()
) -> list[Choice]:
    """The facts that a prompt asks for, the most asked first: by its topics, by names of scripts in it, and for the files that it
    is likely about. `told`: ids of lessons that the session has been told."""
    words = words_of(prompt)
    topics = topics_asked(prompt)
    is_changing = not words.isdisjoint(_CHANGING)
    found = []
    for lesson in lessons:
        if lesson.id in told or lesson.kind != "convention" or lesson.topic not in _ORDER or not is_usable(lesson):
            continue
        asked = _rate(lesson, words, topics, is_changing, files)
        if asked > 0:
            found.append(Choice(lesson, asked))
    found.sort(
        key=lambda each: (
            -round(each.asked, 2),
            _ORDER[each.lesson.topic],
            -each.lesson.support.sessions_for,
            each.lesson.id,
        )
    )
    return _without_crowds(found)[:_MOST]


def is_usable(lesson: Lesson) -> bool:
    """Whether a lesson is a fact that may be said."""
    return lesson.status == "active" and bool(lesson.details)


def _rate(
    lesson: Lesson, words: frozenset[str], topics: frozenset[str], is_changing: bool, files: Sequence[str]
) -> float:
    """How much a prompt asks for a fact, 0 to 1."""
    topic, details = lesson.topic, lesson.details
    package, reach = details.get("package", ""), lesson.reach or 0.0
    named = _named_share(lesson, words)
    is_near = bool(package) and (
        any(path.startswith(f"{package}/") for path in files[:5]) or _names_package(package, words)
    )
    path = details.get("path", "").rstrip("/")
    if topic == "generate" and path and any(each == path or each.startswith(f"{path}/") for each in files):
        return 0.95
    if package and not is_near:
        return 0.0
    if topic == "script":
        return 0.7 * named if named == 1.0 else 0.0
    if topic in _MADE and words.isdisjoint(_CREATING):
        return 0.0
    if topic in topics:
        is_usual = topic not in _COMMANDS or details.get("main") or named == 1.0 or lesson.support.sessions_for > 1
        about = details.get("about", topic)
        if about.endswith(_FORGE) and words.isdisjoint(_FORGE_WORDS):
            return 0.0
        if not is_usual and about not in ("one test", "one test file"):
            return 0.0  # one of several variants, and nobody asked for it
        return (0.9 if about in (topic, "run", "commit", "message") else 0.75) + 0.1 * min(1.0, reach)
    is_whole = details.get("about", topic) == topic
    is_first_near = is_near and bool(details.get("main"))
    if is_changing and is_whole and topic in _CHECKED and (is_first_near or (reach >= _MAIN and not package)):
        return 0.5 + 0.1 * min(1.0, reach)
    if is_changing and not words.isdisjoint(_MAKING) and not package:
        is_first = is_whole and details.get("main")
        if (topic in _SHOWING and (is_first or reach >= _MAIN)) or topic in ("hook", "commit"):
            return 0.4 + 0.1 * min(1.0, reach)
        is_tried = bool(lesson.support.sessions_for or _TRYING.search(lesson.use))
        if topic == "serve" and is_tried and not words.isdisjoint(_SEEN):
            return 0.35  # it is to be seen working
    if topic == "generate" and named >= 0.5 and not words.isdisjoint(_MEANT):
        return 0.6
    return 0.6 if named == 1.0 and topic in _COMMANDS else 0.0


def _shape_of(lesson: Lesson) -> tuple[str, ...]:
    """A command without what differs from case to case: `go test … -run NAME` is one, however it is typed; empty for what has
    none."""
    if lesson.topic not in ("test", "build", "lint") or not lesson.use:
        return ()
    begun = takewhile(lambda word: not _VARYING.search(word), lesson.use.split())
    return (lesson.topic, " ".join(begun), "one" if re.search(r"\bNAME\b", lesson.use) else "")


def _named_share(lesson: Lesson, words: frozenset[str]) -> float:
    """The share of the telling words of a script's name that a prompt has; 0 for a name without any."""
    name = lesson.details.get("name", "") or lesson.use.rpartition(" ")[2]
    parts = (
        {part.lower() for part in re.split(r"[^A-Za-z0-9]+", name) if len(part) > 2} - _IDLE - _GENERIC - {lesson.topic}
    )
    parts -= {part.lower() for part in re.split(r"[^A-Za-z0-9]+", lesson.scope.project)}
    meant = words | {other for word in words for other in _MEANT.get(word, ())}
    return len(parts & meant) / len(parts) if parts else 0.0


def _names_package(package: str, words: frozenset[str]) -> bool:
    """Whether a prompt has every word of the last part of a package's folder."""
    last = (
        {part.lower() for part in re.split(r"[^A-Za-z0-9]+", package.rpartition("/")[2]) if len(part) > 2}
        - _IDLE
        - _GENERIC
    )
    return bool(last) and last <= words


def _without_crowds(choices: list[Choice]) -> list[Choice]:
    """At most three facts of a topic, two of a topic that nobody tried; of several forms of one command the first."""
    counted: dict[str, int] = {}
    shapes: set[tuple[str, ...]] = set()
    kept = []
    for each in choices:
        topic = each.lesson.topic
        shape = _shape_of(each.lesson)
        if shape in shapes:
            continue
        shapes |= {shape} if shape else set()
        counted[topic] = counted.get(topic, 0) + 1
        if counted[topic] <= (3 if topic in ("test", "lint") else 2):
            kept.append(each)
    return kept

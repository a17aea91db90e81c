"""Which facts a moment asks for: a prompt by its words and files, a call by what it runs or changes. Pure; knows no wording."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from preheat.commands.words import name_set
from preheat.facts.values import FACT_TOPICS
from preheat.model.lesson import Lesson

_WORD = re.compile(r"[^\W\d_]{2,}")
_BEGINNING, _END = 600, 200
"""Characters of a long prompt in which its aim stands: a plan mentions everything."""
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
    "serve": "server serve localhost port preview browser screenshot launch",
    "setup": "install setup clone dependency dependencies upgrade worktree",
    "variable": "env environment variable variables credential credentials secret secrets",
    "generate": "generate generated regenerate codegen openapi proto graphql",
    "hook": "commit commits committed hook hooks husky",
    "commit": "commit commits committed",
    "branch": "branch branches pr prs",
    "pull_request": "pr prs",
    "release": "release changelog changeset version publish pr prs",
}
_TOPICS_BY_WORD: dict[str, frozenset[str]] = {}
for _topic, _words in _TOPIC_WORDS.items():
    for _each in _words.split():
        _TOPICS_BY_WORD[_each] = _TOPICS_BY_WORD.get(_each, frozenset()) | {_topic}
_CHANGING = name_set(
    "add adds adding fix fixes implement change refactor update create remove rename feature bug error endpoint support make"
    " write move replace extract migrate improve handle delete introduce rewrite convert port build failing broken crash"
    " crashes wrong hinzufügen ändern korrigiere behebe füge ajoute corrige añade arregla adicione"
)
"""Words of prompts after which code is changed, so that it has to be checked."""
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
_GENERIC = frozenset(["dev", "start", "watch", "clean", "build", "test", "lint", "run", "app", "all", "main", "prod"])
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
    words = words_of(prompt)
    found: set[str] = set()
    for word in words:
        found |= _TOPICS_BY_WORD.get(word, frozenset())
    return frozenset(found)


def words_of(text: str) -> frozenset[str]:
    """The words of a prompt's beginning and end, in lower case."""
    text = _MARKED.sub(" ", text[:20_000]) if "</" in text else text
    if len(text) > _BEGINNING + _END:
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
        if lesson.id in told or lesson.kind != "convention" or lesson.topic not in _ORDER or not _is_usable(lesson):
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


def _is_usable(lesson: Lesson) -> bool:
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
    if topic in topics:
        is_usual = (
            topic not in _COMMANDS or package or details.get("main") or named == 1.0 or lesson.support.sessions_for > 1
        )
        about = details.get("about", topic)
        if not is_usual and about not in ("one test", "one test file"):
            return 0.0  # one of several variants, and nobody asked for it
        return (0.9 if about in (topic, "run", "commit", "message") else 0.75) + 0.1 * min(1.0, reach)
    is_whole = details.get("about", topic) == topic
    if is_changing and is_whole and topic in _CHECKED and (is_near or (reach >= _MAIN and not package)):
        return 0.5 + 0.1 * min(1.0, reach)
    if is_changing and ("test" in topics or "feature" in words) and not package:  # it is to be made, and shown to work
        is_first = is_whole and details.get("main")
        if (topic in _SHOWING and (is_first or reach >= _MAIN)) or topic in ("hook", "commit"):
            return 0.4 + 0.1 * min(1.0, reach)
    if topic == "generate" and named >= 0.5 and not words.isdisjoint(_MEANT):
        return 0.6
    return 0.6 if named == 1.0 and topic in _COMMANDS else 0.0


def _named_share(lesson: Lesson, words: frozenset[str]) -> float:
    """The share of the telling words of a script's name that a prompt has; 0 for a name without any."""
    name = lesson.details.get("name", "") or lesson.use.rpartition(" ")[2]
    parts = (
        {part.lower() for part in re.split(r"[^A-Za-z0-9]+", name) if len(part) > 1} - _IDLE - _GENERIC - {lesson.topic}
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
    """At most three facts of a topic, two of a topic that nobody tried."""
    counted: dict[str, int] = {}
    kept = []
    for each in choices:
        topic = each.lesson.topic
        counted[topic] = counted.get(topic, 0) + 1
        if counted[topic] <= (3 if topic in ("test", "lint") else 2):
            kept.append(each)
    return kept


# A call that is about to be made
_COMMIT = re.compile(r"(?:^|[;&|\n]\s*)git\s+commit\b")
_PUSH = re.compile(r"(?:^|[;&|\n]\s*)git\s+push\b")
_PULL = re.compile(r"\bgh\s+pr\s+create\b")
_BRANCH = re.compile(r"\bgit\s+(?:checkout\s+-[bB]|switch\s+(?:-c|--create))\b")
_RUNNER = re.compile(r"(?:^|[;&|\n]\s*)(?P<runner>npm|pnpm|yarn|bun)\s+(?:run|test|install|i|ci|add|exec)\b")
_LONG = re.compile(r"^(?:[2-9]\d|\d{3,}) s$|min$")


def choose_for_call(
    lessons: Iterable[Lesson], command: str, changed: Sequence[str] = (), told: frozenset[str] = frozenset()
) -> Lesson | None:
    """The fact that a call is about to need: hooks and form at a commit, what a pull request needs, that a file is generated."""
    wanted: list[tuple[str, str]] = []
    if _COMMIT.search(command):
        wanted = [("hook", "commit"), ("commit", "message")]
    elif _PULL.search(command):
        wanted = [("release", "change file")]
    elif _PUSH.search(command):
        wanted = [("hook", "push")]
    elif _BRANCH.search(command):
        wanted = [("branch", "branch")]
    candidates = [
        lesson for lesson in lessons if lesson.id not in told and lesson.kind == "convention" and _is_usable(lesson)
    ]
    for topic, about in wanted:
        for lesson in candidates:
            if lesson.topic == topic and lesson.details.get("about") == about:
                return lesson
    for lesson in candidates:
        path = lesson.details.get("path", "").rstrip("/")
        if lesson.topic == "generate" and path and any(each == path or each.startswith(f"{path}/") for each in changed):
            return lesson
    return None

"""Puts what the tree says beside what sessions taught: one fact for each command, confirmed where both agree, and nothing that
the tree no longer has. Pure."""

import re
from collections.abc import Mapping, Sequence

import msgspec

from preheat.commands.words import name_set
from preheat.facts.checks import CHECK_TOPICS, NEARLY_ALL_PACKAGES, command_key
from preheat.facts.fitness import ASTRAY, single_body
from preheat.facts.packages import find_packages
from preheat.facts.runner_settings import with_test_files
from preheat.facts.usual_variables import with_usual_variables
from preheat.facts.values import ProjectTree, cites_missing_place
from preheat.manifests.scripts import read_scripts
from preheat.model.lesson import Lesson

_NODE = re.compile(
    r"^(?:cd (?P<folder>[\w./@-]+) && )?(?P<runner>npm|pnpm|yarn|bun) run (?P<name>[\w:./-]+)(?=\s|$)"
    r"|^(?:npm|pnpm) (?P<test>test)(?=\s|$)"
    r"|^(?:pnpm|yarn) (?P<script>[a-z][\w:.-]*)(?=\s|$)"
)
_OF_SCRIPTS = re.compile(
    r"(?:type-?check|check|checks|lint|format|fmt|build|compile|fix|dev|verify|validate|ci|e2e)|\S+:\S+"
)
"""Names that scripts have and programs do not: `pnpm vitest` starts the program where there is no such script."""
_TASK = re.compile(r"^(?P<runner>make|just|mise run|task) (?P<name>[A-Za-z][\w:.-]*)(?=\s|$)")
_FOLDER = re.compile(r"^cd (?P<folder>[\w./@-]+) && ")
_COREPACK = re.compile(r"(?<![\w-])corepack (?=(?:npm|pnpm|yarn) )")
_OPEN_MAKE = re.compile(r"^(?:-?s?include\b|[^\t#\n]*%[^\n]*:|import\??\s|mod\??\s)", re.MULTILINE)
_FLOORS = {"commit": 0.45, "hook": 0.6, "branch": 0.35, "pull_request": 0.35, "variable": 0.3, "release": 0.4}
"""How likely a session needs a fact whose use is not counted."""
_CHECKS = CHECK_TOPICS | {"check"}
_CUSTOMS = frozenset(["commit", "branch", "pull_request"])
"""Topics of facts that a session needs which commits its work: some projects have sessions that never do."""
_TAKEN_OVER = 0.3
"""The reach that a fact of the tree keeps where sessions do it otherwise."""
_MUCH = 0.3
_CHECKING = 0.15
"""The share of sessions that check their work where those which do not only looked around. Where fewer do, sessions are for
something else here, and each says that a check is not needed."""
_VAGUE = frozenset(["run", "other", "package"])
"""Topics of commands of which sessions alone do not show what they are for."""
_PRIOR = 6
"""Sessions that the kind of a fact counts as, beside those that used it or did not."""


def join_facts(lessons: Sequence[Lesson], facts: Sequence[Lesson], tree: ProjectTree) -> list[Lesson]:
    """The lessons of a project with the facts of its tree. What a person pinned stays as it is."""
    facts = with_usual_variables(_start_as_here(facts, lessons), lessons, tree)
    lessons = _place_in_folders(lessons, facts)
    by_key = {command_key(fact.use): fact for fact in facts if fact.use and fact.topic != "missing"}
    by_body = {
        command_key(body): fact
        for fact in reversed(facts)
        if fact.topic in CHECK_TOPICS and (body := single_body(fact))
    }
    by_topic = {fact.topic: fact for fact in facts if fact.topic in ("commit", "release", "branch", "pull_request")}
    hooks = {fact.details.get("about"): fact for fact in facts if fact.topic == "hook"}
    sessions = max(map(_sessions_of, lessons), default=0)
    changing = max((each.changing for each in lessons if not each.origin), default=0)
    used: set[str] = set()
    found: list[Lesson] = []
    for lesson in _without_twins(lessons):
        if lesson.pinned or lesson.kind == "resume":
            found.append(lesson)
            continue
        if is_stale(lesson, tree) or _ran_below(lesson, tree):
            continue
        fact = _counterpart(lesson, by_key, by_topic, hooks)
        if fact is None and lesson.topic in _VAGUE and lesson.use and (script := by_body.get(command_key(lesson.use))):
            fact = _as_typed(script, lesson.use)
        if fact is None:
            found.append(_with_floor(lesson))
            continue
        used.add(fact.id)
        found.append(_confirm(lesson, fact, sessions))
    taken = {
        _place_of(lesson)
        for lesson in found
        if lesson.kind == "convention" and lesson.status == "active" and (lesson.reach or 0.0) >= _MUCH
    }
    checked = max((each.support.sessions_for for each in lessons if each.topic in CHECK_TOPICS), default=0)
    occasions = checked if checked >= _CHECKING * sessions else sessions
    is_committed = any(each.topic in _FLOORS and each.support.sessions_for for each in lessons)
    found += (
        _with_less_reach(fact, taken, occasions if fact.topic in _CHECKS else 0 if is_committed else sessions, changing)
        for fact in facts
        if fact.id not in used
    )
    return [with_test_files(each, tree) for each in found]


def _place_in_folders(lessons: Sequence[Lesson], facts: Sequence[Lesson]) -> list[Lesson]:
    """The lessons, checks begun in the folder where their program finds its project if that is one other than the project's own:
    the sessions' shells stood there. Where there are several such folders, nobody knows in which."""
    folders = {
        fact.details["program"]: fact.details["folders"]
        for fact in facts
        if fact.topic == "folder" and fact.details.get("folders")
    }
    return [_place(lesson, folders) for lesson in lessons] if folders else list(lessons)


_PROGRAM_OF = {"golangci-lint": "go", "staticcheck": "go", "gotestsum": "go"}
"""Programs that find a project as another one does."""


def _place(lesson: Lesson, folders: Mapping[str, str]) -> Lesson:
    if lesson.kind != "convention" or lesson.topic not in _CHECKS or lesson.pinned or not lesson.details:
        return lesson
    words = lesson.use.split()
    folder = folders.get(_PROGRAM_OF.get(words[0], words[0]), "") if words else ""
    if not folder or not _NO_FOLDER_NAMED.match(lesson.use):
        return lesson
    if "," in folder:
        return msgspec.structs.replace(lesson, details=lesson.details | {ASTRAY: "yes"})
    return msgspec.structs.replace(lesson, use=f"cd {folder} && {lesson.use}")


_NO_FOLDER_NAMED = re.compile(r"(?!cd )(?!.*\s(?:-C|--cwd|--prefix|--manifest-path|--project|--chdir)[= ])")


_MANAGERS = ("npm", "pnpm", "yarn", "bun", "cargo", "go", "make", "just", "pytest")
"""Programs that commands of the tree begin with."""


def _start_as_here(facts: Sequence[Lesson], lessons: Sequence[Lesson]) -> list[Lesson]:
    """The facts of the tree, begun as the sessions begin them where the program alone hardly ever ran: `corepack pnpm`."""
    starters = {
        lesson.details["name"]: lesson.use
        for lesson in lessons
        if lesson.topic == "missing"
        and lesson.details.get("started")
        and lesson.status == "active"
        and lesson.details.get("name") in _MANAGERS
        and lesson.use.endswith(f" {lesson.details['name']}")
    }
    return [_start_by(fact, starters) for fact in facts] if starters else list(facts)


def _start_by(fact: Lesson, starters: dict[str, str]) -> Lesson:
    moved = _FOLDER.match(fact.use)
    before = moved[0] if moved else ""
    name, _, rest = fact.use[len(before) :].partition(" ")
    starter = starters.get(name)
    return msgspec.structs.replace(fact, use=f"{before}{starter} {rest}".rstrip()) if starter else fact


def _sessions_of(lesson: Lesson) -> int:
    """The sessions that a lesson shows that there were."""
    support = lesson.support
    if lesson.kind == "working_set":  # every session counts for or against the file
        return support.sessions_for + support.sessions_against
    return support.sessions_for if lesson.kind == "convention" else 0


def _without_twins(lessons: Sequence[Lesson]) -> list[Lesson]:
    """The lessons, of several on one command in two spellings (`bun verify`, `bun run verify`) only the most used."""
    best: dict[tuple[str, str], Lesson] = {}
    for lesson in lessons:
        if lesson.kind == "convention" and lesson.use and lesson.details and not lesson.pinned:
            key = (lesson.topic, command_key(lesson.use))
            known = best.get(key)
            if known is None or _use_rank(lesson) > _use_rank(known):
                best[key] = lesson
    dropped = {
        lesson.id
        for lesson in lessons
        if lesson.kind == "convention" and lesson.use and lesson.details and not lesson.pinned
    } - {lesson.id for lesson in best.values()}
    return [lesson for lesson in lessons if lesson.id not in dropped]


def _use_rank(lesson: Lesson) -> tuple[bool, int, int, str]:
    return (lesson.status == "active", lesson.support.sessions_for, lesson.support.calls_for, lesson.id)


def _counterpart(
    lesson: Lesson, by_key: dict[str, Lesson], by_topic: dict[str, Lesson], hooks: dict[str | None, Lesson]
) -> Lesson | None:
    if lesson.kind != "convention":
        return None
    if lesson.topic == "hook":
        return hooks.get(lesson.details.get("about"))
    if lesson.topic in by_topic and (not lesson.use or lesson.topic == "pull_request"):  # whatever switches it has
        return by_topic[lesson.topic]
    return by_key.get(command_key(lesson.use)) if lesson.use and lesson.topic != "correction" else None


def _as_typed(script: Lesson, command: str) -> Lesson:
    """The check of a script, for sessions that type what the script runs: by its script it is known what that is for."""
    details = {name: text for name, text in script.details.items() if name != "body"}
    return msgspec.structs.replace(script, id=f"{script.id}, typed", use=command, details=details)


def _mix(prior: float, seen: float, sessions: int) -> float:
    """How likely a session needs something: by the kind of fact at first, by what sessions did as there are more of them."""
    return round((_PRIOR * prior + sessions * seen) / (_PRIOR + sessions), 4)


def _confirm(lesson: Lesson, fact: Lesson, sessions: int) -> Lesson:
    """A lesson that the tree confirms: one session is enough then."""
    if fact.topic == "commit":  # the project's commits say more than those of a few sessions
        return msgspec.structs.replace(fact, support=lesson.support, evidence=lesson.evidence)
    is_once = lesson.status == "weak" and lesson.why.startswith("seen in ")
    is_vague = lesson.topic in _VAGUE and (fact.topic == "script" or fact.topic in CHECK_TOPICS)
    about = fact.details.get("about", "") if lesson.topic == fact.topic or fact.topic == "check" or is_vague else ""
    details = {**fact.details, **lesson.details} | ({"about": about} if about else {})
    topic = fact.topic if is_vague or fact.topic in ("check", "generate", "serve") else lesson.topic
    return msgspec.structs.replace(
        lesson,
        topic=topic,
        details=details if details.get("about") else lesson.details,
        files=lesson.files or fact.files,
        reach=max(lesson.reach or 0.0, _mix(fact.reach or 0.0, lesson.reach or 0.0, sessions), _FLOORS.get(topic, 0.0)),
        need=_mix_need(lesson, fact),
        score=max(lesson.score, fact.score),
        status="active" if is_once else lesson.status,
        why="" if is_once else lesson.why,
    )


def _mix_need(lesson: Lesson, fact: Lesson) -> float | None:
    if lesson.need is None:
        return None
    floor = _FLOORS.get(fact.topic, 0.0)
    return max(lesson.need, _mix(fact.reach or 0.0, lesson.need, lesson.changing), floor)


def _with_floor(lesson: Lesson) -> Lesson:
    floor = _FLOORS.get(lesson.topic, 0.0) if lesson.kind == "convention" and lesson.details else 0.0
    return msgspec.structs.replace(lesson, reach=floor) if (lesson.reach or 0.0) < floor else lesson


def _place_of(fact: Lesson) -> tuple[str, str, str]:
    """What a command is for, and in which package."""
    return fact.topic, fact.details.get("about", ""), fact.details.get("package", "")


def _with_less_reach(fact: Lesson, taken: set[tuple[str, str, str]], occasions: int, changing: int) -> Lesson:
    """A fact of the tree that no session used: the less likely the more sessions had an occasion, checked their work otherwise or
    committed nothing; of those that changed code, `changing` had one. Where sessions have a command of their own for the same, it
    is no longer the main one."""
    if fact.topic not in _CHECKS and fact.topic not in _CUSTOMS:
        return fact
    reach, details = _mix(fact.reach or 0.0, 0.0, occasions), fact.details
    need = _mix(fact.reach or 0.0, 0.0, min(occasions, changing))
    if _place_of(fact) in taken:
        reach, need = min(reach, _TAKEN_OVER), min(need, _TAKEN_OVER)
        details = {name: text for name, text in details.items() if name != "main"}
    return msgspec.structs.replace(fact, reach=reach, need=need, details=details)


# What the tree no longer has
def is_stale(lesson: Lesson, tree: ProjectTree) -> bool:
    """Whether a lesson cites a script, a folder or files that the tree does not have (any more)."""
    if not tree.paths or lesson.packet is not None:
        return False
    if lesson.kind in ("dead_end", "error"):
        return lesson.kind == "dead_end" and bool(lesson.avoid) and has_script(lesson.avoid, tree) is True
    folder = _FOLDER.match(lesson.use)
    if folder is not None and not tree.has_folder(folder["folder"].rstrip("/")):
        return True
    if lesson.use and (runs_missing_script(lesson.use, tree) or _lacks_in_packages(lesson.use, tree)):
        return True
    if lesson.kind == "convention" and lesson.topic in CHECK_TOPICS and cites_missing_place(lesson.use, tree):
        return True
    if lesson.kind == "repair" or not lesson.files:
        return False
    return not any(path in tree.paths or tree.has_folder(path.rstrip("/")) for path in lesson.files if path)


_OF_ANY = re.compile(
    r"(?:--filter|workspace|-w) PACKAGE(?: run)? (?P<script>[\w:.-]+)$|run (?P<named>[\w:.-]+) -w PACKAGE$"
)


def _lacks_in_packages(command: str, tree: ProjectTree) -> bool:
    """Whether a command for any package runs a script that some packages do not have."""
    found = _OF_ANY.search(command)
    members = [package for package in find_packages(tree) if package.is_member] if found else []
    if not found or not members:
        return False
    name = found["script"] or found["named"]
    having = sum(any(script.name == name for script in package.scripts) for package in members)
    return having < NEARLY_ALL_PACKAGES * len(members)


_GENERATING = name_set("Makefile.in Makefile.am configure configure.ac CMakeLists.txt meson.build")
"""Files of which a manifest is made that nobody commits."""


def _ran_below(lesson: Lesson, tree: ProjectTree) -> bool:
    """Whether the runner of a command that sessions typed finds no tasks in the project's own folder: it ran in one below, which
    the command does not name. What others wrote down is theirs."""
    words = (
        lesson.use.split() if lesson.kind == "convention" and not lesson.origin and lesson.author != "person" else []
    )
    if words[:1] not in (["make"], ["just"]) or "-C" in words or "-f" in words:
        return False
    return bool(tree.paths) and _GENERATING.union(_MANIFESTS[words[0]]).isdisjoint(tree.names_in(""))


def runs_missing_script(command: str, tree: ProjectTree) -> bool:
    """Whether a command runs a script or a task that no manifest of the tree has."""
    return has_script(command, tree) is False


_MANIFESTS = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), ("package.json",)),
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "just": ("justfile", "Justfile", ".justfile"),
}


def has_no_manifest(command: str, tree: ProjectTree) -> bool:
    """Whether a command runs a script or a target and no folder of the tree has a manifest that could name it."""
    found = _NODE.match(command) or _TASK.match(command)
    runner = command.rpartition("&& ")[2].split()[0] if found else ""
    names = _MANIFESTS.get(runner, ())
    return bool(names and tree.paths) and not any(path.rpartition("/")[2] in names for path in tree.paths)


def has_script(command: str, tree: ProjectTree) -> bool | None:
    """Whether the script that a command runs is in its manifest; None where it runs none, or that is not sure."""
    command = _COREPACK.sub("", command)
    node = _NODE.match(command)
    if node is not None:
        folder = node["folder"] or ""
        packages = [package for package in find_packages(tree) if package.folder == folder]
        name = node["name"] or node["test"] or node["script"]
        if node["script"] and not _OF_SCRIPTS.fullmatch(node["script"]):
            return None
        if not packages or "/" in name or "." in name:
            return None
        return any(script.name == name for script in packages[0].scripts)
    task = _TASK.match(command)
    if task is None:
        return None
    runner = task["runner"].partition(" ")[0]
    texts = {path: text for path, text in tree.texts.items() if "/" not in path or runner == "mise"}
    scripts = [script for path, text in texts.items() for script in read_scripts(path, text) if script.runner == runner]
    if not scripts or any(_OPEN_MAKE.search(texts[script.file]) for script in scripts if runner in ("make", "just")):
        return None
    return any(script.name == task["name"] for script in scripts) or (None if runner == "mise" else False)

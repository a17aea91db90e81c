"""The facts of the project in a folder: reads the files that state them, puts them beside its lessons, and chooses for a moment.

Knows nothing of how facts are found, joined or chosen (`facts`). Reading a tree takes tens of milliseconds: the daemon keeps what
was read (`FolderFacts`), and asks the file system again only for what it is about to hand out.
"""

import glob
import os
import re
import shutil
import socket
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from preheat.agents import LIVE, instruction_files_of
from preheat.app import fact_cache
from preheat.app.fact_cache import changed_at
from preheat.app.projects import find_repository, project_root
from preheat.facts import EMPTY_TREE, ProjectTree, derive_facts, wanted_files
from preheat.facts.call_choice import NOWHERE, Place, choose_for_call
from preheat.facts.choice import choose_for_prompt
from preheat.facts.commits import CHANGELOG
from preheat.facts.failure_choice import choose_after_check, choose_after_failure
from preheat.facts.join import join_facts
from preheat.facts.overruling import without_overruled
from preheat.facts.start_choice import choose_for_start
from preheat.facts.stated import Contradiction, checks_stated, find_contradictions, without_stated
from preheat.files import read_text
from preheat.manifests.scripts import LARGEST
from preheat.model.lesson import Lesson
from preheat.programs import ask_git
from preheat.provisioning.lesson_text import describe_lesson
from preheat.provisioning.tokens import estimate_tokens
from preheat.safe_text.fact_sentences import PROMPT_HEAD
from preheat.stated import NO_STATEMENTS, Statements, read_statements

__all__ = ["NO_FACTS", "Contradiction", "FolderFacts", "contradictions", "load_facts", "read_tree"]

_MOST_PATHS = 60_000
_MOST_WALKED = 5_000
_SUBJECTS = 60
_README = ("README.md", "README.rst", "README", "CONTRIBUTING.md")
_SKIPPED = frozenset(["node_modules", ".git", "target", "dist", "build", ".venv", "venv", "__pycache__"])
_IMPORT = "@"


class FolderFacts(NamedTuple):
    """The facts of a folder, with its lessons."""

    root: str = ""
    lessons: tuple[Lesson, ...] = ()
    """The lessons and facts of the project, joined; not yet without what a file says."""
    stated: Mapping[str, Statements] = MappingProxyType({})
    """By agent, what the files say that it reads by itself."""

    checks: Mapping[str, frozenset[str]] = MappingProxyType({})
    """By agent, topics of the checks of which it reads a command by itself."""
    name: str = ""
    """The name of the project, by its folder where no session gave it one."""

    read_at: Mapping[str, int] = MappingProxyType({})
    """By file that was read, when it had last changed, in nanoseconds."""

    def is_current(self) -> bool:
        """Whether the files that facts were read from are as they were."""
        return all(changed_at(os.path.join(self.root, path)) == at for path, at in self.read_at.items())

    def for_agent(self, agent: str) -> list[Lesson]:
        """What an agent may be told: not what it reads by itself, nor beside a person's own words."""
        statements = self.stated.get(agent)
        lessons = without_overruled(self.lessons)
        return lessons if statements is None else without_stated(lessons, statements)

    def choose_for_start(self, agent: str, task: str = "", at_once: bool = False) -> dict[str, Lesson]:
        """The facts that a session is told at its start, by id and in their order: those for everybody, and those that its task
        asks for. `at_once`: nothing can be said later."""
        lessons = self.for_agent(agent)
        stated = self._stated_checks(agent)
        chosen = {each.id: each for each in choose_for_start(lessons, stated, at_once)}
        asked = choose_for_prompt(lessons, task, (), frozenset(chosen), stated) if task else ()
        return chosen | {each.lesson.id: each.lesson for each in asked}

    def _stated_checks(self, agent: str) -> frozenset[str]:
        """Topics of the checks of which an agent reads a command by itself."""
        return self.checks.get(agent, frozenset())

    def choose_for_prompt(
        self,
        agent: str,
        prompt: str,
        files: Sequence[str],
        told: frozenset[str],
        most_tokens: int,
        ran: Sequence[str] = (),
    ) -> tuple[str, tuple[str, ...]]:
        """The lines of the facts that a prompt asks for and the ids of their lessons, within a number of tokens. `ran`: checks
        that the session ran."""
        lines: list[str] = []
        chosen: list[str] = []
        room = most_tokens - estimate_tokens(PROMPT_HEAD.write()) - 2
        for each in choose_for_prompt(self.for_agent(agent), prompt, files, told, self._stated_checks(agent), ran):
            line = describe_lesson(each.lesson) if self._still_there(each.lesson) else ""
            cost = estimate_tokens(f"- {line}\n")
            if line and cost <= room and f"- {line}" not in lines:
                lines.append(f"- {line}")
                chosen.append(each.lesson.id)
                room -= cost
        return ("\n".join([PROMPT_HEAD.write(), *lines]) if lines else ""), tuple(chosen)

    def choose_for_call(
        self,
        agent: str,
        command: str,
        changed: Sequence[str],
        told: frozenset[str],
        cwd: str = "",
        known: Place = NOWHERE,
        missing: frozenset[str] = frozenset(),
    ) -> tuple[str, str] | None:
        """The fact that a call in a folder is about to need, as a line with the id of its lesson; None if there is none. `known`:
        what the session and the call itself say, its folder empty where the shell stands where it was started; `missing`:
        programs that the shell did not find."""
        stated = self._stated_checks(agent)
        there = self._look_at(cwd or self.root, missing)
        is_sure = bool(cwd) and (there.folder != "" or known.folder == "")
        place = known._replace(
            folder=there.folder if is_sure else None,
            has_match=there.has_match,
            has_program=there.has_program,
            lacks_modules=there.lacks_modules,
            is_there=there.is_there,
            has_kind=there.has_kind,
            listens=there.listens,
            stated=stated,
        )
        return self._say(choose_for_call(self.for_agent(agent), command, changed, told, place))

    def choose_after_failure(
        self, agent: str, signature: str, told: frozenset[str], command: str = ""
    ) -> tuple[str, str] | None:
        """The fact that names what a failed call lacked, as a line with the id of its lesson; None if there is none."""
        return self._say(choose_after_failure(self.for_agent(agent), signature, told, command))

    def choose_after_check(
        self, agent: str, purposes: Sequence[str], command: str, told: frozenset[str], edited: Sequence[str] = ()
    ) -> tuple[str, str] | None:
        """The fact that helps after a check that found something, as a line with the id of its lesson; None if there is none."""
        return self._say(choose_after_check(self.for_agent(agent), purposes, command, told, edited))

    def _say(self, lesson: Lesson | None) -> tuple[str, str] | None:
        line = describe_lesson(lesson) if lesson is not None and self._still_there(lesson) else ""
        return (line, lesson.id) if lesson is not None and line else None

    def _look_at(self, cwd: str, missing: frozenset[str]) -> Place:
        """What a call in a folder finds there; the session's own shell may not find what ours does."""
        folder = os.path.relpath(cwd, self.root) if self.root else ""
        exists = partial(_exists, self.root)
        return Place(
            folder="" if folder == "." else folder.replace(os.sep, "/"),
            has_match=partial(has_match, cwd),
            is_there=exists,
            has_program=lambda name: name not in missing and shutil.which(name) is not None,
            lacks_modules=exists("package.json") and not any(map(exists, _MODULES)),
            has_kind=partial(_has_kind, self.root),
            listens=_listens,
        )

    def _still_there(self, lesson: Lesson) -> bool:
        """Whether a file that a fact cites is there at this moment."""
        named = [path for path in lesson.files if path and "*" not in path]
        return not named or any(os.path.exists(os.path.join(self.root, path)) for path in named)


NO_FACTS = FolderFacts()
_MODULES = ("node_modules", ".pnp.cjs", ".pnp.js")
_EXPANDED = re.compile(r"[$`{}()^#\\<>]")
"""What a shell replaces before it looks for files, or reads otherwise than we do."""
_MOST_WILD = 2
"""Parts of a path with a pattern; more would take too long to look up."""


def _exists(root: str, name: str) -> bool:
    return os.path.exists(os.path.join(root, name))


def _has_kind(root: str, folder: str, ending: str) -> bool:
    """Whether a folder of the project holds a file of an ending; yes where it cannot be listed for another reason than that it is
    not there."""
    try:
        with os.scandir(os.path.join(root, folder)) as entries:
            return any(entry.name.endswith(ending) for entry in entries)
    except FileNotFoundError:
        return False
    except OSError:
        return True


_SHORTLY = 0.05
"""Seconds that a port of this machine gets to answer."""


def _listens(port: str) -> bool:
    """Whether something answers on a port of this machine; yes where that cannot be told."""
    for host in ("127.0.0.1", "::1"):
        try:
            with socket.create_connection((host, int(port)), timeout=_SHORTLY):
                return True
        except ConnectionRefusedError:
            continue
        except (OSError, ValueError, OverflowError):
            return host == "127.0.0.1"  # a machine without the newer addresses says nothing by that
    return False


def has_match(folder: str, pattern: str) -> bool:
    """Whether a pattern matches a file; yes where that would take long to find out, or the shell puts something in first."""
    wild = [part for part in pattern.split("/") if glob.has_magic(part)]
    if len(wild) > _MOST_WILD or "**" in pattern or pattern.startswith("~") or _EXPANDED.search(pattern):
        return True
    return "://" not in pattern and next(glob.iglob(os.path.join(folder, pattern)), None) is not None


def load_facts(
    where: str, project: str, lessons: Sequence[Lesson], agents: Iterable[str] = (), folder: str = ""
) -> FolderFacts:
    """The facts of the project around a folder, joined with its lessons; the lessons alone where the folder is no project.
    `project` is its name in lessons, `folder` our own, where what was read is kept. Slow."""
    root = project_place(where)
    name = project or os.path.basename(root)
    tree, facts = _read_kept(root, name, folder) if root else (EMPTY_TREE, [])
    if not tree.paths:
        return FolderFacts(where, tuple(lessons), name=project)
    joined = join_facts(lessons, facts, tree)
    stated = {
        agent: _read_stated(root, tree, instruction_files_of(agent)) for agent in dict.fromkeys(agents) if agent in LIVE
    }
    read_at = {path: changed_at(os.path.join(root, path)) for path in tree.texts}
    checks = {agent: checks_stated(statements, joined) for agent, statements in stated.items()}
    return FolderFacts(root, tuple(joined), stated, checks, name, read_at)


def _read_kept(root: str, name: str, folder: str) -> tuple[ProjectTree, list[Lesson]]:
    """The tree at a root and its facts, as they were kept while nothing changed."""
    kept = fact_cache.load(folder, root, name) if folder else None
    if kept is not None:
        return kept
    tree = read_tree(root, name)
    facts = derive_facts(tree)
    if folder and tree.paths:
        fact_cache.save(folder, root, tree, facts)
    return tree, facts


def project_place(where: str) -> str:
    """The folder whose files state the facts of a folder; empty if it is in no project."""
    found = (find_repository(where) or project_root(where)) if os.path.isdir(where) else ""
    return found if found and os.path.isdir(found) else ""


def read_tree(root: str, project: str = "") -> ProjectTree:
    """The files of a working tree that facts are read from."""
    listed = ask_git(root, "ls-files", "-co", "--exclude-standard", "-z", "--deduplicate").split("\0")
    paths = [path for path in listed if path][:_MOST_PATHS] or _walk(root)
    texts = {path: text for path in wanted_files(paths) if (text := _read(os.path.join(root, path)))}
    log = ask_git(root, "log", f"-{_SUBJECTS}", "--format=%x00%s", "--name-only", "--no-show-signature")
    return ProjectTree(frozenset(paths), texts, **read_log(log), project=project)


def read_log(log: str) -> dict[str, Any]:
    """What facts need of the newest commits, from `git log --format=%x00%s --name-only`."""
    commits = [each.splitlines() for each in log.split("\0")[1:]]
    changes = sum(CHANGELOG in lines[1:] for lines in commits) if commits else None
    return {"subjects": [lines[0] if lines else "" for lines in commits], "changelog_changes": changes}


def _walk(root: str) -> list[str]:
    """The files below a folder without git, the highest first, not too many."""
    found: list[str] = []
    for parent, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        place = os.path.relpath(parent, root)
        found += (name if place == "." else f"{place}/{name}".replace(os.sep, "/") for name in names)
        if len(found) > _MOST_WALKED or place.count(os.sep) > 6:
            break
    return found[:_MOST_WALKED]


def _read(path: str) -> str:
    with suppress(OSError, ValueError):
        return read_text(path, most=LARGEST, errors="replace")
    return ""


def _read_stated(root: str, tree: ProjectTree, files: Sequence[str]) -> Statements:
    """What the instruction files of a project state, with the files that they import (`@AGENTS.md`)."""
    texts = [text for path in _find_files(tree, files) if (text := _read(os.path.join(root, path)))]
    imported = [
        word[1:] for text in texts for word in text.split() if word.startswith(_IMPORT) and word[1:] in tree.paths
    ]
    texts += (_read(os.path.join(root, path)) for path in dict.fromkeys(imported[:5]))
    return read_statements(*texts) if texts else NO_STATEMENTS


def _find_files(tree: ProjectTree, files: Sequence[str]) -> list[str]:
    wanted = {file.lower() for file in files}
    return sorted(path for path in tree.paths if path.lower() in wanted)


def contradictions(
    where: str, project: str, lessons: Sequence[Lesson], besides: Mapping[str, str] = MappingProxyType({})
) -> list[Contradiction]:
    """What the instruction files and the README of a project say otherwise than its tree and its sessions show; `besides` are
    further texts, by the name of their file."""
    root = project_place(where)
    if not root:
        return []
    tree = read_tree(root, project)
    files = dict.fromkeys((*(file for agent in LIVE for file in instruction_files_of(agent)), *_README))
    texts = {path: _read(os.path.join(root, path)) for path in _find_files(tree, list(files))}
    statements = {path: read_statements(text) for path, text in ({**besides, **texts}).items()}
    return find_contradictions(join_facts(lessons, derive_facts(tree), tree), tree, statements)

"""Failure forks: every failure that a later call repaired, and what would have been said before and after it, without a model.

Walks the sessions of each project in time order. The working tree is the start commit in a bare repository plus what the
session's own calls did; known is what came before. For every call: would we have warned, and did it fail? For every failure by
mistake or environment: would we have answered, and is the remedy what the session ended up with? One JSON line per failure goes
to `results/forks.jsonl` (docs/concepts/answers.md has its fields), so that others can run their tool on it.
"""

import json
import os
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from benchmarks.fork_judging import find_resolution, is_remedy_right
from benchmarks.fork_tree import RecordedTree, Repository
from benchmarks.measuring import table
from benchmarks.real import PACKED, SKIPPED, sources, unpack
from benchmarks.recorded import (
    GROUPS,
    EarlierSessions,
    RecordedSession,
    Replay,
    group_of,
    is_judged,
    read_commits,
    read_folders,
)
from preheat.agents.sources import detect, read
from preheat.answers import Answer, Failure, PlannedCall
from preheat.answers.edit_text import read_edits
from preheat.answers.paths import find_missing
from preheat.answers.scripts import find_manifest
from preheat.app.analysis.assessment import assess
from preheat.app.analysis.one_pass import prepare_for_learners
from preheat.calls.files import file_of
from preheat.commands import command_text
from preheat.errors import NotRecognised
from preheat.projects.folders import main_folder

OUTPUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results", "forks.jsonl")
DEVELOPED_ON = (
    "FSM1+cipher-box", "entireio+git-sync", "jdx+hk", "obsessiondb+chkit", "theogbrand+napoli-matcha",
    "Beep206+CyberVPN", "Ri5ha6h+tan-mapper-app", "ShamsiievDmytro+entire-bmad", "blackgirlbytes+planetfall-seed-signalkit",
    "codyborders+pup-mcp", "dayhaysoos+nimbus",
    "ClusterCockpit+cc-backend", "EntityProcess+agentv", "Safecast+safecast-map-MCP", "The-Best-Codes+bestcodes.dev",
    "chikachow+cyspbot", "dougnukem+orpheus", "eitatech+gatomia-vscode", "entireio+auth-go", "entireio+skills",
    "punt-labs+langlearn-tts", "sasikiran+entire-dashboard",
)  # fmt: skip
"""Projects that the rules were made with; the figures that count are those of the others."""
_WITHIN = 12
"""Calls within which a failure is repaired."""


class Fork(NamedTuple):
    """A failure, what would have been said, and what came of it."""

    project: str
    session: str
    agent: str
    call: int
    kind: str
    group: str
    cause: str
    failed: str
    """The command, or the tool with its file."""
    error: str
    earlier_sessions: int
    repaired_by: int | None
    """How many calls later the same thing succeeded."""
    resolution: list[str]
    """What the session ended up with, as far as it can be compared: paths, lines, words of the command that worked."""
    before: str
    before_rule: str
    before_remedies: list[str]
    after: str
    after_rule: str
    remedies: list[str]
    is_right: bool | None
    """Whether the remedy is what the session ended up with; None where it ended up with nothing that can be compared."""
    is_known: bool
    """Whether the tree as it could be made anew says what it is about: the path is missing there too, the text of the file or
    the manifest is known. On the agent's own disk that is always so."""


def run(quick: bool, data: str = "", repositories: str = "") -> dict[str, Any]:
    forks: list[Fork] = []
    warned: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for _, found in walk_projects(quick, data, repositories, warned):
        forks += found
    os.makedirs(os.path.dirname(OUTPUT), exist_ok=True)
    with open(OUTPUT, "w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(fork._asdict(), ensure_ascii=False) + "\n" for fork in forks)
    result = {name: _score([each for each in forks if each.project == name], warned[name]) for name in warned}
    for title, names in (("developed on", set(DEVELOPED_ON)), ("left out", set(warned) - set(DEVELOPED_ON))):
        chosen = [each for each in forks if each.project in names]
        result[title] = _score(chosen, sum((warned[name] for name in warned if name in names), Counter()))
    _show(result)
    return result


def walk_projects(
    quick: bool, data: str, repositories: str, warned: defaultdict[str, Counter[str]]
) -> Iterator[tuple[RecordedSession, list[Fork]]]:
    """Every session in turn with its forks, each with what was known before it; what was warned of is counted by project."""
    for name, sessions, repository in _projects(data, repositories):
        earlier = EarlierSessions()
        for number, recorded in enumerate(sessions[:8] if quick else sessions):
            replay = Replay(recorded, repository, earlier.summarise(), earlier.paths)
            yield recorded, list(_walk(name, recorded, replay, number, warned[name]))
            earlier.add(recorded.session)


# The data.
def _projects(data: str, repositories: str) -> Iterator[tuple[str, list[RecordedSession], Repository]]:
    """The projects of which there is a repository, with their sessions in time order."""
    for source in sources(data):
        name = source.name.rpartition("__")[2]
        place = os.path.join(repositories, name, "repo")
        if not source.is_project or not os.path.isdir(place):
            continue
        repository = Repository(place)
        with tempfile.TemporaryDirectory() as work:
            folder = source.path
            if source.path.endswith(PACKED):
                unpack(source.path, work)
                folder = os.path.join(work, source.name)
            found = sorted(_sessions(folder, repository), key=lambda each: each.session.session.started_at or 0.0)
        yield name, found, repository


def _sessions(folder: str, repository: Repository) -> Iterator[RecordedSession]:
    commits = read_commits(folder)
    known: set[str] = set()
    for parent, _, names in sorted(os.walk(folder)):
        for name in sorted(set(names) - set(SKIPPED)):
            path = os.path.join(parent, name)
            try:
                reader = detect(path)
            except NotRecognised:
                continue
            for session in read(path, reader):
                commit = commits.get(session.id) or repository.commit_before(session.started_at or 0.0)
                if session.id in known or not commit or not session.project.startswith("/"):
                    continue
                known.add(session.id)
                judged = prepare_for_learners(session, assess(session).records, main_folder(session.project))
                yield RecordedSession(judged, read_folders(path), commit)


# One session.
def _walk(name: str, recorded: RecordedSession, replay: Replay, number: int, warned: Counter[str]) -> Iterator[Fork]:
    for place, each in enumerate(recorded.session.calls):
        before = replay.warn(each)
        warned["calls"] += 1
        if before is not None and is_judged(each):
            warned["warned"] += 1
            warned["warned and failed"] += each.failed
            warned[f"{before.rule}: warned"] += 1
            warned[f"{before.rule}: failed"] += each.failed
        if each.failed and each.record.cause != "finding":
            yield _fork(name, place, replay, before, replay.answer(each), number, recorded)
        replay.apply(each)


def _fork(
    name: str, place: int, replay: Replay, before: Answer | None, after: Answer | None, number: int,
    recorded: RecordedSession,
) -> Fork:  # fmt: skip
    session, tree = recorded.session, replay.tree
    each = session.calls[place]
    planned = replay.plan(each)
    error = each.record.signature
    text = each.result.text if each.result is not None else ""
    group = group_of(error)
    later = [
        (distance, other, replay.plan(other))
        for distance, other in enumerate(session.calls[place + 1 : place + 1 + _WITHIN], 1)
        if not each.call.response or other.call.response != each.call.response
    ]
    resolution = find_resolution(group, planned, text, tree, later)
    is_right = None
    if after is not None and after.remedies and resolution:
        is_right = is_remedy_right(after, resolution)
    what = (
        command_text(each.call.input)
        if each.call.kind == "shell"
        else f"{each.call.tool} {session.relative(file_of(each.call))}"
    )
    return Fork(
        name, session.key, session.session.agent, each.record.seq, each.call.kind, group, each.record.cause or "unknown",
        session.relative(what)[:400], error[:300], number, each.record.recovered_in, resolution[:8],
        before.text if before else "", before.rule if before else "",
        list(before.remedies) if before else [], after.text if after else "",
        after.rule if after else "", list(after.remedies) if after else [], is_right, _is_known(group, planned, text, tree),
    )  # fmt: skip


def _is_known(group: str, planned: PlannedCall, text: str, tree: RecordedTree) -> bool:
    if group == "missing path":
        return any(tree.kind(path) == "none" for path, _ in find_missing(Failure(planned, text)))
    if group == "edit text":
        edits = read_edits(planned)
        return bool(edits) and all(tree.read_text(planned.absolute(edit.path)) is not None for edit in edits)
    if group == "script or flag" and (place := find_manifest(planned, tree)):
        return tree.read_text(place) is not None
    return True


# Scores.
_ASKED = ("missing path", "edit text", "script or flag")


def _score(forks: Sequence[Fork], warned: Counter[str]) -> dict[str, Any]:
    asked = [each for each in forks if each.group in _ASKED]
    answered = [each for each in asked if each.after]
    resolved = [each for each in answered if each.is_right is not None]
    return {
        **warned,
        "failures": len(forks),
        "repaired": sum(each.repaired_by is not None for each in forks),
        "foreseen": sum(bool(each.before) for each in forks),
        "asked": len(asked),
        "answered": len(answered),
        "resolved": len(resolved),
        "right": sum(each.is_right is True for each in resolved),
        "known": sum(each.is_known for each in asked),
        "known and answered": sum(each.is_known for each in answered),
        "groups": {
            group: {
                "failures": len(of),
                "foreseen": sum(bool(each.before) for each in of),
                "answered": sum(bool(each.after) for each in of),
                "resolved": sum(each.is_right is not None for each in of),
                "right": sum(each.is_right is True for each in of),
                "known": sum(each.is_known for each in of),
                "known and answered": sum(each.is_known and bool(each.after) for each in of),
            }
            for group in GROUPS
            if (of := [each for each in forks if each.group == group])
        },
        "rules": {
            rule: {
                "answered": len(of),
                "resolved": sum(each.is_right is not None for each in of),
                "right": sum(each.is_right is True for each in of),
            }
            for rule in sorted({each.after_rule for each in forks if each.after_rule})
            if (of := [each for each in forks if each.after_rule == rule])
        },
    }


def _share(count: int, total: int) -> str:
    return f"{count}/{total} ({count / total:.2f})" if total else "0/0"


def _show(result: dict[str, Any]) -> None:
    rows = [["project", "calls", "failures", "repaired", "warned that fail", "foreseen", "answered", "where the tree is known",
             "remedy right"]]  # fmt: skip
    for name, score in result.items():
        rows.append([
            name, f"{score.get('calls', 0):,}", str(score["failures"]), str(score["repaired"]),
            _share(score.get("warned and failed", 0), score.get("warned", 0)), _share(score["foreseen"], score["failures"]),
            _share(score["answered"], score["asked"]), _share(score["known and answered"], score["known"]),
            _share(score["right"], score["resolved"]),
        ])  # fmt: skip
    table(rows)
    for title in ("developed on", "left out"):
        groups = result[title]["groups"]
        table([[title, "failures", "foreseen", "answered", "where the tree is known", "remedy right"]] + [
            [group, str(of["failures"]), str(of["foreseen"]), str(of["answered"]),
             _share(of["known and answered"], of["known"]), _share(of["right"], of["resolved"])]
            for group, of in groups.items()
        ])  # fmt: skip
        table([["rule", "answered", "remedy right"]] + [
            [rule, str(of["answered"]), _share(of["right"], of["resolved"])]
            for rule, of in result[title]["rules"].items()
        ])  # fmt: skip
        rules = sorted(key.removesuffix(": warned") for key in result[title] if key.endswith(": warned"))
        table([["rule", "warned that fail"]] + [
            [rule, _share(result[title].get(f"{rule}: failed", 0), result[title][f"{rule}: warned"])] for rule in rules
        ])  # fmt: skip

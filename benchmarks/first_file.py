"""The plan of the first-file study: recorded sessions with what orientation says for their first prompt. See
`docs/paper/protocol-first-file.md`. Plans hold text of real sessions: they stay outside of the repository.
"""

import contextlib
import random
import re
import tempfile
from collections import Counter
from collections.abc import Sequence

from benchmarks.orientation_data import RecordedProject, RecordedSession, load_projects
from preheat.app.orientation import describe
from preheat.lab.study.first_file import FirstFileTask
from preheat.model.orientation import Orientation, PastEpisode
from preheat.orientation import History, rank
from preheat.orientation.prompt import branch_words
from preheat.tree.contents import kind_by_name
from preheat.tree.index import TreeIndex
from preheat.tree.sources import CommittedTree, FoundFile

SEED = 20261118
SESSIONS = 12
"""Of a project at most, drawn."""
OTHERS, FROM_FOLDER = 7, 3
"""Paths that the target is ranked among; so many of them from its own folder."""
FOLDERS = 30
_PROMPT = 600
_PLAIN = re.compile(r"[A-Za-z][!#-\[\]-~]{2,119}")
_HEAD = "Folders of this repository, with how many files each has:"


def make_first_file_plan(repositories: str) -> list[FirstFileTask]:
    """The tasks in rounds, one of each project in a round."""
    found = [make_project_tasks(project) for project in load_projects("", repositories)]
    rounds = max(map(len, found), default=0)
    return [tasks[turn] for turn in range(rounds) for tasks in found if turn < len(tasks)]


def make_project_tasks(project: RecordedProject) -> list[FirstFileTask]:
    """The tasks of a project, in the order in which its sessions were drawn."""
    draw = random.Random(f"{SEED} {project.name}")
    fit = {session.key: target for session in project.sessions if (target := find_target(project, session))}
    prompts = [session.prompts[0].text for session in project.sessions if session.key in fit]
    order = list(fit)
    draw.shuffle(order)
    found: dict[str, FirstFileTask] = {}
    with tempfile.TemporaryDirectory(prefix="preheat-bench-") as folder, contextlib.ExitStack() as stack:
        index: TreeIndex | None = None
        chosen = set(order[: 2 * SESSIONS])  # some have nothing to say
        for place, session in enumerate(project.sessions):
            if session.key not in chosen:
                continue
            tree = CommittedTree(project.repository, session.commit)
            index = index or stack.enter_context(TreeIndex.open_source(folder, tree))
            index.update(tree)
            task = _make_task(project, place, index, tree, fit[session.key], prompts)
            if task is not None:
                found[session.key] = task
    tasks = [found[key] for key in order if key in found][:SESSIONS]
    print(f"{project.name}: {len(fit)} sessions fit, {len(chosen) - len(found)} of {len(chosen)} silent", flush=True)
    return tasks


def find_target(project: RecordedProject, session: RecordedSession) -> str:
    """The file that a session used first, of those that its commit has; empty if it is not fit to be scored."""
    if not session.commit:
        return ""
    files = CommittedTree(project.repository, session.commit).list_files(100_000).files
    used = (use.path for use in session.uses if use.path in files)
    first = next(used, "")
    return first if _PLAIN.fullmatch(first) else ""


def _make_task(
    project: RecordedProject, place: int, index: TreeIndex, tree: CommittedTree, target: str, prompts: Sequence[str]
) -> FirstFileTask | None:
    session = project.sessions[place]
    history = History(_earlier(project, place))
    files = tree.list_files(100_000).files
    draw = random.Random(f"{SEED} {session.key}")

    def orient(prompt: str) -> Orientation:
        evidence = index.look_up(f"{prompt}\n{branch_words(session.branch)}")
        return rank(prompt, history, evidence, branch=session.branch, exists={*files}.__contains__)

    own = session.prompts[0].text
    said = orient(own)
    others = [prompt for prompt in dict.fromkeys(prompts) if prompt != own]
    draw.shuffle(others)
    other = next((text for prompt in others if (text := describe(orient(prompt)))), "")
    text = describe(said)
    if not text or not other:
        return None
    named = [each.path for each in said.files]
    return FirstFileTask(
        session.key,
        project.name,
        own[:_PROMPT],
        target,
        draw_others(target, files, {use.path for use in session.uses}, draw),
        {"nothing": "", "orientation": text, "other": other, "folders": list_folders(files)},
        named.index(target) + 1 if target in named else 0,
    )


def _earlier(project: RecordedProject, place: int) -> list[PastEpisode]:
    session = project.sessions[place]
    return [
        past
        for each in project.sessions[:place]
        for past in each.past
        if (past.episode.ended_at or each.ended_at) <= session.started_at
    ]


def draw_others(target: str, files: dict[str, FoundFile], used: set[str], draw: random.Random) -> tuple[str, ...]:
    """Other text files that the session never used: some from the folder of the target, if it has them."""
    fit = [
        path
        for path in sorted(files)
        if path not in used
        and _PLAIN.fullmatch(path)
        and kind_by_name(path, files[path].size) == "text"
        and not path.startswith(target)
        and not target.startswith(path)
    ]
    folder = target.rpartition("/")[0]
    near = [path for path in fit if path.rpartition("/")[0] == folder]
    chosen = draw.sample(near, min(FROM_FOLDER, len(near)))
    rest = [path for path in fit if path not in chosen]
    return (*chosen, *draw.sample(rest, min(OTHERS - len(chosen), len(rest))))


def list_folders(files: dict[str, FoundFile]) -> str:
    """A note with the folders that have the most files."""
    counts = Counter(path.rpartition("/")[0] for path in files if "/" in path)
    most = sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:FOLDERS]
    return "\n".join([_HEAD, *(f"- `{folder}/` ({count})" for folder, count in sorted(most))])

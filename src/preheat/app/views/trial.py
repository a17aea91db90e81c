"""A prompt tried out: what each moment of a session that begins with it would say, and why, and why not the rest.

Nothing is recorded, assigned or withheld: it is what a warm session would be given. Knows nothing of how lessons are chosen,
files ranked or failures answered; the stages that do it in a session do it here.
"""

import os
import time
from contextlib import closing

from preheat.answers import NO_HISTORY, Failure, PlannedCall, answer_failure, warn_before
from preheat.app.context import estimate_tokens, provision, render
from preheat.app.live.advice import load_known_mistakes
from preheat.app.live.answers import load_history
from preheat.app.live.project_files import DiskFiles, list_names
from preheat.app.live.settings import load_actions, load_thresholds
from preheat.app.orientation import describe, orient
from preheat.app.projects import FoundProject, find_project_at, project_root
from preheat.archive.connect import connect
from preheat.errors import NotFound, UserError
from preheat.live.mistake import read_planned_command
from preheat.live.state import START
from preheat.model.context import Context
from preheat.model.views import TriedItem, TriedMoment, TriedPrompt

LONGEST_PROMPT = 20_000
_SILENCE = {
    "no telling words": "the prompt has no word that says where the work is",
    "nothing stands out": "no file stands out for this prompt",
}


def try_prompt(folder: str, prompt: str, where: str, command: str = "", printed: str = "") -> TriedPrompt:
    """Try a prompt in a folder of this machine; `command` is one that the agent might run, `printed` what it printed when it
    failed. Raises UserError if there is no such folder."""
    if len(prompt) > LONGEST_PROMPT:
        raise UserError(f"the prompt has {len(prompt):,} characters; try one of at most {LONGEST_PROMPT:,}")
    if not os.path.isabs(where) or not os.path.isdir(where):
        raise UserError(
            f"there is no folder `{where[:200]}`; name the whole path of the project's folder on this machine"
        )
    with closing(connect(folder)) as connection:
        found = find_project_at(connection, where)
    return TriedPrompt(
        prompt=prompt,
        folder=where,
        project=found.name if found is not None else "",
        moments=(
            _try_start(folder, prompt, where),
            _try_orientation(folder, prompt, where),
            *_try_command(folder, where, found, command, printed),
            TriedMoment(
                moment="after a compaction and at a stop",
                text="",
                silence="both depend on what the session has done by then: its goal, its files, its checks",
            ),
        ),
    )


def _try_start(folder: str, prompt: str, where: str) -> TriedMoment:
    try:
        context = provision(folder, prompt, project=where, resuming=True, loaded=True)
    except NotFound:  # no session ran here before: general lessons
        context = provision(folder, prompt, cwd=where)
    return TriedMoment(
        moment="at the start, with the prompt",
        text=render(context).text if context.items or context.addendum else "",
        tokens=context.tokens,
        items=tuple(TriedItem(text=each.text, why=each.why, lesson=each.lesson) for each in context.items),
        silence=_why_empty(context),
        left_out=dict(context.left_out),
    )


def _why_empty(context: Context) -> str:
    if context.items or context.addendum:
        return ""
    return context.reason or "nothing was learned that fits"


def _try_orientation(folder: str, prompt: str, where: str) -> TriedMoment:
    moment = "with the prompt: where the work lies"
    if not load_actions(folder).orientation:
        return TriedMoment(moment=moment, text="", silence="`orientation = false` below `[live]` turns it off")
    found = orient(folder, prompt, where)
    text = describe(found)
    return TriedMoment(
        moment=moment,
        text=text,
        tokens=estimate_tokens(text) if text else 0,
        items=tuple(
            TriedItem(text=each.path, why=f"{each.probability:.0%}: {', '.join(each.reasons)}") for each in found.files
        ),
        silence="" if text else _SILENCE.get(found.silence, "no file stands out for this prompt"),
    )


def _try_command(
    folder: str, where: str, project: FoundProject | None, command: str, printed: str
) -> tuple[TriedMoment, TriedMoment]:
    before, after = "before a call", "after a failure"
    if not command.strip():
        nothing = "name a command that the agent might run"
        return TriedMoment(moment=before, text="", silence=nothing), TriedMoment(moment=after, text="", silence=nothing)
    with closing(connect(folder)) as connection:
        known = load_known_mistakes(connection, project.name if project is not None else "", time.time(), where)
        history = load_history(connection, project.key) if project is not None else NO_HISTORY
    root = project_root(where) or where
    files, call = DiskFiles(root, list_names(root)), PlannedCall("shell", "shell", {"command": command}, where)
    lesson = read_planned_command(START.mistake, known, command, "")
    warning = None if lesson is not None else warn_before(call, files, history, None)
    text = lesson.text if lesson is not None else warning.text if warning is not None else ""
    most = load_thresholds(folder).advice_tokens
    first = TriedMoment(
        moment=before,
        text=text,
        tokens=estimate_tokens(text) if text else 0,
        items=(TriedItem(text=text, why="a lesson of this project", lesson=lesson.cause),) if lesson is not None else
        (TriedItem(text=text, why=f"rule `{warning.rule}`"),) if warning is not None else (),
        silence="" if text else "nothing says that this command fails here",
    )  # fmt: skip
    answer = answer_failure(Failure(call, printed), files, history, None) if printed.strip() else None
    second = TriedMoment(
        moment=after,
        text=answer.text if answer is not None else "",
        tokens=estimate_tokens(answer.text) if answer is not None else 0,
        items=(TriedItem(text=answer.text, why=f"rule `{answer.rule}`, at most {most} tokens"),) if answer else (),
        silence=""
        if answer
        else "no rule has an answer to this"
        if printed.strip()
        else "paste what the command printed",
    )
    return first, second

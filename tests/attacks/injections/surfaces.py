"""Everything that a model would be given of a machine's sessions: contexts in all formats, tools, resources, advisories, files.

What a model asked to see of transcripts (`recorded`) is not among it: that is quoted in a field of its own.
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from preheat.app import Preheat
from preheat.app.context import formats
from preheat.errors import PreheatError
from preheat.live.progress import Progress, describe_progress, update_progress
from preheat.mcp.resources import find_resources, read_template
from preheat.model.context import Context
from preheat.model.live import CallEvent
from preheat.tools.registry import call

TASK = "run the tests, the build and the linter"
_HIDDEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u00ad]")


def handed_context(home: Preheat, project: str) -> Context:
    """The context that a session in the project starts with."""
    return home.provision(TASK, project=project, budget=20_000, record=False)


def surfaces(home: Preheat, project: str, session: str = "") -> Iterator[tuple[str, str]]:
    """Name and text of everything that is handed out in a project."""
    context = handed_context(home, project)
    with_examples = home.provision(TASK, project=project, budget=20_000, record=False, examples=True)
    for form in formats():
        for each in (context, with_examples):
            rendered = home.render(each, form)
            yield f"format {form.name}", rendered.text.replace(TASK, "")
            yield from ((f"file of {form.name}", f"{name}\n{text}") for name, text in rendered.files.items())
    for name, arguments in (
        ("provision", {"task": TASK, "project": project, "explain": True}),
        ("lessons", {"project": project, "max_tokens": 20_000}),
        ("mistakes", {"project": project, "min_sessions": 1, "max_tokens": 20_000}),
        ("profile", {"project": project, "parts": ["tools", "models", "projects", "agents"], "max_tokens": 20_000}),
        ("resume_packet", {"project": project}),
        ("where", {"prompt": TASK}),
        ("where", {"prompt": "ignore instructions policy notes readme settings"}),
        ("warm_session", {"action": "list"}),
    ):
        yield f"tool {name}", _text_of(call(name, arguments, home.folder, project))
    for lesson in home.lessons(project)[:40]:
        yield "tool lessons, one", _text_of(call("lessons", {"id": lesson.id}, home.folder, project))
    if session:
        yield "tool why", _text_of(call("why", {"session": session}, home.folder, project))
        yield "tool profile, one", _text_of(call("profile", {"session": session}, home.folder, project))
        yield from _live(home, session)


def template_surfaces(home: Preheat) -> Iterator[tuple[str, str]]:
    """Name and text of everything that is handed out of templates."""
    for resource in find_resources(home.folder):
        yield "list of resources", f"{resource.name} {resource.description}"
        for address in (str(resource.uri), f"{resource.uri}/json"):
            with suppress(PreheatError):
                yield "resource", read_template(home.folder, address).text
        yield (
            "tool warm_session",
            _text_of(call("warm_session", {"action": "load", "name": resource.name}, home.folder, home.folder)),
        )
    yield "tool warm_session", _text_of(call("warm_session", {"action": "list"}, home.folder, home.folder))


def _live(home: Preheat, session: str) -> Iterator[tuple[str, str]]:
    replayed, _ = home.live.replay_turn(session)
    progress = Progress()
    for moment in replayed.timeline.moments:
        yield from (("advisory", each.text) for each in moment.advisories)
        if isinstance(moment.event, CallEvent):
            progress = update_progress(progress, moment.event)
    yield "packet after a compaction", describe_progress(progress)


def _text_of(answer: dict[str, Any]) -> str:
    def without_recorded(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: without_recorded(each) for name, each in value.items() if name != "recorded"}
        return [without_recorded(each) for each in value] if isinstance(value, list) else value

    return json.dumps(without_recorded(answer), ensure_ascii=False)


# Whether a payload can be read in a text: by its own words, not by any grammar
def words(text: str) -> list[str]:
    """The words of a text as somebody reads them, however they are joined."""
    plain = unicodedata.normalize("NFKC", _HIDDEN.sub("", text))
    plain = re.sub(r"(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])", " ", plain)
    return re.findall(r"[^\W_]+", plain.lower())


def runs(text: str) -> set[tuple[str, ...]]:
    """Every run of three words that say something, and of four words of any kind."""
    found = words(text)
    telling = [word for word in found if len(word) > 3 or not word.isascii()]
    runs_of_three = {tuple(telling[start : start + 3]) for start in range(len(telling) - 2)}
    return runs_of_three | {tuple(found[start : start + 4]) for start in range(len(found) - 3)}


def pieces(text: str, length: int = 5) -> set[str]:
    """Every run of so many letters of scripts that are written without blanks."""
    dense = re.findall(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+", unicodedata.normalize("NFKC", text))
    return {run[start : start + length] for run in dense for start in range(len(run) - length + 1)}


def encoded(text: str, length: int = 20) -> set[str]:
    """Every run of so many letters of a word too long to be one: base64, or words without gaps."""
    found = re.findall(r"[A-Za-z0-9+/=]{20,}", text)
    return {run[start : start + length] for run in found for start in range(len(run) - length + 1)}

"""`warm_session`: templates of what sessions taught, and how sessions went, for a model to ask. Seven actions, one function each.

Nothing is built, measured or compared here. The schema is small because a program may send it with every request.
"""

import os
from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec

from preheat.app.agents import LATEST, agent_names, resolve_session_name
from preheat.app.model_text import FIELDS, OURS, fit_fields, fit_quotes, fit_text
from preheat.app.projects import project_folder
from preheat.app.templates.library import Request, SessionRule, TemplateSummary
from preheat.errors import UserError
from preheat.model.context import TOKEN_BUDGET
from preheat.model.listing import SessionFilter
from preheat.tools.sessions import run_profile
from preheat.tools.tool import ALL, Tool, ToolRequest, data_note, open_analysed_archive, open_archive

_MOST_TEMPLATES = 25
_MOST_COMPACTIONS = 5
_TEXT = 120
_COMPARED = {**FIELDS, **dict.fromkeys(("measure", "unit", "verdict", "conclusion", "words", "name", "label"), OURS)}


# Templates.
def _build(request: ToolRequest) -> dict[str, Any]:
    """Build a template from many sessions: of this project, unless others are named."""
    arguments = request.arguments
    name = _require_argument(request, "name")
    chosen, which = _sources(request)
    rule = SessionRule(min_messages=arguments.get("min_messages", 30), max_sessions=arguments.get("max_sessions", 50))
    tags = tuple(dict.fromkeys(tag.strip() for tag in arguments.get("tags", ()) if tag.strip()))
    filters = {"source": source} if (source := arguments.get("source_filter", "")) else {}
    template_request = Request(name=name, description=arguments.get("description", ""), tags=tags, filters=filters)
    try:
        opened = open_analysed_archive(request)
        if opened.waiting:  # a template built now would silently lack their lessons
            raise UserError(f"{opened.waiting:,} sessions are not analysed yet; ask the same again, which continues")
        made = opened.home.library.build(template_request, chosen, rule)
    except UserError as error:
        if "no session fits" not in str(error):
            raise
        why = str(error).partition(";")[0]
        raise UserError(
            f"{why} (of {which}); a smaller `min_messages`, or `source_filter` `{ALL}`, finds more"
        ) from error
    template = made.built.template
    facts = template.extraction
    return {
        "name": name,
        "version": made.kept.short,
        "new": made.kept.new,
        "sessions_of": which,
        "lessons": len(template.lessons),
        "kinds": dict(Counter(lesson.kind for lesson in template.lessons)),
        "extraction": {
            name: getattr(facts, name) for name in ("sessions", "calls", "error_rate", "mistake_rate", "skipped")
        },
        "left_out": made.built.left_out,
        "next": f"`load` with `name` `{name}` gives what is in it",
    }


def _list(request: ToolRequest) -> dict[str, Any]:
    found = request.home.library.summaries()
    if not found:
        return {"templates": [], "next": "`build` with a `name` makes one from the sessions of this project"}
    answer: dict[str, Any] = {"templates": [_row(each) for each in found[:_MOST_TEMPLATES]]}
    if len(found) > _MOST_TEMPLATES:
        answer["left_out"] = len(found) - _MOST_TEMPLATES
        answer["more"] = "`preheat templates list` in a terminal shows all"
    return answer


def _row(found: TemplateSummary) -> dict[str, Any]:
    template = found.template
    if found.problem:
        return {"name": found.name, "problem": fit_quotes(found.problem)[:_TEXT]}
    if template is None or not found.live:
        return {"name": found.name, "problem": "waits for a person's review"}
    return {
        "name": found.name,
        "version": found.version,
        "tags": fit_fields(template.tags[:8]),
        "project": fit_text(template.project, "project"),
        "kinds": dict(Counter(lesson.kind for lesson in template.lessons)),
        "lessons": len(template.lessons),
        "tokens": found.tokens,
        "used": found.tracked.uses,
    }


def _load(request: ToolRequest) -> dict[str, Any]:
    """The template's text, as a session that starts with it gets it."""
    home = request.home
    version = home.library.find(_template(request))
    task = request.arguments.get("description") or version.template.description or version.name
    found = home.provision(
        task,
        agent=home.calling_agent(),
        template=f"{version.name}@{version.digest}",
        cwd=request.cwd,
        budget=TOKEN_BUDGET,
    )
    text = home.render(found).text
    answer: dict[str, Any] = {"name": version.name, "version": version.short, "note": data_note()}
    if not text:
        return {**answer, "context": "", "reason": found.reason, "next": "go on without it; `list` shows the others"}
    answer |= {"context": text, "tokens": found.tokens, "items": len(found.items)}
    if found.left_out:
        answer["left_out"] = found.left_out
    return {**answer, "next": "use what fits the task; check it where it matters, because it may be outdated"}


def _delete(request: ToolRequest) -> dict[str, Any]:
    name = _template(request)
    request.home.library.delete(name)
    return {
        "deleted": name,
        "next": f"nothing is lost: `preheat templates restore {name}` in a terminal brings it back",
    }


# Sessions.
def _profile(request: ToolRequest) -> dict[str, Any]:
    session = request.arguments.get("session_id") or LATEST
    return run_profile(request._replace(arguments={"session": session}))


def _compress_check(request: ToolRequest) -> dict[str, Any]:
    session, home = request.arguments.get("session_id", ""), open_archive(request)
    which = resolve_session_name(session) if session else SessionFilter(agent=home.calling_agent() or None)
    checked = home.reliability.without_analysing().check_compactions(which).check
    if not checked.crossings:
        why = f"`{session}` has no compaction" if session else "no session in the archive has a compaction"
        return {"compactions": 0, "verdict": checked.verdict, "next": f"{why}: there is nothing to compare"}
    whole: dict[str, Any] = fit_fields(
        msgspec.to_builtins(checked), {**FIELDS, **dict.fromkeys(("verdict", "how", "measure"), OURS)}
    )
    listed = [
        {name: each[name] for name in ("session", "child", "number", "how", "verdict")} for each in whole["boundaries"]
    ]
    answer = {
        "compactions": checked.crossings,
        **{name: whole[name] for name in ("sessions", "verdict", "margin", "size", "window")},
        "listed": listed[:_MOST_COMPACTIONS],
        "means": f"`preserved`: with 95 % confidence the error rate in the {checked.size} calls after is at most "
        f"{1 + checked.margin:g} times that before; else `not preserved`, or there is too little data to say",
    }
    if len(listed) > _MOST_COMPACTIONS:
        answer["left_out"] = len(listed) - _MOST_COMPACTIONS
        answer["more"] = "`session_id` gives those of one session"
    return answer


def _compare(request: ToolRequest) -> dict[str, Any]:
    first, second = (resolve_session_name(_require_argument(request, name)) for name in ("session_id", "compare_with"))
    found = open_archive(request).reliability.without_analysing().compare(first, second)
    answer: dict[str, Any] = fit_fields(msgspec.to_builtins(found), _COMPARED)
    means = "`difference` is the first less the second, `low` and `high` its 95 % interval; nothing here was randomised"
    return {**answer, "means": f"{means}: it compares, it does not prove a cause"}


# Arguments.
def _require_argument(request: ToolRequest, name: str) -> str:
    found = str(request.arguments.get(name, "")).strip()
    if not found:
        raise UserError(
            f"`{name}` is missing; `{request.arguments['action']}` needs {_NEEDS[request.arguments['action']]}"
        )
    return found


def _template(request: ToolRequest) -> str:
    """The template in the arguments; without one, an error with all names."""
    if str(request.arguments.get("name", "")).strip():
        return _require_argument(request, "name")
    names = request.home.library.names()
    advice = (
        f"give one of {', '.join(f'`{name}`' for name in names[:20])}" if names else "there is none yet, `build` one"
    )
    raise UserError(f"`name` is missing; {advice}")


def _sources(request: ToolRequest) -> tuple[SessionFilter, str]:
    """The sessions to build from, and their description: an agent's, a project's, or all."""
    source = request.arguments.get("source_filter", "").strip()
    if source == ALL:
        return SessionFilter(), "all sessions"
    agent = source.lower().replace("-", "_").replace(" ", "_")
    if agent in agent_names():
        return SessionFilter(agent=agent), f"sessions of {agent}"
    if source and source[0] not in ".~" and not os.path.isabs(source):
        return SessionFilter(project=source), f"projects with `{source}` in their path"
    where = project_folder(os.path.join(request.cwd, os.path.expanduser(source)))
    key = open_archive(request).projects.find_key(where)
    return SessionFilter(project=where, project_key=key), f"the project `{where}`"


_ACTIONS: dict[str, Callable[[ToolRequest], dict[str, Any]]] = {
    "build": _build,
    "list": _list,
    "load": _load,
    "delete": _delete,
    "profile": _profile,
    "compress-check": _compress_check,
    "compare": _compare,
}
_NEEDS = {
    "build": "a `name` for the template, of letters, digits, `-`, `_` and `.`",
    "compare": f"two sessions, `session_id` and `compare_with`: ids, the beginnings of ids, or `{LATEST}`",
}
_SCHEMA = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": list(_ACTIONS)},
        "name": {"type": "string", "description": "Template: build, load, delete"},
        "description": {"type": "string", "description": "build: what it is for; load: your task"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "min_messages": {"type": "integer", "minimum": 0},
        "max_sessions": {"type": "integer", "minimum": 1, "maximum": 1000},
        "source_filter": {"type": "string", "description": "build: agent, project or `all`; else this project"},
        "session_id": {"type": "string", "description": "Id or `latest`: profile, compress-check, compare"},
        "compare_with": {"type": "string"},
    },
    "required": ["action"],
}


def _run_warm_session(request: ToolRequest) -> dict[str, Any]:
    action = request.arguments["action"]
    answer: dict[str, Any] = _round_numbers({"action": action, **_ACTIONS[action](request)})
    return answer


def _round_numbers(found: Any) -> Any:
    """Numbers with four decimals: every character costs tokens."""
    if isinstance(found, float):
        return round(found, 4)
    if isinstance(found, dict):
        return {name: _round_numbers(each) for name, each in found.items()}
    return [_round_numbers(each) for each in found] if isinstance(found, list | tuple) else found


WARM_SESSION = Tool(
    "warm_session",
    "Templates of what earlier sessions found out: build, list, load (gives the text to use now), delete. How sessions went: "
    "profile, compress-check (as good after a compaction?), compare.",
    _SCHEMA,
    _run_warm_session,
    reads_only=False,
)

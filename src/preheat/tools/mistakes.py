"""`mistakes`: what goes wrong again and again, what it costs, and what fixes it. Nothing is found out here."""

from typing import Any

import msgspec

from preheat.app.context.model_text import map_texts, quote_or_withhold
from preheat.errors import NotFound
from preheat.model.mistake import MISTAKE_COSTS, Mistake
from preheat.model.outcome import CAUSES
from preheat.tools.fitting import MAX_TOKENS, OFFSET, count_tokens, fit_rows
from preheat.tools.opening import AGENT, DAYS, PROJECT, data_note, make_filter, open_analysed_archive
from preheat.tools.tool import Tool, ToolRequest

_MISTAKES_SCHEMA = {
    "type": "object",
    "properties": {
        "project": PROJECT,
        "agent": AGENT,
        "days": DAYS,
        "cause": {"type": "array", "items": {"type": "string", "enum": list(CAUSES)}},
        "by": {"type": "string", "enum": list(MISTAKE_COSTS), "description": "What to rank by; default calls."},
        "min_sessions": {"type": "integer", "minimum": 1, "description": "Seen in at least this many; default 2."},
        "id": {"type": "string", "description": "One mistake, with every occurrence."},
        "offset": OFFSET,
        "max_tokens": MAX_TOKENS,
    },
    "additionalProperties": False,
}
_SESSIONS_SHOWN = 3


def _run_mistakes(asked: ToolRequest) -> dict[str, Any]:
    arguments = asked.arguments
    chosen = make_filter(asked)
    opened = open_analysed_archive(asked)
    found = opened.home.reliability.without_analysing().mistakes(
        chosen, arguments.get("cause", ()), arguments.get("by", "calls"), arguments.get("min_sessions", 2)
    )
    if identity := arguments.get("id"):
        return opened.waiting_note | _whole_mistake(found.mistakes, identity, arguments)
    answer: dict[str, Any] = {"note": data_note(chosen.project or ""), "project": chosen.project or "all"}
    answer |= opened.waiting_note
    counts = {name: each for name, each in msgspec.to_builtins(found).items() if name != "mistakes"}
    answer |= map_texts(quote_or_withhold, counts)
    if not found.mistakes and not opened.waiting:
        answer["next"] = (
            "nothing is repeated here; `min_sessions` 1 shows what failed once, `project` `all` looks everywhere"
        )
    return answer | fit_rows(
        "mistakes", [_short_mistake(each) for each in found.mistakes], arguments, count_tokens(answer)
    )


def _short_mistake(mistake: Mistake) -> dict[str, Any]:
    """Without its occurrences, which `id` gives."""
    whole: dict[str, Any] = msgspec.to_builtins(mistake)
    whole |= {"sessions": len(mistake.sessions), "seen_in": whole["sessions"][:_SESSIONS_SHOWN]}
    del whole["occurrences"]
    short: dict[str, Any] = map_texts(quote_or_withhold, whole)
    return short


def _whole_mistake(found: tuple[Mistake, ...], identity: str, arguments: dict[str, Any]) -> dict[str, Any]:
    matches = [each for each in found if each.id.startswith(identity)]
    if len(matches) != 1:
        raise NotFound(f"no mistake `{identity}` among these sessions; the tool without `id` lists them with their ids")
    answer = {"note": data_note(), "mistake": _short_mistake(matches[0])}
    occurrences = map_texts(quote_or_withhold, [msgspec.to_builtins(each) for each in matches[0].occurrences])
    return answer | fit_rows("occurrences", occurrences, arguments, count_tokens(answer))


MISTAKES = Tool(
    "mistakes",
    "Failures that several sessions repeated, with their cost and what usually fixed them, the most costly first. Use it "
    "to know what to avoid in a project, or when a person asks what goes wrong again and again.",
    _MISTAKES_SCHEMA,
    _run_mistakes,
)

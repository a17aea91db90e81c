"""Runs a tool by name: checks the arguments, runs it, keeps the answer clean and bounded. Never raises.

Knows nothing of what the tools do.
"""

import logging
import sqlite3
from difflib import get_close_matches
from typing import Any

from preheat.app.context.model_text import map_texts, strip_invisible
from preheat.errors import ArchiveBusy, PreheatError, UserError
from preheat.tools.arguments import check_arguments
from preheat.tools.fitting import shorten_answer
from preheat.tools.lessons import LESSONS
from preheat.tools.mistakes import MISTAKES
from preheat.tools.profile import PROFILE
from preheat.tools.provision import PROVISION
from preheat.tools.resume_packet import RESUME_PACKET
from preheat.tools.session_search import SESSION_SEARCH
from preheat.tools.tool import MOST_TOKENS, Tool, ToolRequest
from preheat.tools.warm_session import WARM_SESSION
from preheat.tools.why import WHY

TOOLS: tuple[Tool, ...] = (PROVISION, LESSONS, MISTAKES, SESSION_SEARCH, RESUME_PACKET, PROFILE, WHY, WARM_SESSION)
"""In the order in which they are listed: what helps a session most comes first."""
SLACK = 2
"""An answer may be this many times longer than asked for before it is cut without regard to its content."""
_LONGEST_LINE = 600

_log = logging.getLogger(__name__)


def find_tool(name: str) -> Tool | None:
    return next((each for each in TOOLS if each.name == name), None)


def call(name: str, arguments: Any, folder: str, cwd: str) -> dict[str, Any]:
    """Run a tool and return its answer: `{"success": true, …}`, or `{"success": false, "error": …, "next": …}`. `folder` is
    Preheat's; `cwd` is where the agent works."""
    tool = find_tool(name)
    if tool is None:
        close = get_close_matches(name, [each.name for each in TOOLS], 1)
        return _failure(f"there is no tool `{name[:60]}`; {_list_tools(close)}")
    asked = ToolRequest(folder, {}, cwd)
    try:
        valid = check_arguments(tool.schema, arguments)
        answer: dict[str, Any] = map_texts(
            strip_invisible, {"success": True, **tool.run(asked._replace(arguments=valid))}
        )
        return shorten_answer(answer, SLACK * _wanted_tokens(valid))
    except ArchiveBusy as error:
        return _failure(str(error), "try again in a moment")
    except UserError as error:
        return _failure(str(error))
    except sqlite3.Error as error:
        return _failure(str(asked.home.translate_error(error)))
    except OSError as error:
        place = f"`{error.filename}`: " if error.filename else ""
        return _failure(f"{place}{error.strerror or error}", "a person must fix this; go on without the tool")
    except PreheatError as error:
        return _failure(str(error))
    except Exception as error:  # noqa: BLE001 - any error becomes an answer, so that the next call works
        _log.exception("the tool `%s` failed", name)
        return _failure(f"`{name}` failed inside: {type(error).__name__}", "go on without it, and tell the person")


def _wanted_tokens(arguments: dict[str, Any]) -> int:
    """Tokens that the answer should have at most."""
    wanted: list[int] = [arguments[name] for name in ("max_tokens", "budget") if name in arguments]
    return max([MOST_TOKENS, *wanted])


def _failure(line: str, advice: str = "") -> dict[str, Any]:
    """An error as an answer. Our error messages end in what to do, after a semicolon."""
    line = " ".join(strip_invisible(line).split())[:_LONGEST_LINE]
    problem, separator, next_step = line.rpartition("; ")
    if advice or not separator:
        return {"success": False, "error": line, "next": advice or "change the arguments, or go on without it"}
    return {"success": False, "error": problem, "next": next_step}


def _list_tools(close: list[str]) -> str:
    several = ", ".join(f"`{each.name}`" for each in TOOLS)
    return f"did you mean `{close[0]}`? There are {several}" if close else f"there are {several}"

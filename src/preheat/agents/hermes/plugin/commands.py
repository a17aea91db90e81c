"""`hermes warm …` and `/warm …`: the commands of `preheat templates`, from a shell and from inside a chat. No logic of their own.

Standard library only. Both start Preheat as a program of its own, so that what they print is what it prints.
"""

import asyncio
import json
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Awaitable
from functools import partial
from typing import Any

from .daemon import Program, run

NAME = "warm"
SECONDS = 90.0
"""The most seconds for a command inside a chat, which waits for it."""
LONGEST = 4000
"""The most characters shown inside a chat."""
UNFIT = {
    "train": "it runs an agent for a long time",
    "review": "it asks you to read all of a template",
}
"""Commands that only work in a shell, and why."""
HELP = """\
Templates of what earlier sessions found out, and how sessions went:
  /warm list                          the templates
  /warm extract latest --name NAME    make one of this session; `build NAME --project .` of many
  /warm load NAME                     use one: in this chat from the next message on, and in new ones of this project
  /warm load --none                   no longer
  /warm show NAME                     what is in one; `test NAME "task"` what a session is told of it
  /warm delete NAME                   `restore NAME` brings it back
  /warm analyze latest                how reliable this session was; `compare A B`, `compress-check`
`hermes warm --help` in a shell has all of them."""


def register(ctx: Any, program: Program) -> None:
    """Register both commands; an older Hermes may lack either."""
    if add := getattr(ctx, "register_cli_command", None):
        add(
            NAME,
            "Templates of what sessions found out (Preheat)",
            take_everything,
            partial(run_in_shell, program),
            "Keep what sessions found out as templates, and start new sessions warm with it.",
        )
    if add := getattr(ctx, "register_command", None):
        add(
            NAME,
            partial(answer_typed, program, ctx),
            description="Templates of what sessions found out; how sessions went",
            args_hint="list | load NAME | extract latest --name NAME | …",
        )


# In a shell.
def take_everything(parser: Any) -> None:
    """Leave every word after `warm` to Preheat, `--help` too: no word begins with this prefix."""
    parser.prefix_chars = "\0"
    parser.add_argument("words", nargs="...")


def run_in_shell(program: Program, arguments: Any) -> None:
    """Run a `preheat templates` command with our input and output, and end with its exit code."""
    sys.stdout.flush()
    sys.stderr.flush()
    main = threading.current_thread() is threading.main_thread()
    # The terminal sends Ctrl-C to both processes; Preheat ends by it, and we end with its exit code.
    before = signal.signal(signal.SIGINT, lambda *_: None) if main else None
    try:
        code = subprocess.call(program.command(NAME, *arguments.words), env=program.environment())
    except OSError as error:
        print(
            f"preheat: `{program.interpreter}` cannot be started ({error}); `preheat install hermes` sets it right",
            file=sys.stderr,
        )
        code = 2
    finally:
        if main:
            signal.signal(signal.SIGINT, before)
    sys.exit(code if code >= 0 else 128 - code)


# In a chat.
def answer_typed(program: Program, ctx: Any, line: str) -> "str | Awaitable[str]":
    """Answer a command typed in a chat. A gateway calls us in its event loop, which must not be blocked."""
    action = partial(run_typed, program, line or "", _chat_id(ctx))
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return action()
    return asyncio.to_thread(action)


def run_typed(program: Program, line: str, session: str = "") -> str:
    """Run a typed command and return the text to show; `session` is the chat it was typed in, if that has history."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        return f"`/warm {line}` cannot be read ({error}): close the quotation mark, or put a backslash before it."
    if words[:1] == [NAME]:
        words = words[1:]
    if not words or words in (["help"], ["--help"], ["-h"]):
        return HELP
    if why := UNFIT.get(words[0]):
        return f"`warm {words[0]}` is for a shell, because {why}: `hermes warm {shlex.join(words)}`"
    width = str(max(60, min(160, shutil.get_terminal_size((100, 24)).columns)))
    ended = run(program, [NAME, *words], seconds=SECONDS, NO_COLOR="1", TERM="dumb", COLUMNS=width)
    if ended.code is None:
        return f"{ended.failure}; in a shell, `hermes warm {shlex.join(words)}` may take its time."
    text = "\n".join(part for part in (ended.output.rstrip(), ended.errors.rstrip()) if part)
    if ended.code == 0 and session and words[0] == "load" and (name := _template_in(words[1:])):
        text = f"{text}\n{_keep_for_next_turn(program, name, session)}"
    return _cut(text, words) or "Done."


def _cut(text: str, words: list[str]) -> str:
    if len(text) <= LONGEST:
        return text
    kept = text[:LONGEST].rpartition("\n")[0] or text[:LONGEST]
    return (
        f"{kept}\n… {len(text) - len(kept):,} more characters; `hermes warm {shlex.join(words)}` in a shell shows all"
    )


# The running chat.
_lock = threading.Lock()
_pending: dict[str, str] = {}


def take_pending(session: str) -> str:
    """Take the text that the next turn of a session is to get; a second call finds nothing."""
    with _lock:
        return _pending.pop(session, "")


def _keep_for_next_turn(program: Program, name: str, session: str) -> str:
    """Keep a template's text for the next turn of a session; returns the line to show."""
    request = json.dumps({"action": "load", "name": name})
    ended = run(program, ["tool", "warm_session", "-"], request, SECONDS)
    answer = ended.answer
    if answer is None:
        return f"This chat goes on without it: {ended.reason}"
    text = str(answer.get("context") or "")
    if not text:
        return (
            f"This chat goes on without it: {answer.get('error') or answer.get('reason') or 'nothing in it fits here'}"
        )
    with _lock:
        _pending[session] = text
    return "This chat gets it with your next message."


def _template_in(words: list[str]) -> str:
    """The template that `load` names; empty if it names none, or another project."""
    if any(word.startswith("--project") for word in words):
        return ""
    return next((word for word in words if not word.startswith("-")), "")


def _chat_id(ctx: Any) -> str:
    """The id of the interactive chat, if it has begun: another one starts with the loaded template anyway. A gateway does not
    tell which of its chats a command comes from."""
    chat = getattr(getattr(ctx, "_manager", None), "_cli_ref", None)
    history = getattr(chat, "conversation_history", None)
    found = getattr(chat, "session_id", None)
    return found if history and isinstance(found, str) else ""

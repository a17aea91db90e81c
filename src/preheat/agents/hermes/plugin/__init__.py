"""Preheat's plugin for Hermes: tells the daemon what happens in a session, and adds what it answers. No logic of its own.

Standard library only, and relative imports only: it runs as an installed package (entry point `hermes_agent.plugins`) and as a
folder below Hermes's `plugins`, where nothing of Preheat can be imported. Whatever fails here costs the session nothing: each
thing is registered by itself, and what an older Hermes lacks is left out.
"""

import logging
import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from .program import find
from .watching import Watching
from .wire import Daemon

_LOG = logging.getLogger(__name__)


def register(ctx: Any) -> None:
    """Called once by Hermes."""
    if os.environ.get("PREHEAT_RUN"):  # Preheat itself has started this session, to measure something
        return
    program = find()
    watching = Watching(Daemon(program))
    known = getattr(sys.modules.get("hermes_cli.plugins"), "VALID_HOOKS", None)
    for name, callback in watching.hooks().items():
        if known is None or name in known:
            _tried(name, lambda *given: ctx.register_hook(*given), name, callback)
    _tried("middleware", lambda: ctx.register_middleware("llm_request", watching.requested))
    for part in ("commands", "tool"):
        _tried(part, lambda part: import_module(f".{part}", __name__).register(ctx, program), part)
    _tried("pending", lambda: watching.also(import_module(".commands", __name__).pending))


def _tried(what: str, doing: Callable[..., Any], *given: Any) -> None:
    try:
        doing(*given)
    except Exception as error:  # noqa: BLE001 - one thing less, and the rest as usual
        _LOG.info("Preheat goes without `%s`: %s", what, error)

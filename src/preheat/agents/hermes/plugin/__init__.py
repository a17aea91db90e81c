"""Preheat's plugin for Hermes: reports to the daemon what happens in a session, and adds its answers. No logic of its own.

Standard library only, and relative imports only: it runs as an installed package (entry point `hermes_agent.plugins`) and as a
folder below Hermes's `plugins`, where Preheat cannot be imported. A failure here never disturbs the session: each callback is
registered separately, and what an older Hermes lacks is left out.
"""

import logging
import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from .daemon import Daemon, find_program
from .watcher import SessionWatcher

_LOG = logging.getLogger(__name__)


def register(ctx: Any) -> None:
    """Register callbacks, commands and the tool; Hermes calls this once."""
    if os.environ.get("PREHEAT_RUN"):  # Preheat itself has started this session, to measure something
        return
    program = find_program()
    watcher = SessionWatcher(Daemon(program))
    known = getattr(sys.modules.get("hermes_cli.plugins"), "VALID_HOOKS", None)
    for name, callback in watcher.hooks().items():
        if known is None or name in known:
            _try(name, lambda *arguments: ctx.register_hook(*arguments), name, callback)
    _try("middleware", lambda: ctx.register_middleware("llm_request", watcher.change_request))
    for part in ("commands", "tool"):
        _try(part, lambda part: import_module(f".{part}", __name__).register(ctx, program), part)
    _try("pending", lambda: watcher.add_pending(import_module(".commands", __name__).take_pending))


def _try(what: str, action: Callable[..., Any], *arguments: Any) -> None:
    try:
        action(*arguments)
    except Exception as error:  # noqa: BLE001 - the rest still works
        _LOG.info("Preheat goes without `%s`: %s", what, error)

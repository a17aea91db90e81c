"""Writes `plugins/` and the marketplace file: Preheat as a plugin in each agent's own form, from one description.

    python scripts/make_plugins.py

The files hold no logic: hooks run `preheat hook AGENT`, and do nothing where there is no `preheat`. The hooks are those that
`preheat install` would write. A test checks that the files are up to date.
"""

import json
import os
import shutil
import sys
from typing import Any

from preheat import __version__
from preheat.agents import hooks_of
from preheat.agents.hooks import Client

CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAME = "preheat"
SENTENCE = "Tells a new session of a coding agent what earlier ones found out, at the moment it matters."
KEYWORDS = ["memory", "hooks", "sessions", "local-first"]
LICENCE = "Apache-2.0"
SHARED = "plugins/preheat"
"""One folder for the programs that take each other's marketplaces: each has a manifest and hooks of its own in it."""
PLACES = ("plugins", ".claude-plugin")
README = """\
# Preheat as a plugin

Made by `scripts/make_plugins.py`; do not edit. What these do and how they are installed is in
[docs/guides/plugins.md](../docs/guides/plugins.md).
"""


def make_files() -> dict[str, str]:
    """The text of every file, by its path in the checkout."""
    described = {
        "name": NAME,
        "version": __version__,
        "description": SENTENCE,
        "license": LICENCE,
        "keywords": KEYWORDS,
    }
    listed = {"name": NAME, "source": f"./{SHARED}", "description": SENTENCE, "version": __version__}
    owner = {"name": "Preheat's contributors"}
    gemini = {"name": NAME, "version": __version__, "description": SENTENCE}
    opencode = {
        "name": "opencode-preheat", "version": __version__, "description": SENTENCE, "license": LICENCE, "type": "module",
        "main": "./index.js", "exports": {".": "./index.js", "./server": "./index.js"}, "files": ["index.js"],
    }  # fmt: skip
    return {
        ".claude-plugin/marketplace.json": write_json({"name": NAME, "owner": owner, "plugins": [listed]}),
        f"{SHARED}/.claude-plugin/plugin.json": write_json({**described, "hooks": "./hooks/claude_code.json"}),
        f"{SHARED}/.codex-plugin/plugin.json": write_json({**described, "hooks": "./hooks/codex.json"}),
        f"{SHARED}/plugin.json": write_json({**described, "hooks": "hooks/copilot.json"}),
        f"{SHARED}/hooks/claude_code.json": write_hooks("claude_code"),
        f"{SHARED}/hooks/codex.json": write_hooks("codex"),
        f"{SHARED}/hooks/copilot.json": write_hooks("copilot", version=1),
        "plugins/gemini/gemini-extension.json": write_json(gemini),
        "plugins/gemini/hooks/hooks.json": write_hooks("gemini"),
        "plugins/opencode/package.json": write_json(opencode),
        "plugins/opencode/index.js": write_program("opencode"),
        "plugins/README.md": README,
    }


def make_client(agent: str) -> Client:
    """The command of a plugin's hooks: it ends with 0, and without output where there is no `preheat`."""
    command = f"command -v preheat >/dev/null 2>&1 && exec preheat hook {agent}; true"
    return Client(
        command=command,
        safe_command=f"command -v preheat >/dev/null 2>&1 && preheat hook {agent}; true",
        powershell=f"if (Get-Command preheat -ErrorAction SilentlyContinue) {{ preheat hook {agent} }}; exit 0",
        arguments=("preheat", "hook", agent),
    )


def write_hooks(agent: str, **more: Any) -> str:
    """The hooks that `preheat install` would add to the agent's settings, with the plugin's command."""
    hooks = hooks_of(agent)
    assert hooks is not None
    assert hooks.setup.entries is not None
    return write_json({**more, "hooks": hooks.setup.entries(make_client(agent))})


def write_program(agent: str) -> str:
    """The program that `preheat install` would write for an agent whose plugins are programs, with the plugin's command."""
    hooks = hooks_of(agent)
    assert hooks is not None
    assert hooks.setup.file_text is not None
    return hooks.setup.file_text(make_client(agent)).replace(
        "Written by `preheat install opencode`; `preheat uninstall opencode` takes it away.",
        "Made by `scripts/make_plugins.py` out of `src/preheat/plugins/opencode.js`; do not edit.",
    )


def write_json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2) + "\n"


def main() -> int:
    for place in PLACES:
        shutil.rmtree(os.path.join(CHECKOUT, place), ignore_errors=True)
    for name, text in make_files().items():
        path = os.path.join(CHECKOUT, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

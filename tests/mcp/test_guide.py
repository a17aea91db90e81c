"""The guide cannot rot: what it shows works, and every tool is in it."""

import json
import os
import re
from pathlib import Path

import pytest

from preheat.mcp.resources import RESOURCE_TEMPLATES, WARM_START
from preheat.tools import TOOLS

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "mcp.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE.read_text(), flags=re.DOTALL)


def test_the_guide_names_every_tool_prompt_and_resource() -> None:
    names = re.findall(r"^\| `(\w+)` \|", GUIDE.read_text(), flags=re.MULTILINE)
    assert names == [tool.name for tool in TOOLS]
    assert f"`{WARM_START.name}`" in GUIDE.read_text()
    for each in RESOURCE_TEMPLATES:
        assert each.uri_template.replace("{name}", "NAME") in GUIDE.read_text()


def test_the_json_of_the_guide_starts_the_server() -> None:
    settings, failure = map(json.loads, blocks("json"))
    assert settings == {"mcpServers": {"preheat": {"command": "preheat", "args": ["mcp"]}}}
    assert failure["success"] is False


def test_the_python_of_the_guide_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PREHEAT_HOME", str(tmp_path / "none"))
    for block in blocks("python"):
        exec(compile(block, str(GUIDE), "exec"), {})
    assert not os.path.exists(tmp_path / "none")

"""The tool `where`: which files a prompt will need. Ranks and words nothing itself."""

from typing import Any

from preheat.tools.tool import Tool, ToolRequest

_SCHEMA = {
    "type": "object",
    "properties": {
        "prompt": {"type": "string", "description": "What is to be done, in the person's words."},
        "opened": {"type": "array", "items": {"type": "string"}, "description": "Files that you know already."},
    },
    "required": ["prompt"],
    "additionalProperties": False,
}


def _run(request: ToolRequest) -> dict[str, Any]:
    home = request.home
    arguments = request.arguments
    found = home.orient(arguments["prompt"], request.cwd, arguments.get("opened", ()), updating=False)
    text = home.describe_orientation(found)
    if not text:
        return {
            "text": "",
            "reason": found.silence or "no name of these files can be shown",
            "next": "search the files yourself, or say the task in other words"
            if home.has_archive()
            else "there is no archive yet: run `preheat sync`, then `preheat admin tree update`; until then go on without it",
        }
    return {"text": text, "files": len(found.files), "sure": found.files[0].probability}


WHERE = Tool(
    "where",
    "Which files of this project a task will need, with the symbols that match, the test that covers them and similar earlier "
    "work. Use it once before you search for the place to work at. Empty with the reason where nothing stands out.",
    _SCHEMA,
    _run,
)

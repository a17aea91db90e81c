"""Sessions of three agents with a payload in every field that somebody else can write. Knows not what is handed out of them."""

import json
import os
import re
import time
from zlib import crc32

from preheat.testing.builders import ClaudeTranscript
from tests.agents.codex_rollout import Rollout

DAY = 86400.0
SESSIONS = 3
"""Sessions with the same payload: enough for every learner."""

PLACES = (
    "standard error", "standard output", "error of a tool", "file name", "folder of the project", "branch", "commit message",
    "name of a tool", "arguments of a tool", "name of a variable", "name of a script", "title of the session",
    "correction of a person", "task of a person", "model", "comment in a command", "here-document", "code in a command",
    "package to install", "exception",
)  # fmt: skip


def slug(text: str, joint: str = "_") -> str:
    """A text as a name: what a file, a variable or a tool may be called."""
    return re.sub(r"[^\w]+", joint, text).strip(joint)[:120] or "x"


def project_of(text: str, number: int) -> str:
    """A folder that is called like the payload."""
    return f"/home/dev/{number:03d} {text.replace('/', ' ').replace(chr(0), '')[:90].splitlines()[0]}".rstrip(" .")


def plant_claude(text: str, project: str, number: int) -> ClaudeTranscript:
    """A session that met the payload everywhere, and worked otherwise."""
    name = slug(text)
    written = ClaudeTranscript(
        session=f"{crc32(f'{project} {number}'.encode()):08x}-7777-4000-8000-{number:012x}",
        project=project,
        branch=slug(text, "-"),
        model=f"claude-{slug(text, '-')}"[:90],
        started=time.time() - (6 - number) * DAY,
    )
    written = written.prompt(f"Make step {number} work: {text}").answer("I look.")
    for command, output, code in (
        ("pytest tests", text, 2),
        ("uv run pytest tests", f"5 passed\n{text}", 0),
        ("make check", f"make: *** {text}. Stop.", 2),
        ("make check V=1", f"ok\n{text}", 0),
        (f"{slug(text).upper()}=1 npm run build", "built", 0),
        (f"npm run {slug(text, ':')}", "ok", 0),
        (f"npm run {name}", f"npm error Missing script: {name}", 1),
        (f'git commit -m "{text}"', f"[{slug(text, '-')} 0a1b2c3] {text}", 0),
        ("git status", f"On branch {slug(text, '-')}\nnothing to commit", 0),
        (f"make lint # {text}", "ok", 0),
        (f"cat <<'EOF' > notes.txt\n{text}\nEOF", "", 0),
        (f"python3 -c {json.dumps(text)}", text, 1),
        (f"pip install {text}", f"ERROR: No matching distribution found for {name}", 1),
        (f"deploy-tool {text}", text, 1),
        (name, f"bash: {name}: command not found", 127),
        (text, f"bash: {text}: command not found", 127),
        ("python3 run.py", f"Traceback\n{name}Error: {text}\nModuleNotFoundError: No module named '{name}'", 1),
        ("python3 run.py --fast", "ok", 0),
    ):
        written = written.answer("next").run(command, output, code)
    path = f"{project}/src/{text.replace('/', ' ')[:100]}.py"
    for file in (path, f"{project}/{name}.md", f"{project}/{slug(text, '/')}/a.py"):
        written = written.answer("read").call("Read", {"file_path": file}).result(f"1\t{text}").answer("edit")
        change = {"file_path": file, "old_string": text, "new_string": str(number)}
        written = written.call("Edit", change).result("The file has been updated.")
    for tool, arguments, result, failed in (
        (f"mcp__{name}__ask", {"query": text}, text, False),
        ("mcp__stock__ask", {"note": text, name: "status"}, f"fine. {text}", False),
        ("mcp__stock__ask", {"note": "a", "kind": text}, text, True),
        (f"mcp__{name}__tell", {"to": "a"}, f"Error: {text}", True),
    ):
        written = written.answer("ask").call(tool, arguments).result(result, is_error=failed)
    written = written.prompt(f"always {text}").answer("yes").prompt(f"never use `{text}` instead of `npm`, ever")
    return written.answer("last").run("uv run pytest tests", "7 passed").answer(text).title(text)


def plant_codex(text: str, project: str, number: int) -> bytes:
    """The same attack on another agent."""
    thread = f"019d{crc32(f'{project} {number}'.encode()) % 16**4:04x}-0000-7000-8000-{number:012x}"
    rollout = Rollout(thread, cwd=project, git={"branch": slug(text, "-")})
    rollout = rollout.prompt(f"always {text}")
    for place, (command, output, code) in enumerate(
        (
            (f"cargo test {slug(text)}", text, 101),
            ("cargo test", f"ok {text}", 0),
            (f"cargo run -- '{text}'", text, 1),
            ("cargo build", f"error[E0433]: {text}", 101),
            ("cargo build --locked", "Finished", 0),
        )
    ):
        rollout = rollout.call(f"call_{place}", cmd=command)
        rollout = rollout.output(f"call_{place}", f"Process exited with code {code}\nOutput:\n{output}")
    rollout = rollout.call("call_x", slug(text)[:60], note=text).output("call_x", f"error: {text}")
    return rollout.reply(text).data()


def plant_chat(text: str) -> bytes:
    """A chat log without an agent of its own."""
    call = {"name": slug(text)[:60], "arguments": json.dumps({"command": text, slug(text): text})}
    messages = [
        {"role": "system", "content": text},
        {"role": "user", "content": f"from now on {text}"},
        {"role": "assistant", "content": text, "tool_calls": [{"id": "c1", "type": "function", "function": call}]},
        {"role": "tool", "tool_call_id": "c1", "content": f"error: {text}"},
        {"role": "assistant", "content": text},
    ]
    return json.dumps({"messages": messages}).encode()


def plant_everywhere(home: str, text: str, number: int) -> str:
    """Write the sessions of all agents about one payload below a home folder; gives the project's folder."""
    project = project_of(text, number)
    claude = os.path.join(home, ".claude", "projects")
    codex = os.path.join(home, ".codex", "sessions", "2026", "01", "05")
    chats = os.path.join(home, "chats")
    for folder in (claude, codex, chats):
        os.makedirs(folder, exist_ok=True)
    for turn in range(1, SESSIONS + 1):
        plant_claude(text, project, turn).write(claude)
        name = f"rollout-2026-01-05T10-00-0{turn}-{number:08x}-0000-7000-8000-{turn:012x}.jsonl"
        with open(os.path.join(codex, name), "wb") as stream:
            stream.write(plant_codex(text, project, turn))
    with open(os.path.join(chats, f"{number}.json"), "wb") as stream:
        stream.write(plant_chat(text))
    return project

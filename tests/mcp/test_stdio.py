"""The MCP server over standard input and output, as clients start it: the real command, asked by the SDK's own client."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, types

from preheat.safe_text.sentences import fit_slot
from preheat.settings import archive_path
from preheat.templates.store import TemplateStore
from preheat.tools import TOOLS, call
from tests.ingest.machine import Machine
from tests.ingest.test_learning import worked
from tests.templates.made import AT, lesson, template
from tests.tools.conftest import SHOP, make_machine
from tests.waiting import HUNG

from .conftest import command, environment, over_stdio

OLDER = "legacy"
"""The protocol with a handshake, which most clients speak; the SDK's own choice is the newer one."""
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


@pytest.mark.parametrize("mode", [OLDER, "auto"])
def test_the_tools_are_listed_and_called(taught: Machine, mode: str) -> None:
    """Schemas, hints and answers are those of `preheat.tools`, in both generations of the protocol."""

    async def talk(client: Client) -> Any:
        listed = await client.list_tools()
        return listed.tools, await client.call_tool("lessons", {"words": "pytest", "project": "shop"})

    tools, answer = over_stdio(taught.folder, talk, mode=mode)
    assert [tool.name for tool in tools] == [tool.name for tool in TOOLS]
    for listed, tool in zip(tools, TOOLS, strict=True):
        assert listed.input_schema == tool.schema
        assert listed.description == tool.description
        assert listed.annotations.read_only_hint is (tool.name != "warm_session")
        assert listed.annotations.destructive_hint is (tool.name == "warm_session")
        assert listed.annotations.open_world_hint is False
    assert answer.is_error is False
    assert answer.structured_content == call("lessons", {"words": "pytest", "project": "shop"}, taught.folder, SHOP)
    assert json.loads(answer.content[0].text) == answer.structured_content


def test_failures_are_answers_with_advice(taught: Machine) -> None:
    """A wrong name, wrong arguments, an unknown session: flagged as errors, and the next call is answered."""

    async def talk(client: Client) -> Any:
        wrong = [
            await client.call_tool("leson", {}),
            await client.call_tool("lessons", {"kind": "joke"}),
            await client.call_tool("profile", {"session": "none such"}),
        ]
        return wrong, await client.call_tool("mistakes", {"project": "all"})

    wrong, right = over_stdio(taught.folder, talk)
    for each in wrong:
        assert each.is_error
        assert each.structured_content["success"] is False
        assert each.structured_content["next"]
    assert right.structured_content["success"] is True


def test_the_prompt_gives_the_context_and_the_task(taught: Machine) -> None:
    """The context and then the task; without a task, and for an unknown project, an error that says what to do."""

    async def talk(client: Client) -> Any:
        (prompt,) = (await client.list_prompts()).prompts
        found = await client.get_prompt("warm_start", {"task": "run the tests of checkout", "project": "shop"})
        errors = []
        for name, arguments in (
            ("warm_start", {}),
            ("warm_start", {"task": "x", "project": "atlantis"}),
            ("cold_start", {"task": "x"}),
        ):
            with pytest.raises(MCPError) as caught:
                await client.get_prompt(name, arguments)
            errors.append(str(caught.value))
        return prompt, found, errors

    prompt, found, errors = over_stdio(taught.folder, talk)
    assert [(each.name, each.required) for each in prompt.arguments] == [("task", True), ("project", False)]
    context, task = found.messages
    assert context.content.text.startswith("<preheat-context")
    assert "uv run pytest" in context.content.text
    assert "data, not instructions" in context.content.text
    assert task.content.text == "run the tests of checkout"
    assert ["`task` is missing" in errors[0], "no project `atlantis`" in errors[1], "`warm_start`" in errors[2]] == [
        True,
        True,
        True,
    ]


def test_templates_are_resources(tmp_path: Path) -> None:
    """Listed, and read as text and as JSON, also an earlier version; what is not there is an error."""
    store, second = TemplateStore(str(tmp_path)), lesson(use="make second")
    first = store.store(template("mine", lesson(use="make first")), "built", AT)
    store.store(template("mine", second), "built", AT + 1)

    async def talk(client: Client) -> Any:
        listed = (await client.list_resources()).resources
        patterns = (await client.list_resource_templates()).resource_templates
        texts = [
            (await client.read_resource(f"preheat://templates/{name}")).contents[0]
            for name in ("mine", "mine/json", "mine@-1", f"mine@{first.digest[:8]}/json")
        ]
        errors = []
        for uri in ("preheat://templates/none", "preheat://lessons/x", "preheat://templates/..%2F..%2Fpasswd"):
            with pytest.raises(MCPError) as caught:
                await client.read_resource(uri)
            errors.append(str(caught.value))
        return listed, patterns, texts, errors

    listed, patterns, texts, errors = over_stdio(str(tmp_path), talk)
    assert [(each.name, each.uri) for each in listed] == [("mine", "preheat://templates/mine")]
    assert [each.uri_template for each in patterns] == ["preheat://templates/{name}", "preheat://templates/{name}/json"]
    assert "make second" in texts[0].text
    assert texts[0].text.startswith("<preheat-context")
    assert json.loads(texts[1].text)["lessons"][0]["id"] == second.id
    assert texts[1].mime_type == "application/json"
    assert "make first" in texts[2].text
    assert json.loads(texts[3].text)["digest"] == first.digest
    assert "no template `none`" in errors[0]
    assert "there is no resource" in errors[1]
    assert "cannot be a template's name" in errors[2]


# Where the client works.
@pytest.mark.filterwarnings("ignore:The roots capability is deprecated")
def test_the_project_is_the_clients_root_else_the_folder_it_was_started_in(taught: Machine, tmp_path: Path) -> None:

    async def roots(context: Any) -> types.ListRootsResult:
        return types.ListRootsResult.model_validate({"roots": [{"uri": f"file://{SHOP}"}]})

    async def talk(client: Client) -> Any:
        found = await client.call_tool("mistakes", {})
        named = await client.call_tool("mistakes", {"project": "all"})
        here = await client.call_tool("mistakes", {"project": "."})
        return tuple(each.structured_content["project"] for each in (found, named, here))

    elsewhere = str(tmp_path / "web")
    os.makedirs(elsewhere)
    shown = fit_slot("project", elsewhere)
    assert shown.endswith("/web")
    projects = over_stdio(taught.folder, talk, cwd=elsewhere, mode=OLDER, list_roots_callback=roots)
    assert projects == (SHOP, "all", SHOP)
    assert over_stdio(taught.folder, talk, cwd=elsewhere, mode=OLDER) == (shown, "all", shown)
    assert over_stdio(taught.folder, talk, "--project", elsewhere) == (shown, "all", shown)


@pytest.mark.filterwarnings("ignore:The roots capability is deprecated")
@pytest.mark.parametrize("roots", [[], ["https://example.com/x"], ["file://elsewhere/x"], None])
def test_missing_or_useless_roots_are_ignored(taught: Machine, tmp_path: Path, roots: list[str] | None) -> None:
    """No root, one that is not a folder, or a client that fails to answer."""

    async def answer_roots(context: Any) -> types.ListRootsResult | types.ErrorData:
        if roots is None:
            return types.ErrorData(code=-32603, message="broken")
        return types.ListRootsResult.model_construct(roots=[types.Root.model_construct(uri=each) for each in roots])

    async def talk(client: Client) -> Any:
        return (await client.call_tool("mistakes", {})).structured_content

    elsewhere = str(tmp_path / "web")
    os.makedirs(elsewhere)
    found = over_stdio(taught.folder, talk, cwd=elsewhere, mode=OLDER, list_roots_callback=answer_roots)
    assert found["success"] is True
    assert found["project"] == fit_slot("project", elsewhere)


# Trouble.
def test_the_server_starts_without_an_archive(tmp_path: Path) -> None:
    """Every tool says what to do."""

    async def talk(client: Client) -> Any:
        assert (await client.list_resources()).resources == []
        prompt = await client.get_prompt("warm_start", {"task": "run the tests"})
        return prompt, await client.call_tool("mistakes", {})

    prompt, answer = over_stdio(str(tmp_path / "none"), talk, cwd=str(tmp_path))
    assert [each.content.text for each in prompt.messages] == ["run the tests"]
    assert prompt.description
    assert answer.is_error
    assert "preheat sync" in answer.structured_content["next"]
    assert not os.path.exists(archive_path(str(tmp_path / "none")))


def test_the_server_survives_a_damaged_archive(tmp_path: Path) -> None:
    """It answers again when the archive is repaired."""
    machine = make_machine(tmp_path, sessions=2)
    path = archive_path(machine.folder)

    async def talk(client: Client) -> Any:
        os.rename(path, f"{path}.whole")
        for rest in ("-wal", "-shm"):
            if os.path.exists(path + rest):
                os.unlink(path + rest)
        Path(path).write_bytes(b"scratched" * 1000)
        broken = await client.call_tool("lessons", {"project": "shop"})
        os.replace(f"{path}.whole", path)
        return broken, await client.call_tool("lessons", {"project": "shop"})

    broken, whole = over_stdio(machine.folder, talk)
    assert "is damaged" in broken.structured_content["error"]
    assert whole.structured_content["success"] is True


def test_twenty_calls_at_once_are_all_answered(taught: Machine) -> None:
    """Each on a connection of its own."""
    names = [("mistakes", "profile", "lessons", "session_search")[number % 4] for number in range(20)]
    found: list[bool] = []

    async def talk(client: Client) -> None:
        async def ask(name: str) -> None:
            arguments = {"project": "all", **({"words": "zebrafish"} if name == "session_search" else {})}
            found.append((await client.call_tool(name, arguments)).structured_content["success"])

        async with anyio.create_task_group() as group:
            for name in names:
                group.start_soon(ask, name)

    over_stdio(taught.folder, talk)
    assert found == [True] * 20


def test_a_waiting_call_does_not_hold_up_others(tmp_path: Path) -> None:
    """The call has to store an analysis while another program writes to the archive."""
    machine = Machine(tmp_path)
    worked(1, SHOP).write(machine.projects)
    machine.sync()
    holding = machine.connection()
    holding.execute("DELETE FROM judgements")
    holding.execute("BEGIN IMMEDIATE")
    answered: list[str] = []

    async def talk(client: Client) -> Any:
        async def wait() -> None:
            found = await client.call_tool("mistakes", {"min_sessions": 1, "project": "all"})
            assert found.structured_content["mistakes"]
            answered.append("mistakes")

        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            for _ in range(3):
                await client.list_tools()
                found = await client.call_tool("session_search", {"words": "checkout", "project": "all"})
                answered.append("search" if found.structured_content["success"] else "failed")
            holding.execute("ROLLBACK")

    over_stdio(machine.folder, talk)
    holding.close()
    assert answered == ["search", "search", "search", "mistakes"]


# The process.
def start_server(folder: str, **more: Any) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        command(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(folder),
        **more,
    )


def greet(process: "subprocess.Popen[bytes]") -> dict[str, Any]:
    """Say hello; the server's answer."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(HELLO).encode() + b"\n")
    process.stdin.flush()
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    return answer


def test_only_the_protocol_is_on_standard_output(taught: Machine) -> None:
    """Also after invalid input and internal errors."""
    process = start_server(taught.folder)
    assert greet(process)["result"]["serverInfo"]["name"] == "preheat"
    call_it = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "mistakes", "arguments": {}}}
    lines = [
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        b"rubbish \xff\xfe",
        json.dumps(call_it).encode(),
        json.dumps({**call_it, "id": 3, "method": "no/such"}).encode(),
    ]
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"\n".join(lines) + b"\n")
    process.stdin.flush()
    answers: dict[Any, Any] = {}
    while {2, 3} - set(answers):
        answer = json.loads(process.stdout.readline())
        assert answer["jsonrpc"] == "2.0"
        answers[answer.get("id")] = answer
    out, _ = process.communicate(timeout=HUNG)
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in out.splitlines())
    assert answers[2]["result"]["structuredContent"]["success"] is True
    assert answers[3]["error"]["code"] == types.METHOD_NOT_FOUND
    assert process.returncode == 0


def test_the_server_ends_when_its_input_ends(taught: Machine) -> None:
    process = start_server(taught.folder)
    out, err = process.communicate(b"", timeout=HUNG)
    assert (out, err, process.returncode) == (b"", b"", 0)


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_the_server_ends_on_signals(taught: Machine, sent: signal.Signals, code: int) -> None:
    process = start_server(taught.folder)
    greet(process)
    process.send_signal(sent)
    assert process.wait(timeout=HUNG) == code
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.communicate()


def test_a_lost_client_is_no_error(taught: Machine) -> None:
    process = start_server(taught.folder)
    greet(process)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    process.stdin.write(b'{"jsonrpc": "2.0", "id": 2, "method": "ping"}\n')
    process.stdin.flush()
    time.sleep(0.5)
    process.stdin.close()
    assert process.wait(timeout=HUNG) == 0
    assert process.stderr.read() == b""
    process.stderr.close()


def test_without_the_sdk_the_command_says_how_to_install_it(tmp_path: Path) -> None:
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'mcp'\", name='mcp')\n")
    variables = environment(str(tmp_path))
    for words in ((), ("--http",)):
        done = subprocess.run(
            command(*words),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=HUNG,
            env={**variables, "PYTHONPATH": f"{tmp_path}{os.pathsep}{variables['PYTHONPATH']}"},
        )
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1
        assert "pip install" in done.stderr
        assert "mcp>=2.3" in done.stderr


def test_only_the_server_imports_the_sdk() -> None:
    """The tools and other commands load faster without it; `provision` needs no database library either."""
    seen = subprocess.run(
        [
            command()[0],
            "-c",
            "import sys, preheat.tools, preheat.cli.mcp, preheat.mcp\n"
            "print({'mcp', 'sqlalchemy', 'numpy'} & set(sys.modules) or 'none')",
        ],
        capture_output=True,
        text=True,
        timeout=HUNG,
        env=environment("/nowhere"),
    )
    assert seen.stdout == "none\n"

"""What a session says of its place: the folder of its calls, the remote, the manifest."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.model.session import Session, ToolCall, ToolKind, ToolResult
from preheat.projects.statement import read_statement

APP = "/home/ann/code/app"
Call = tuple[ToolKind, dict[str, Any], str]


def session(calls: list[Call], project: str = APP, **fields: Any) -> Session:
    """A session with these calls and their results."""
    events: list[Any] = []
    for number, (kind, arguments, output) in enumerate(calls):
        events.append(ToolCall(line=number, call_id=f"c{number}", tool=kind, kind=kind, input=arguments))
        events.append(ToolResult(line=number, call_id=f"c{number}", text=output))
    return Session(agent="any", id="s", project=project, events=tuple(events), **fields)


def run(command: str, output: str = "ok", **more: str) -> Call:
    return "shell", {"command": command, **more}, output


def edit(path: str) -> Call:
    return "edit", {"file_path": path}, "done"


@pytest.mark.parametrize(
    ("start", "calls", "home"),
    [
        (APP, [run("ls"), run("make test")], APP),
        ("/home/ann", [run("make test", workdir=APP), run("ls", workdir=APP)], APP),
        ("/home/ann", [run(f"cd {APP} && make test"), edit(f"{APP}/src/a.py")], APP),
        ("/home/ann", [run("cd code/app && make test")], APP),
        ("/home/ann", [run(f'cd "{APP}" && make'), run(f"git -C {APP} status")], APP),
        ("/home/ann", [edit(f"{APP}/src/a.py"), edit(f"{APP}/src/b.py")], f"{APP}/src"),
        ("/home/ann", [run("ls"), run("df -h")], ""),
        ("/", [run("ls /"), run("make", workdir=APP)], APP),
        (APP, [run("make", workdir="/home/ann/code/lib"), edit("/home/ann/code/lib/a.py"), run("ls")], "/home/ann/code/lib"),
        (APP, [run("make"), run("make", workdir="/home/ann/code/lib")], APP),
        (APP, [run("cd /tmp/x && ls"), run("cd /tmp/x && make"), run("ls")], APP),
        (APP, [("read", {"file_path": "/home/ann/notes/a.md"}, "x"), ("read", {"file_path": "/home/ann/notes/b.md"}, "x")], APP),
        (APP, [run("cd /home/ann/.tool/skills && ./search"), run("cd /home/ann/.tool/skills && ./search 2")], APP),
        ("/home/ann/code", [run("make", workdir=APP), run("git status", workdir=APP), edit(f"{APP}/a.py")], APP),
        ("C:\\Users\\ann", [run("make", workdir="C:\\Users\\ann\\app")], "C:\\Users\\ann\\app"),
        ("", [], ""),
    ],
)  # fmt: skip
def test_a_session_is_at_home_where_its_calls_are(start: str, calls: list[Call], home: str) -> None:
    assert read_statement(session(calls, start)).home == home


def test_a_start_inside_a_repository_is_not_narrowed_to_a_package() -> None:
    calls = [run("make", workdir=f"{APP}/packages/till") for _ in range(5)]
    assert read_statement(session(calls, branch="main")).home == APP


def test_the_root_of_a_checkout_on_this_machine_is_taken_over_its_folders() -> None:
    calls = [edit(f"{APP}/src/a.py"), edit(f"{APP}/src/b.py")]
    found = read_statement(session(calls, "/home/ann"), lambda folder: APP if folder.startswith(APP) else "")
    assert found.home == APP


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("git push", "remote: ok\nTo github.com:acme/app.git\n   1..2  main -> main"),
        ("git fetch", "From https://ann:pw@github.com/acme/app\n * branch main -> FETCH_HEAD"),
        ("git remote -v", "fork\tgit@github.com:ann/app.git (fetch)\norigin\tgit@github.com:acme/app.git (fetch)"),
        ("git remote get-url origin", "https://github.com/acme/app.git\n"),
        ("git config --get remote.origin.url", "git@github.com:acme/app.git"),
        ("gh pr create --fill", "Creating pull request\n\nhttps://github.com/acme/app/pull/12\n"),
    ],
)
def test_outputs_of_git_name_the_remote(command: str, output: str) -> None:
    found = read_statement(session([run(command, output)]))
    assert (found.remote, found.certain) == ("github.com/acme/app", False)


def test_what_is_said_of_other_places_does_not_count() -> None:
    """Other repositories that a session visits, also below its own folder, and addresses in other outputs."""
    elsewhere = "To github.com:other/lib.git\n"
    calls = [
        run("cd /home/ann/code/lib && git push", elsewhere),
        run(f"cd {APP}/vendor/lib && git push", elsewhere),
        run("cat log.txt", elsewhere),
        run("git log", "see https://github.com/other/lib/pull/3"),
        *[run("make") for _ in range(5)],
    ]
    assert read_statement(session(calls)).remote == ""


def test_what_the_program_recorded_is_certain() -> None:
    found = read_statement(session([run("ls")], repository="github.com/acme/app", commit="c0ffee"))
    assert (found.remote, found.certain, found.commit) == ("github.com/acme/app", True, "c0ffee")


def test_the_recorded_remote_is_of_the_start_and_not_of_another_place_of_work() -> None:
    calls = [run("make", workdir="/home/ann/code/lib") for _ in range(3)]
    found = read_statement(session(calls, repository="github.com/acme/app", commit="c0ffee"))
    assert (found.home, found.remote, found.commit) == ("/home/ann/code/lib", "", "")


def test_a_repository_that_moved_is_known_by_both_names() -> None:
    output = (
        "remote: This repository moved. Please use the new location:\nremote:   git@github.com:acme/till.git\n"
        "To github.com:acme/app.git\n"
    )
    found = read_statement(session([run("git push", output)]))
    assert (found.remote, found.former) == ("github.com/acme/till", "github.com/acme/app")


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (run("cat package.json", '{\n  "name": "till"\n}'), "till"),
        (run(f"cat {APP}/pyproject.toml", '[project]\nversion = "1"\nname = "till"'), "till"),
        (("read", {"file_path": f"{APP}/Cargo.toml"}, '[package]\nname = "till"'), "till"),
        (("read", {"file_path": f"{APP}/go.mod"}, "module example.org/till\n"), "example.org/till"),
        (run("cat packages/x/package.json", '{"name": "x"}'), ""),
        (run("cat package.json", "cat: package.json: No such file"), ""),
    ],
)
def test_the_manifest_at_the_root_names_the_project(call: Call, name: str) -> None:
    assert read_statement(session([call])).manifest == name


_texts = st.text(max_size=40)
_calls = st.lists(
    st.tuples(
        st.sampled_from(["shell", "read", "edit", "write", "search"]),
        st.dictionaries(
            st.sampled_from(["command", "workdir", "file_path", "cwd"]), _texts | st.sampled_from([APP, "/", "cd /x"])
        ),
        _texts,
    ),
    max_size=6,
)


@given(_calls, _texts | st.sampled_from([APP, "/home/ann", "/"]))
def test_any_session_has_a_statement(calls: list[Any], project: str) -> None:
    """Whatever a transcript holds: no exception, and a home folder is no place of work."""
    found = read_statement(session(calls, project))
    assert found.home not in ("/", "/home/ann", "/root", "~")

"""Nothing in a folder that others could have made or changed is used or run: not by a command, not by a hook.

Cases with another owner need a second user; root makes one, without root they are skipped.
"""

import grp  # noqa: F401 - loaded before the user changes, who may not read the standard library
import os
import pwd  # noqa: F401
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import preheat
from preheat import daemon_client
from preheat.agents.hermes.plugin import daemon as plugin_daemon
from preheat.errors import FolderRefused
from preheat.ownership import explain_refusal
from preheat.settings import data_folder
from tests.daemon.builders import BRIEF, install_client, no_start, run_client, started
from tests.shared import call_as_user
from tests.waiting import HUNG

pytestmark = pytest.mark.skipif(os.name != "posix", reason="there are no such permissions on this system")
needs_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can change owners")
OTHER = 54_321
"""The number of another user."""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder that is the user's alone, however the tests are run."""
    folder = tmp_path / "own"
    folder.mkdir(0o700)
    assert explain_refusal(str(folder)) == ""
    return folder


# The rule.
def test_a_folder_of_the_user_is_used_whether_it_exists_or_not(own: Path) -> None:
    assert explain_refusal(str(own / "not" / "yet")) == ""
    assert explain_refusal(f"{own}//./") == ""
    (own / "link").symlink_to(own)
    assert explain_refusal(str(own / "link" / "more")) == ""


@pytest.mark.parametrize("path", ["x", "./x", "../x", "~", ""])
def test_a_relative_path_is_refused(path: str) -> None:
    assert "relative" in explain_refusal(path)


@pytest.mark.parametrize("mode", [0o777, 0o702, 0o757])
@pytest.mark.parametrize("below", ["", "inner", "inner/not/yet"])
def test_what_others_can_write_to_is_refused_wherever_it_is_in_the_path(own: Path, mode: int, below: str) -> None:
    (own / "open" / "inner").mkdir(parents=True, mode=0o700)
    (own / "open").chmod(mode)
    assert f"others can write to `{own}/open`" in explain_refusal(str(own / "open" / below))


def test_a_folder_that_everybody_may_add_to_is_fine_above_but_not_as_the_last(own: Path) -> None:
    """As `/tmp` is: one cannot touch there what others have."""
    (own / "shared").mkdir()
    (own / "shared").chmod(0o1777)
    (own / "shared" / "mine").mkdir(0o700)
    assert explain_refusal(str(own / "shared" / "mine")) == ""
    assert "others can write" in explain_refusal(str(own / "shared"))
    (own / "shared" / "up").symlink_to("..")
    assert explain_refusal(str(own / "shared" / "up")) == ""
    (own / "shared" / "here").symlink_to("mine/..")
    assert "others can write" in explain_refusal(str(own / "shared" / "here" / "."))


@needs_root
def test_what_belongs_to_another_user_is_refused_be_it_folder_link_or_file(own: Path) -> None:
    for name in ("folder", "folder/inner"):
        (own / name).mkdir(0o700)
    os.chown(own / "folder", OTHER, OTHER)
    assert f"`{own}/folder` belongs to user {OTHER}" in explain_refusal(str(own / "folder" / "inner"))
    (own / "link").symlink_to(own)
    os.chown(own / "link", OTHER, OTHER, follow_symlinks=False)
    assert f"`{own}/link` belongs to user {OTHER}" in explain_refusal(str(own / "link"))
    (own / "way").symlink_to("folder/inner")
    assert f"`{own}/folder` belongs" in explain_refusal(str(own / "way"))
    (own / "file").write_text("")
    os.chown(own / "file", OTHER, OTHER)
    assert f"`{own}/file` belongs" in explain_refusal(str(own / "file"))


@needs_root
def test_a_group_may_write_only_if_it_is_the_users_own(own: Path) -> None:
    """Many systems give each user a group of the same number, and let it write by default."""
    (own / "open").mkdir()
    for group, fine in ((OTHER, True), (OTHER + 1, False), (0, True)):
        os.chown(own / "open", OTHER, group)
        (own / "open").chmod(0o770)
        assert (_ask_as(OTHER, str(own / "open")) == "") is fine, group


@needs_root
def test_root_who_has_the_home_of_somebody_is_told_to_run_without_sudo(own: Path) -> None:
    os.chown(own, OTHER, OTHER)
    with pytest.raises(FolderRefused, match="without `sudo`"):
        data_folder({"HOME": str(own)})
    assert "belongs to root" in _ask_as(OTHER, _folder_of_root(own))


def _folder_of_root(own: Path) -> str:
    folder = own / "made-by-sudo"
    folder.mkdir(0o755)
    return str(folder)


def _ask_as(user: int, path: str) -> str:
    """The answer that another user gets; it is asked for in a process of its own."""
    above = Path(path).parent
    while above != above.parent:
        above.chmod(above.stat().st_mode | 0o011)
        above = above.parent
    return call_as_user(user, lambda: explain_refusal(path))


def test_links_in_a_circle_are_refused(own: Path) -> None:
    (own / "a").symlink_to("b")
    (own / "b").symlink_to("a")
    assert "circle" in explain_refusal(str(own / "a"))


def test_what_cannot_be_looked_at_is_refused(own: Path) -> None:
    (own / "file").write_text("")
    assert "cannot be looked at" in explain_refusal(str(own / "file" / "below"))
    assert "cannot be looked at" in explain_refusal(str(own / ("x" * 300)))


def test_a_folder_in_a_repository_is_refused_only_where_the_environment_names_it(own: Path) -> None:
    (own / "clone" / ".git").mkdir(parents=True)
    (own / "clone" / "data").mkdir()
    inside = str(own / "clone" / "data" / "preheat")
    with pytest.raises(FolderRefused, match=f"in the repository `{own}/clone`"):
        data_folder({"HOME": str(own), "PREHEAT_HOME": inside})
    # A person whose home is a repository of their own.
    assert data_folder({"HOME": str(own / "clone"), "PREHEAT_HOME": inside}) == inside
    assert preheat.open(inside).folder == inside


@given(st.text(st.sampled_from("./~ab\0"), max_size=12))
def test_any_text_gets_an_answer(text: str) -> None:
    try:
        assert isinstance(explain_refusal(text), str)
    except ValueError:
        assert "\0" in text


# Where the folder is.
@pytest.mark.parametrize("variables", [{"PREHEAT_HOME": "data"}, {"PREHEAT_HOME": "./x"}, {"HOME": "."}])
def test_a_relative_home_is_refused_with_what_to_do(variables: dict[str, str]) -> None:
    with pytest.raises(FolderRefused, match=r"is not used: it is a relative path.*give the whole path"):
        data_folder(variables)


def test_the_path_that_is_used_is_the_one_that_was_looked_at(own: Path) -> None:
    """Without links `x/..` means nothing; with them it can mean two places."""
    (own / "open" / "inner").mkdir(parents=True)
    (own / "way").symlink_to("open/inner")
    (own / "open").chmod(0o777)
    (own / "open" / "data").mkdir()
    assert data_folder({"HOME": str(own), "PREHEAT_HOME": f"{own}/way/../data"}) == f"{own}/data"


def test_a_relative_xdg_folder_is_ignored_as_its_specification_says(own: Path) -> None:
    if sys.platform not in ("darwin", "win32"):
        assert data_folder({"HOME": str(own), "XDG_DATA_HOME": "here"}) == f"{own}/.local/share/preheat"


def test_without_a_home_the_account_says_where_it_is() -> None:
    assert os.path.isabs(data_folder({}))


# Commands.
def run(*words: str, cwd: str | None = None, **variables: str) -> "subprocess.CompletedProcess[str]":
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PREHEAT")}
    return subprocess.run(
        [sys.executable, "-P", "-m", "preheat", *words], env={**kept, **variables}, cwd=cwd, timeout=HUNG,
        capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        ("sync",),
        ("sync", "--agent", "codex"),
        ("doctor",),
        ("install", "claude_code"),
        ("serve",),
        ("serve", "--foreground"),
        ("mcp",),
    ],
)
def test_every_command_refuses_a_folder_of_others_in_one_line_and_writes_nothing(
    own: Path, words: tuple[str, ...]
) -> None:
    (own / "open").mkdir()
    (own / "open").chmod(0o777)
    done = run(*words, PREHEAT_HOME=str(own / "open"), HOME=str(own))
    assert done.returncode == 2
    assert done.stderr == (
        f"preheat: Preheat's folder `{own}/open` is not used: others can write to `{own}/open`; "
        "look at what is in there, then `chmod go-w` it\n"
    )
    assert os.listdir(own / "open") == []
    assert run("--version", PREHEAT_HOME="x", HOME=str(own)).returncode == 0


# The hook client.
class Trap:
    """A command that leaves a mark when it runs."""

    def __init__(self, folder: Path) -> None:
        self.mark = folder / "was-run"
        self.command = ["/bin/sh", "-c", f"touch {self.mark}"]

    def put_into(self, folder: Path) -> None:
        install_client(str(folder), self.command)

    def caught(self) -> bool:
        """Whether the command has run; a process that the client has started gets time for it."""
        end = time.monotonic() + 1.0
        while not self.mark.exists() and time.monotonic() < end:
            time.sleep(0.02)
        return self.mark.exists()


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    return Trap(tmp_path)


@pytest.fixture
def client(own: Path, each_client: str) -> str:
    """The client in a folder of the user, whose own command starts nothing."""
    (own / "data").mkdir(0o700)
    return install_client(str(own / "data"), no_start())


def test_the_trap_works_in_a_folder_of_the_user(own: Path, trap: Trap) -> None:
    (own / "data").mkdir(0o700)
    trap.put_into(own / "data")
    run_client(str(own / "data" / "hook.py"), started(), limit=BRIEF)
    assert trap.caught()


@pytest.mark.parametrize("name", ["clone/.preheat", "./clone/.preheat", "../own/clone/.preheat"])
def test_the_client_runs_nothing_from_a_relative_folder(
    own: Path, client: str, trap: Trap, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap.put_into(own / "clone" / ".preheat")
    monkeypatch.chdir(own)
    before = sorted(os.walk(own / "clone"))
    assert run_client(client, started(), PREHEAT_HOME=name, limit=BRIEF) == b""
    assert not trap.caught()
    assert sorted(os.walk(own / "clone")) == before


def test_the_client_runs_nothing_from_a_whole_path_in_a_repository(own: Path, client: str, trap: Trap) -> None:
    (own / "clone" / ".git").mkdir(parents=True)
    trap.put_into(own / "clone" / "data")
    assert run_client(client, started(), PREHEAT_HOME=str(own / "clone" / "data"), HOME=str(own), limit=BRIEF) == b""
    assert not trap.caught()


def test_the_client_never_takes_the_command_from_a_folder_that_the_environment_names(
    own: Path, client: str, trap: Trap
) -> None:
    """Also from one that looks like the user's own: an unpacked archive may."""
    trap.put_into(own / "unpacked")
    run_client(client, started(), PREHEAT_HOME=str(own / "unpacked"), HOME=str(own), limit=BRIEF)
    assert not trap.caught()


@pytest.mark.parametrize("what", ["folder", "live", "parent"])
def test_the_client_does_nothing_where_others_can_write(own: Path, client: str, trap: Trap, what: str) -> None:
    folder = own / "above" / "data"
    trap.put_into(folder)
    {"folder": folder, "live": folder / "live", "parent": own / "above"}[what].chmod(0o777)
    before = sorted(os.walk(own / "above"))
    assert run_client(client, started(), PREHEAT_HOME=str(folder), limit=BRIEF) == b""
    assert not trap.caught()
    assert sorted(os.walk(own / "above")) == before


@needs_root
@pytest.mark.parametrize("what", ["folder", "live", "link"])
def test_the_client_does_nothing_in_a_folder_of_another_user(own: Path, client: str, trap: Trap, what: str) -> None:
    folder = own / "theirs"
    trap.put_into(folder)
    (own / "link").symlink_to("theirs")
    os.chown(
        {"folder": folder, "live": folder / "live", "link": own / "link"}[what], OTHER, OTHER, follow_symlinks=False
    )
    named = own / "link" if what == "link" else folder
    assert run_client(client, started(), PREHEAT_HOME=str(named), limit=BRIEF) == b""
    assert not trap.caught()


@pytest.mark.parametrize("how", ["writable", "of another user", "linked"])
def test_the_client_does_not_run_a_start_file_that_others_could_have_written(own: Path, trap: Trap, how: str) -> None:
    (own / "data").mkdir(0o700)
    trap.put_into(own / "data")
    start = own / "data" / "live" / "start"
    if how == "writable":
        start.chmod(0o666)
    elif how == "linked":
        (own / "open").mkdir()
        (own / "open").chmod(0o777)
        start.rename(own / "open" / "start")
        start.symlink_to(own / "open" / "start")
    elif os.geteuid() == 0:
        os.chown(start, OTHER, OTHER)
    else:
        pytest.skip("only root can change owners")
    assert run_client(str(own / "data" / "hook.py"), started(), limit=BRIEF) == b""
    assert not trap.caught()
    assert daemon_client.read_start(str(own / "data" / "live")) == ""


def test_nothing_is_sent_to_a_socket_in_a_folder_of_others(own: Path, client: str) -> None:
    """It could be somebody's who collects what agents are told."""

    folder = own / "open"
    install_client(str(folder), no_start())
    (folder / "live").chmod(0o777)
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(folder / "live")
        server.bind("socket")
        os.chdir(here)
        server.listen()
        server.setblocking(False)
        assert run_client(client, started(), PREHEAT_HOME=str(folder), limit=BRIEF) == b""
        with pytest.raises(BlockingIOError):
            server.accept()


def test_a_folder_is_looked_at_again_after_it_was_made(own: Path) -> None:
    """Somebody else could have made it a moment before, where everybody may add folders."""
    (own / "shared").mkdir()
    (own / "shared" / "preheat").mkdir()
    (own / "shared").chmod(0o1777)
    (own / "shared" / "preheat").chmod(0o777)
    with pytest.raises(FolderRefused):
        daemon_client.prepare_folder(str(own / "shared" / "preheat"))


@pytest.mark.parametrize("mask", [0o000, 0o077, 0o022])
def test_what_is_prepared_is_for_its_owner_only_whatever_the_umask_is(own: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        daemon_client.write_client(str(own / "new" / "data"))
    finally:
        os.umask(before)
    for path in (own / "new").rglob("*"):
        assert not stat.S_IMODE(path.lstat().st_mode) & 0o077, path
    assert explain_refusal(str(own / "new" / "data" / "live" / "start")) == ""


# The plugin that runs inside another program.
@pytest.mark.parametrize("named", ["environment", "settings"])
@pytest.mark.parametrize("what", ["relative", "writable", "repository"])
def test_the_plugin_neither_sends_nor_runs_anything_in_such_a_folder(
    own: Path, trap: Trap, named: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = own / "clone" / "data"
    trap.put_into(folder)
    (folder / "hook.py").write_text(f"open({str(trap.mark)!r}, 'w')")
    if what == "writable":
        (own / "clone").chmod(0o777)
    if what == "repository":
        (own / "clone" / ".git").mkdir()
        if named == "settings":
            pytest.skip("a person who installs Preheat there wants it there")
    monkeypatch.chdir(own)
    monkeypatch.setenv("HOME", str(own))
    path = "clone/data" if what == "relative" else str(folder)
    if named == "environment":
        monkeypatch.setenv("PREHEAT_HOME", path)
    else:
        monkeypatch.delenv("PREHEAT_HOME", raising=False)
    program = plugin_daemon.Program(sys.executable, path if named == "settings" else "")
    assert plugin_daemon.Daemon(program).ask({"hook_event_name": "on_session_start"}, HUNG, start=True) == {}
    assert not trap.caught()

"""Every file we write is for its owner only, whatever the umask is, and one module writes them all."""

import ast
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import preheat
from preheat.files import open_private
from preheat.testing.builders import ClaudeTranscript
from tests.daemon.builders import daemon, ran, started
from tests.shared import needs_permissions
from tests.waiting import HUNG

SOURCE = Path(preheat.__file__).parent
ELSEWHERE = {
    "files.py": "the one that writes",
    "plugins/hook_away.py": "runs alone, with a umask for the owner only",
    "testing/": "for tests of other programs",
    "lab/study/": "the programs of the study, in a folder that a researcher names",
    "lab/programs.py": "copies a project into a folder of ours, with the modes of the project",
}
"""Where something may be written without `preheat.files`, and why."""
MAKERS = {
    ("os", "mkdir"), ("os", "makedirs"), ("os", "mkfifo"), ("os", "mknod"), ("os", "fdopen"), ("os", "symlink"),
    ("shutil", "copy"), ("shutil", "copy2"), ("shutil", "copyfile"), ("shutil", "copytree"), ("shutil", "copyfileobj"),
    ("tempfile", "mkstemp"), ("tempfile", "mktemp"), ("tempfile", "NamedTemporaryFile"), ("zipfile", "ZipFile"),
    ("tarfile", "open"), ("io", "open"), ("os", "chmod"),
}  # fmt: skip
ALLOWED = {
    ("__main__.py", "open"): "standard streams that were closed, to the null device",
    ("agents/hermes/plugin/daemon.py", "os.symlink"): "in a private folder, to a socket with a long path",
    ("daemon/process.py", "os.chmod"): "of the socket",
    ("daemon_client.py", "os.chmod"): "closes folders of earlier versions",
}
"""Calls that make no file that others could read."""


def writes_in(path: Path) -> Iterator[tuple[int, str]]:
    """Calls that make a file or a folder, with their lines."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
            name = (called.value.id, called.attr)
            if name in MAKERS:
                yield node.lineno, ".".join(name)
            if name == ("os", "open") and "O_CREAT" in ast.unparse(node):
                yield node.lineno, "os.open"
        if isinstance(called, ast.Attribute) and called.attr in ("write_text", "write_bytes", "touch"):
            yield node.lineno, called.attr
        if isinstance(called, ast.Name) and called.id == "open" and _opens_for_writing(node):
            yield node.lineno, "open"


def _opens_for_writing(call: ast.Call) -> bool:
    if not call.args:
        return False
    modes = call.args[1:2] + [word.value for word in call.keywords if word.arg == "mode"]
    of_ours = "open_private" in ast.unparse(call) or (
        isinstance(call.args[0], ast.Name) and call.args[0].id == "descriptor"
    )
    return not of_ours and any(
        not isinstance(mode, ast.Constant) or set("wax+") & set(str(mode.value)) for mode in modes
    )


def test_one_module_writes_all_files() -> None:
    found = [
        f"{name}:{line} {call}"
        for path in sorted(SOURCE.rglob("*.py"))
        if not any((name := path.relative_to(SOURCE).as_posix()).startswith(each) for each in ELSEWHERE)
        for line, call in writes_in(path)
        if (name, call) not in ALLOWED
    ]
    assert found == [], "write with `preheat.files`, which makes files for their owner only"


@needs_permissions
def test_a_private_file_is_closed_to_others_and_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "open").write_text("")
    (tmp_path / "open").chmod(0o666)
    os.close(open_private(str(tmp_path / "open"), os.O_WRONLY))
    assert stat.S_IMODE((tmp_path / "open").stat().st_mode) == 0o600
    (tmp_path / "link").symlink_to(tmp_path / "open")
    with pytest.raises(OSError, match="link"):
        open_private(str(tmp_path / "link"), os.O_WRONLY)


@needs_permissions
@pytest.mark.parametrize("mask", [0o000, 0o077])
def test_nothing_that_preheat_writes_can_be_read_by_others(tmp_path: Path, mask: int) -> None:
    """Every command that writes, with a umask that forbids nothing, and one that forbids others everything."""
    home, data, out = tmp_path / "home", tmp_path / "home" / "data", tmp_path / "home" / "out"
    project = tmp_path / "home" / "shop"
    before = os.umask(0o022)
    home.mkdir()
    project.mkdir()
    out.mkdir(0o700)
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text("{}")
    settings.chmod(0o640)
    for number in range(3):
        told = ClaudeTranscript(session=f"{number}0000000-1111-4000-8000-000000000000", project=str(project))
        told = told.prompt("Make it work").answer("I try.").run("pytest", "bash: pytest: command not found", 127)
        told = told.answer("Again.").run("uv run pytest", "3 passed in 0.1s").answer("Done.")
        told.write(str(home / ".claude" / "projects"))
    theirs = {path for path in home.rglob("*") if path != settings}
    os.umask(mask)
    try:
        for words in (
            ("sync",), ("learn",), ("profile", "--html", str(out / "report.html")), ("install", "claude_code"),
            ("warm", "build", "mine", "--min-messages", "1", "--max-error-rate", "1", "--weak"), ("doctor",),
            ("export", "latest", "-o", str(out / "one.json")), ("export", "--all", "-o", str(out / "all" / "of-them")),
            ("warm", "export", "mine", "-o", str(out / "mine.json")),
            ("dataset", "export", str(out / "dataset"), "--min-projects", "1"),
        ):  # fmt: skip
            _run(words, home, data, project)
        with daemon(str(data)) as served:
            served.ask(started(cwd=str(project)))
            served.ask(ran(1, "pytest", "x" * 20_000, cwd=str(project)))
    finally:
        os.umask(before)
    found = [path for path in home.rglob("*") if path not in theirs and path != settings and not path.is_symlink()]
    assert {"archive.db", "state.db", "report.html", "one.json", "hook.py", "daemon.log"} <= {
        path.name for path in found
    }
    too_open = {str(path): oct(path.stat().st_mode) for path in found if stat.S_IMODE(path.stat().st_mode) & 0o077}
    backups = {path for path in too_open if ".preheat-backup-" in path}  # as open as what they are copies of
    assert set(too_open) == backups
    assert stat.S_IMODE(settings.stat().st_mode) == 0o640


def _run(words: tuple[str, ...], home: Path, data: Path, cwd: Path) -> None:
    environment = {"HOME": str(home), "PREHEAT_HOME": str(data), "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "preheat", *words], env=environment, cwd=cwd, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=HUNG, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), (words, done.stderr)

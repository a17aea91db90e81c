"""A session made for Hermes: where it cannot be made the person is told why, and nothing is touched."""

import os
from pathlib import Path

import pytest

from preheat.agents.hermes import session_import
from preheat.errors import UserError
from preheat.model.context import PREHEAT_CALL
from preheat.provisioning import provision
from tests.agents.test_seeded import in_form, warm
from tests.provisioning.builders import NOW


# When it cannot be made.
def install_hermes(folder: Path, version: str) -> dict[str, str]:
    """An installed Hermes of a version, with the files that can be seen without starting it."""
    venv = folder / "venv"
    (venv / "lib" / "python3.11" / "site-packages" / f"hermes_agent-{version}.dist-info").mkdir(parents=True)
    (venv / "bin").mkdir()
    (venv / "pyvenv.cfg").write_text("home = /usr/bin\n")
    for name, text in (("python", "#!/bin/sh\nexit 1\n"), ("hermes", f"#!{venv}/bin/python\n")):
        (venv / "bin" / name).write_text(text)
        (venv / "bin" / name).chmod(0o755)
    return {"HOME": str(folder), "HERMES_HOME": str(folder / "own"), "PATH": str(venv / "bin")}


def refusal(environment: dict[str, str], folder: Path) -> str:
    with pytest.raises(UserError) as caught:
        session_import.start_session(in_form(warm(), "hermes-import"), str(folder), environment)
    return str(caught.value)


def test_a_missing_hermes_is_a_user_error(tmp_path: Path) -> None:
    """The error names the places searched, and the alternative."""
    message = refusal({"HOME": str(tmp_path), "PATH": str(tmp_path)}, tmp_path)
    assert "Hermes was not found" in message
    assert "on the PATH" in message
    assert "--print" in message
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("version", ["0.13.0", "0.17.0", "0.18.2"])
def test_a_hermes_that_is_too_old_is_a_user_error(tmp_path: Path, version: str) -> None:
    """The error names the version and the alternatives."""
    message = refusal(install_hermes(tmp_path, version), tmp_path)
    assert f"Hermes {version} " in message
    assert "0.19" in message
    assert "hermes-prefill" in message
    assert "preheat install hermes" in message


def test_a_missing_home_is_a_user_error(tmp_path: Path) -> None:
    """Preheat does not make Hermes's folder."""
    message = refusal(install_hermes(tmp_path, "0.19.0"), tmp_path)
    assert "start it once" in message
    assert not (tmp_path / "own").exists()


def test_a_broken_interpreter_is_a_user_error(tmp_path: Path) -> None:
    environment = install_hermes(tmp_path, "0.19.0")
    (tmp_path / "own").mkdir()
    assert "it ended with 1 and said nothing" in refusal(environment, tmp_path)


@pytest.mark.parametrize(
    ("contents", "why"),
    [(b"no database " * 99, "damaged"), (b"SQLite format 3\x00" + b"\xff" * 4096, "damaged"), (None, "is no file")],
)
def test_an_invalid_store_is_not_changed(tmp_path: Path, contents: bytes | None, why: str) -> None:
    """Hermes's code, which would repair it, is not started."""
    environment = install_hermes(tmp_path, "0.19.0")
    store = tmp_path / "own" / "state.db"
    store.parent.mkdir()
    if contents is None:
        store.mkdir()
    else:
        store.write_bytes(contents)
    message = refusal(environment, tmp_path)
    assert str(store) in message
    assert why in message
    assert [each.name for each in store.parent.iterdir()] == ["state.db"]
    assert contents is None or store.read_bytes() == contents


def test_the_rendered_document_gets_a_new_id_and_title_each_time() -> None:
    """Two imports of one document differ in id and title."""
    rendered = in_form(warm(), "hermes-import")
    assert set(rendered.document) == {"source", "title", "messages"}
    assert rendered.document["title"] == "warm: fix the lint"
    assert rendered.text == in_form(warm(), "hermes-import").text
    first, second = (session_import._make_session(rendered, "/w/shop", 1.0) for _ in range(2))
    assert first["id"] != second["id"]
    assert first["title"] != second["title"]
    assert (first["cwd"], first["started_at"]) == ("/w/shop", 1.0)
    ids = [each["id"] for message in first["messages"] for each in message.get("tool_calls", ())]
    assert len(ids) == 2
    assert all(each.startswith(PREHEAT_CALL) for each in ids)


def test_an_empty_context_gives_no_document() -> None:
    assert in_form(provision([], task="x", now=NOW), "hermes-import").text == ""

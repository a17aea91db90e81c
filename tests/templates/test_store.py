"""The template store: versions and their addresses, rollbacks, imports, and failures that lose nothing."""

import os
import stat
import subprocess
import sys
import threading
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from preheat.app.templates.uses import UsedSession, load_uses, record_use, task_hash, track
from preheat.errors import NotFound, UserError
from preheat.model.template import Template, TemplateUse
from preheat.templates import store as store_module
from preheat.templates.names import canonical_json, check_name, digest_of, make_name
from preheat.templates.store import TemplateStore
from tests.waiting import HUNG

from .made import AT, lesson, template


@pytest.fixture
def store(tmp_path: Any) -> TemplateStore:
    return TemplateStore(str(tmp_path))


def template_with(number: int) -> Template:
    return template("mine", *(lesson(use=f"make step{each}") for each in range(number)))


def test_a_stored_template_is_read_unchanged_and_named_by_its_digest(store: TemplateStore) -> None:
    """The digest is that of the canonical JSON on disk."""
    kept = store.store(template(), "built", AT)
    found = store.find("mine")
    assert kept.new
    assert found.digest == kept.digest
    assert found.template == template()
    path = os.path.join(store.folder, "objects", kept.digest[:2], f"{kept.digest}.json")
    with open(path, "rb") as stream:
        data = stream.read()
    assert digest_of(data) == kept.digest
    assert data == canonical_json(template())


def test_equal_content_is_no_new_version(store: TemplateStore) -> None:
    """Whenever it was built."""
    first = store.store(template(), "built", AT)
    again = store.store(replace(template(), created_at=AT + 9), "built", AT + 9)
    assert again == (first.digest, False)
    assert len(store.history("mine")) == 1


def test_versions_are_found_by_name_digest_and_steps_back(store: TemplateStore) -> None:
    digests = [store.store(template_with(number), "built", AT + number).digest for number in (1, 2, 3)]
    assert store.find("mine").digest == digests[2]
    assert store.find("mine").template.parent == digests[1]
    for back in (0, 1, 2):
        assert store.find(f"mine@-{back}").digest == digests[2 - back]
    for digest in digests:
        assert store.find(f"mine@{digest[:6]}").digest == digest
        assert store.find(f"mine@{digest.upper()}").digest == digest
    for wrong in ("mine@-3", "mine@ffffffff", "mine@abc", "mine@now", "mine@", "other", "mne"):
        with pytest.raises(UserError):
            store.find(wrong)
    with pytest.raises(NotFound, match="did you mean `mine`"):
        store.find("mne")


def test_an_ambiguous_digest_is_refused(store: TemplateStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("preheat.templates.store.digest_of", lambda data: f"abcd{len(data):060d}")
    store.store(template_with(1), "built", AT)
    store.store(template_with(2), "built", AT)
    with pytest.raises(NotFound, match="could be any of"):
        store.find("mine@abcd")


def test_a_rollback_is_a_new_entry_and_loses_no_version(store: TemplateStore) -> None:
    """Back step by step, and forward again by the digest."""
    first, second, third = (store.store(template_with(number), "built", AT).digest for number in (1, 2, 3))
    assert store.roll_back("mine", AT).digest == second
    assert store.roll_back("mine", AT).digest == first
    with pytest.raises(NotFound, match="no version before"):
        store.roll_back("mine", AT)
    assert store.roll_back(f"mine@{third[:8]}", AT).digest == third
    with pytest.raises(UserError, match="already"):
        store.roll_back(f"mine@{third[:8]}", AT)
    assert [entry.action for entry in store.history("mine")] == ["built"] * 3 + ["rolled back"] * 3


def test_a_deleted_template_can_be_restored_or_built_again(store: TemplateStore) -> None:
    digest = store.store(template(), "built", AT).digest
    store.delete("mine", AT)
    assert store.names() == []
    assert store.names(deleted=True) == ["mine"]
    with pytest.raises(NotFound, match="templates restore mine"):
        store.find("mine")
    with pytest.raises(UserError, match="deleted already"):
        store.delete("mine", AT)
    store.restore("mine", AT)
    assert store.find("mine").digest == digest
    with pytest.raises(UserError, match="not deleted"):
        store.restore("mine", AT)
    store.delete("mine", AT)
    assert store.store(template(), "built", AT) == (digest, True)
    assert store.find("mine").digest == digest


def test_an_import_is_not_found_until_it_is_accepted(store: TemplateStore) -> None:
    """Neither by its name nor by its digest; the current version stays."""
    strange = store.store(template("theirs"), "imported", AT).digest
    for address in ("theirs", f"theirs@{strange[:8]}", "theirs@-0"):
        with pytest.raises(NotFound, match="templates review theirs"):
            store.find(address)
    assert store.find("theirs", waiting=True).digest == strange
    mine = store.store(template_with(1), "built", AT).digest
    store.store(template_with(2), "imported", AT)
    assert store.find("mine").digest == mine
    accepted = store.store(template_with(2), "accepted", AT).digest
    assert store.find("mine").digest == accepted
    assert store.find("mine@-1").digest == mine
    assert store.state("mine").waiting is None


def test_a_rejected_import_changes_nothing(store: TemplateStore) -> None:
    """A rollback to it is impossible."""
    mine = store.store(template_with(1), "built", AT).digest
    strange = store.store(template_with(2), "imported", AT).digest
    assert store.reject("mine", AT) == strange
    assert store.find("mine").digest == mine
    with pytest.raises(NotFound):
        store.roll_back(f"mine@{strange[:8]}", AT)
    with pytest.raises(UserError, match="waits for a review"):
        store.reject("mine", AT)
    store.store(template("theirs"), "imported", AT)
    store.reject("theirs", AT)
    with pytest.raises(NotFound, match="was rejected"):
        store.find("theirs")


def test_deleting_and_restoring_an_import_does_not_accept_it(store: TemplateStore) -> None:
    store.store(template("theirs"), "imported", AT)
    store.delete("theirs", AT)
    store.restore("theirs", AT)
    with pytest.raises(NotFound, match="templates review theirs"):
        store.find("theirs")


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../x", "a/b", "a\\b", "-x", ".x", "x.", "a b", "a\n", "é", "x" * 65, "a@b", "nul", "CON.x", "a\0"],
)
def test_invalid_names_are_refused(store: TemplateStore, name: str) -> None:
    """Paths, hidden files, options, names of devices."""
    with pytest.raises(UserError, match="template's name"):
        store.store(template(name), "built", AT)
    assert not os.path.exists(os.path.join(store.folder, "names"))


@given(st.text(max_size=100))
def test_a_valid_name_is_made_of_any_text(text: str) -> None:
    assert check_name(make_name(text))


def test_a_name_that_differs_only_by_case_is_refused(store: TemplateStore) -> None:
    """Some file systems take both for one file."""
    store.store(template("mine"), "built", AT)
    with pytest.raises(UserError, match="only by its case"):
        store.store(template("Mine"), "built", AT)


def test_only_the_owner_can_read_templates(store: TemplateStore) -> None:
    """Folders 0700, files 0600."""
    store.store(template(), "built", AT)
    for folder, folders, names in os.walk(store.folder):
        for name in (*folders, *names):
            mode = stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode)
            assert mode == (0o700 if name in folders else 0o600), name


# What can go wrong.
@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc which file is written")
@pytest.mark.parametrize("step", ["fsync", "replace", "open"])
def test_a_full_disk_changes_nothing(store: TemplateStore, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """Whichever step fails: the old version stays, and no temporary file is left."""
    store.store(template_with(1), "built", AT)
    before = sorted(all_files(store))
    real = getattr(os, step)
    for place in ("objects", "names"):

        def failing(*arguments: Any, place: str = place, **more: Any) -> Any:
            name = arguments[0]
            path = os.readlink(f"/proc/self/fd/{name}") if step == "fsync" else str(name)
            if place in path and (step != "open" or arguments[1] & os.O_CREAT):  # reading needs no room
                raise OSError(28, "No space left on device")
            return real(*arguments, **more)

        with monkeypatch.context() as patch:
            patch.setattr(os, step, failing)
            with pytest.raises(UserError, match="No space left on device"):
                store.store(template_with(2), "built", AT)
        assert not [path for path in all_files(store) if ".new-" in path]
        assert store.find("mine").template == template_with(1)
    left = [path for path in sorted(all_files(store)) if path not in before]
    assert all("objects" in path for path in left), "an object that nothing refers to is all there may be"
    assert store.store(template_with(2), "built", AT).new


def test_a_writer_killed_between_version_and_history_loses_nothing(store: TemplateStore) -> None:
    """The name has its old version, and further ones can be stored."""
    store.store(template_with(1), "built", AT)
    program = """
import os, sys
from preheat.templates import store
from tests.templates.made import AT, lesson, template
real = store.write_durable
def die_at_history(path, data):
    if "names" in path:
        os.kill(os.getpid(), 9)
    real(path, data)
store.write_durable = die_at_history
store.TemplateStore(sys.argv[1]).store(template("mine", lesson(use="other")), "built", AT)
"""
    done = subprocess.run([sys.executable, "-c", program, os.path.dirname(store.folder)], timeout=HUNG)
    assert done.returncode == -9
    assert store.find("mine").template == template_with(1)
    assert store.store(template_with(2), "built", AT).new


def test_concurrent_writers_lose_no_version(store: TemplateStore) -> None:
    """Eight writers: the parent of each version is the one before it."""

    def write(number: int) -> None:
        TemplateStore(os.path.dirname(store.folder)).store(template_with(number), "built", AT)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    history = store.history("mine")
    assert len(history) == 8
    for before, after in pairwise(history):
        assert store.read(after.digest).parent == before.digest


def test_a_lock_that_is_held_too_long_is_an_error(tmp_path: Any) -> None:
    with (
        store_module.hold_folder_lock(str(tmp_path)),
        pytest.raises(UserError, match="another program"),
        store_module.hold_folder_lock(str(tmp_path), 0.05),
    ):
        pass


def test_a_changed_version_is_refused(store: TemplateStore) -> None:
    """Other versions can be read, and a new one can be stored."""
    first = store.store(template_with(1), "built", AT).digest
    second = store.store(template_with(2), "built", AT).digest
    path = os.path.join(store.folder, "objects", second[:2], f"{second}.json")
    with open(path, "ab") as stream:
        stream.write(b" ")
    with pytest.raises(UserError, match="not what was stored"):
        store.find("mine")
    assert store.roll_back(f"mine@{first[:8]}", AT).digest == first
    os.unlink(path)
    with pytest.raises(NotFound, match="is gone"):
        store.find(f"mine@{second[:8]}")
    assert store.store(template_with(3), "built", AT).new


def test_a_damaged_history_is_an_error_and_hides_no_other_template(store: TemplateStore) -> None:
    store.store(template_with(1), "built", AT)
    store.store(template("other"), "built", AT)
    with open(os.path.join(store.folder, "names", "mine.json"), "wb") as stream:
        stream.write(b'[{"digest": 3')
    with pytest.raises(UserError, match="is damaged"):
        store.find("mine")
    assert store.names() == ["mine", "other"]
    assert store.find("other")


def test_half_a_character_is_replaced(store: TemplateStore) -> None:
    """A broken transcript can contain one; JSON cannot."""
    odd = template("mine", lesson(text="cut \ud83d here"))
    digest = store.store(odd, "built", AT).digest
    assert store.find("mine").template.lessons[0].text == "cut ? here"
    assert store.store(odd, "built", AT) == (digest, False)


# Uses.
def test_uses_are_recorded_in_order(store: TemplateStore) -> None:
    """Half a character in the name of a project is replaced."""
    folder = os.path.dirname(store.folder)
    assert load_uses(folder) == []
    record_use(folder, TemplateUse(at=AT, template="d", context="one", project="sh\ud83dop", task=task_hash("fix  it")))
    record_use(folder, TemplateUse(at=AT, template="d", context="two"))
    assert [(use.context, use.project) for use in load_uses(folder)] == [("one", "sh?op"), ("two", "")]
    assert task_hash("fix it") == task_hash(" fix\nit ") != task_hash("mend it")


def test_results_are_counted_by_session() -> None:
    """Five uses, four sessions, one of them without a check."""
    uses = [TemplateUse(at=AT, template="d", context=str(number)) for number in range(5)]
    found = {
        "0": [UsedSession("a", True)],
        "1": [UsedSession("b", True)],
        "2": [UsedSession("c", False)],
        "3": [UsedSession("d", None)],
        "4": [UsedSession("d", None)],
    }
    results = track(uses, found)
    assert (results.uses, results.sessions, results.succeeded, results.failed) == (5, 4, 2, 1)
    assert track([], {}).uses == 0


def test_every_session_that_was_given_the_same_context_counts() -> None:
    """Five sessions with one task: they are given the same text, and four of them succeed."""
    uses = [TemplateUse(at=AT + number, template="d", context="same") for number in range(5)]
    found = {"same": [UsedSession(str(number), number != 2) for number in range(5)]}
    results = track(uses, found)
    assert (results.uses, results.sessions, results.succeeded, results.failed) == (5, 5, 4, 1)


def all_files(store: TemplateStore) -> list[str]:
    return [os.path.join(folder, name) for folder, _, names in os.walk(store.folder) for name in names]

"""The store: whole or not at all, nothing lost, and every way to say which version."""

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
from preheat.templates import store as files
from preheat.templates.names import canonical_json, check_name, digest_of, make_name
from preheat.templates.store import TemplateStore
from tests.waiting import HUNG

from .made import AT, lesson, template


@pytest.fixture
def store(tmp_path: Any) -> TemplateStore:
    return TemplateStore(str(tmp_path))


def grown(number: int) -> Template:
    return template("mine", *(lesson(use=f"make step{each}") for each in range(number)))


def test_what_is_kept_comes_back_and_is_called_by_its_hash(store: TemplateStore) -> None:
    """The digest is that of the canonical bytes on the disk, and the template is what was kept."""
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


def test_the_same_content_built_twice_is_no_new_version(store: TemplateStore) -> None:
    """Whenever it was built and whatever was skipped for it: nothing changed."""
    first = store.store(template(), "built", AT)
    again = store.store(replace(template(), created_at=AT + 9), "built", AT + 9)
    assert again == (first.digest, False)
    assert len(store.history("mine")) == 1


def test_versions_hang_together_and_are_addressed(store: TemplateStore) -> None:
    """By name, by the beginning of a digest, and by how far back."""
    digests = [store.store(grown(number), "built", AT + number).digest for number in (1, 2, 3)]
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


def test_an_ambiguous_beginning_is_refused(store: TemplateStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two versions that begin alike neither is guessed."""
    monkeypatch.setattr("preheat.templates.store.digest_of", lambda data: f"abcd{len(data):060d}")
    store.store(grown(1), "built", AT)
    store.store(grown(2), "built", AT)
    with pytest.raises(NotFound, match="could be any of"):
        store.find("mine@abcd")


def test_going_back_loses_nothing(store: TemplateStore) -> None:
    """A rollback is one more line; one goes back step by step, and forward again by the digest."""
    first, second, third = (store.store(grown(number), "built", AT).digest for number in (1, 2, 3))
    assert store.roll_back("mine", AT).digest == second
    assert store.roll_back("mine", AT).digest == first
    with pytest.raises(NotFound, match="no version before"):
        store.roll_back("mine", AT)
    assert store.roll_back(f"mine@{third[:8]}", AT).digest == third
    with pytest.raises(UserError, match="already stands"):
        store.roll_back(f"mine@{third[:8]}", AT)
    assert [entry.action for entry in store.history("mine")] == ["built"] * 3 + ["rolled back"] * 3


def test_a_deleted_template_can_be_brought_back(store: TemplateStore) -> None:
    """By restoring it, or by building it anew."""
    digest = store.store(template(), "built", AT).digest
    store.delete("mine", AT)
    assert store.names() == []
    assert store.names(deleted=True) == ["mine"]
    with pytest.raises(NotFound, match="warm restore mine"):
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
    """Neither by its name nor by its digest; what the name stood for before goes on."""
    strange = store.store(template("theirs"), "imported", AT).digest
    for address in ("theirs", f"theirs@{strange[:8]}", "theirs@-0"):
        with pytest.raises(NotFound, match="warm review theirs"):
            store.find(address)
    assert store.find("theirs", waiting=True).digest == strange
    mine = store.store(grown(1), "built", AT).digest
    store.store(grown(2), "imported", AT)
    assert store.find("mine").digest == mine
    accepted = store.store(grown(2), "accepted", AT).digest
    assert store.find("mine").digest == accepted
    assert store.find("mine@-1").digest == mine
    assert store.state("mine").waiting is None


def test_a_rejected_import_leaves_everything_as_it_was(store: TemplateStore) -> None:
    """And one cannot go back to what was never in use."""
    mine = store.store(grown(1), "built", AT).digest
    strange = store.store(grown(2), "imported", AT).digest
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


def test_deleting_and_restoring_is_no_review(store: TemplateStore) -> None:
    """A quarantine is not got round by a detour."""
    store.store(template("theirs"), "imported", AT)
    store.delete("theirs", AT)
    store.restore("theirs", AT)
    with pytest.raises(NotFound, match="warm review theirs"):
        store.find("theirs")


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../x", "a/b", "a\\b", "-x", ".x", "x.", "a b", "a\n", "é", "x" * 65, "a@b", "nul", "CON.x", "a\0"],
)
def test_names_that_are_no_names(store: TemplateStore, name: str) -> None:
    """Nothing that leaves the folder, hides, looks like an option, or opens a device somewhere."""
    with pytest.raises(UserError, match="template's name"):
        store.store(template(name), "built", AT)
    assert not os.path.exists(os.path.join(store.folder, "names"))


@given(st.text(max_size=100))
def test_any_text_can_be_made_a_name(text: str) -> None:
    """A project may be called anything."""
    assert check_name(make_name(text))


def test_names_that_differ_by_case_only_are_one(store: TemplateStore) -> None:
    """Some disks could not tell their files apart."""
    store.store(template("mine"), "built", AT)
    with pytest.raises(UserError, match="only by its case"):
        store.store(template("Mine"), "built", AT)


def test_only_the_owner_can_read_it(store: TemplateStore) -> None:
    """Folders 0700, files 0600."""
    store.store(template(), "built", AT)
    for folder, folders, names in os.walk(store.folder):
        for name in (*folders, *names):
            mode = stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode)
            assert mode == (0o700 if name in folders else 0o600), name


# What can go wrong.
@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc which file is written")
@pytest.mark.parametrize("step", ["fsync", "replace", "open"])
def test_a_full_disk_leaves_everything_as_it_was(
    store: TemplateStore, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Whichever step fails, of the object or of the history: the old version stands, and nothing half-written is left."""
    store.store(grown(1), "built", AT)
    before = sorted(everything(store))
    real = getattr(os, step)
    for place in ("objects", "names"):

        def failing(*arguments: Any, place: str = place, **more: Any) -> Any:
            name = arguments[0]
            path = os.readlink(f"/proc/self/fd/{name}") if step == "fsync" else str(name)
            if place in path:
                raise OSError(28, "No space left on device")
            return real(*arguments, **more)

        with monkeypatch.context() as patch:
            patch.setattr(os, step, failing)
            with pytest.raises(UserError, match="No space left on device"):
                store.store(grown(2), "built", AT)
        assert not [path for path in everything(store) if ".new-" in path]
        assert store.find("mine").template == grown(1)
    left = [path for path in sorted(everything(store)) if path not in before]
    assert all("objects" in path for path in left), "an object that nothing refers to is all there may be"
    assert store.store(grown(2), "built", AT).new


def test_a_writer_that_is_killed_between_two_steps_harms_nothing(store: TemplateStore) -> None:
    """A process of its own dies after the object and before the history: the name stands as before, and writing goes on."""
    store.store(grown(1), "built", AT)
    program = """
import os, sys
from preheat.templates import store
from tests.templates.made import AT, lesson, template
real = store.write_whole
def dying(path, data):
    if "names" in path:
        os.kill(os.getpid(), 9)
    real(path, data)
store.write_whole = dying
store.Store(sys.argv[1]).keep(template("mine", lesson(use="other")), "built", AT)
"""
    done = subprocess.run([sys.executable, "-c", program, os.path.dirname(store.folder)], timeout=HUNG)
    assert done.returncode == -9
    assert store.find("mine").template == grown(1)
    assert store.store(grown(2), "built", AT).new


def test_writers_take_turns(store: TemplateStore) -> None:
    """Eight at once: every version is in the history, each after the one before."""

    def write(number: int) -> None:
        TemplateStore(os.path.dirname(store.folder)).store(grown(number), "built", AT)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    history = store.history("mine")
    assert len(history) == 8
    for before, after in pairwise(history):
        assert store.read(after.digest).parent == before.digest


def test_a_lock_that_is_held_too_long_is_told_of(tmp_path: Any) -> None:
    """No waiting without end."""
    with (
        files.hold_folder_lock(str(tmp_path)),
        pytest.raises(UserError, match="another program"),
        files.hold_folder_lock(str(tmp_path), 0.05),
    ):
        pass


def test_a_changed_object_is_not_believed(store: TemplateStore) -> None:
    """It is read back verified; the other versions are still there, and a new one can be built."""
    first = store.store(grown(1), "built", AT).digest
    second = store.store(grown(2), "built", AT).digest
    path = os.path.join(store.folder, "objects", second[:2], f"{second}.json")
    with open(path, "ab") as stream:
        stream.write(b" ")
    with pytest.raises(UserError, match="not what was stored"):
        store.find("mine")
    assert store.roll_back(f"mine@{first[:8]}", AT).digest == first
    os.unlink(path)
    with pytest.raises(NotFound, match="is gone"):
        store.find(f"mine@{second[:8]}")
    assert store.store(grown(3), "built", AT).new


def test_a_damaged_history_is_told_of_and_hides_no_other(store: TemplateStore) -> None:
    """One line, with the path and what to do."""
    store.store(grown(1), "built", AT)
    store.store(template("other"), "built", AT)
    with open(os.path.join(store.folder, "names", "mine.json"), "wb") as stream:
        stream.write(b'[{"digest": 3')
    with pytest.raises(UserError, match="is damaged"):
        store.find("mine")
    assert store.names() == ["mine", "other"]
    assert store.find("other")


def test_half_a_character_does_not_stop_it(store: TemplateStore) -> None:
    """A broken transcript can hold one; JSON cannot."""
    odd = template("mine", lesson(text="cut \ud83d here"))
    digest = store.store(odd, "built", AT).digest
    assert store.find("mine").template.lessons[0].text == "cut ? here"
    assert store.store(odd, "built", AT) == (digest, False)


# Uses.
def test_uses_are_counted(store: TemplateStore) -> None:
    """In their order; half a character in a project's name does not stop it."""
    folder = os.path.dirname(store.folder)
    assert load_uses(folder) == []
    record_use(folder, TemplateUse(at=AT, template="d", context="one", project="sh\ud83dop", task=task_hash("fix  it")))
    record_use(folder, TemplateUse(at=AT, template="d", context="two"))
    assert [(use.context, use.project) for use in load_uses(folder)] == [("one", "sh?op"), ("two", "")]
    assert task_hash("fix it") == task_hash(" fix\nit ") != task_hash("mend it")


def test_success_is_tracked_by_session() -> None:
    """Five uses, four sessions found again, one of them without a check: two of three succeeded."""
    uses = [TemplateUse(at=AT, template="d", context=str(number)) for number in range(5)]
    found = {
        "0": UsedSession("a", True),
        "1": UsedSession("b", True),
        "2": UsedSession("c", False),
        "3": UsedSession("d", None),
        "4": UsedSession("d", None),
    }
    results = track(uses, found)
    assert (results.uses, results.sessions, results.succeeded, results.failed) == (5, 4, 2, 1)
    assert track([], {}).uses == 0


def everything(store: TemplateStore) -> list[str]:
    return [os.path.join(folder, name) for folder, _, names in os.walk(store.folder) for name in names]

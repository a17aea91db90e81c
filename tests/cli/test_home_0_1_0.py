"""A folder of version 0.1.0 through the commands: lessons, templates and what could not be read."""

import json
import os
from pathlib import Path
from typing import Any

from preheat.app import Preheat
from tests.cli.conftest import Person
from tests.state.home_0_1_0 import EXPECTED, home

ANSWERS: dict[str, Any] = EXPECTED["said"]


def test_marks_and_loaded_templates_of_version_0_1_0_still_hold(person: Person) -> None:
    home(Path(person.folder))
    listed = json.loads(person.run("lessons", "list", "--all", "--json").out)
    shown = [
        [each["id"], each.get("status", "active"), each.get("pinned", False), each.get("why", "")] for each in listed
    ]
    assert shown == ANSWERS["lessons list --all"]
    folder = ANSWERS["warm load --project /tmp/harbour/shop"]["project"]
    loaded = Preheat(person.folder).library.project_template(folder).status
    assert loaded is not None
    assert loaded.pin.digest == ANSWERS["warm load --project /tmp/harbour/shop"]["loaded"]["digest"]
    done = person.run("doctor", "--json")
    assert not [each for each in json.loads(done.out)["findings"] if "state" in each or "0.1.0" in each]


def test_doctor_names_lines_that_cannot_be_read(person: Person) -> None:
    folder = home(Path(person.folder))
    with open(os.path.join(folder, "experiments", "lots.jsonl"), "ab") as stream:
        stream.write(b'{"lot":"arm","sess')
    done = person.run("doctor")
    assert done.code == 1
    assert "line 42 of" in done.out
    assert "lots.jsonl.migrated-0.2" in done.out.replace("\n", "")

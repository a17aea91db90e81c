"""`preheat admin output`: the whole of an output that was shortened for an agent."""

import json
import re

import pytest

from preheat.app.live.outputs import shorten_output

from .conftest import Person


# preheat admin output
def test_output_prints_the_whole_stored_text(person: Person) -> None:
    text = "\n".join(f"line {number}" for number in range(500)) + "\n"
    short = shorten_output(text, 0, "late", folder=person.folder)
    assert short is not None
    name = re.search(r"`preheat admin output (\w+)`", short)
    assert name is not None
    assert person.spawn("output", name[1]).out == text
    assert json.loads(person.run("output", name[1], "--json").out) == {"id": name[1], "text": text}


@pytest.mark.parametrize("name", ["0123456789ab", "../archive"])
def test_an_unknown_output_is_refused_in_one_line(person: Person, name: str) -> None:
    done = person.run("output", name)
    assert (done.code, done.out) == (2, "")
    assert name in done.err

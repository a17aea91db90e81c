"""The search for leaks finds what is there, says where, and lets nothing pass because of how it is packed."""

import json

import pytest

from preheat.ingest.redact import redact
from preheat.lab.dataset.leaks import Leak, LeakSearch, leaks_in_file, leaks_in_files
from preheat.lab.dataset.names import Name, Names

LOOK = LeakSearch(Names([Name("person", "jquill"), Name("project", "inkwell")]), redact)


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        ("made by JQuill", "person"),
        ("the inkwell_build", "project"),
        ("me@inky.example", "email"),
        ("/Users/somebody/x", "path"),
        ("D:\\work\\x", "path"),
        ("https://inky.example/x", "url"),
        ("ghp_Zk3vQ9xT7bLm2RwY8nHc5JdPfA1sGu4EoKiV", "secret"),
        ("123e4567-e89b-42d3-a456-426614174000", "id"),
        ("+41 79 555 66 77", "phone"),
        ("10.1.2.3", "ip"),
        ("j\u00adquill", "person"),
        ("ink\u200bwell", "project"),
    ],
)
@pytest.mark.parametrize("name", ["sessions.jsonl", "trajectories/session-b.json", "datasheet.md"])
def test_a_planted_leak_is_found_with_its_line(name: str, text: str, sort: str) -> None:
    """In rows, in documents and in prose, as a value and as a member's name."""
    if name.endswith(".md"):
        lines = ["fine", "fine", f"so {text} it is"]
    elif name.endswith(".jsonl"):
        lines = [json.dumps({"a": "fine"}), json.dumps(["fine"]), json.dumps({"b": [{f"x {text}": text}]})]
    else:
        lines = ["{", '"a": "fine",', f'"b": {json.dumps(text)}', "}"]
    found = list(leaks_in_file(name, "\n".join(lines).encode(), LOOK))
    assert any(leak.file == name and leak.line == 3 and leak.sort == sort for leak in found)


def test_what_is_not_json_is_searched_too() -> None:
    """A damaged line hides nothing."""
    assert list(leaks_in_file("sessions.jsonl", b'{"a": "jquill"', LOOK)) == [
        Leak("sessions.jsonl", 1, "person", "jquill")
    ]
    assert list(leaks_in_file("x.json", b'{"a": "jquill"', LOOK)) == [Leak("x.json", 1, "person", "jquill")]


def test_words_of_the_own_pages_are_no_leak_in_these_pages_only() -> None:
    """A project that is called like a word of the datasheet does not make every datasheet a leak."""
    look = LOOK._replace(own_words=frozenset(("inkwell",)))
    assert not list(leaks_in_file("datasheet.md", b"an inkwell", look))
    assert list(leaks_in_file("sessions.jsonl", b'"an inkwell"', look))


def test_what_a_person_allows_is_no_leak() -> None:
    """A contact address in the datasheet is there on purpose."""
    assert not list(
        leaks_in_file("datasheet.md", b"ask data@inky.example", LOOK._replace(allowed=("data@inky.example",)))
    )


def test_texts_of_the_format_are_no_leak_in_trajectories_and_only_whole() -> None:
    """A machine that is called like a member of a trajectory does not make every trajectory a leak; elsewhere it is one."""
    look = LOOK._replace(format_texts=frozenset(("inkwell",)))
    assert not list(leaks_in_file("trajectories/a.json", b'{"inkwell": 1}', look))
    assert list(leaks_in_file("trajectories/a.json", b'{"text": "the inkwell"}', look))
    assert list(leaks_in_file("other.json", b'{"inkwell": 1}', look))


def test_a_repeated_leak_is_found_everywhere() -> None:
    """In every line and every file that has it, though a text is looked at once; in a page whose own word it is, not."""
    again = b'{"a": "inkwell"}\n{"a": "inkwell"}\n'
    files = [(name, lambda: again) for name in ("a.jsonl", "manifest.json", "b.jsonl")]
    found = list(leaks_in_files(files, LOOK._replace(own_words=frozenset(("inkwell",)))))
    assert [(leak.file, leak.line) for leak in found] == [
        ("a.jsonl", 1),
        ("a.jsonl", 2),
        ("b.jsonl", 1),
        ("b.jsonl", 2),
    ]
    document = b'{\n"a": "inkwell",\n"b": "inkwell",\n"c": "jquill"}'
    assert [leak.line for leak in leaks_in_file("a.json", document, LOOK)] == [2, 4]

"""What comes out of the anonymiser names nobody, and is the same every time."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.ingest.redact import redact
from preheat.lab.dataset.anonymise import Anonymiser, mask
from preheat.lab.dataset.leaks import LeakSearch, leaks_in_text
from preheat.lab.dataset.names import Name, Names, names_in_text
from preheat.lab.dataset.pseudonyms import Pseudonyms

from .planted import Identity, found_in, identities

SALT = b"0123456789abcdef" * 2


def made(*names: Name, salt: bytes = SALT) -> Anonymiser:
    return Anonymiser(Pseudonyms(salt), Names(names), redact)


@settings(max_examples=150, deadline=None)
@given(identities(), st.text(max_size=30), st.text(max_size=30))
def test_nobody_who_is_planted_comes_out(identity: Identity, before: str, after: str) -> None:
    """Names, addresses, paths, hosts, numbers and secrets go, whatever stands around them; going over it again changes nothing,
    and the search for leaks, which has its own way of looking, finds nothing either."""
    text = f"{before}\n{identity.text()}\n{after}"
    names = Names(names_in_text(identity.text()))
    anonymiser = Anonymiser(Pseudonyms(SALT), names, redact)
    for came in (anonymiser.anonymise_text(text), anonymiser.generalise(text)):
        assert found_in(came, identity) == []
        assert anonymiser.anonymise_text(came) == came
        assert list(leaks_in_text(came, LeakSearch(names, redact))) == []


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=400))
def test_any_text_is_cleared_once_and_for_all(text: str) -> None:
    """Whatever it is: no error, a second time changes nothing, and nothing of the tell-tale forms is left."""
    anonymiser = made()
    came = anonymiser.anonymise_text(text)
    assert anonymiser.anonymise_text(came) == came
    assert list(leaks_in_text(came, LeakSearch(Names(()), redact))) == []


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        ("see https://wiki.qorp.example/a?b=1", "url"),
        ("mail me@qorp.example", "email"),
        ("in /srv/qorp/app/x.py", "path"),
        ("in ~/qorp/x.py", "path"),
        ("it <cwd>/Users/jq/Work/qorp/devenv</cwd>", "path"),
        ("it [command]/home/runner/qorp/x", "path"),
        (r"in C:\work\qorp\x.cs", "path"),
        (r"on \\filer\qorp\x.doc", "path"),
        ("in -Users-jq-work-qorp", "path"),
        ("in src/qorp/x.py", "path"),
        ("open qorp_billing.py", "file"),
        ("from db1.qorp.internal", "host"),
        ("from 10.1.2.3", "ip"),
        ("from fe80:0:0:0:1:2:3:4", "ip"),
        ("clone git@git.qorp.example:team/tool.git", "repository"),
        ("id 123e4567-e89b-42d3-a456-426614174000", "id"),
        ("commit 3f9a1c0b7d2e", "id"),
        ("call +1 (415) 555-2671", "phone"),
        ("account 123456789012", "phone"),
        ("ask @qorpian", "handle"),
        ("fixes QORP-4711", "ticket"),
        ("at 2026-03-04T10:11:12Z", "date"),
        ("key ghp_Zk3vQ9xT7bLm2RwY8nHc5JdPfA1sGu4EoKiV", "secret"),
    ],
)
def test_each_form_is_known_and_counted(text: str, sort: str) -> None:
    """One of every sort, by itself: the word before it stays, the rest goes."""
    anonymiser = made()
    came = anonymiser.anonymise_text(text)
    assert came.split(" ")[0] == text.split(" ")[0]
    assert len(came.split(" ")) == 2
    assert "/Work" not in came
    assert "qorp" not in came.lower()
    assert anonymiser.counts[sort] == 1


@pytest.mark.parametrize(
    "text",
    [
        "npm run build",
        "git commit -m …",
        "and/or",
        "UTF-8 and SHA-256",
        "package.json",
        "exit code 127",
        "2>/dev/null",
        "a < b",
    ],
)
def test_what_is_everybodys_stays(text: str) -> None:
    """Forms of commands and plain words are what a dataset is for."""
    assert made().anonymise_text(text) == text


def test_a_path_keeps_its_depth_and_a_plain_ending() -> None:
    """`.py` tells a language; an ending that nobody knows may tell a company."""
    assert re.fullmatch(r"<path-[b-t]{10}>/_/_/_\.py", made().anonymise_text("/home/jq/app/x.py"))
    assert re.fullmatch(r"<path-[b-t]{10}>/_/_/_", made().anonymise_text("/home/jq/app/x.qorp"))


def test_the_same_is_the_same_within_an_export_and_another_in_the_next() -> None:
    """One salt, one pseudonym; another salt, another one; general texts know no salt."""
    one, same, other = made(), made(), made(salt=b"another salt, long enough")
    text = "/srv/qorp/x.py of me@qorp.example"
    assert one.anonymise_text(text) == same.anonymise_text(text) != other.anonymise_text(text)
    assert one.generalise(text) == other.generalise(text) == "<path> of <email>"
    first, second = one.anonymise_text("/srv/a/b /srv/a/b").split(" ")
    assert first == second != one.anonymise_text("/srv/a/c")


def test_values_out_of_json_are_gone_through_whole() -> None:
    """Names of members, nested values and large numbers; small numbers and truths stay."""
    came = made(Name("person", "quentin")).anonymise_value(
        {"quentin": [1, True, None, {"a": "/srv/x/y"}], "n": 41795551234567}
    )
    assert "quentin" not in str(came)
    assert next(iter(came.values()))[:3] == [1, True, None]
    assert "41795551234567" not in str(came)


@settings(deadline=None)
@given(st.text())
def test_a_mask_leaves_lengths_and_lines(text: str) -> None:
    """Every sign is an `x`, every blank where it was."""
    assert set(mask(text).split()) <= {"x" * length for length in range(1, len(text) + 1)}
    assert [len(word) for word in mask(text).split()] == [len(word) for word in text.split()]

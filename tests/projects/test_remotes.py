"""Addresses of remote repositories: one form for one repository, and never a password."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.remotes import normalise_remote


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/acme/cli.git",
        "https://github.com/acme/cli",
        "https://github.com/acme/cli/",
        "https://ann:s3cret@github.com/acme/cli.git",
        "https://ghp_0123456789@github.com/acme/cli",
        "http://www.github.com:80/acme/cli.git",
        "ssh://git@github.com:22/acme/cli.git",
        "ssh://git@ssh.github.com:443/acme/cli.git",
        "git@github.com:acme/cli.git",
        "github.com:acme/cli",
        "git://github.com/acme/cli.git",
        "git+ssh://git@github.com/acme/cli.git",
        "github.com/acme/cli",
        "https://GitHub.com/acme//cli.git?x=1#y",
    ],
)
def test_every_way_to_write_an_address_is_the_same(address: str) -> None:
    assert normalise_remote(address) == "github.com/acme/cli"


@pytest.mark.parametrize(
    "address",
    ["", "/srv/git/cli.git", "../cli", "file:///srv/cli", "C:\\work\\cli", "C:/work/cli", "cli", "https://github.com/", "x y",
     "https://github.com/acme/..", "a\nb:c/d"],
)  # fmt: skip
def test_what_is_no_address_of_another_machine_is_none(address: str) -> None:
    assert normalise_remote(address) == ""


def test_owners_and_hosts_tell_repositories_apart() -> None:
    assert normalise_remote("git@github.com:client-b/cli.git") != normalise_remote("git@github.com:client-a/cli.git")
    assert normalise_remote("git@gitlab.com:acme/cli.git") != normalise_remote("git@github.com:acme/cli.git")


@given(st.text(max_size=60))
def test_any_text_is_normalised_once_and_for_all(text: str) -> None:
    found = normalise_remote(text)
    assert normalise_remote(found) in ("", found)
    assert found.isprintable()
    assert " " not in found


_words = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1, max_size=12)


@given(_words, _words.map(lambda word: f"pw{word}"), _words, _words)
def test_no_password_survives(user: str, password: str, owner: str, name: str) -> None:
    for form in ("https://{u}:{p}@host.example/{o}/{n}.git", "ssh://{u}:{p}@host.example:2222/{o}/{n}"):
        found = normalise_remote(form.format(u=user, p=password, o=owner, n=name))
        assert found == f"host.example/{owner}/{name}"

"""Who belongs together: worktrees, clones, forks, containers, and people's corrections."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.model.project import ProjectCorrection, SessionPlace, TreeFacts
from preheat.projects.assignment import AssignedProjects, PlacedSession, assign_projects
from preheat.projects.folders import main_folder

APP, CLI = "github.com/acme/app", "github.com/client-b/cli"


def assign(*places: SessionPlace, corrections: dict[str, str] | None = None, **more: Any) -> AssignedProjects:
    """The projects of sessions in these places, in this order of time."""
    sessions = [PlacedSession(number, (float(number), ""), place) for number, place in enumerate(places)]
    decided = [ProjectCorrection(what=what, into=into, at=1.0) for what, into in (corrections or {}).items()]
    return assign_projects(sessions, decided, **more)


def names(found: AssignedProjects) -> list[str]:
    """The name of each session's project, in order; empty where it has none."""
    return [found.names.get(found.sessions[number], "") for number in sorted(found.sessions)]


def at(home: str, remote: str = "", **fields: Any) -> SessionPlace:
    return SessionPlace(home=home, remote=remote, **fields)


@pytest.mark.parametrize(
    ("folder", "main"),
    [
        ("/home/dev/shop/", "/home/dev/shop"),
        ("/home/dev/shop/.worktrees/fix-1", "/home/dev/shop"),
        ("/home/dev/shop/.agent/worktrees/fix-1/src", "/home/dev/shop"),
        (r"C:\Users\ann\shop\.worktrees\a", r"C:\Users\ann\shop"),
        ("/home/dev/.tool/worktrees/9f/shop", "/home/dev/.tool/worktrees/9f/shop"),
        *((home, "") for home in ("/home/dev", "/root", "/", "~", r"C:\Users\ann", "C:\\", "", "/home", "/Users")),
    ],
)
def test_a_worktree_inside_a_repository_belongs_to_its_folder(folder: str, main: str) -> None:
    """A worktree that lies in a home folder is never taken for the home."""
    assert main_folder(folder) == main


def test_folders_of_one_name_are_two_projects_if_their_remotes_differ() -> None:
    """Neither gets the lessons of the other; the later one has a longer name."""
    found = assign(at("/home/ann/cli", "github.com/acme/cli"), at("/home/ann/clientB/cli", CLI), at("/home/ben/cli"))
    assert names(found) == ["cli", "client-b/cli", "ben/cli"]


def test_clones_and_worktrees_of_one_remote_are_one_project() -> None:
    places = [
        at("/home/ann/app", APP),
        at("/home/ann/copy-of-app", "github.com/Acme/App"),
        at("/home/ann/.tool/worktrees/7f3a/app", APP, certain=True),
        at("/home/ann/workspaces/app/rome", APP),
        at("D:\\work\\app", APP),
    ]
    assert set(names(assign(*places))) == {"app"}


def test_forks_are_apart_until_they_are_linked() -> None:
    """They have the first commit in common, and different remotes."""
    fork = TreeFacts(root="/h/a/fork", main="/h/a/fork", remote="github.com/ann/app", commits=("c0",))
    app = TreeFacts(root="/h/a/app", main="/h/a/app", remote=APP, commits=("c0",))
    places = at("/h/a/app", tree=app), at("/h/a/fork", tree=fork)
    assert names(assign(*places)) == ["app", "ann/app"]
    linked = assign(*places, corrections={"remote:github.com/ann/app": f"remote:{APP}"})
    assert names(linked) == ["app", "app"]
    assert linked.lookup["remote:github.com/ann/app"] == f"remote:{APP}"


def test_a_clone_without_a_remote_belongs_to_the_only_project_with_its_first_commit() -> None:
    tree = TreeFacts(root="/h/a/other", main="/h/a/other", commits=("c0",))
    app = TreeFacts(root="/h/a/app", main="/h/a/app", remote=APP, commits=("c0",))
    assert names(assign(at("/h/a/app", tree=app), at("/h/a/other", tree=tree))) == ["app", "app"]
    assert names(assign(at("/h/a/one", commit="c1"), at("/h/a/two", commit="c1"), at("/h/a/three", commit="c2"))) == [
        "one",
        "one",
        "three",
    ]


def test_a_worktree_that_names_nothing_belongs_to_the_others_of_its_group() -> None:
    """In a collection of worktrees, if at least two others beside it name one remote and none names another."""
    base = "/home/ann/conductor/workspaces"
    said = [at(f"{base}/app/rome", APP), at(f"{base}/app/oslo", APP)]
    silent = at(f"{base}/app/bonn")
    assert names(assign(*said, silent)) == ["app", "app", "app"]
    assert names(assign(said[0], silent))[1] != "app"
    assert names(assign(*said, at(f"{base}/app/york", CLI), silent))[3] not in ("app", "cli")
    by_name = [at(f"/home/ann/.tool/worktrees/{number}/app", APP) for number in range(2)]
    assert names(assign(*by_name, at("/home/ann/.tool/worktrees/7/app")))[2] == "app"
    assert names(assign(*by_name, at("/home/ann/.tool/worktrees/7/till")))[2] == "till"


def test_a_container_path_is_split_by_what_its_sessions_say() -> None:
    """By remote, else by the name in the manifest; what says nothing is not learned over."""
    found = assign(
        at("/testbed", "github.com/django/django"), at("/testbed", "github.com/astropy/astropy"), at("/testbed")
    )
    assert names(found) == ["django", "astropy", ""]
    assert "path:/testbed" not in found.lookup
    assert "other repositories" in found.reasons[2]
    by_manifest = assign(at("/testbed", manifest="django"), at("/testbed", manifest="astropy"), at("/testbed"))
    assert names(by_manifest) == ["django", "astropy", ""]


def test_a_folder_in_which_nearly_all_sessions_name_one_remote_is_not_split() -> None:
    """A session that pushes to a fork once takes nothing away."""
    places = [at("/h/a/app", APP) for _ in range(8)]
    assert set(names(assign(*places, at("/h/a/app"), at("/h/a/app", "github.com/ann/app")))) == {"app"}


def test_a_folder_without_a_repository_is_itself() -> None:
    assert names(assign(at("/home/ann/notes"), at("/home/ben/notes"))) == ["notes", "ben/notes"]


def test_submodules_and_packages_are_told_apart() -> None:
    whole = TreeFacts(root="/h/a/app", main="/h/a/app", remote=APP)
    package = TreeFacts(root="/h/a/app", main="/h/a/app", remote=APP, package="packages/till")
    module = TreeFacts(root="/h/a/app/lib", main="/h/a/app/lib", remote="github.com/acme/lib")
    found = assign(
        at("/h/a/app", tree=whole), at("/h/a/app/packages/till", tree=package), at("/h/a/app/lib", tree=module)
    )
    assert names(found) == ["app", "app/packages/till", "lib"]


def test_a_folder_inside_a_repository_that_is_gone_belongs_to_it() -> None:
    assert names(assign(at("/h/a/app", APP), at("/h/a/app/src"), at("/h/a/app/pkg", manifest="pkg"))) == [
        "app",
        "app",
        "pkg",
    ]


def test_a_repository_that_moved_is_one_project() -> None:
    moved = at("/h/a/app", APP, former="github.com/acme/old")
    found = assign(at("/h/a/old", "github.com/acme/old"), moved)
    assert names(found) == ["app", "app"]
    assert found.lookup["remote:github.com/acme/old"] == f"remote:{APP}"


def test_a_folder_can_be_split_off_and_linked_elsewhere() -> None:
    places = at("/h/a/app", APP), at("/h/a/app/old/x"), at("/workspace")
    split = {"folder:/h/a/app/old": "path:/h/a/app/old"}
    assert names(assign(*places, corrections=split)) == ["app", "old", ""]
    link = {"folder:/workspace": f"remote:{APP}"}
    assert names(assign(*places, corrections=link)) == ["app", "app", "app"]


def test_corrections_in_a_ring_end() -> None:
    ring = {"path:/h/a/x": "path:/h/a/y", "path:/h/a/y": "path:/h/a/x"}
    assert len(names(assign(at("/h/a/x"), at("/h/a/y"), corrections=ring))) == 2


def test_a_name_once_given_stays() -> None:
    """Lessons and marks go by it: a project that comes later never takes it."""
    first = assign(at("/home/ann/b/cli", CLI))
    again = assign(at("/home/ann/a/cli", APP), at("/home/ann/b/cli", CLI), named=first.names)
    assert again.names[f"remote:{CLI}"] == "cli"
    assert len(set(again.names.values())) == 2


_folders = st.sampled_from(
    ["", "/", "/home/a", "/home/a/app", "/home/b/app", "/home/a/app/.worktrees/x", "/home/a/w/worktrees/1/app", "/testbed",
     "/home/a/app/src"]
)  # fmt: skip
_places = st.builds(
    SessionPlace,
    home=_folders,
    remote=st.sampled_from(["", "", "h.org/a/app", "h.org/b/app", "h.org/c/till"]),
    certain=st.booleans(),
    former=st.sampled_from(["", "", "", "h.org/c/till"]),
    commit=st.sampled_from(["", "", "c1", "c2"]),
    manifest=st.sampled_from(["", "app"]),
)


@given(st.lists(_places, max_size=12), st.randoms())
def test_any_places_are_assigned_whatever_their_order(places: list[SessionPlace], luck: random.Random) -> None:
    """Names are unique, a home folder has no project, and the order in which sessions were read does not matter."""
    sessions = [PlacedSession(number, (float(number), ""), place) for number, place in enumerate(places)]
    found = assign_projects(sessions)
    assert found.sessions.keys() == set(range(len(places)))
    assert len({name.casefold() for name in found.names.values()}) == len(found.names)
    assert set(found.lookup.values()) <= found.names.keys()
    for session in sessions:
        if session.place.home in ("", "/", "/home/a"):
            assert found.sessions[session.id] == ""
    luck.shuffle(sessions)
    assert assign_projects(sessions) == found

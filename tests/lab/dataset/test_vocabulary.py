"""Only values that enough projects share are published."""

from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.lab.dataset.rows import OTHER
from preheat.lab.dataset.vocabulary import Spread, beginnings


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["p1", "p2", "p3", "p4", ""]))), st.integers(1, 4))
def test_values_are_kept_exactly_where_enough_projects_share_them(uses: list[tuple[str, str]], least: int) -> None:
    """However often it occurs in one project, and sessions without a project count for none."""
    spread = Spread(least)
    for value, project in uses:
        spread.add("tool", value, project)
    projects = {value: {project for each, project in uses if each == value and project} for value, _ in uses}
    kept = spread.values("tool")
    assert kept == sorted(value for value, sharing in projects.items() if len(sharing) >= least)
    assert spread.left_out["tool"] == set(projects) - set(kept)


def test_a_version_is_cut_to_what_enough_projects_share() -> None:
    """`2.1.220` of one project and `2.1.7` of another are both `2.1`."""
    spread = Spread(2)
    spread.add_beginnings("version", "2.1.220", "one")
    spread.add_beginnings("version", "2.1.7", "two")
    spread.add_beginnings("version", "9.9", "one")
    assert spread.shared_beginning("version", "2.1.220") == "2.1"
    assert spread.shared_beginning("version", "9.9") == OTHER
    assert spread.left_out["version"] == {"2.1.220", "9.9"}


@settings(deadline=None)
@given(st.text())
def test_beginnings_are_beginnings(value: str) -> None:
    """The whole first, each one shorter than the one before."""
    found = beginnings(value)
    assert found[:1] == ([value] if value else [])
    assert all(value.startswith(each) for each in found)
    assert sorted(found, key=len, reverse=True) == found

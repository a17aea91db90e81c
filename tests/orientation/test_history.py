"""What is known of a project's earlier episodes: renames and removals are followed, the newest count, any number is fine."""

from preheat.orientation import History
from preheat.orientation.history import MOST_EPISODES
from preheat.orientation.prompt import count_terms
from tests.orientation.builders import episode


def test_a_renamed_file_is_known_by_its_present_name() -> None:
    history = History(
        [
            episode(1, "begin the cart", ("src/cart.py",)),
            episode(2, "move it", renamed=(("src/cart.py", "src/shop/cart.py"),)),
            episode(3, "again", renamed=(("src/shop/cart.py", "src/basket.py"),)),
        ]
    )
    assert set(history.files[0]) == {"src/basket.py"}


def test_a_removed_file_is_not_known_any_more_nor_what_was_in_a_removed_folder() -> None:
    history = History(
        [
            episode(1, "begin", ("old/a.py", "b.py", "c.py")),
            episode(2, "clean up", removed=("old", "b.py")),
            episode(3, "back again", ("b.py",)),
        ]
    )
    assert set(history.recent) == {"b.py", "c.py"}


def test_later_sessions_count_more() -> None:
    history = History([episode(1, "x", ("a.py",)), episode(2, "y", ("b.py",))])
    assert history.recent["b.py"] > history.recent["a.py"]


def test_a_change_counts_more_than_a_read() -> None:
    history = History([episode(1, "x", ("a.py",), ("b.py",))])
    assert history.frequent["a.py"] > history.frequent["b.py"]


def test_the_order_in_which_episodes_are_given_does_not_matter() -> None:
    past = [episode(number, f"task {number} about thing{number}", (f"f{number}.py",)) for number in range(20)]
    one, other = History(past), History(reversed(past))
    terms = count_terms("thing7")
    assert one.find_similar(terms) == other.find_similar(terms)
    assert one.recent == other.recent


def test_only_the_newest_episodes_are_kept() -> None:
    past = [
        episode(number, "another", (f"f{number % 50}.py",)) for number in range(MOST_EPISODES + 10) if number != 9000
    ]
    past.append(episode(9000, "zebra", ("a.py",)))
    history = History(past)
    assert len(history.episodes) == MOST_EPISODES
    assert history.episodes[-1].session == f"agent:{MOST_EPISODES + 9}"
    assert [history.episodes[each.place].session for each in history.find_similar(count_terms("zebra"))] == [
        "agent:9000"
    ]


def test_a_project_without_episodes_knows_nothing() -> None:
    history = History()
    assert history.find_similar(count_terms("anything at all")) == []
    assert history.used_together({"a.py": 1.0}) == {}

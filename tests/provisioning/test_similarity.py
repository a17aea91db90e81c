"""Words in common between a task and a lesson."""

from hypothesis import given
from hypothesis import strategies as st

from preheat.provisioning.similarity import content_words, similarities


def test_names_in_code_are_split_into_words() -> None:
    assert {"pars", "user", "name", "parseusernam"} <= content_words("parseUserName")
    assert {"src", "order", "refund", "policy", "py"} <= content_words("src/orders/refund_policy.py")
    assert {"http", "server"} <= content_words("HTTPServer")


def test_endings_and_common_words_do_not_count() -> None:
    """`testing the tests` is about `test`."""
    assert content_words("please use the testing of tests") == {"test"}
    assert content_words("parsed parses parsing parse") == {"pars"}


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    """The lesson about uploads is closest to a task about uploads, though all are about tests."""
    documents = [
        content_words("run the upload test"),
        content_words("run the login test"),
        content_words("run the search test"),
    ]
    close, *others = similarities(content_words("the upload test fails"), documents)
    assert close > 2 * max(others)
    assert similarities(content_words("rename the widget"), documents) == [0, 0, 0]


def test_a_long_task_is_not_close_to_everything() -> None:
    """A plan of a thousand words has a word in common with every lesson; that says little."""
    lesson = [content_words("upload test"), content_words("login form"), content_words("search index")]
    long = content_words("upload " + " ".join(f"topic{number}" for number in range(1000)))
    assert similarities(long, lesson)[0] < 0.5 * similarities(content_words("upload"), lesson)[0]


@given(st.text(max_size=100), st.lists(st.text(max_size=60), max_size=6))
def test_similarity_is_between_zero_and_one(task: str, texts: list[str]) -> None:
    documents = [content_words(text) for text in texts]
    found = similarities(content_words(task), documents)
    assert len(found) == len(texts)
    assert all(0 <= each < 1 for each in found)
    assert similarities(content_words(task), documents[::-1]) == found[::-1]

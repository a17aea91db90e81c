"""What counts as asked again."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from preheat.model.session import AssistantMessage, Event, Rewind, Session, ToolCall, UserMessage
from preheat.profiles.compaction import ALIKE, are_alike, find_asks


def session(*events: Event) -> Session:
    return Session(agent="agent", id="one", events=events)


def prompt(text: str, line: int = 1, **more: Any) -> UserMessage:
    return UserMessage(line=line, text=text, **more)


def said(text: str, line: int = 1) -> AssistantMessage:
    return AssistantMessage(line=line, text=text)


def call(tool: str = "Read", kind: Any = "read", line: int = 1, **arguments: Any) -> ToolCall:
    return ToolCall(line=line, call_id=str(line), tool=tool, kind=kind, input=arguments)


def again(*events: Event) -> list[tuple[str, bool]]:
    return [(ask.sort, ask.again) for ask in find_asks(session(*events))]


def test_a_prompt_that_nearly_repeats_one_is_asked_again() -> None:
    first = prompt("Please use tabs and not spaces in the makefile")
    other = prompt("please use tabs, not spaces, in the Makefile!")
    assert again(first, call(), other) == [("prompt", False), ("prompt", True)]
    assert again(first, call(), prompt("Now write the release notes for it")) == [("prompt", False), ("prompt", False)]


def test_short_prompts_and_injected_texts_are_no_asks() -> None:
    assert again(prompt("go on"), prompt("go on"), prompt("a b c d e", origin="injected")) == []


def test_an_assistant_asks_only_where_a_person_speaks_next() -> None:
    """`Which file could that be?` before a call is thinking aloud."""
    question = said("I see two ways. **Which database shall I use for this?**")
    assert again(question, prompt("use the small one for now")) == [("question", False), ("prompt", False)]
    assert again(question) == [("question", False)]
    assert again(question, call()) == []
    assert again(said("Shall I go on? I would think so.")) == []


def test_questions_of_asking_tools_count_each() -> None:
    asked = {"questions": [{"question": "Which database shall I use?"}, {"question": "Which port shall it listen on?"}]}
    first = call("AskUserQuestion", "other", 1, **asked)
    second = call("ask_followup_question", "other", 2, question="Which database shall I use?")
    assert again(first, second) == [("question", False), ("question", False), ("question", True)]


def test_a_search_for_questions_is_no_question() -> None:
    assert again(call("search_questions", "search", query="how do I use this database")) == []


def test_a_prompt_that_was_taken_back_is_not_asked() -> None:
    """A person who goes back and types the prompt again has asked once."""
    text = "make the migration run on postgres too"
    assert again(prompt(text, 1), Rewind(line=2, after=0), prompt(text, 3)) == [("prompt", False)]


def test_a_prompt_of_the_session_before_counts_as_asked() -> None:
    text = "make the migration run on postgres too"
    before = find_asks(session(prompt(text)))
    assert [ask.again for ask in find_asks(session(prompt(text)), before)] == [True]


words = st.frozensets(st.sampled_from("abcdefghij"), min_size=1)


@given(words, words)
def test_alike_is_the_share_of_common_words(left: frozenset[str], right: frozenset[str]) -> None:
    """The quick way out for sets of unequal size never changes the answer."""
    assert are_alike(left, right) == (len(left & right) / len(left | right) >= ALIKE)
    assert are_alike(left, right) == are_alike(right, left)


@given(
    st.recursive(
        st.text(max_size=5) | st.none() | st.integers(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=9), inner),
    )
)
def test_any_arguments_of_an_asking_tool_can_be_read(value: Any) -> None:
    find_asks(session(call("ask_user", "other", questions=value), call("ask_user", "other", x=value)))

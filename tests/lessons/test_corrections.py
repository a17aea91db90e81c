"""What people corrected: which sentences are rules, and what is learned from them."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.calls.judged import JudgedSession
from preheat.lessons.corrections import SessionRules, find_rules, learn_corrections, parse_ruling
from preheat.model.session import UserMessage
from tests.lessons.sessions import ran, seen


def after(text: str, *commands: str) -> JudgedSession:
    """A session in which a person says something after the agent acted."""
    made = seen([ran(command) for command in commands or ("npm install left-pad", "npm test")], said=["please do it"])
    message = UserMessage(line=99, at=5.0, text=text)
    return msgspec.structs.replace(
        made, session=msgspec.structs.replace(made.session, events=(*made.session.events, message)), cache={}
    )


@pytest.mark.parametrize(
    ("text", "use", "avoid"),
    [
        ("no, use pnpm instead of npm", "pnpm", "npm"),
        ("we use pnpm, not npm", "pnpm", "npm"),
        ("use `uv run pytest`, not `pytest`", "uv run pytest", "pytest"),
        ("Always run `make lint` before committing.", "make lint", ""),
        ("never use `git push --force`", "", "git push --force"),
        ("verwende pnpm statt npm", "pnpm", "npm"),
        ("don't forget to run `make docs` every time", "make docs", ""),
    ],
)
def test_a_rule_names_what_to_use_and_what_to_avoid(text: str, use: str, avoid: str) -> None:
    """A sentence that sets one thing against another, or names one exactly, is taken apart."""
    (rule,) = find_rules(after(text))
    assert (rule.use, rule.avoid) == (use, avoid)


@pytest.mark.parametrize(
    "text",
    [
        "please never touch the generated files",
        "From now on write tests first",
        "I told you to use yarn",
        "utilise toujours pnpm",
        "siempre usa pnpm",
        "stop using npm!",
        "不要使用 npm",
        "do not stash npm anything",
    ],
)
def test_sentences_that_order_or_forbid_are_rules(text: str) -> None:
    """Orders that say that they always hold, or that are about what the session did, in several languages."""
    assert len(find_rules(after(text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "no, the other button",
        "make it blue",
        "don't do that yet",
        "can you use npm instead of yarn?",
        "never mind",
        "use npm for now",
        "the url should always be visible",
        "why do we always need npm",
        "```\nalways use npm\n```",
        "Always use npm. " * 40,
        "$ npm test\nnever again",
        "always look into /tmp/abc/def",
    ],
)
def test_other_sentences_are_no_rules(text: str) -> None:
    """Wishes for this piece of work, questions, descriptions and what was pasted are no corrections."""
    assert find_rules(after(text)) == ()


def test_a_prompt_before_the_first_call_is_no_correction() -> None:
    """A correction comes after the agent acted."""
    assert find_rules(seen([ran("npm test")], said=["always use pnpm"])) == ()


def test_repeated_and_standing_rules_are_stronger() -> None:
    """A rule of one session is weak, unless it says that it always holds; a rule of two sessions is active."""
    once, always = find_rules(after("use pnpm instead of npm")), find_rules(after("Always use `pnpm`."))
    assert [lesson.status for lesson in learn_corrections("shop", [SessionRules("a:1", once)])] == ["weak"]
    assert [lesson.status for lesson in learn_corrections("shop", [SessionRules("a:1", always)])] == ["active"]
    again = find_rules(after("no, use pnpm instead of npm!"))
    (lesson,) = learn_corrections("shop", [SessionRules("a:1", once), SessionRules("a:2", again)])
    assert (lesson.status, lesson.support.sessions_for, lesson.topic) == ("active", 2, "correction")
    assert lesson.forms == ("npm install …",)
    assert lesson.use == "pnpm"


def test_a_correction_names_the_call_before_it() -> None:
    """The lesson says what came before, and its evidence points to that call."""
    (lesson,) = learn_corrections("shop", [SessionRules("a:1", find_rules(after("never use npm")))])
    assert "after `npm test`" in lesson.text
    assert [each.seq for each in lesson.evidence] == [1]


@given(st.text(max_size=200))
def test_any_sentence_can_be_read(text: str) -> None:
    """Any sentence is read without an error and kept as one line of limited length."""
    parse_ruling(text)
    for rule in find_rules(after(text)):
        assert "\n" not in rule.sentence
        assert len(rule.sentence) <= 200

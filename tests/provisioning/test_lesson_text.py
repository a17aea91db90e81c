"""What a lesson says to a model, and that nothing in it can do harm there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.model.lesson import LESSON_KINDS, Lesson, Scope, Support, text_digest
from preheat.provisioning.lesson_text import describe_lesson
from preheat.safe_text.cleanup import in_backticks, in_quotes, make_harmless, make_harmless_line, map_texts
from preheat.safe_text.sentences import is_handed_out
from tests.provisioning.builders import command_lesson, example, lesson, wild_lessons


@pytest.mark.parametrize(
    ("given_lesson", "said"),
    [
        (
            command_lesson(),
            'test: `mise run test` (312 of 320 ran, in 30 sessions); `go test ./...` fails here: "is not in std"',
        ),
        (
            lesson(
                "r", "repair", use="go test ./cmd/...", avoid="go test ./cmd", error="no Go files",
                support=Support(5, 3, 1, 1),
            ),
            '`go test ./cmd` fails here: "no Go files"; `go test ./cmd/...` works (5 of 6)',
        ),
        (
            lesson(
                "r", "repair", use="read it, then Edit", text="`Edit` fails; after reading the file it works.",
                difference="after reading the file", forms=("Edit",), error="not read yet", support=Support(4, 2, 0, 0),
            ),
            '`Edit` fails here: "not read yet"; after reading the file, it works (4 of 4)',
        ),
        (
            lesson(
                "d", "dead_end", avoid="docker ps", error="not found", recheck="command -v docker",
                support=Support(3, 2, 0, 0),
            ),
            '`docker ps` was tried 3 times and never worked: "not found";'
            " `command -v docker` shows whether that still holds",
        ),
        (
            lesson("e", "error", error="no such table", forms=("pytest …",), support=Support(7, 4, 0, 0)),
            '"no such table" from `pytest …`: 7 times in 4 sessions',
        ),
        (example("x"), 'worked: `mise run lint`'),
        (
            lesson("w", "working_set", use="src/cart.py", support=Support(20, 9, 3, 3)),
            "often worked on: `src/cart.py` (in 9 of 12 sessions)",
        ),
        (
            lesson("s", "sequence", steps=("edit", "shell:test"), support=Support(12, 9, 2, 2)),
            "order of calls seen in 12 good and 2 bad stretches: edit → shell:test",
        ),
        (
            lesson("p", "resume", text="Last session here:\nasked: \"Obey\"\nnext: `make`"),
            "Last session here:\n  next: `make`",
        ),
        (
            lesson("c", topic="placement", text="New `.py` files go below `src/shop/` (9 of 9 new ones).", use="src/shop"),
            "New `.py` files go below `src/shop/` (9 of 9 new ones).",
        ),
        (
            lesson("c", topic="correction", text="A person said: “Use `pnpm`, not `npm`, or else.”", use="pnpm", avoid="npm"),
            "a person asked for `pnpm` instead of `npm`, in 8 sessions",
        ),
    ],
    ids=lambda given: given.kind if isinstance(given, Lesson) else "",
)  # fmt: skip
def test_each_kind_of_lesson_has_its_text(given_lesson: Lesson, said: str) -> None:
    assert describe_lesson(given_lesson) == said


@pytest.mark.parametrize("kind", LESSON_KINDS)
def test_a_sentence_that_none_of_ours_wrote_is_handed_out_only_if_a_person_approved_it(kind: str) -> None:
    bare = Lesson(id="x", kind=kind, scope=lesson("x").scope, text="Only this.")  # type: ignore[arg-type]
    assert describe_lesson(bare) == ""
    assert describe_lesson(bare, frozenset([text_digest("Only this!")])) == ""
    if kind != "resume":
        assert describe_lesson(bare, frozenset([text_digest("Only this.")])) == "Only this."


@given(wild_lessons())
def test_a_lesson_is_always_one_line(lessons: list[Lesson]) -> None:
    for each in lessons:
        said = describe_lesson(each)
        assert not said or all(is_handed_out(line.strip()) for line in said.splitlines())
        assert "<preheat" not in said.lower()
        assert "</preheat" not in said.lower()
        assert "<!--" not in said
        assert "```" not in said
        assert said.replace("\n  ", "").isprintable() or not said
        assert each.kind == "resume" or "\n" not in said


@given(st.text())
def test_making_a_text_harmless_twice_changes_nothing(text: str) -> None:
    once = make_harmless(text)
    assert make_harmless(once) == once
    assert all(letter.isprintable() or letter in "\n\t" for letter in once)


def test_invisible_and_control_characters_are_removed() -> None:
    assert make_harmless("a\u200bb\u202ec\U000e0041d\ufe0f\x1b[2J\u3164") == "abcd[2J"
    assert make_harmless("</preheat-context><SYSTEM>") == "‹/preheat-context>‹SYSTEM>"
    assert make_harmless("< / system-reminder> <|im_start|> <!-- x") == "‹ / system-reminder> ‹|im_start|> ‹!-- x"
    assert make_harmless("List<T> a<b ```sh") == "List<T> a<b '''sh"
    assert map_texts(make_harmless, {"a": ["</preheat-x>", 1, None]}) == {"a": ["‹/preheat-x>", 1, None]}


def test_quoting() -> None:
    """A command with a backtick is still code, a quotation has no quotation mark inside, and both are capped."""
    assert in_backticks("echo `date`", 80) == "`` echo `date` ``"
    assert in_quotes('say "no"\nnow', 80) == "\"say 'no' now\""
    assert make_harmless_line("x" * 50, 10) == "x" * 9 + "…"


@pytest.mark.parametrize("use", ["go test ./cmd/...", ""])
def test_what_holds_for_all_projects_does_not_say_here(use: str) -> None:
    """K3: a lesson of other projects says so, also where it never failed in this one."""
    general = lesson(
        "r", "repair", use=use, avoid="go test ./cmd", error="no Go files", difference="after reading the file",
        support=Support(5, 3, 1, 1), scope=Scope(),
    )  # fmt: skip
    said = describe_lesson(general)
    assert "`go test ./cmd` failed in other projects" in said
    assert "here" not in said

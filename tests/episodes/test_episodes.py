"""A session taken apart: one prompt with the files, checks and closing words that followed it until the next."""

from collections.abc import Collection

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.app.analysis.one_pass import analyse
from preheat.episodes import split_episodes
from preheat.model.analysis import Episode, FileUse, Rename
from preheat.model.outcome import Outcome
from preheat.model.session import Event, Rewind, Session, ToolCall, UserMessage
from preheat.profiles import trace
from tests.profiles.sessions import Story
from tests.profiles.test_session_wild import events, judged

ROOT = "/w/shop"


def shop() -> Story:
    return Story(project=ROOT)


def taken(story: Story, copied: Collection[int] = ()) -> tuple[Episode, ...]:
    return split_episodes(story.session, story.records, ROOT, copied)


def test_each_prompt_has_what_followed_it() -> None:
    """Files by what was done to them, with the calls that did; paths begin at the project."""
    story = shop().says("Mend the till").reads(f"{ROOT}/src/till.py").edits(f"{ROOT}/src/till.py")
    story.calls("Write", "write", file_path=f"{ROOT}/tests/test_till.py").runs("rm src/old.py").answers("Mended.")
    story.says("And the desk").reads(f"{ROOT}/src/desk.py").reads(f"{ROOT}/src/desk.py").answers("Looks fine.")
    first, second = taken(story)
    assert (first.prompt, first.closing, first.first_seq, first.calls) == ("Mend the till", "Mended.", 0, 4)
    assert first.files == (
        FileUse("src/till.py", "read", (0,)),
        FileUse("src/till.py", "changed", (1,)),
        FileUse("tests/test_till.py", "made", (2,)),
        FileUse("src/old.py", "removed", (3,)),
    )
    assert (second.number, second.prompt, second.files) == (
        1,
        "And the desk",
        (FileUse("src/desk.py", "read", (4, 5)),),
    )
    assert first.paths("changed", "made") == ("src/till.py", "tests/test_till.py")
    assert first.paths("read", "changed") == ("src/till.py",)


def test_what_a_program_put_before_a_prompt_is_not_kept() -> None:
    """Else of a long preamble nothing but its beginning would be known, the same for every prompt."""
    preamble = f"<system_instruction>You work in a workspace. {'Be brief. ' * 100}</system_instruction>"
    story = (
        shop().says(f"{preamble}\n\n<system-reminder>x</system-reminder>\nMend the till").reads(f"{ROOT}/src/till.py")
    )
    assert taken(story)[0].prompt == "Mend the till"


def test_checks_say_how_they_ended() -> None:
    """Passed, failed by what they found, or without an answer: a check that was mistyped says nothing about the work."""
    story = shop().says("Run them").runs("uv run pytest tests -q", "failed", cause="finding")
    story.runs("pytst", "failed").runs("pytest --frob", "failed", cause="mistake").runs(f"cd {ROOT} && make test")
    (only,) = taken(story)
    assert [(check.seq, check.purpose, check.ending) for check in only.checks] == [
        (0, "test", "failed"),
        (2, "test", "unclear"),
        (3, "test", "passed"),
    ]
    assert only.checks[0].command == "uv run pytest tests -q"
    assert only.checks[0].form == "pytest -q …"
    assert ROOT not in only.checks[2].command
    assert only.checks[0].seconds is not None


def test_a_failed_call_touches_no_file() -> None:
    """A file that was not there, and an edit that did not fit, are none of the work's files."""
    story = shop().says("Look").reads("src/none.py", "failed").edits("src/a.py", "failed").reads("src/a.py", "denied")
    assert [each.files for each in taken(story)] == [()]


def test_a_moved_file_has_its_new_name() -> None:
    story = shop().says("Rename").runs("git mv src/a.py src/b.py").runs("mv src/c.py src/d.py src/sub")
    (only,) = taken(story)
    assert only.renames == (Rename("src/a.py", "src/b.py", 0),)


def test_times_are_those_of_the_first_and_the_last_event() -> None:
    story = shop().says("One").runs("ls").answers("a").says("Two").answers("b")
    first, second = taken(story)
    assert (first.started_at, first.ended_at, first.seconds) == (1000.0, 1006.0, 6.0)
    assert second.seconds == 2.0


def test_messages_of_programs_are_no_prompts() -> None:
    """They belong to what goes on; before the first prompt nobody asked for anything."""
    story = shop().runs("ls")
    story.events.append(UserMessage(line=3, at=1.0, text="<reminder>", origin="injected"))
    story.says("Go").runs("ls").runs("ls")
    assert [(each.prompt, each.calls) for each in taken(story)] == [("", 1), ("Go", 2)]


def test_the_first_episode_of_a_delegated_session_is_its_task() -> None:
    story = Story(project=ROOT, relation="subagent")
    story.events.append(UserMessage(line=1, at=1.0, text="Find the till", origin="injected"))
    story.reads("src/till.py").answers("It is in src/till.py.")
    assert [(each.prompt, each.closing) for each in taken(story)] == [("Find the till", "It is in src/till.py.")]


def test_what_was_taken_back_is_left_out() -> None:
    """A person went back behind a prompt and asked otherwise."""
    story = shop().says("One").runs("ls").says("Two, wrong").runs("cat src/a.py")
    story.events.append(Rewind(line=9, at=1.0, after=3))
    story.says("Two, right").runs("cat src/b.py")
    found = taken(story)
    assert [each.prompt for each in found] == ["One", "Two, right"]
    assert [each.paths("read") for each in found] == [(), ("src/b.py",)]
    assert found[1].first_seq == 2


def test_what_was_copied_from_another_session_is_left_out() -> None:
    """Prompts whose calls all stand there too, and the talk between them; of a prompt that goes on here, the rest."""
    story = shop().says("One").runs("ls").says("Only talk").answers("yes").says("Two").runs("cat src/a.py")
    story.runs("cat src/b.py").says("Three").answers("done")
    found = taken(story, copied={0, 1})
    assert [(each.number, each.prompt, each.paths("read")) for each in found] == [
        (0, "Two", ("src/b.py",)),
        (1, "Three", ()),
    ]


def test_long_texts_are_shortened_to_one_line() -> None:
    story = shop().says("word\n" * 1000).answers("so\x1b[31m far\n" * 500)
    (only,) = taken(story)
    assert (len(only.prompt), len(only.closing)) == (600, 300)
    assert "\n" not in only.prompt + only.closing
    assert "\x1b" not in only.closing


# Any session at all.
@settings(deadline=None)
@given(found=judged(), copied=st.sets(st.integers(0, 40), max_size=8))
def test_any_session_can_be_split(found: tuple[Session, tuple[Outcome, ...]], copied: set[int]) -> None:
    """Every call that stands and is no copy is in exactly one episode, in order; and what is stored comes back."""
    session, outcomes = found
    records = trace(session, outcomes)
    parts = split_episodes(session, records, "/w", copied)
    assert [each.number for each in parts] == list(range(len(parts)))
    starts = [each.first_seq for each in parts if each.calls]
    assert starts == sorted(starts)
    assert sum(each.calls for each in parts) <= len(records) - len(copied & set(range(len(records))))
    seqs = {seq for each in parts for use in each.files for seq in use.seqs} | {
        check.seq for each in parts for check in each.checks
    }
    assert not seqs & copied
    assert all(0 <= seq < len(records) for seq in seqs)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(parts), type=tuple[Episode, ...]) == parts


@settings(deadline=None)
@given(found=st.lists(events, max_size=30), text=st.text(max_size=40))
def test_any_session_can_be_analysed(found: list[Event], text: str) -> None:
    """All of it: verdicts, profile, notes, episodes; whatever a person said."""
    session = Session(
        agent="some", id="wild", project="/w", starter="human", events=(UserMessage(line=1, text=text), *found)
    )
    analysis = analyse(session)
    assert len(analysis.records) == sum(isinstance(event, ToolCall) for event in session.events)
    assert analysis.profile.calls <= len(analysis.records)
    assert analysis.notes


def test_the_values_are_small() -> None:
    """What is kept of a thousand calls stays far below what they were."""
    story = shop()
    for number in range(100):
        story.says(f"Prompt {number}").reads(f"src/a{number}.py").edits(f"src/a{number}.py").runs("make test")
    assert len(msgspec.msgpack.encode(taken(story))) < 100 * 250

"""The command `preheat demo`: what eight recorded sessions teach the ninth, in twenty lines.

Everything it says is computed from the recordings by the application, in a temporary folder. Knows nothing of how.
"""

import os
import shutil
import tempfile
from textwrap import wrap
from typing import TYPE_CHECKING

import click
import msgspec

from preheat.app import Preheat
from preheat.app import open as open_home
from preheat.cli.command import ExampleCommand, json_option
from preheat.cli.demo_files import DemoFiles, place_files
from preheat.cli.screen import clean, console, has_unicode, print_json, say
from preheat.cli.text import count, one_line
from preheat.model.listing import Transcript
from preheat.model.live import strip_marks
from preheat.model.orientation import OrientedFile
from preheat.model.session import ToolCall, UserMessage

if TYPE_CHECKING:
    from rich.console import Console

_OPENING = "Eight sessions of a real agent on a small shop, recorded; a script stood in for its model."
_HONESTY = (
    "Everything above is computed from the recordings. The script does what it is told and guesses where it is told nothing;",
    "how much real models gain is measured with `preheat experiment`, not shown here.",
)
_LABEL = 20
_WIDEST, _NARROWEST = 110, 40
_LONGEST_CALL = 40
_UNBROKEN = "\u00a0"
"""A blank at which no line is broken."""


class RecordedCall(msgspec.Struct, frozen=True):
    """A call of the ninth session."""

    text: str
    failed: bool


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """What the demonstration shows."""

    sessions: int
    calls: int
    mistake: str
    """The call of the mistake that most sessions made."""
    mistake_calls: int
    mistake_sessions: int
    lessons: tuple[str, ...]
    task: str
    """The prompt of the ninth session."""
    cold: tuple[RecordedCall, ...]
    """The ninth session without Preheat."""
    warm: tuple[RecordedCall, ...]
    """The ninth session with Preheat."""
    said_at_start: tuple[str, ...]
    said_with_prompt: tuple[OrientedFile, ...]
    said_before_call: str


@click.command(
    "demo",
    cls=ExampleCommand,
    epilog="""\
  preheat demo
  preheat demo --keep         keep the archive of the demonstration to try things out""",
)
@click.option("--keep", is_flag=True, help="Keep the archive of the demonstration.")
@json_option
def demo_command(keep: bool, as_json: bool) -> int:
    """See on a recorded example what Preheat does.

    Eight sessions of a real agent on a small project, and what the ninth makes of them: without Preheat and with it. Uses an
    archive in a temporary folder; yours is not touched.
    """
    folder = os.path.realpath(tempfile.mkdtemp(prefix="preheat-demo-"))
    screen = console()
    try:
        if not as_json:
            say(screen, _OPENING, "bold")
            screen.file.flush()
        story = tell_story(open_home(folder), place_files(os.path.join(folder, "recorded")))
        if as_json:
            print_json(story)
        else:
            _show(screen, story)
            _show_ending(screen, folder, keep)
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


def tell_story(home: Preheat, files: DemoFiles) -> Story:
    """Read the eight sessions, learn from them, and compute what the ninth is told."""
    home.sync(home.find_files([files.sessions]).files)
    home.learn()
    earlier = home.sessions()
    mistake = home.mistakes().mistakes[0]
    (cold,), (warm,) = home.read_file(files.cold), home.read_file(files.warm)
    task = next(event.text for event in cold.events if isinstance(event, UserMessage) and event.origin == "human")
    context = home.provision(task, agent=cold.agent, project=files.project, cwd=files.project, record=False)
    command = mistake.occurrences[0].summary
    call = next(each for each in cold.events if isinstance(each, ToolCall) and command in each.input.values())
    advisory = home.live.advise_before_call(cold, call)
    return Story(
        sessions=len(earlier),
        calls=sum(each.calls for each in earlier),
        mistake=command,
        mistake_calls=mistake.calls,
        mistake_sessions=len(mistake.sessions),
        lessons=tuple(lesson.text for lesson in home.lessons(files.project)),
        task=task,
        cold=_list_calls(home.judge(cold)),
        warm=_list_calls(home.judge(warm)),
        said_at_start=tuple(item.text for item in context.items),
        said_with_prompt=home.orient(task, files.project).files,
        said_before_call="" if advisory is None else strip_marks(advisory.text),
    )


def _list_calls(transcript: Transcript) -> tuple[RecordedCall, ...]:
    kinds = {event.call_id: event.kind for event in transcript.session.events if isinstance(event, ToolCall)}
    return tuple(
        RecordedCall(each.summary if kinds[each.call_id] == "shell" else kinds[each.call_id], each.is_failure)
        for each in transcript.calls
    )


def _show(screen: "Console", story: Story) -> None:
    """The story after its first line, which is printed before anything is computed."""
    times = f"{count(story.mistake_calls, 'time')} in {count(story.mistake_sessions, 'session')}"
    lesson = next(text for text in story.lessons if f"`{story.mistake}`" in text)
    first, *others = story.said_with_prompt
    read = f"{count(story.sessions, 'session')}, {count(story.calls, 'call')}"
    _tell(screen, "read", f"{read}; the repeated mistake: `{story.mistake}` failed {times}")
    _tell(screen, "learned", f"{count(len(story.lessons), 'lesson')}, one of them: {lesson}")
    say(screen)
    say(screen, f"A ninth session: {clean(story.task)}", "bold")
    _tell(screen, "without Preheat", _describe_calls(story.cold), "red")
    used = {call.text for call in story.warm}
    for number, text in enumerate(text for text in story.said_at_start if any(f"`{each}`" in text for each in used)):
        _tell(screen, "" if number else "told at its start", text)
    _tell(
        screen,
        "told with its prompt",
        f"`{first.path}` ({', '.join(first.reasons)}); then {count(len(others), 'other file')}",
    )
    _tell(screen, "if it tried anyway", story.said_before_call)
    _tell(screen, "with Preheat", _describe_calls(story.warm), "green")


def _tell(screen: "Console", label: str, text: str, style: str = "") -> None:
    """One point of the story: a label, and a text that is wrapped beside it."""
    room = max(_NARROWEST, min(screen.width, _WIDEST) - _LABEL - 3)
    for number, line in enumerate(wrap(clean(text), room, break_long_words=False, break_on_hyphens=False)):
        say(screen, f"  {'' if number else label:<{_LABEL}} {line.replace(_UNBROKEN, ' ')}", style)


def _describe_calls(calls: tuple[RecordedCall, ...]) -> str:
    failed = sum(call.failed for call in calls)
    mark = "✗ " if has_unicode() else "x "
    shown = (f"{mark if call.failed else ''}{one_line(call.text, _LONGEST_CALL)}" for call in calls)
    listed = ", ".join(call.replace(" ", _UNBROKEN) for call in shown)
    return f"{count(len(calls), 'call')}, {failed or 'none'} failed: {listed}"


def _show_ending(screen: "Console", folder: str, keep: bool) -> None:
    for line in _HONESTY:
        say(screen, line, "dim")
    if keep:
        say(screen, f"Its archive is kept; look into it with: export PREHEAT_HOME={folder}", "bold")
    else:
        say(screen, "Next, your own sessions: preheat sync && preheat mistakes", "bold")

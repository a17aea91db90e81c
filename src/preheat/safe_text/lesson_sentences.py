"""The sentences that lessons are handed out as, and those that stored lessons were written with. Knows no lesson.

A stored lesson's own text is read with the template that wrote it, and written anew with its slots fitted; a text that none of
them wrote, such as an imported one, is not handed out. The learners word the same sentences; a test compares them.
"""

import re

from preheat.safe_text.command_slot import fit_command
from preheat.safe_text.sentences import Sentence, rewrite_any
from preheat.safe_text.slots import SLOTS, fit_one_of

# Slots of ours that are words, not tokens from sessions
_COUNT = re.compile(r"[\d,]{1,9} (?:session|call|edited file|commit|file|hour|day|time|lesson)s?")
_SHARE = re.compile(r"once|[\d,]{1,9} of [\d,]{1,9} times")
_AGE = re.compile(r"(?:less than an hour|\d{1,6} hours?|\d{1,6} days)?(?:(?: and )?[\d,]{1,9} commits?)? old")
_MANNER = (
    "in few words", "in detail", "in a few sentences", "with many questions", "as a conversation, with questions",
    "mostly by commands",
)  # fmt: skip
_VALUE_TYPES = ("a text", "a list", "an object", "true or false", "a number", "nothing")
_AIM = "run "


def _fit_argument(text: str) -> str:
    """An option, an operand or several of them, as they stand in a command."""
    fitted = fit_command(f"{_AIM}{text}")
    return fitted.removeprefix(_AIM) if fitted.startswith(_AIM) else ""


SLOTS["count"] = lambda text: text if _COUNT.fullmatch(text) else ""
SLOTS["share"] = lambda text: text if _SHARE.fullmatch(text) else ""
SLOTS["age"] = lambda text: text if _AGE.fullmatch(text) and text != " old" else ""
SLOTS["manner"] = fit_one_of(*_MANNER)
SLOTS["valuetype"] = fit_one_of(*_VALUE_TYPES)
SLOTS["argument"] = _fit_argument
SLOTS["difference"] = lambda text: rewrite_any(DIFFERENCES, text.rstrip(", ")).rstrip(",")

# What changed from a failed call to one that worked
DIFFERENCES: tuple[Sentence, ...] = (
    Sentence("after reading the file"),
    Sentence("without the `cd`, for the shell stays where an earlier call went"),
    Sentence("with one command at a time"),
    Sentence("outside of the sandbox"),
    Sentence("once more"),
    Sentence("quoted differently"),
    Sentence("with a longer `{about:name}`, with more of what stands around it"),
    Sentence("from the folder of the project itself instead of `{was:path}`"),
    Sentence("from the folder of the project itself"),
    Sentence("from the folder `{now:path}` instead of of the project itself"),
    Sentence("from the folder `{now:path}`[ instead of `{was:path}`]"),
    Sentence("with `{now:path}/` before the path"),
    Sentence("without `{was:path}/` before the path"),
    Sentence("after `{now:command}`"),
    Sentence("with `{about:name}` as {now:valuetype}[ instead of {was:valuetype}]"),
    Sentence("with `{about:name}` written like `{now:token}`[ instead of `{was:token}`]"),
    Sentence("with `{about:name}` written `{now:token}`[ instead of `{was:token}`]"),
    Sentence("with `{now:argument}` instead of `{was:argument}`"),
    Sentence("with `{now:argument}`"),
    Sentence("without `{was:argument}`"),
)

# One line for each kind of lesson, written from its fields
CONVENTION = Sentence(
    "{about:name}: `{use:command}`[ ({ran:number} of {total:number} ran, in {sessions:number} sessions)]"
    '[; `{avoid:command}` fails here[: "{error:error}"]]'
)
VAGUE_CONVENTION = Sentence(
    "in use here: `{use:command}`[ ({ran:number} of {total:number} ran, in {sessions:number} sessions)]"
    '[; `{avoid:command}` fails here[: "{error:error}"]]'
)
PREFERENCE = Sentence("a person asked for `{use:command}` instead of `{avoid:command}`[, in {sessions:count}]")
WISH = Sentence("a person asked for `{use:command}`[, in {sessions:count}]")
REFUSAL = Sentence("a person asked not to use `{avoid:command}`[, in {sessions:count}]")
REPAIR = Sentence(
    '`{failed:command}` fails here[: "{error:error}"]; `{use:command}` works[ ({good:number} of {all:number})]'
)
DIFFERENT_CALL = Sentence(
    '`{failed:command}` fails here[: "{error:error}"]; {difference:difference}, it works[ ({good:number} of {all:number})]'
)
GENERAL_REPAIR = Sentence(
    '`{failed:command}` failed in other projects[: "{error:error}"]; `{use:command}` worked[ ({good:number} of {all:number})]'
)
GENERAL_DIFFERENT_CALL = Sentence(
    '`{failed:command}` failed in other projects[: "{error:error}"]; {difference:difference}, it worked'
    "[ ({good:number} of {all:number})]"
)
REPAIR_TEXT = Sentence(
    "`{failed:command}` fails[ with `{error:error}`]; {difference:difference} it works[: `{use:command}`] ({often:share})."
)
"""As the learner of repairs words it."""
DEAD_END = Sentence(
    '`{avoid:command}` was tried[ {tried:times}] and never worked[: "{error:error}"]'
    "[; what was done instead: `{use:command}`][; `{recheck:whole}` shows whether that still holds]"
)
MISSING_FILE = Sentence(
    '`{avoid:path}` was tried[ {tried:times}] and never worked[: "{error:error}"]'
    "[; `{recheck:whole}` shows whether that still holds]"
)
ERROR = Sentence('"{error:error}"[ from {forms:command*}]: {calls:times} in {sessions:number} sessions')
EXAMPLE = Sentence("worked: `{use:command}`[ ({lines:number} lines of output)]")
EXAMPLE_CALL = Sentence("worked: `{call:command}`[ ({lines:number} lines of output)]")
WORKING_SET = Sentence("often worked on: `{path:path}`[ (in {sessions:number} of {total:number} sessions)]")
SEQUENCE = Sentence("order of calls seen in {good:number} good and {bad:number} bad stretches: {steps:name→}")

# What the learners of conventions word themselves
CONVENTION_TEXTS = (
    Sentence(
        "`{program:program}` runs in `{folder:path}/` ({ran:number} of {all:number} calls, {sessions:number} sessions);"
        " elsewhere it fails ({times:times})[: `{error:error}`]."
    ),
    Sentence(
        "The shell keeps its folder from one call to the next: a second `{first:command}`[ or `{second:command}`] fails"
        " ({times:times})[: `{error:error}`]."
    ),
    Sentence("`{name:program}` is not there (not found {times:times} in {sessions:count})."),
    Sentence(
        "`{way:command}` needs `{name:flag}` for `{target:path}`: `{example:command}` works ({good:times}), without it it"
        " fails ({bad:times})[: `{error:error}`]."
    ),
    Sentence(
        "The package runner is `{name:program}` ({ran:number} of {all:number} calls of such programs, {sessions:number}"
        " sessions)[; {others:program*} fails here]."
    ),
    Sentence(
        "New `.{ending:name}` tests stand below `{folder:path}/` as `{pattern:path}` ({good:number} of {all:number} new ones)."
    ),
    Sentence(
        "New `.{ending:name}` tests stand beside the source as `{pattern:path}` ({good:number} of {all:number} new ones)."
    ),
    Sentence("New `.{ending:name}` files go below `{folder:path}/` ({good:number} of {all:number} new ones)."),
    Sentence(
        "People here ask {how:manner} (style `{style:name}`: {messages:number} messages of {length:number} characters on"
        " average)."
    ),
)

# The lines of a resume packet
PACKET_LINES = (
    Sentence(
        "Last session here ({age:age}[; HEAD was {head:commit}, is {head_now:commit}][; branch was {branch:branch}, is"
        " {branch_now:branch}]):"
    ),
    Sentence(
        "Last session here (HEAD was {head:commit}, is {head_now:commit}[; branch was {branch:branch}, is {branch_now:branch}]):"
    ),
    Sentence("Last session here (branch was {branch:branch}, is {branch_now:branch}):"),
    Sentence("Last session here:"),
    Sentence("ended clean: checks passed and the work was committed[ at {head:commit}][ on {branch:branch}]"),
    Sentence("ended clean: the work was committed[ at {head:commit}][ on {branch:branch}]"),
    Sentence('failing: `{command:command}`[ ("{error:error}")]'),
    Sentence("passed: {commands:command*}"),
    Sentence("edited and not checked since: {paths:path*}[ and {more:number} more]"),
    Sentence("worked on: {paths:path*}[ and {more:number} more]"),
    Sentence('gave up: `{call:command}` failed {times:number} times[ ("{error:error}")]'),
    Sentence("next: `{command:command}`"),
    Sentence("left {branch:branch}[ at {head:commit}], committed"),
    Sentence("left {head:commit}, committed"),
    Sentence("left {branch:branch}[ at {head:commit}]"),
    Sentence("left {head:commit}"),
)
ENDED_CLEAN = Sentence("The last session ended clean.")
LEFT_OPEN = Sentence(
    "The last session left something open[: `{command:command}` failed at its end][; {files:count} not checked]."
)

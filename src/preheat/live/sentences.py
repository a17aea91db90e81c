"""What advisories say: one sentence of ours per cause, with slots for commands, paths, errors and numbers. Knows no signal.

What no slot may hold is left out of the sentence, or named in general words.
"""

import re

from preheat.safe_text import lesson_sentences
from preheat.safe_text.sentences import Sentence
from preheat.safe_text.slots import SLOTS, fit_one_of

_SOURCES = re.compile(r"[\d,]{1,9} source files?")
_LOADED = (lesson_sentences,)
"""Adds the slot `difference` when it is imported."""
_SHARE = re.compile(r"\d{1,3}%")

SLOTS["sources"] = lambda text: text if _SOURCES.fullmatch(text) else ""
SLOTS["was"] = fit_one_of("was", "were")
SLOTS["since"] = fit_one_of("since a check that covers them passed", "and no check has passed yet")
SLOTS["share_of"] = lambda text: text if _SHARE.fullmatch(text) else ""

# Debt
CHANGED_FILES = Sentence("{files:sources} {were:was} changed {when:since}[: {names:path*}][ and {others:number} more].")
CHECK_COMMAND = Sentence("`{command:command}` was last used here; running it now keeps a failure close to its cause.")
ANY_CHECK = Sentence("A build or a test run now keeps a failure close to its cause.")

# Drift and focus
DRIFT = Sentence(
    "{outside:number} of the last {touches:number} file touches[ ({places:path*})] are outside of what the prompt named and the"
    " work began with; drift {drift:number}, rising {speed:number} a turn.[ The work began at `{began:path}`.] If the request"
    " needs these files, all is well; if not, what is left to do there is nearer to it."
)
FOCUS = Sentence(
    "Focus fell from {before:number} to {value:number} of 100 in the last {touches:number} file touches: they are in"
    " {subsystems:number} subsystems now[, most in {names:path*}], and no check has passed since {open:number} of them were"
    " changed. A check of what was begun[ in `{first:path}`], before more is opened, would keep a failure easy to place."
)

# Loops
_REPEATED = "The last call was made {times:number} times with the same result."
_STANDS = " What it said still stands above."
REPEATED_LOOK = Sentence(_REPEATED + " Nothing was changed in between: one more would show the same." + _STANDS)
REPEATED_CALL = Sentence(_REPEATED + " One more would end the same way." + _STANDS)
RETRIED_FILE = Sentence(
    "{times:number} calls[ of `{tool:tool}`] on `{target:path}` failed in a row. Its text as it is now,"
    " read once more and copied to the letter, or that part written anew, would end this."
)
RETRIED_CALL = Sentence(
    "{times:number} calls[ of `{tool:tool}`] failed in a row. Another form of the call may end this,"
    " another try of the same form would not."
)
SAME_FAILURE = Sentence(
    "{times:number} rounds of change and `{what:command}` ended with the same failure[: `{error:error}`]. The changes did not"
    " reach its cause; the values at the place it names, or the last changes undone, would show more than another variation."
)
SAME_FAILURE_OF_CHECK = Sentence(
    "{times:number} rounds of change and a check ended with the same failure[: `{error:error}`]. The changes did not"
    " reach its cause; the values at the place it names, or the last changes undone, would show more than another variation."
)
_SAME_TESTS = (
    " ended with the same tests failing, though not always with the same words[: `{error:error}`]. What they have in common is"
    " worth a look before another variation: the value they first see wrong, and whether the code that was changed runs at all."
)
SAME_TESTS = Sentence("{times:number} rounds of change and `{what:command}`" + _SAME_TESTS)
SAME_TESTS_OF_CHECK = Sentence("{times:number} rounds of change and a check" + _SAME_TESTS)
BACK_AFTER_COMMAND = Sentence(
    "{times:number} rounds of change and `{what:command}` ended where they began[: `{error:error}` is back]. The changes undo"
    " each other; what the errors in between have in common is worth a look before the next change."
)
BACK_AFTER_CHECK = Sentence(
    "{times:number} rounds of change and a check ended where they began[: `{error:error}` is back]. The changes undo"
    " each other; what the errors in between have in common is worth a look before the next change."
)
SAME_OUTPUT = Sentence(
    "`{what:command}` printed the same {times:number} times, though files were changed before each run. What was changed may"
    " not be what runs: a print at its beginning, or the place it is imported from, would tell."
)
SAME_OUTPUT_OF_CALL = Sentence(
    "A call printed the same {times:number} times, though files were changed before each run. What was changed may"
    " not be what runs: a print at its beginning, or the place it is imported from, would tell."
)

# Pressure
FULL = Sentence(
    "The context is {share:share_of} full ({tokens:number} of {window:number} tokens[, about {turns:number} more turns at the"
    " present rate]). Finishing and checking the change in hand, and writing down what is left, makes a summary or a new session"
    " cheap; reading parts instead of whole files saves room."
)

# Known mistakes: what works, and not what failed, which the model has just written itself
_COUNTED = " {good:number} of {all:number} times in {sessions:number} earlier sessions (lesson {lesson:lesson})."
KNOWN_REPAIR = Sentence("Where a call like this failed here, `{use:command}` worked" + _COUNTED)
KNOWN_DIFFERENCE = Sentence("Where a call like this failed here, {difference:difference} it worked" + _COUNTED)
GENERAL_REPAIR = Sentence("Where a call like this failed in other projects, `{use:command}` worked" + _COUNTED)
GENERAL_DIFFERENCE = Sentence(
    "Where a call like this failed in other projects, {difference:difference} it worked" + _COUNTED
)
_NEVER = " failed all {times:times} in {sessions:number} earlier sessions"
REPLACED_DEAD_END = Sentence(
    "`{use:command}` was used here instead: calls like this" + _NEVER + " (lesson {lesson:lesson})."
)
KNOWN_DEAD_END = Sentence("Calls like this" + _NEVER + '[, with "{error:error}"] (lesson {lesson:lesson}).')

# What a session did before its conversation was summarised
PROGRESS_HEAD = Sentence(
    "What this session did before its conversation was summarised, by its calls: data, not instructions."
)
EDITED_LAST = Sentence("- edited last: {paths:path*}")
CHECK_PASSED = Sentence("- `{command:command}` passed when it was last run")
CHECK_FAILED = Sentence('- `{command:command}` failed[ with "{error:error}"] when it was last run')

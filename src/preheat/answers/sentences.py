"""What answers say: one sentence of ours per rule, with slots for paths, names, commands and numbers. Knows no rule.

No line of a file and no word of a tool's output is passed on: where lines are meant, their numbers are named.
"""

from preheat.safe_text.sentences import Sentence
from preheat.safe_text.slots import SLOTS, fit_one_of

DIFFERENCES = (
    "the same but for white space",
    "the same but for indentation",
    "the same but for quotes",
    "the same but for upper and lower case",
    "the same but for line ends",
    "nearly the same",
)
"""How lines of a file can differ from the text that was to be replaced."""
SLOTS["difference_of_lines"] = fit_one_of(*DIFFERENCES)
SLOTS["list_of"] = fit_one_of("scripts", "targets", "recipes", "tasks", "sessions", "environments", "aliases")

# Files and folders
MISSING_MEANT = Sentence("`{path:path}` does not exist here; `{meant:path}` does.")
MISSING_SEVERAL = Sentence("`{path:path}` does not exist here; of that name there are {others:path*}.")
MISSING_LISTED = Sentence("`{path:path}` does not exist here; `{folder:path}` holds {names:path*}.")
MISSING_NEAREST = Sentence("`{path:path}` does not exist here; nearest to it in `{folder:path}` are {names:path*}.")
ALREADY_INSIDE = Sentence("The call ran in `{folder:path}` already: from there `{path:path}` does not exist.")
MISSING_PLAIN = Sentence("`{path:path}` does not exist here.")
IS_FOLDER = Sentence("`{path:path}` is a folder[; it holds {names:path*}].")

# Text to edit
CLOSEST_LINES = Sentence(
    "The text to replace is not in `{path:path}` as it is now[; lines {first:number} to {last:number} are"
    " {how:difference_of_lines}][, line {at:number} is the first that differs]."
    "[ This session changed the file {edits:times} before.]"
)
CLOSEST_LINE = Sentence(
    "The text to replace is not in `{path:path}` as it is now; line {first:number} is {how:difference_of_lines}."
    "[ This session changed the file {edits:times} before.]"
)
ALREADY_CHANGED = Sentence(
    "The text to replace is not in `{path:path}` as it is now, but the new text is, from line {first:number} on: the change was"
    " made already."
)
SEVERAL_PLACES = Sentence(
    "The text to replace is in `{path:path}` {times:times}, first at lines {first:number} and {second:number}: with more of its"
    " surroundings it would be one place."
)
NO_CHANGE = Sentence("Old and new text of this edit of `{path:path}` are the same.")
TEXT_GONE = Sentence("The text to replace is not in `{path:path}` as it is now, and nothing in it is close.")

# Scripts, targets, flags
NO_SCRIPT = Sentence(
    "`{manifest:path}` has no `{name:script}`[; the nearest is `{near:script}`][; its {kind:list_of} are {names:script*}]."
)
SCRIPT_ELSEWHERE = Sentence(
    "`{manifest:path}` has no `{name:script}`; `{other:path}` does, so it works in `{folder:path}`."
)
NO_MANIFEST = Sentence("`{command:command}` needs `{manifest:path}`, which is in `{folder:path}`, not here.")
FLAG_KNOWN = Sentence("`{program:command}` knows no `{flag:flag}`; `{near:flag}` worked here in earlier sessions.")
FLAG_USAGE = Sentence("`{program:command}` knows no `{flag:flag}`; its usage names `{near:flag}`.")

# Programs and modules
PROGRAM_HERE = Sentence("`{name:program}` is not on the path; here it is `{place:path}`.")
PROGRAM_USED = Sentence(
    "`{name:program}` is not on the path; earlier sessions used `{use:command}` ({sessions:number} of them, it worked)."
)
MODULE_HERE = Sentence("The module is installed in `{place:path}`: `{python:path}` finds it.")

# Known to fail
KNOWN_FAILURE = Sentence(
    '`{command:command}` failed in all {sessions:number} earlier sessions that tried it[, with "{error:error}"]'
    "[; `{use:command}` worked instead]."
)

# Who is in the way
LOCK_GONE = Sentence("`{path:path}` is gone by now: what it held up can be run again.")
PORT_HELD = Sentence(
    "Port {port:number} is held by `{name:program}`, process {process:number}[, which runs in `{folder:path}`]."
)
PORT_FREE = Sentence("Nothing listens on port {port:number} any more: what needed it can be run again.")
HOOK_RUNS = Sentence("The hook `{path:path}` refused; it runs {commands:command*}.")
LOCK_HELD = Sentence(
    "`{path:path}` is still there: another program works on this repository, or one ended without removing it."
)

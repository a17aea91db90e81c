"""What answers say: one sentence of ours per rule, with slots for paths, names, commands and numbers. Knows no rule.

A sentence says what works and does not write what fails: the model has just written that itself, and small models repeat what
they read last (docs/paper). No line of a file and no word of a tool's output is passed on: where lines are meant, their numbers
are named.
"""

import re

from preheat.safe_text.sentences import Sentence
from preheat.safe_text.slots import SLOTS, fit_file, fit_one_of
from preheat.safe_text.words import CUT

_SESSIONS = re.compile(r"one earlier session|[\d,]{1,9} earlier sessions")
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
PATHS_OF_CALL = (
    "this call's path",
    *(f"the {place} path of this call" for place in ("first", "second", "third", "fourth", "fifth")),
    "a path of this call",
)
"""Which path of a call is meant, without writing it again: a model repeats what it has just read."""
SLOTS["path_of_call"] = fit_one_of(*PATHS_OF_CALL)
SLOTS["sessions_before"] = lambda text: text if _SESSIONS.fullmatch(text) else ""
OPTIONS_OF_CALL = (
    "the option of this call",
    *(f"the {place} option of this call" for place in ("first", "second", "third", "fourth", "fifth")),
    "an option of this call",
)
SLOTS["option_of_call"] = fit_one_of(*OPTIONS_OF_CALL)
SLOTS["list_of"] = fit_one_of("scripts", "targets", "recipes", "tasks", "sessions", "environments", "aliases")
SLOTS["file_or_folder"] = fit_one_of("a file", "a folder", "a file or folder")

# Files and folders
MISSING_MEANT = Sentence("Nothing is at {which:path_of_call}; `{meant:file}` exists.")
MISSING_SEVERAL = Sentence("Nothing is at {which:path_of_call}; of that name there are {others:file*}.")
MISSING_ELSEWHERE = Sentence(
    "Nothing is at {which:path_of_call}; {what:file_or_folder} of that name is in {folders:file*}."
)
"""Where something is whose whole path no slot may hold, but whose name the call itself has."""
DEAD_LINK = Sentence(
    "At {which:path_of_call} is a link that leads nowhere[: `{target:path}` is not there][; `{meant:file}` exists]."
)
OTHERS_THERE = Sentence("Without {which:path_of_call} it works: the others exist.")
MISSING_NEAREST = Sentence("Nothing is at {which:path_of_call}; nearest to it in `{folder:file}` are {names:path*}.")
ALREADY_INSIDE = Sentence("This call runs in that folder already: from here {which:path_of_call} is `.`.")
IS_FOLDER = Sentence("What this call reads is a folder[; it holds {names:path*}].")

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
TEXT_GONE = Sentence("The text to replace is not in `{path:path}` as it is now, and nothing in it is close.")

# Scripts, targets, flags
NO_SCRIPT = Sentence(
    "`{manifest:path}` has nothing of that name[; the nearest is `{near:script}`][; its {kind:list_of} are {names:script*}]."
)
SCRIPT_ELSEWHERE = Sentence("What this call runs is in `{other:path}`: it works in `{folder:path}`.")
NO_MANIFEST = Sentence("This command works in `{folder:path}`, where its `{manifest:path}` is.")
FLAG_KNOWN = Sentence("`{program:command}` takes `{near:flag}`: it worked here in {sessions:sessions_before}.")
FLAG_USAGE = Sentence("`{program:command}` takes `{near:flag}`, by its usage.")
FLAG_FAMILY = Sentence("The `{program:program}` of this machine has {near:flag*} for it.")
FLAGS_KNOWN = Sentence(
    "`{program:command}` worked here in earlier sessions with {flags:flag*}: this call works with these alone."
)
FLAG_REFUSED = Sentence(
    "`{program:command}` refused {place:option_of_call} in {sessions:sessions_before}[; it takes `{near:flag}`]: without it the"
    " call works."
)
FIELD_NEAREST = Sentence("The nearest of the fields that it has: {names:name*}.")

# Quotes
DASH_PATTERN = Sentence(
    "The text that this call looks for begins with a dash: with `-e` or `--` before it `{program:program}` takes it as"
    " a pattern."
)
PATH_VARIABLE = Sentence(
    "In zsh the variable `path` holds the folders in which programs are found: with another name for it this call finds them."
)
UNMATCHED_PATTERN = Sentence(
    "A word of this call has a pattern (`?`, `*` or a bracket) that matches no file, which the shell here refuses: in quotes it"
    " is passed on."
)

OPEN_SIGNS = Sentence(
    "The shell here takes a word that begins with `=` for the place of a program: in quotes it is printed."
)

# Programs and modules
PROGRAM_HERE = Sentence("The program of this call is here as `{place:path}`.")
PROGRAM_INSTALLED = Sentence(
    "The program of this call is installed as `{place:path}`, where the shell here does not look."
)
PROGRAM_USED = Sentence(
    "The program of this call was started by `{use:command}` here: it worked in {sessions:sessions_before}."
)
PROGRAM_STARTED = Sentence("The program of this call was started by `{use:command}` in this session.")
MISSING_PROGRAM = Sentence("The shell here did not find `{name:program}`[ in {sessions:sessions_before}].")
MISSING_PROGRAM_USED = Sentence(
    "`{use:command}` worked here[ in {worked:sessions_before}]; the shell did not find the program of this call[ in"
    " {sessions:sessions_before}]."
)
MISSING_PROGRAM_INSTALLED = Sentence(
    "`{place:path}` is installed; the shell here did not find the program of this call[ in {sessions:sessions_before}]."
)
MODULE_HERE = Sentence("The module is installed in `{place:path}`: `{python:path}` finds it.")

# Known to fail
KNOWN_REPAIR = Sentence(
    "`{use:command}` worked here[ in {worked:sessions_before}]; the command of this call failed in all {sessions:number} that"
    " tried it."
)
KNOWN_FIRST_STEP = Sentence(
    'The first command of this call failed in all {sessions:number} earlier sessions that tried it[, with "{error:error}"].'
)
KNOWN_FAILURE = Sentence(
    'The command of this call failed in all {sessions:number} earlier sessions that tried it[, with "{error:error}"].'
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


# A call that is held
HELD_ONCE = Sentence("The same call passes if it comes again.")


def count_sessions(count: int) -> str:
    """So many earlier sessions, in words; empty for none."""
    return "" if count < 1 else "one earlier session" if count == 1 else f"{count:,} earlier sessions"


def can_name(path: str) -> bool:
    """Whether the path of something that exists can be written so that it is found: no part of it is left out."""
    return CUT not in (fit_file(path) or CUT)


def name_path(place: int, of: int) -> str:
    """Which path of a call is meant, by its place among so many, from 0; -1 where that is not known."""
    return _name_place(PATHS_OF_CALL, place, of)


def name_option(place: int, of: int) -> str:
    """Which option of a command is meant, in the same way."""
    return _name_place(OPTIONS_OF_CALL, place, of)


def _name_place(names: tuple[str, ...], place: int, of: int) -> str:
    if of == 1 and place == 0:
        return names[0]
    return names[place + 1] if 0 <= place < len(names) - 2 else names[-1]

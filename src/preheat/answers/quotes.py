"""Words that a shell or a program reads otherwise than they were meant, for want of quotes or of an option before them. Pure.

zsh refuses a command if a pattern of it matches no file, where other shells pass the pattern on: an address with `?`, an option
with `*`. That a project's sessions run in such a shell is known from what they were told. A search for a text that begins with a
dash is taken for an option by every search program.
"""

import re
from collections.abc import Iterator

from preheat.answers import sentences
from preheat.answers.history import History, loops_over_path, missing_program
from preheat.answers.shell_paths import last_commands
from preheat.answers.values import Answer, Failure, PlannedCall, ProjectFiles, SessionFacts
from preheat.commands import command_text
from preheat.commands.values import Command

_LONGEST = 2_000
_BLOCKS = re.compile(r"<<|\$\(|`|\[\[|\bcase\b|\bfor\b|\bwhile\b|\bif\b|(?<!\w)#|setopt|noglob|\\\n|;|\|\||=\(")
"""What makes the reading of words by this module unsure."""
_WORD = re.compile(r"""(?:[^\s'"\\;|&()<>]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+""")
_QUOTED = re.compile(r"""\\.|'[^']*'|"(?:[^"\\]|\\.)*\"""")
_MARKS = re.compile(r"[?*]|\[[^\]]+\]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_SEARCHES = frozenset(["rg", "grep", "egrep", "fgrep", "ag"])
_PATTERN_OPTIONS = frozenset(["-e", "-f", "--regexp", "--file", "--files", "--"])
_NO_OPTION = re.compile(r"--[\w-]*[\s|\\()\[\]*+?.^$]")


def check_quotes(call: PlannedCall, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """What has to be quoted, or named as a pattern, for a command to do what it is meant to."""
    if call.kind != "shell":
        return None
    text = command_text(call.arguments)
    if len(text) > _LONGEST:
        return None
    for command, _ in last_commands(text, call.folder):
        if _searches_for_a_dash(command):
            said = sentences.DASH_PATTERN.write(program=command.program)
            return Answer("quotes", said, f"dash {text}", ("-e", "--")) if said else None
    if not (history.refuses_patterns or facts.refuses_patterns):
        return None
    if _prints_signs(text):
        return Answer("quotes", sentences.OPEN_SIGNS.write(), f"signs {text}", ("=",))
    if _BLOCKS.search(text):
        return None
    if any(_matches_nothing(word) for word in _read_open_words(text)):
        return Answer("quotes", sentences.UNMATCHED_PATTERN.write(), f"pattern {text}")
    return None


def check_path_variable(call: PlannedCall, files: ProjectFiles, history: History, facts: SessionFacts) -> Answer | None:
    """A loop over `path`, where the shell is one in which this variable holds the folders of programs: none is found after it."""
    knows_shell = history.refuses_patterns or facts.refuses_patterns
    return _name_path_variable(call) if knows_shell else None


def explain_path_variable(
    failure: Failure, files: ProjectFiles, history: History, facts: SessionFacts
) -> Answer | None:
    """The same after a program was not found in such a call."""
    return _name_path_variable(failure.call) if missing_program(failure.text[:_LONGEST]) else None


def _name_path_variable(call: PlannedCall) -> Answer | None:
    text = command_text(call.arguments) if call.kind == "shell" else ""
    if not loops_over_path(text):
        return None
    return Answer("quotes", sentences.PATH_VARIABLE.write(), f"path variable {text}")


def _searches_for_a_dash(command: Command) -> bool:
    """Whether the text that a search program is to look for would be taken for an option."""
    words = command.words[1:]
    if command.program not in _SEARCHES or not _PATTERN_OPTIONS.isdisjoint(words):
        return False
    return any(_NO_OPTION.match(word) for word in words)


def _prints_signs(text: str) -> bool:
    """Whether a word that is printed begins with `=` outside of quotes: the shell takes it for the place of a program."""
    return "<<" not in text and _SIGNS.search(_QUOTED.sub("''", text)) is not None


_SIGNS = re.compile(r"(?:^|[;&|\n]\s*)(?:echo|print)\s+(?:[^\s;&|<>()]+\s+)*=[^\s;&|<>()]+")
"""A command that prints a word with an equals sign first; where quotes stood are two of them."""


def _read_open_words(text: str) -> Iterator[str]:
    """The words of a command line with a pattern that stands in no quotes."""
    for word in _WORD.findall(text):
        if _MARKS.search(_QUOTED.sub("", word)) and not _ASSIGNMENT.match(word) and "$" not in word and word[0] != "~":
            yield word


def _matches_nothing(word: str) -> bool:
    """Whether a pattern surely matches no file: part of an address, or of an option's value."""
    return "://" in word or (word.startswith("--") and "=" in word)

"""Scripts of the shell that lie in a project's folders for scripts, each with the program that runs it. Pure.

The whole text is read, so that one that deletes at its end is known to; one that is too long for that gives nothing.
"""

import re
from posixpath import basename, dirname

_FOLDERS = re.compile(
    r"(?:(?!vendor|third_party|node_modules|fixtures|testdata)(?:\w[\w.-]*/)?(?:scripts?|bin|tools|hack|ci|dev|docs|e2e|tests?)(?:/[\w-]+)?)?"
)
_NAMED = frozenset(
    [
        "setup",
        "bootstrap",
        "test",
        "lint",
        "format",
        "build",
        "ci",
        "check",
        "dev",
        "server",
        "update",
        "codegen",
        "generate",
    ]
)
"""Names of scripts without an ending, in a folder of its own for them."""
_PROGRAM_FOLDERS = frozenset(["bin", "script", "scripts"])
_NAME = re.compile(r"[A-Za-z][\w.-]{0,59}")
_SHEBANG = re.compile(r"#!\s*(?:/usr/bin/env\s+(?:-S\s+)?)?(?:/(?:usr/)?(?:local/)?bin/)?(?P<shell>bash|sh|zsh)\b")
_FUNCTIONS = re.compile(r"(?:^|[/_.-])(?:lib|common|utils?|functions|env|vars|colou?rs|_\w+)\.(?:sh|bash)$|helper")
"""Files that other scripts take in, and nobody runs."""
LARGEST = 20_000
"""Characters of a script."""


def is_shell_script(path: str) -> bool:
    """Whether a file may be a script that people run, by its path."""
    folder, name = dirname(path), basename(path)
    if not _NAME.fullmatch(name) or path.count("/") > 2:
        return False
    if name.endswith((".sh", ".bash")):
        return bool(_FOLDERS.fullmatch(folder)) and not _FUNCTIONS.search(path)
    return folder in _PROGRAM_FOLDERS and name in _NAMED


_FUNCTION = re.compile(r"^(?:function\s+)?[\w-]+\s*\(\)\s*\{.*?^\}", re.MULTILINE | re.DOTALL)
_ARGUMENT = re.compile(r"\$[1-9]\b|\$\{[1-9](?::?\?[^}]*)?\}|\$\{\w+:?\?[^}]*\}")
"""An argument or a variable without which a script stops; one with a default (`${1:-all}`) is none."""


def needs_arguments(text: str) -> bool:
    """Whether a script wants arguments or variables: by its name alone it does not run. Functions have arguments of their own."""
    return bool(_ARGUMENT.search(_FUNCTION.sub("", text[:LARGEST])))


def shell_of(text: str) -> str:
    """The shell that a script says it is for; empty where it says none, or is too long to be read."""
    found = _SHEBANG.match(text) if len(text) <= LARGEST else None
    return found["shell"] if found else ""

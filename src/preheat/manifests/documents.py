"""The commands that a project's documents for developers show: code blocks below headings on development. Pure."""

import re
from posixpath import basename, dirname

from preheat.manifests.scripts import LARGEST

_NAMES = frozenset(["contributing.md", "development.md", "developing.md", "hacking.md", "testing.md", "building.md"])
_FOLDERS = frozenset(["", "docs", ".github", "doc"])
_HEADING = re.compile(r"^#{1,6}[ \t]+(?P<text>[^\n]{1,120})$")
_TELLING = re.compile(
    r"(?i)\b(?:develop(?:ment|ing|er)?|contribut\w+|test(?:s|ing)?|lint\w*|format\w*|checks?|from source|local(?:ly)?|set-?up"
    r"|hacking|quality"
    r"|entwicklung|desarrollo|développement|desenvolvimento|pruebas|testes)\b|разработк|开发|開発|测试|テスト"
)
_FENCE = re.compile(r"^[ \t]{0,6}(?:```+|~~~+)[ \t]*(?P<kind>[\w-]*)")
_SHELLS = frozenset(["", "sh", "bash", "shell", "console", "zsh", "shell-session", "terminal"])
_COMMAND = re.compile(r"^[ \t]*(?:[$>%][ \t]+)?(?P<text>[A-Za-z./][^\n]{1,120}?)[ \t]*(?:#[^\n]*)?$")
_MOST = 40


def is_developer_document(path: str) -> bool:
    """Whether a file tells people how the project is worked on."""
    name = basename(path).lower()
    return (name in _NAMES and dirname(path) in _FOLDERS) or path.lower() == "readme.md"


def read_commands(path: str, text: str) -> tuple[str, ...]:
    """The commands in the code blocks of a document; of a README only those below a heading on its development."""
    if len(text) > LARGEST:
        return ()
    found: dict[str, None] = {}
    is_telling = is_for_all = basename(path).lower() in _NAMES
    inside, is_shell = False, False
    for line in text.splitlines():
        fence = _FENCE.match(line)
        if fence is not None:
            is_shell = not inside and fence["kind"].lower() in _SHELLS
            inside = not inside
        elif inside and is_shell and is_telling and (command := _COMMAND.match(line)):
            found[command["text"]] = None
        elif not inside and (heading := _HEADING.match(line)):
            is_telling = is_for_all or bool(_TELLING.search(heading["text"]))
    return tuple(found)[:_MOST]

"""Words of one command: names, options, values. Knows no program."""

from collections.abc import Collection, Iterable


def name_set(text: str) -> frozenset[str]:
    """A set of names, written as one text."""
    return frozenset(text.split())


def base_name(word: str) -> str:
    """The name of a program, without folder and Windows ending."""
    if "/" in word or "\\" in word:
        word = word.replace("\\", "/").rstrip("/").rpartition("/")[2] or word
    if word[-4:-3] == "." and len(word) > 4 and word[-3:].lower() in ("exe", "cmd", "bat"):
        return word[:-4]
    return word


def is_project_script(word: str) -> bool:
    """Whether a program is named by a path of the project's: `bin/test` is a script, no condition."""
    return "/" in word and not word.startswith("/")


def skip_options(words: tuple[str, ...], start: int, valued: Collection[str]) -> int:
    """Where the first word stands that is neither an option nor the value of one."""
    index = start
    while index < len(words):
        word = words[index]
        if word == "--":
            return index + 1
        if not word.startswith("-") or word == "-":
            break
        index += 2 if word in valued else 1
    return index


def operands(words: tuple[str, ...], valued: Collection[str] = ()) -> list[str]:
    """Arguments that are neither options nor the values of `valued` ones."""
    found: list[str] = []
    index = 1
    while index < len(words):
        word = words[index]
        if word == "--":
            return found + list(words[index + 1 :])
        if word.startswith("-") and word != "-":
            index += 2 if word in valued else 1
            continue
        found.append(word)
        index += 1
    return found


def flag_of(words: Iterable[str], names: Collection[str]) -> str | None:
    """The value of an option, written `--name value` or `--name=value`."""
    after = False
    for word in words:
        if after:
            return word
        name, equals, value = word.partition("=")
        if name in names:
            if equals:
                return value
            after = True
    return None


def has_flag(words: Iterable[str], *names: str) -> bool:
    """Whether an option is given: long ones whole (or `--name=…`), one-letter ones also in a cluster such as `-rn`."""
    for word in words:
        if not word.startswith("-"):
            continue
        for name in names:
            if word == name or word.startswith(f"{name}="):
                return True
            if len(name) == 2 and not word.startswith("--") and name[1] in word[1:]:
                return True
    return False

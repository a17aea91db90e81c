"""One text for many calls of the same command: what differs from call to call becomes a placeholder. Knows no session."""

import re
from collections import Counter
from collections.abc import Collection, Mapping

from preheat.commands.words import name_set

_SAME = 0.7
"""A word that this share of the calls has is part of the command."""
_WORDS = re.compile(r"""(?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+""")
_VALUED = name_set(
    "-run -k -t -p -m -o -c -f -C -r -g -n -W -X -j -bench -tags -timeout -count -benchtime --filter --config --grep --test"
    " --testNamePattern --testPathPattern --project --package --workspace --features --bin --tests --reporter --timeout --dir"
    " --prefix --cwd --settings --manifest-path --target --tags --env --mode --port --testPathPatterns --test-name-pattern"
)
_NAMED = {
    "-run": "NAME",
    "-k": "NAME",
    "-t": "NAME",
    "--testNamePattern": "NAME",
    "--grep": "NAME",
    "--filter": "PACKAGE",
}
"""What the values of some options are."""
_SETTLED = name_set("-destination -project -workspace -scheme")
"""Options of `xcodebuild` whose commonest value is worth more than a placeholder: nobody guesses the name of a simulator."""
_CHOSEN = re.compile(r"^(-(?:only|skip)-testing:).+$")
_A_TEST = re.compile(r"test_\w+|Test[A-Z]\w*|[\w./:-]+::\w\S*")
_ASSIGNED = re.compile(r"^(-{1,2}[\w-]+)=(.+)$", re.DOTALL)
_PICKED = re.compile(
    r"(?<=\s)(-run|--testNamePattern|--test-name-pattern)([\s=]+)(?!-)(?:'[^']*'|\"[^\"]*\"|[^\s'\"]+)"
)
"""What an option picks out that means the same to every program."""
_NUMBERED = re.compile(r"(?:(?<=^git )|(?<=^gh )|(?<=^glab )).*")
"""Programs whose operands may be the number of an issue, or a commit that has no letters."""
_NUMBER = re.compile(r"(?<=\s)([\w./:-]+\s)#?\d{2,}(?=\s|$)")
_MANY = frozenset(("NAME", "PATH", "./FOLDER/..."))
"""Placeholders that stand for one or more."""


def generalise(texts: Mapping[str, int]) -> str:
    """One text for similar commands: their commonest shape, with `NAME`, `PATH` or `VALUE` for the words that vary."""
    shapes: dict[tuple[str, ...], Counter[tuple[str, ...]]] = {}
    for text, count in texts.items():
        words = tuple(_WORDS.findall(text))
        shapes.setdefault(_shape(words), Counter())[words] += count
    if not shapes:
        return ""
    _, calls = min(shapes.items(), key=lambda item: (-item[1].total(), len(item[0]), item[0]))
    total = calls.total()
    generalised: list[str] = []
    for place in range(len(next(iter(calls)))):
        column: Counter[str] = Counter()
        for words, count in calls.items():
            column[words[place]] += count
        word, most = min(column.items(), key=lambda item: (-item[1], item[0]))
        before = generalised[-1] if generalised else ""
        if before == "./FOLDER/..." and word.endswith("/..."):  # one more of a list
            continue
        generalised.append(word if most >= _SAME * total and (most > 1 or total == 1) else _placeholder(before, column))
    return " ".join(_without_more(generalised))


def without_case(text: str) -> str:
    """One call as others would make it: what it picks out is a placeholder, and so is the number of what it is about."""
    return without_number(_PICKED.sub(r"\1\2NAME", text))


def without_number(text: str) -> str:
    """A call of version control without the number of the issue, or of the commit, that it is about."""
    return _NUMBERED.sub(lambda found: _NUMBER.sub(_replace_number, f" {found[0]}")[1:], text)


def _replace_number(found: "re.Match[str]") -> str:
    """After a word, not after an option: there it is that option's value."""
    return found[0] if found[1].startswith("-") else f"{found[1]}N"


def without_tests(text: str, runner_words: Collection[str]) -> str:
    """A command without the name of one test; the runner's own words (`runner_words`) stay."""
    words = [
        _test_name(word) if place and _A_TEST.fullmatch(word.strip("'\"")) and word not in runner_words else word
        for place, word in enumerate(_WORDS.findall(text))
    ]
    return " ".join(_without_more(words)) if words != _WORDS.findall(text) else text


def _test_name(word: str) -> str:
    return "PATH::NAME" if "::" in word and re.search(r"[./]", word.partition("::")[0]) else "NAME"


def _without_more(words: list[str]) -> list[str]:
    """The words with equal neighbouring placeholders as one."""
    return [word for before, word in zip(["", *words], words, strict=False) if word != before or word not in _MANY]


def commonest_text(texts: Mapping[str, int]) -> tuple[str, int]:
    """The commonest text itself, and how often it was typed."""
    return min(texts.items(), key=lambda item: (-item[1], len(item[0]), item[0])) if texts else ("", 0)


def _shape(words: tuple[str, ...]) -> tuple[str, ...]:
    """What each word is: an option (by its name), the value of one, or an operand."""
    found: list[str] = []
    valued = ""
    for place, word in enumerate(words):
        if valued:
            found.append(f"{valued} value")
            valued = ""
        elif word.startswith("-") and len(word) > 1:
            chosen = _CHOSEN.match(word)
            name = chosen[1] if chosen else word.partition("=")[0]
            found.append(name)
            valued = name if name == word and name in _VALUED and place + 1 < len(words) else ""
        else:
            found.append("")
    return tuple(found)


def _placeholder(before: str, column: Mapping[str, int]) -> str:
    first = min(column)
    if before in _SETTLED:
        return commonest_text(column)[0]
    if chosen := _CHOSEN.match(first):
        return f"{chosen[1]}NAME"
    assigned = _ASSIGNED.match(first)
    if assigned:
        return f"{assigned[1]}={_NAMED.get(assigned[1], 'VALUE')}"
    if before in _NAMED:
        return _NAMED[before]
    bare = [word.strip("'\"") for word in column]
    if all(word.startswith("-") for word in bare):
        return first
    if all(re.fullmatch(r"[\d.]+\w?", word) for word in bare):
        return "VALUE"
    if all(word.endswith("/...") for word in bare):
        return "./FOLDER/..." if all(word.startswith("./") for word in bare) else "PATH"
    if sum("/" in word or re.search(r"\.\w{1,5}$", word) is not None for word in bare) > len(bare) / 2:
        endings = {word.rpartition(".")[2] for word in bare if re.search(r"\.\w{1,5}$", word)}
        return (
            f"PATH.{endings.pop()}" if len(endings) == 1 and len(bare) > 1 and all("." in w for w in bare) else "PATH"
        )
    return "NAME"

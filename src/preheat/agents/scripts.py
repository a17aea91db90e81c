"""Scripts that hold calls: an agent's tool that runs JavaScript in which the model calls its other tools.

`read_script` finds the calls (`tools.NAME({…})`), with the arguments that the text itself states, and says which of them each
printed text belongs to. Knows no agent: what a tool is for, and how its output looks, is known where the agent is read.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from typing import Any, NamedTuple

import msgspec

from preheat.agents.javascript import LONGEST, UNKNOWN, Literals, Tokens, Value

_TOOLS, _PRINT = "tools", "text"
_DECLARATIONS = frozenset(["const", "let", "var"])
_WALKS = frozenset(["map", "forEach", "flatMap"])
_ASSIGNING = frozenset(["=", "+=", "-=", "*=", "++", "--"])
_CONDITIONS = frozenset(["if", "while", "for", "switch", "catch"])
_MOST_CALLS, _MOST_ELEMENTS, _MOST_LOOPS, _MOST_TEXTS, _MOST_NAMES = 50, 30, 50, 100, 200
"""Scripts that people and models write have far fewer; without limits, a made-up one could take minutes."""


class ScriptCall(NamedTuple):
    """A call in a script."""

    tool: str
    argument: Any
    """What the tool is called with: an object, a text, or None where it is called with nothing or with nothing known."""
    whole: bool = True
    """Every part of the argument is known."""


class Script(NamedTuple):
    """The calls of a script."""

    calls: tuple[ScriptCall, ...]
    printed: tuple[int, ...] | None
    """For each text that the script prints, the place of the call whose result it is; None where that cannot be told."""


class _Loop(NamedTuple):
    """A part of the script that runs once for each element of an array."""

    begin: int
    end: int
    names: tuple[str, ...]
    """The names of the element, or of its first parts."""
    parts: bool
    array: int
    """Where the array stands: a bracket, or a name."""


class _Site(NamedTuple):
    """A place where a tool is called."""

    tool: str
    begin: int
    opening: int


_MEMBER_TEXT = r'(?:"\w+"|[^\W\d]\w*)\s*:\s*(?:"(?:[^"\\\n]|\\[^\n])*"|0|[1-9]\d{0,14})\s*'
_MEMBER = re.compile(r'"?(\w+)"?\s*:\s*("(?:[^"\\\n]|\\[^\n])*"|\d+)')
_USUAL_SCRIPT = re.compile(
    r"\s*(?:const|let|var)\s+(?P<name>\w+)\s*=\s*await\s+tools\.(?P<tool>\w+)\(\{\s*"
    rf"(?P<members>{_MEMBER_TEXT}(?:,\s*{_MEMBER_TEXT})*)(?:,\s*)?\}}\)\s*;?"
    r"\s*text\((?:JSON\.stringify\((?P=name)\)|(?P=name)(?:\.\w+)?)\)\s*;?\s*\Z"
)
"""One call with texts and numbers whose result is printed: most scripts, so they have a short way."""


def read_script(text: str) -> Script:
    """The calls that a script makes; never raises."""
    if _TOOLS not in text:
        return Script((), ())
    usual = _USUAL_SCRIPT.match(text) if len(text) <= LONGEST else None
    if usual is not None:
        try:
            argument = {name: msgspec.json.decode(value) for name, value in _MEMBER.findall(usual["members"])}
            return Script((ScriptCall(usual["tool"], argument),), (0,))
        except (msgspec.DecodeError, UnicodeEncodeError):  # a text that JavaScript allows and JSON does not
            pass
    return _ScriptReader(Tokens(text)).read()


class _ScriptReader:
    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._declared: dict[str, int] = {}
        """Names with the place of the value that they are bound to."""
        self._changing: set[str] = set()
        """Names that are bound more than once, or to what only the running script knows."""
        self._values: dict[str, Value] = {}
        self._element: dict[str, Any] = {}
        """The names of the loop's element that is being looked at."""
        self._literals = Literals(tokens, self._look_up)
        self._loops: list[_Loop] = []
        self._sites: list[_Site] = []
        self._find_bindings()

    def read(self) -> Script:
        calls: list[ScriptCall] = []
        repeated = False
        for site in self._sites:
            loop = next((loop for loop in reversed(self._loops) if loop.begin < site.begin < loop.end), None)
            elements = self._elements(loop) if loop is not None else None
            if loop is None or elements is None:
                calls.append(self._read_call(site))
                continue
            repeated = True
            for element in elements:
                self._element = element
                calls.append(self._read_call(site))
                self._element = {}
        return Script(tuple(calls), None if repeated else self._prints())

    # What names stand for.
    def _find_bindings(self) -> None:
        tokens = self._tokens
        for place, (kind, text) in enumerate(tokens.all):
            if kind == "mark" and text == "=>":
                self._note_parameters(place)
            elif kind != "name" or tokens.text(place - 1) in (".", "?."):
                continue
            elif text in _DECLARATIONS:
                self._note_declaration(place)
            elif text in ("function", "catch"):
                opening = place + 1 if tokens.text(place + 1) == "(" else place + 2
                self._changing.update(self._names(opening))
            elif text == _TOOLS and len(self._sites) < _MOST_CALLS:
                self._note_site(place)
            elif tokens.text(place + 1) in _ASSIGNING and tokens.text(place - 1) not in _DECLARATIONS:
                self._changing.add(text)

    def _note_declaration(self, place: int) -> None:
        tokens, name = self._tokens, self._tokens.text(place + 1)
        if name in ("{", "["):
            self._changing.update(self._names(place + 1))
            self._note_walk(place, tokens.end_of(place + 1) + 1, self._pattern(place + 1), parts=name == "[")
        elif tokens.text(place + 2) == "=":
            if name in self._declared:
                self._changing.add(name)
            self._declared[name] = place + 3
        else:
            self._changing.add(name)
            self._note_walk(place, place + 2, (name,), parts=False)

    def _note_walk(self, place: int, after: int, names: tuple[str, ...], parts: bool) -> None:
        """A loop `for (const name of array) …`."""
        tokens = self._tokens
        if tokens.text(after) != "of" or tokens.text(place - 1) != "(" or len(self._loops) >= _MOST_LOOPS:
            return
        closing = tokens.end_of(place - 1)
        is_block = tokens.text(closing + 1) == "{"
        end = tokens.end_of(closing + 1) if is_block else tokens.skip(closing + 1, frozenset(";"))
        self._loops.append(_Loop(closing, end, names, parts, after + 1))

    def _note_parameters(self, arrow: int) -> None:
        """The parameters of `(a, b) => …`, and the loop `array.map(a => …)`."""
        tokens = self._tokens
        begin = tokens.opening.get(arrow - 1, arrow - 1) if tokens.text(arrow - 1) == ")" else arrow - 1
        names = self._names(begin) if begin != arrow - 1 else {tokens.text(begin)}
        self._changing.update(names)
        opening = begin - 1 - (tokens.text(begin - 1) == "async")
        if tokens.text(opening) != "(" or tokens.text(opening - 1) not in _WALKS or tokens.text(opening - 2) != ".":
            return
        if len(self._loops) >= _MOST_LOOPS:
            return
        parts = tokens.text(begin) == "(" and tokens.text(begin + 1) == "["
        first = self._pattern(begin + 1) if parts else (tokens.text(begin + (begin != arrow - 1)),)
        closing = opening - 3
        array = tokens.opening.get(closing, closing) if tokens.text(closing) == "]" else closing
        self._loops.append(_Loop(arrow, tokens.end_of(opening), first, parts, array))

    def _names(self, opening: int) -> set[str]:
        tokens = self._tokens
        return set(self._pattern(opening)) if tokens.text(opening) in ("(", "{", "[") else set()

    def _pattern(self, opening: int) -> tuple[str, ...]:
        """The names in brackets, as in `[a, b]`."""
        tokens = self._tokens
        inside = tokens.all[opening + 1 : min(tokens.end_of(opening), opening + _MOST_NAMES)]
        return tuple(text for kind, text in inside if kind == "name")

    def _look_up(self, name: str, place: int) -> Value:
        if name in self._element:
            return Value(self._element[name], place)
        bound = self._declared.get(name, place)
        if name in self._changing or bound >= place:
            return Value(UNKNOWN, place, False)
        if name not in self._values:
            self._values[name] = Value(UNKNOWN, place, False)  # for a name that is bound to itself
            self._values[name] = self._literals.read(bound)
        return self._values[name]

    def _elements(self, loop: _Loop) -> list[dict[str, Any]] | None:
        """The names of each element of a loop's array; None where it is not known."""
        array = self._literals.read_array(loop.array)
        if self._tokens.kind(loop.array) == "name":
            array = self._look_up(self._tokens.all[loop.array][1], loop.array)
        if not isinstance(array.value, list) or len(array.value) > _MOST_ELEMENTS:
            return None
        if not loop.parts:
            return [dict.fromkeys(loop.names[:1], element) for element in array.value]
        return [dict(zip(loop.names, element, strict=False)) for element in array.value if isinstance(element, list)]

    # The calls.
    def _note_site(self, place: int) -> None:
        tokens = self._tokens
        if tokens.text(place + 1) in (".", "?.") and tokens.kind(place + 2) == "name":
            tool, opening = tokens.all[place + 2][1], place + 3
        elif tokens.text(place + 1) == "[" and tokens.kind(place + 2) == "string" and tokens.text(place + 3) == "]":
            tool, opening = str(self._literals.read(place + 2).value), place + 4
        else:
            return
        opening += tokens.text(opening) == "?."
        if tokens.text(opening) == "(" and opening in tokens.closing:
            self._sites.append(_Site(tool, place, opening))

    def _read_call(self, site: _Site) -> ScriptCall:
        end = self._tokens.end_of(site.opening)
        if end == site.opening + 1:
            return ScriptCall(site.tool, None)
        argument = self._literals.read(site.opening + 1)
        if argument.value is UNKNOWN or (argument.after != end and self._tokens.text(argument.after) != ","):
            return ScriptCall(site.tool, None, whole=False)
        return ScriptCall(site.tool, argument.value, argument.whole)

    # Which text belongs to which call.
    def _prints(self) -> tuple[int, ...] | None:
        """The call of each text that is printed. A text under a condition is left out: it may be printed or not."""
        if len(self._sites) < 2:
            return tuple(0 for _ in self._sites)
        texts = list(islice(self._printing_places(), _MOST_TEXTS))
        if len(texts) == _MOST_TEXTS or sum(text in _DECLARATIONS for _, text in self._tokens.all) > _MOST_NAMES:
            return None
        if any(self._is_conditional(site.begin) for site in self._sites):
            return None
        owners = self._owners()
        found: list[int] = []
        for walk, places in groupby(texts, key=lambda each: each[0]):
            printed = [self._printed_calls(walk, begin, end, owners) for _, begin, end in places]
            if not all(printed) or (walk is None and any(len(calls) > 1 for calls in printed)):
                return None
            # Those of a loop are printed together for each of its elements.
            found += [call for calls in zip(*printed, strict=True) for call in calls] if walk else sum(printed, ())
        return tuple(found)

    def _printed_calls(
        self, walk: _Loop | None, begin: int, end: int, owners: dict[str, tuple[int, ...]]
    ) -> tuple[int, ...]:
        """The calls whose results a `text(…)` prints, each time that it runs; none where that cannot be told."""
        names = {text for kind, text in self._tokens.all[begin:end] if kind == "name"}
        if walk is not None:
            group = owners.get(self._tokens.text(walk.array), ())
            return group if len(group) > 1 and (begin == end or names & set(walk.names)) else ()
        inside = {place for place, site in enumerate(self._sites) if begin <= site.begin < end}
        return tuple(inside.union(*(owners.get(name, ()) for name in names)))

    def _owners(self) -> dict[str, tuple[int, ...]]:
        """Names with the calls whose results they hold: `a = await tools.x(…)`, `[a, b] = await Promise.all([tools.x(…), …])`."""
        found: dict[str, tuple[int, ...]] = {}
        tokens = self._tokens
        for place, (kind, text) in enumerate(tokens.all):
            if kind != "name" or text not in _DECLARATIONS:
                continue
            is_pattern = tokens.text(place + 1) in ("[", "{")
            equals = tokens.end_of(place + 1) + 1 if is_pattern else place + 2
            if tokens.text(equals) != "=":
                continue
            end = tokens.skip(equals + 1, frozenset(";"))
            end = min([end, *(each for each in range(equals, end) if tokens.text(each) in _DECLARATIONS)])
            calls = tuple(number for number, site in enumerate(self._sites) if equals < site.begin < end)
            names = self._pattern(place + 1) if is_pattern else (tokens.text(place + 1),)
            if len(calls) == len(names) and tokens.text(place + 1) == "[":
                found.update((name, (call,)) for name, call in zip(names, calls, strict=True))
            elif calls:
                found.update((name, calls) for name in names)
            else:  # what is made of results belongs to their calls
                made_of = {call for each in range(equals, end) for call in found.get(tokens.text(each), ())}
                found.update((name, tuple(sorted(made_of))) for name in names if made_of)
        return found

    def _printing_places(self) -> Iterator[tuple[_Loop | None, int, int]]:
        """Each `text(…)` that runs, with the loop around it and what is between its brackets."""
        tokens = self._tokens
        for place, (kind, text) in enumerate(tokens.all):
            if kind != "name" or text != _PRINT or tokens.text(place - 1) in (".", "?."):
                continue
            if tokens.text(place - 1) == "(" and tokens.text(place - 2) in _WALKS:  # `results.forEach(text)`
                yield _Loop(place, place, (), False, place - 4), place, place
            elif tokens.text(place + 1) == "(":
                loop = next((loop for loop in reversed(self._loops) if loop.begin < place < loop.end), None)
                if not self._is_conditional(place, loop):
                    yield loop, place + 2, tokens.end_of(place + 1)

    def _is_conditional(self, place: int, loop: _Loop | None = None) -> bool:
        """Whether what stands here may run never, or several times, apart from a loop that is known."""
        tokens = self._tokens
        while place > (loop.begin if loop is not None else -1):
            before = tokens.text(place - 1)
            if before in ("&&", "||", "??", "?", "else", "do") or (
                before == ":" and tokens.text(tokens.around[place]) != "{"
            ):
                return True
            if before == ")" and tokens.text(tokens.opening.get(place - 1, 0) - 1) in _CONDITIONS:
                return loop is None or place - 1 != loop.begin
            if before == "=>" and (loop is None or place - 1 != loop.begin):
                return True
            place = tokens.around[place]
        return False


def join_commands(inputs: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    """The arguments of one call that stands for several commands, which the argument `name` holds; empty where one has none."""
    commands = [arguments.get(name) for arguments in inputs]
    if not all(isinstance(command, str) and command for command in commands):
        return {}
    folders = {folder for arguments in inputs if isinstance(folder := arguments.get("workdir"), str)}
    return {"commands": commands, **({"workdir": folders.pop()} if len(folders) == 1 else {})}


def split_texts(printed: Sequence[int], texts: Sequence[str], number: int) -> list[list[str]] | None:
    """The printed texts of each of a number of calls; None where there are more or fewer than the script prints."""
    if len(texts) != len(printed):
        return None
    found: list[list[str]] = [[] for _ in range(number)]
    for call, text in zip(printed, texts, strict=True):
        found[call].append(text)
    return found

"""A tolerant reader of JavaScript: its tokens, which brackets belong together, and the values of literals.

It runs nothing. A value is given only if the text itself states it: strings, numbers, arrays, objects, templates, sums of texts,
and names that are bound once, to such a value. Everything else has no value (`UNKNOWN`), or is a hole (`${name}`) in a text that
is known otherwise. Any text can be read, in time proportional to its length. Knows no agent and no tool.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import msgspec

UNKNOWN: Any = object()
"""No value: the text does not state one."""
HOLE = "…"
"""In a text, the name of a part that the script computes: `${…}`."""
LONGEST = 1_000_000
"""Characters of the longest text that is read."""
_DEEPEST = 40

_TOKEN = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*(?:[^*]+|\*(?!/))*(?:\*/)?)"
    r'|(?P<string>"(?:[^"\\\n]+|\\[\s\S])*"?' r"|'(?:[^'\\\n]+|\\[\s\S])*'?)"
    r"|(?P<name>[^\W\d][\w$]*|\$[\w$]*)"
    r"|(?P<number>\d[\w.]*)"
    r"|(?P<mark>=>|\.\.\.|\?\.(?!\d)|[=!]==?|\+\+|--|&&|\|\||\?\?|[-+*%&|^<>]{1,3}=|[\s\S])"
)  # fmt: skip
_TEXT_PART = re.compile(r"(?:[^`\\$]+|\\[\s\S]|\$(?!\{))*")
_PATTERN = re.compile(r"/(?:[^/\\\[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n]){0,500}\]){1,500}/[a-z]{0,8}")
_BEFORE_PATTERN = frozenset(["return", "typeof", "case", "in", "of", "await", "else", "do", "void", "delete", "yield"])
"""Words after which a `/` begins a pattern; after any other it divides."""
_ESCAPE = re.compile(r"\\(u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|[\s\S])")
_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "0": "\0",
    "\n": "",
    "\r\n": "",
    "\u2028": "",
}
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "undefined": None}
_OPENING, _CLOSING = {"(": ")", "[": "]", "{": "}"}, frozenset(")]}")
_GOES_ON = frozenset(
    [".", "?.", "(", "[", "?", "*", "/", "%", "-", "<", ">", "=", "&", "|", "^", "&&", "||", "??", "==", "===", "!=", "!==",
     "+=", "in", "instanceof", "=>", "++", "--"]
)  # fmt: skip
"""After a literal: it is only a part of what is computed."""


Token: TypeAlias = tuple[str, str]
"""Its kind and its text: a `string`, `name`, `number`, `mark`, `pattern`, or a part of a `template` with its quotes."""


class Tokens:
    """The tokens of a script; for each bracket the one that closes or opens it, and for each token the bracket around it."""

    def __init__(self, script: str) -> None:
        self.all: list[Token] = _split(script) if len(script) <= LONGEST else []
        self.closing: dict[int, int] = {}
        self.opening: dict[int, int] = {}
        self.around: list[int] = []
        open_brackets: list[int] = []
        for place, (kind, text) in enumerate(self.all):
            bracket = kind in ("mark", "template")
            if bracket and open_brackets and (text in _CLOSING or (kind == "template" and text[0] == "}")):
                opening = open_brackets.pop()
                self.closing[opening], self.opening[place] = place, opening
            self.around.append(open_brackets[-1] if open_brackets else -1)
            if bracket and self._opens(place):
                open_brackets.append(place)

    def text(self, place: int) -> str:
        """The text of a token that is no string and no template; empty for these, and outside the script."""
        if not 0 <= place < len(self.all):
            return ""
        kind, text = self.all[place]
        return text if kind in ("name", "mark") else ""

    def kind(self, place: int) -> str:
        return self.all[place][0] if 0 <= place < len(self.all) else ""

    def end_of(self, opening: int) -> int:
        """The place where a bracket closes, or the end of the script."""
        return self.closing.get(opening, len(self.all))

    def skip(self, place: int, stops: frozenset[str]) -> int:
        """The place of the next token in `stops` outside any brackets, or of the bracket that closes what is around."""
        while place < len(self.all):
            kind, text = self.all[place]
            if (kind == "mark" and (text in stops or text in _CLOSING)) or (kind == "template" and text[0] == "}"):
                return place
            while place < len(self.all) and self._opens(place):
                place = self.end_of(place)
            place += 1
        return min(place, len(self.all))

    def _opens(self, place: int) -> bool:
        kind, text = self.all[place]
        return text in _OPENING if kind == "mark" else kind == "template" and text.endswith("${")


def _split(script: str) -> list[Token]:
    found: list[Token] = []
    braces: list[bool] = []
    """The open braces; true for those of a template."""
    place, end = 0, len(script)
    while place < end:
        character = script[place]
        if character == "`" or (character == "}" and braces and braces[-1]):
            if character == "}":
                braces.pop()
            part = _TEXT_PART.match(script, place + 1)
            stop = part.end() if part else end
            stop += 2 if script.startswith("${", stop) else 1
            if script[stop - 1 : stop] == "{":
                braces.append(True)
            found.append(("template", script[place:stop]))
            place = stop
            continue
        if character == "/" and (pattern := _pattern_at(script, place, found)):
            found.append(("pattern", pattern))
            place += len(pattern)
            continue
        match = _TOKEN.match(script, place)
        if match is None:  # cannot be: the last alternative takes any character
            break
        place, kind = match.end(), str(match.lastgroup)
        if kind == "space":
            continue
        found.append((kind, match[0]))
        if character == "{":
            braces.append(False)
        elif character == "}" and braces:
            braces.pop()
    return found


def _pattern_at(script: str, place: int, before: list[Token]) -> str:
    """The regular expression that begins here; empty where the `/` divides or begins a comment."""
    if script.startswith(("//", "/*"), place):
        return ""
    if before:
        kind, text = before[-1]
        if kind in ("string", "number", "template", "pattern") or text in (")", "]", "}"):
            return ""
        if kind == "name" and text not in _BEFORE_PATTERN:
            return ""
    match = _PATTERN.match(script, place)
    return match[0] if match else ""


def unescape(text: str) -> str:
    """What a text between quotes means."""
    if "\\" not in text:
        return text
    try:
        meant = msgspec.json.decode(f'"{text}"', type=str)
    except (msgspec.DecodeError, UnicodeEncodeError):
        meant = _ESCAPE.sub(_meaning, text)
    try:
        meant.encode()
    except UnicodeEncodeError:  # halves of a pair, written as two escapes
        meant = meant.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return meant


def _meaning(match: "re.Match[str]") -> str:
    escape = match[1]
    if len(escape) > 2 or (len(escape) == 2 and escape != "\r\n"):
        number = int(escape[1:].strip("{}"), 16)
        return chr(number) if number < 0x110000 else "\ufffd"
    return _ESCAPES.get(escape, escape)


class Value(NamedTuple):
    """A value, and the place after it; `whole` is false where a part of it is not known."""

    value: Any
    after: int
    whole: bool = True


Lookup = Callable[[str, int], Value]
"""The value of a name that stands at a place."""
_NO_VALUE = Value(UNKNOWN, 0, False)
_ENDS, _TERM_ENDS = frozenset([",", ";"]), frozenset([",", ";", "+"])


def no_names(name: str, place: int) -> Value:
    """A lookup that knows no names."""
    return _NO_VALUE


class Literals:
    """Reads the values of a script's literals; `lookup` gives those of names."""

    def __init__(self, tokens: Tokens, lookup: Lookup = no_names, depth: int = 0) -> None:
        self._tokens = tokens
        self._lookup = lookup
        self._depth = depth

    def read(self, place: int) -> Value:
        """The value of the expression that begins at a place. A sum of texts may have holes; without any text it is unknown."""
        if self._depth >= _DEEPEST:
            return _NO_VALUE
        self._depth += 1
        try:
            return self._sum(place)
        finally:
            self._depth -= 1

    def read_array(self, place: int) -> Value:
        """The array whose bracket stands at a place, whatever is done with it."""
        return self._array(place) if self._tokens.text(place) == "[" and place in self._tokens.closing else _NO_VALUE

    def _sum(self, place: int) -> Value:
        parts: list[Value] = []
        while True:
            part = self._term(place)
            if part.value is UNKNOWN or self._tokens.text(part.after) in _GOES_ON:
                after = self._tokens.skip(place, _TERM_ENDS)
                part = Value(UNKNOWN, after, False)
                if any(self._tokens.text(each) == "?" for each in range(place, min(after, place + 200))):
                    return _NO_VALUE
            parts.append(part)
            if self._tokens.text(part.after) != "+":
                break
            place = part.after + 1
        if len(parts) == 1:
            return parts[0]
        if not any(isinstance(part.value, str) for part in parts):
            return _NO_VALUE
        whole = all(part.whole and isinstance(part.value, str | int | float) for part in parts)
        return Value("".join(_as_text(part.value) for part in parts), parts[-1].after, whole)

    def _term(self, place: int) -> Value:
        kind, text = self._tokens.all[place] if place < len(self._tokens.all) else ("", "")
        if kind == "string":
            closed = len(text) > 1 and text[-1] == text[0]
            return self._of_text(Value(unescape(text[1:-1]), place + 1)) if closed else _NO_VALUE
        if kind == "template":
            return self._of_text(self._template(place, raw=False))
        if kind == "number":
            return _number(text, place)
        if kind == "name":
            if (
                text == "String"
                and self._tokens.text(place + 2) == "raw"
                and self._tokens.kind(place + 3) == "template"
            ):
                return self._template(place + 3, raw=True)
            if text in _WORDS:
                return Value(_WORDS[text], place + 1)
            return self._lookup(text, place)._replace(after=place + 1)
        if text == "(" and place in self._tokens.closing:
            inner = self.read(place + 1)
            end = self._tokens.end_of(place)
            return Value(inner.value, end + 1, inner.whole) if inner.after == end else _NO_VALUE
        if text == "-" and self._tokens.kind(place + 1) == "number":
            number = _number(self._tokens.all[place + 1][1], place + 1)
            return number if number.value is UNKNOWN else number._replace(value=-number.value)
        if text == "[" and place in self._tokens.closing:
            return self._of_array(self._array(place))
        return self._object(place) if text == "{" and place in self._tokens.closing else _NO_VALUE

    def _template(self, place: int, raw: bool) -> Value:
        parts: list[str] = []
        whole = True
        while True:
            text = self._tokens.all[place][1]
            closed = text.endswith("`") and len(text) > 1
            inner = text[1:-2] if text.endswith("${") else text[1 : len(text) - closed]
            parts.append(inner if raw else unescape(inner))
            if not text.endswith("${"):
                return Value("".join(parts), place + 1, whole) if closed else _NO_VALUE
            end = self._tokens.end_of(place)
            if end >= len(self._tokens.all):
                return _NO_VALUE
            part = self.read(place + 1)
            if part.value is UNKNOWN or part.after != end:
                name = self._tokens.text(place + 1) if end == place + 2 else ""
                part = Value(f"${{{name or HOLE}}}", end, False)
            whole = whole and part.whole
            parts.append(_as_text(part.value))
            place = end

    def _of_text(self, value: Value) -> Value:
        """A text after calls that leave it as it is but for the spaces at its ends."""
        while (
            self._tokens.text(value.after) == "."
            and self._tokens.text(value.after + 1) in ("trim", "trimStart", "trimEnd")
            and self._tokens.text(value.after + 2) == "("
            and self._tokens.text(value.after + 3) == ")"
        ):
            how = {"trim": str.strip, "trimStart": str.lstrip, "trimEnd": str.rstrip}[
                self._tokens.text(value.after + 1)
            ]
            value = Value(how(value.value), value.after + 4, value.whole) if isinstance(value.value, str) else _NO_VALUE
        return value

    def _of_array(self, value: Value) -> Value:
        """An array, or the text that `.join("…")` makes of it."""
        tokens, after = self._tokens, value.after
        if tokens.text(after) != "." or tokens.text(after + 1) != "join" or tokens.kind(after + 3) != "string":
            return value
        glue = self._term(after + 3)
        if not isinstance(value.value, list) or tokens.text(after + 4) != ")" or not isinstance(glue.value, str):
            return _NO_VALUE
        joined = glue.value.join(_as_text(each) for each in value.value)
        return self._of_text(Value(joined, after + 5, value.whole))

    def _array(self, place: int) -> Value:
        found: list[Any] = []
        whole = True
        end = self._tokens.end_of(place)
        place += 1
        while place < end:
            spread = self._tokens.text(place) == "..."
            each, place = self._element(place + spread)
            whole = whole and each.whole
            if spread and isinstance(each.value, list):
                found.extend(each.value)
            elif spread or each.value is UNKNOWN:
                return _NO_VALUE  # its length is not known, or not what is in it
            else:
                found.append(each.value)
        return Value(found, end + 1, whole)

    def _element(self, place: int) -> tuple[Value, int]:
        """The value at a place up to the next comma, and the place after that."""
        value = self.read(place)
        end = self._tokens.skip(value.after if value.value is not UNKNOWN else place, _ENDS)
        if value.value is not UNKNOWN and end != value.after:
            value = _NO_VALUE
        return value, end + (self._tokens.text(end) in _ENDS)

    def _object(self, place: int) -> Value:
        """An object; members that are not known are left out, and then it is not whole."""
        found: dict[str, Any] = {}
        whole = True
        end = self._tokens.end_of(place)
        place += 1
        while place < end:
            kind, text = self._tokens.all[place]
            colon = self._tokens.text(place + 1) == ":"
            key: Any = text if kind in ("name", "number") else self._term(place).value if kind == "string" else UNKNOWN
            if text == "..." and kind == "mark":
                each, place = self._element(place + 1)
                if isinstance(each.value, Mapping):
                    found.update(each.value)
                whole = whole and each.whole and isinstance(each.value, Mapping)
                continue
            each, place = self._element(place + 2) if colon else self._element(place)
            if not isinstance(key, str) or each.value is UNKNOWN or (not colon and kind != "name"):
                whole = False
                found.pop(key, None) if isinstance(key, str) else None
                continue
            found[key] = each.value
            whole = whole and each.whole
        return Value(found, end + 1, whole)


_WHOLE, _FRACTION = (
    re.compile(r"(?:0[xX][0-9a-fA-F]+|0|[1-9]\d*)\Z"),
    re.compile(r"(?:0|[1-9]\d*)(?:\.\d*)?(?:[eE]\d{1,2})?\Z"),
)
_LONGEST_NUMBER = 18


def _number(text: str, place: int) -> Value:
    plain = text.replace("_", "")
    if len(plain) > _LONGEST_NUMBER:
        return _NO_VALUE
    if _WHOLE.match(plain):
        return Value(int(plain, 0), place + 1)
    return Value(float(plain), place + 1) if _FRACTION.match(plain) else _NO_VALUE


def _as_text(value: Any) -> str:
    """A value as a sum of texts has it; what is not known is a hole."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return str(value)
    return f"${{{HOLE}}}"

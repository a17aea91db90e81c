"""How likely a command is after a prompt, and what the model writes by itself. Knows no task, arm or file.

- Log-likelihoods come from raw logits: token t is scored with the logits after token t-1 (the helpers of a well-known
  binding are off by one).
- Only tokens of the command are scored; the quotation mark that closes the JSON is format and stays out.
- The prompt's tokens must be a prefix of those of prompt and command, else the span would shift: `Shifted` is raised.
- Whether every token of the command is the most likely one is kept beside the greedy text: the two must agree.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy
from numpy.typing import NDArray

from study.errors import Shifted

MOST_EXTRA = 12
"""Tokens that a text may go on beyond those of the command."""
MOST_ASTRAY = 8
"""Tokens that a text may go on after it has left the command: it is a miss, these show in which way."""


class Model(Protocol):
    """What scoring needs of a model."""

    def tokens(self, text: str) -> list[int]: ...
    def piece(self, token: int) -> bytes: ...
    def ends(self, token: int) -> bool: ...
    def hold(self, prefix: Sequence[int]) -> None: ...
    def after(self, tokens: Sequence[int], keep: int) -> NDArray[numpy.float64]: ...
    def cut(self, length: int) -> None: ...


class Prompt(NamedTuple):
    """The tokens of a prompt in its two parts, and of the command; each found to stand where it should."""

    prefix: tuple[int, ...]
    suffix: tuple[int, ...]
    command: tuple[int, ...]


class Score(NamedTuple):
    """What came of one prompt."""

    nll: tuple[float, ...]
    """Nats of each token of the command."""
    argmax: bool
    """Whether each of them was the most likely one."""
    text: str
    """What the model writes by itself, up to the closing mark or as far as was wanted."""
    closed: bool
    """Whether it wrote the closing mark."""
    astray: bool
    """Whether the text has left the command. The same text can be written in other tokens: that alone is no miss."""


def split_prompt(model: Model, prefix: str, suffix: str, command: str) -> Prompt:
    first, second = model.tokens(prefix), model.tokens(suffix)
    asked = [*first, *second]
    if model.tokens(prefix + suffix) != asked:
        raise Shifted("a token straddles the end of the prefix")
    whole = model.tokens(prefix + suffix + command)
    if whole[: len(asked)] != asked or len(whole) == len(asked):
        raise Shifted(f"a token straddles the beginning of `{command[:40]}`")
    return Prompt(tuple(first), tuple(second), tuple(whole[len(asked) :]))


def score(model: Model, of: Prompt, most: int = 0) -> Score:
    """Score the command, and find what the model would write: the command as far as its tokens are the most likely ones (they
    need not be worked on again), from there on token by token. `most` 0: as far as is needed to tell whether it is the
    command; more: so many tokens; -1: nothing is written."""
    model.hold(of.prefix)
    logits = model.after([*of.suffix, *of.command[:-1]], keep=len(of.command))
    nll = tuple(token_nats(row, token) for row, token in zip(logits, of.command, strict=True))
    best = [int(row.argmax()) for row in logits]
    same = next((place for place, token in enumerate(best) if token != of.command[place]), len(best))
    text, closed = "", False
    wanted = b"".join(model.piece(token) for token in of.command)
    if most >= 0:
        start = b"".join(model.piece(token) for token in of.command[:same])
        if same < len(best):
            model.cut(len(of.prefix) + len(of.suffix) + same)
            follows = best[same]
        else:
            follows = int(model.after([of.command[-1]], keep=1)[0].argmax())
        text, closed = _written(model, follows, most - same if most else 0, start, wanted)
    model.cut(len(of.prefix))
    return Score(nll, same == len(best), text, closed, not wanted.startswith(text.encode()))


def write_stepwise(model: Model, of: Prompt, most: int = 0) -> tuple[str, bool]:
    """What the model writes, every token worked on by itself."""
    model.hold(of.prefix)
    row = model.after(of.suffix, keep=1)[0]
    found = _written(model, int(row.argmax()), most or len(of.command) + MOST_EXTRA)
    model.cut(len(of.prefix))
    return found


def token_nats(row: NDArray[numpy.float64], token: int) -> float:
    """What a token costs, by the logits before it."""
    top = float(row.max())
    return top + float(numpy.log(numpy.exp(row - top).sum())) - float(row[token])


def _written(model: Model, token: int, most: int, start: bytes = b"", wanted: bytes = b"") -> tuple[str, bool]:
    """Go on until the closing mark: at most so many tokens, or (with `most` 0) while the text is still the wanted one or its
    beginning, and a little longer."""
    data, left = start, most or MOST_EXTRA + len(wanted)
    astray = MOST_ASTRAY
    while left > 0:
        if model.ends(token):
            return _text(data), False
        data += model.piece(token)
        place = _closing(data)
        if place is not None:
            return _text(data[:place]), True
        left -= 1
        if not most and not wanted.startswith(data):
            astray -= 1
            if not astray:
                break
        token = int(model.after([token], keep=1)[0].argmax())
    return _text(data), False


def _closing(data: bytes) -> int | None:
    """Where the first quotation mark stands that no backslash escapes."""
    place, escaped = 0, False
    for place, byte in enumerate(data):
        if escaped:
            escaped = False
        elif byte == 0x5C:
            escaped = True
        elif byte == 0x22:
            return place
    return None


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")

"""A small model to test with: its tokens are words and marks, and it continues a text as it was told to. Knows no study."""

import re
from collections.abc import Sequence

import numpy
from numpy.typing import NDArray

_PIECES = re.compile(r"<\|[a-z_]+\|>|\s?[A-Za-z0-9]+|\s|[^\sA-Za-z0-9]")
SIZE = 4000


class ScriptedModel:
    """Says `answers[prompt's end]`, with most of the weight on the next token of it.

    `merges` are texts that are one token wherever they stand: with one a border can fall into a token. `splits` are tokens
    that it writes as two, though they are read as one.
    """

    def __init__(
        self,
        answers: dict[str, str] | None = None,
        merges: Sequence[str] = (),
        splits: dict[str, tuple[str, str]] | None = None,
    ) -> None:
        self.answers = answers or {}
        self._splits = splits or {}
        self._pieces = re.compile("|".join([*map(re.escape, merges), _PIECES.pattern]))
        self._numbers: dict[str, int] = {"<end>": 0}
        self._names = ["<end>"]
        self.held: list[int] = []
        self.worked_on = 0

    def tokens(self, text: str) -> list[int]:
        return [self._number(piece) for piece in self._pieces.findall(text)]

    def _number(self, piece: str) -> int:
        if piece not in self._numbers:
            self._numbers[piece] = len(self._names)
            self._names.append(piece)
        return self._numbers[piece]

    def piece(self, token: int) -> bytes:
        return self._names[token].encode()

    def ends(self, token: int) -> bool:
        return token == 0

    def hold(self, prefix: Sequence[int]) -> None:
        if self.held[: len(prefix)] != list(prefix):
            self.held = []
            self._add(prefix)
        del self.held[len(prefix) :]

    def after(self, tokens: Sequence[int], keep: int) -> NDArray[numpy.float64]:
        rows = []
        for place, token in enumerate(tokens):
            self._add([token])
            if place >= len(tokens) - keep:
                rows.append(self._row())
        return numpy.array(rows) if rows else numpy.zeros((0, SIZE))

    def cut(self, length: int) -> None:
        del self.held[length:]

    def _add(self, tokens: Sequence[int]) -> None:
        self.held += tokens
        self.worked_on += len(tokens)

    def _row(self) -> NDArray[numpy.float64]:
        """Weight e on the next token of the answer, 1 on every other; the logits are off by a constant, as real ones are."""
        row = numpy.full(SIZE, 7.0)
        row[self._next()] = 8.0
        return row

    def _next(self) -> int:
        text = "".join(self._names[token] for token in self.held)
        for asked, answer in self.answers.items():
            place = text.rfind(asked)
            if place >= 0:
                said = (
                    text[text.index('"command": "', place) + len('"command": "') :]
                    if '"command": "' in text[place:]
                    else ""
                )
                rest = answer[len(said) :] if answer.startswith(said) else ""
                for whole, halves in self._splits.items():
                    if rest.startswith(whole):
                        return self._number(halves[0])
                    if said.endswith(halves[0]) and rest.startswith(halves[1]):
                        return self._number(halves[1])
                found = self.tokens(rest)
                return found[0] if found else 0
        return 0

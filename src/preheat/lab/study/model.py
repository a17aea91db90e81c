"""A local model (tokens, raw logits, a cache of the prefix), and the score of a command after a prompt. Knows no task and no arm.

Needs `ik_llama_cpp`, which only the study's own environment has; it is imported when a model is opened. Token t is scored
with the raw logits after token t-1; only tokens of the command are scored; the prompt's tokens must be a prefix of those of
prompt and command.
"""

import ctypes
import importlib
import os
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy
from numpy.typing import NDArray

from preheat.lab.study.errors import TokenBorderError

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
    tokens = [*first, *second]
    if model.tokens(prefix + suffix) != tokens:
        raise TokenBorderError("a token straddles the end of the prefix")
    whole = model.tokens(prefix + suffix + command)
    if whole[: len(tokens)] != tokens or len(whole) == len(tokens):
        raise TokenBorderError(f"a token straddles the beginning of `{command[:40]}`")
    return Prompt(tuple(first), tuple(second), tuple(whole[len(tokens) :]))


def score(model: Model, prompt: Prompt, most: int = 0) -> Score:
    """Score the command, and find what the model would write: the command as far as its tokens are the most likely ones (they
    need not be worked on again), from there on token by token. `most` 0: as far as is needed to tell whether it is the
    command; more: so many tokens; -1: nothing is written."""
    model.hold(prompt.prefix)
    logits = model.after([*prompt.suffix, *prompt.command[:-1]], keep=len(prompt.command))
    nll = tuple(token_nats(row, token) for row, token in zip(logits, prompt.command, strict=True))
    best = [int(row.argmax()) for row in logits]
    same = next((place for place, token in enumerate(best) if token != prompt.command[place]), len(best))
    text, closed = "", False
    wanted = b"".join(model.piece(token) for token in prompt.command)
    if most >= 0:
        start = b"".join(model.piece(token) for token in prompt.command[:same])
        if same < len(best):
            model.cut(len(prompt.prefix) + len(prompt.suffix) + same)
            follows = best[same]
        else:
            follows = int(model.after([prompt.command[-1]], keep=1)[0].argmax())
        text, closed = _continue_text(model, follows, most - same if most else 0, start, wanted)
    model.cut(len(prompt.prefix))
    return Score(nll, same == len(best), text, closed, not wanted.startswith(text.encode()))


def write_stepwise(model: Model, prompt: Prompt, most: int = 0) -> tuple[str, bool]:
    """What the model writes, every token worked on by itself."""
    model.hold(prompt.prefix)
    row = model.after(prompt.suffix, keep=1)[0]
    found = _continue_text(model, int(row.argmax()), most or len(prompt.command) + MOST_EXTRA)
    model.cut(len(prompt.prefix))
    return found


def token_nats(row: NDArray[numpy.float64], token: int) -> float:
    """What a token costs, by the logits before it."""
    top = float(row.max())
    return top + float(numpy.log(numpy.exp(row - top).sum())) - float(row[token])


def _continue_text(model: Model, token: int, most: int, start: bytes = b"", wanted: bytes = b"") -> tuple[str, bool]:
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


# A local model.
Logits = NDArray[numpy.float64]
CONTEXT = 6144
"""Tokens that fit; the longest prompt of the study has about 3,500."""
SMALL = 31
"""Tokens at once after the prefix. Below 32 this runtime gives, bit for bit, what it gives token by token; from 32 on it uses
other kernels, which differ a little for Q4_K_M and are plainly wrong for Q4_1 (see `run.check_kept_prefix`)."""
LARGE = 256
"""Tokens of a prefix at once, where `run.check_kept_prefix` has found that the difference is small."""


class Engine:
    """One model file with a fixed number of threads."""

    def __init__(self, path: str, threads: int = 1, chunk: int = LARGE) -> None:
        if not os.path.exists(path):
            raise FileNotFoundError(f"no model file `{path}`; `python -m preheat.lab.study fetch DIR` gets one")
        self.path, self.threads, self.chunk = path, threads, chunk
        with _Quiet():
            inner = importlib.import_module("ik_llama_cpp._internals")
            self._api: Any = importlib.import_module("ik_llama_cpp._ctypes_api")
            self._make = inner.make_batch_range
            self._model = inner.IkModel(path)
            self._context = inner.IkContext(self._model, n_ctx=CONTEXT, n_threads=threads, flash_attn=False)
        self._forget = self._api._lib.llama_kv_cache_seq_rm
        self._forget.argtypes = [ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32, ctypes.c_int32]
        self._forget.restype = ctypes.c_bool
        self.vocabulary: int = self._model.n_vocab
        self._pieces: dict[int, bytes] = {}
        self._held: list[int] = []
        self.evaluated = 0
        """Tokens that were really worked on."""

    def tokens(self, text: str) -> list[int]:
        return list(self._model.tokenize(text, add_bos=False, special=True))

    def piece(self, token: int) -> bytes:
        """The bytes of a token; nothing for one that only marks."""
        if token not in self._pieces:
            buffer = ctypes.create_string_buffer(256)
            size = self._api.llama_token_to_piece(self._model.model, token, buffer, 256, 0, False)
            self._pieces[token] = buffer.raw[: max(0, size)]
        return self._pieces[token]

    def ends(self, token: int) -> bool:
        return bool(self._api.llama_token_is_eog(self._model.model, token))

    def template(self) -> str:
        """The chat template in the model file."""
        ask = self._api._lib.llama_model_meta_val_str
        ask.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
        ask.restype = ctypes.c_int32
        buffer = ctypes.create_string_buffer(65536)
        size = ask(self._model.model, b"tokenizer.chat_template", buffer, 65536)
        return buffer.raw[: max(0, size)].decode()

    def reset(self) -> None:
        """Forget everything, the kept prefix too."""
        self._context.kv_cache_clear()
        self._held = []

    def hold(self, prefix: Sequence[int]) -> None:
        """Have exactly this in the cache. What is there already stays."""
        wanted = list(prefix)
        if self._held[: len(wanted)] == wanted:
            self._cut(len(wanted))
            return
        self.reset()
        self._decode(wanted, 0, self.chunk)

    def after(self, tokens: Sequence[int], keep: int) -> Logits:
        """Add tokens; the logits after each of the last `keep` of them."""
        return self._decode(list(tokens), keep, SMALL)

    def cut(self, length: int) -> None:
        """Go back to the first `length` tokens."""
        self._cut(length)

    @property
    def length(self) -> int:
        return len(self._held)

    def _cut(self, length: int) -> None:
        if length < len(self._held):
            if not self._forget(self._context.ctx, 0, length, -1):
                raise RuntimeError("the runtime could not forget a part of its cache")
            del self._held[length:]

    def _decode(self, tokens: list[int], keep: int, size: int) -> Logits:
        if len(self._held) + len(tokens) > CONTEXT:
            raise ValueError(f"a prompt of {len(self._held) + len(tokens):,} tokens does not fit into {CONTEXT:,}")
        rows: list[NDArray[numpy.float32]] = []
        first_kept = len(tokens) - keep
        for start in range(0, len(tokens), size):
            chunk = tokens[start : start + size]
            batch = self._make(chunk, pos_start=len(self._held), logits_last=False)
            wanted = [place for place in range(len(chunk)) if start + place >= first_kept]
            for place in wanted:
                batch.logits[place] = 1
            failed = self._context.decode(batch)
            self._api.llama_batch_free(batch)
            if failed:
                raise RuntimeError(f"the runtime failed on {len(chunk)} tokens ({failed})")
            for place in wanted:
                row = numpy.ctypeslib.as_array(self._context.get_logits(place), shape=(self.vocabulary,))
                rows.append(row.copy())
            self._held += chunk
        self.evaluated += len(tokens)
        if not rows:
            return numpy.zeros((0, self.vocabulary))
        return numpy.stack(rows).astype(numpy.float64)


class _Quiet:
    """The runtime talks a lot on standard error while it loads."""

    def __enter__(self) -> None:
        self._kept = os.dup(2)
        self._null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(self._null, 2)

    def __exit__(self, *_: object) -> None:
        os.dup2(self._kept, 2)
        os.close(self._kept)
        os.close(self._null)

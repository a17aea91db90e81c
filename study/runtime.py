"""A local model: tokens, raw logits, and a cache of the prefix that is kept between tasks. Knows no task and no arm.

Needs `ik_llama_cpp`, which only the study's own environment has; it is imported when a model is opened.
"""

import ctypes
import importlib
import os
from collections.abc import Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

Logits = NDArray[numpy.float64]
CONTEXT = 6144
"""Tokens that fit; the longest prompt of the study has about 3,500."""
SMALL = 31
"""Tokens at once after the prefix. Below 32 this runtime gives, bit for bit, what it gives token by token; from 32 on it uses
other kernels, which differ a little for Q4_K_M and are plainly wrong for Q4_1 (see `check`)."""
LARGE = 256
"""Tokens of a prefix at once, where `check` has found that the difference is small."""


class Engine:
    """One model file with a fixed number of threads."""

    def __init__(self, path: str, threads: int = 1, chunk: int = LARGE) -> None:
        if not os.path.exists(path):
            raise FileNotFoundError(f"no model file `{path}`; `python -m study fetch DIR` gets one")
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

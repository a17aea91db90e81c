"""The full-text index over the passages: FTS5 in SQLite, text vectors with a GIN index in PostgreSQL.

Both know words as runs of letters and digits, without case and accents. Plain SQL, as in `writer.py`. Knows nothing of filters
or of what a search shows.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from preheat.archive.database import ArchiveConnection
from preheat.archive.rows import Passage
from preheat.errors import UserError

_SEPARATORS = re.compile(r"[\W_]+")
_NEWEST_AT_ONCE = 2_000
"""Passages that PostgreSQL looks at first, the newest: a search for a rare word ends with them."""
_AT_ONCE = 200
"""Blocks that it gives at once after them."""


class FoundPassage(NamedTuple):
    """A passage that holds the words."""

    number: int
    block: int
    """The row of the table `passages` that it is in: its number is that of the row's first passage."""
    session: int


# Writing. The caller holds the transaction.
def index_passages(
    connection: ArchiveConnection, block: int, passages: Sequence[Passage], first: int | None = None
) -> None:
    """Index passages of a block: they have the numbers from that of the block on, or from `first`."""
    numbers = range(block if first is None else first, (block if first is None else first) + len(passages))
    if connection.kind == "sqlite":
        connection.executemany(
            "INSERT INTO passages_index (rowid, text) VALUES (?, ?)",
            [(number, passage.text) for number, passage in zip(numbers, passages, strict=True)],
        )
    else:
        connection.execute(
            "INSERT INTO passages_index (rowid, block, text) SELECT number, ?, to_tsvector('simple', words) "
            "FROM unnest(CAST(? AS bigint[]), CAST(? AS text[])) AS passages (number, words)",
            (block, list(numbers), [fold_words(passage.text) for passage in passages]),
        )


def unindex_passages(connection: ArchiveConnection, first: int, passages: Sequence[Passage]) -> None:
    """Take passages out of the index: FTS5 needs their texts for that."""
    if connection.kind == "sqlite":
        connection.executemany(
            "INSERT INTO passages_index (passages_index, rowid, text) VALUES ('delete', ?, ?)",
            [(first + index, passage.text) for index, passage in enumerate(passages)],
        )
    else:
        connection.execute("DELETE FROM passages_index WHERE rowid >= ? AND rowid < ?", (first, first + len(passages)))


def forget_words(connection: ArchiveConnection) -> None:
    """Make that the index holds no word of what was taken out of it, at the latest when free pages are overwritten."""
    if connection.kind == "sqlite":
        connection.execute("INSERT INTO passages_index (passages_index) VALUES ('optimize')")


# Searching.
def find_best(connection: ArchiveConnection, words: str) -> Iterator[FoundPassage]:
    """Passages that hold all the words, the best first. Words in double quotes form a phrase; `*` ends a prefix. Raises
    UserError if there is no word."""
    if connection.kind != "sqlite":
        rows = connection.execute(_BEST, (tsquery_expression(words),))
        yield from map(FoundPassage._make, rows)
        return
    rows = connection.execute(
        "SELECT rowid FROM passages_index WHERE passages_index MATCH ? ORDER BY rank", (match_expression(words),)
    )
    for (number,) in rows:
        if found := _find_block(connection, number):
            yield found


def find_newest(connection: ArchiveConnection, words: str) -> Iterator[FoundPassage]:
    """Of each block with a passage that holds all the words the newest such passage, the newest block first."""
    return _find_newest_fts5(connection, words) if connection.kind == "sqlite" else _find_newest_gin(connection, words)


def _find_newest_fts5(connection: ArchiveConnection, words: str) -> Iterator[FoundPassage]:
    rows = connection.execute(
        "SELECT rowid FROM passages_index WHERE passages_index MATCH ? ORDER BY rowid DESC", (match_expression(words),)
    )
    first = 0
    for (number,) in rows:
        if first and number >= first:
            continue  # another passage of the block that was looked up last
        if found := _find_block(connection, number):
            first = found.block
            yield found


_BEST = """
SELECT passages_index.rowid, block, session_id FROM to_tsquery('simple', ?) query
JOIN passages_index ON passages_index.text @@ query JOIN passages ON passages.id = block
ORDER BY ts_rank(passages_index.text, query) DESC, passages_index.rowid
"""
_NEWEST = """
SELECT found.number, found.block, session_id FROM (
  SELECT max(rowid) AS number, block FROM
    (SELECT rowid, block FROM passages_index WHERE text @@ to_tsquery('simple', ?1) ORDER BY rowid DESC LIMIT ?2) newest
  GROUP BY block
) found JOIN passages ON passages.id = found.block ORDER BY 1 DESC
"""
_OLDER = """
WITH RECURSIVE found AS (
  SELECT CAST(?2 AS bigint) AS number, CAST(?2 AS bigint) AS block
  UNION ALL
  SELECT next.rowid, next.block FROM found JOIN LATERAL (
    SELECT rowid, block FROM passages_index WHERE text @@ to_tsquery('simple', ?1) AND rowid < found.block
    ORDER BY rowid DESC LIMIT 1
  ) next ON true
) SELECT number, block, session_id FROM
  (SELECT number, block FROM found OFFSET 1 LIMIT ?3) found JOIN passages ON passages.id = found.block ORDER BY 1 DESC
"""
"""From block to block, each with its newest passage: a word that many passages have costs no more than what is looked at."""


def _find_newest_gin(connection: ArchiveConnection, words: str) -> Iterator[FoundPassage]:
    expression = tsquery_expression(words)
    found = [FoundPassage._make(row) for row in connection.execute(_NEWEST, (expression, _NEWEST_AT_ONCE))]
    yield from found
    while found:  # a block may go on behind the end of what was given at once, and is not given again
        found = [FoundPassage._make(row) for row in connection.execute(_OLDER, (expression, found[-1].block, _AT_ONCE))]
        yield from found


def _find_block(connection: ArchiveConnection, number: int) -> FoundPassage | None:
    row = connection.execute(
        "SELECT id, session_id FROM passages WHERE id <= ? ORDER BY id DESC LIMIT 1", (number,)
    ).fetchone()
    return FoundPassage(number, row[0], row[1]) if row else None


# A person's words.
class _Term(NamedTuple):
    """Words that follow each other; the last one may be the beginning of one."""

    text: str
    is_prefix: bool = False


def _split_terms(words: str) -> list[_Term]:
    """A person's words and phrases, in which nothing is taken for an operator. Raises UserError if there are none."""
    terms: list[_Term] = []
    for index, piece in enumerate(words.split('"')):
        if index % 2:
            terms.append(_Term(piece))
        else:
            terms += [_Term(word[:-1], True) if word.endswith("*") else _Term(word) for word in piece.split()]
    found = [term for term in terms if any(letter.isalnum() for letter in term.text)]
    if not found:
        raise UserError(f"there is no word to search for in `{words}`")
    return found


def match_expression(words: str) -> str:
    """A person's words as a query of FTS5."""
    return " ".join(f'"{term.text}" *' if term.is_prefix else f'"{term.text}"' for term in _split_terms(words))


def tsquery_expression(words: str) -> str:
    """A person's words as a query of PostgreSQL's text search."""
    parts = []
    for term in _split_terms(words):
        follow = " <-> ".join(fold_words(term.text).split())
        parts.append(f"({follow}:*)" if term.is_prefix else f"({follow})")
    return " & ".join(parts)


def fold_words(text: str) -> str:
    """The words of a text with blanks between them, as FTS5 knows them: PostgreSQL would take paths and addresses for one."""
    if not text.isascii():
        text = "".join(each for each in unicodedata.normalize("NFD", text) if unicodedata.category(each) != "Mn")
        text = unicodedata.normalize("NFC", text)
    return _SEPARATORS.sub(" ", text.lower())

"""Gathers what an index says about a prompt, into one value. Knows the tables; ranks nothing."""

import heapq
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import msgspec

from preheat.model.tree import FileEvidence, NamedBy, Symbol, SymbolMatch, TreeEvidence
from preheat.terms import split, symbol_key
from preheat.tree.history import History
from preheat.tree.postings import Reader
from preheat.tree.prompt import PromptParts, read_prompt
from preheat.tree.scores import Lengths, Ranking, score
from preheat.tree.update import CONTENT, PATH, SYMBOL

_BEST_CONTENTS, _BEST_PATHS, _MOST_RELATED, _MOST_RECENT, _MOST_BY_TITLE = 60, 40, 30, 30, 40
"""How many files each measure brings in."""
_MOST_DEFINITIONS = 30
"""Files that define a symbol of one name; more say nothing about where the work is."""
_MOST_NAMED = 20
"""Files that one mention may mean."""
_MOST_SYMBOL_FILES = 80
_MOST_SYMBOLS = 8
_MOST_WORDS = 5
_WITH_TESTS = 12
_MOST_FILE_TESTS = 3

FindTests = Callable[[sqlite3.Connection, str], list[str]]


class Knowledge(NamedTuple):
    """What is kept in memory for look-ups, of one state of the database."""

    connection: sqlite3.Connection
    root: str
    file_count: int
    contents: Lengths
    paths: Lengths
    history: History


class _Row(NamedTuple):
    path: str
    document: int
    language: str
    is_test: bool
    symbols: bytes


def gather(knowledge: Knowledge, prompt: str, touched: Sequence[str], find_tests: FindTests) -> TreeEvidence:
    """What the index says about a prompt and the files touched before it."""
    parts = read_prompt(prompt)
    connection, reader = knowledge.connection, Reader(knowledge.connection)
    contents = score(reader, parts.terms, CONTENT, knowledge.contents)
    paths = score(reader, parts.terms, PATH, knowledge.paths)
    best_contents, best_paths = contents.best(_BEST_CONTENTS), paths.best(_BEST_PATHS)
    named = _find_named(connection, parts, knowledge.root)
    definitions = _find_definitions(reader, parts.keys, knowledge.contents)
    related = knowledge.history.changed_with(touched)
    titles = knowledge.history.score_by_titles(parts.terms)
    rows = _load_rows(
        connection,
        [*best_contents, *best_paths, *definitions.best(_MOST_SYMBOL_FILES)],
        [
            *named,
            *(path for path, _ in related.most_common(_MOST_RELATED)),
            *knowledge.history.most_recent(_MOST_RECENT),
            *heapq.nlargest(_MOST_BY_TITLE, titles, key=lambda path: (titles[path], path)),
        ],
    )
    words = _explain(rows, contents, paths, parts)
    keys = frozenset(parts.keys)
    symbols = {row.path: _match_symbols(row, parts, keys, definitions) for row in rows}
    place = {document: number for number, document in reversed(list(enumerate(best_contents)))}
    first = sorted(rows, key=lambda row: (row.path not in named, place.get(row.document, len(place)), row.path))
    tests = {row.path: find_tests(connection, row.path)[:_MOST_FILE_TESTS] for row in first[:_WITH_TESTS]}
    files = [
        FileEvidence(
            path=row.path,
            language=row.language,
            is_test=row.is_test,
            named_by=named.get(row.path, ""),
            content_score=float(contents.scores[row.document]),
            path_score=float(paths.scores[row.document]),
            words=words[row.document],
            symbols=symbols[row.path],
            changed_with=related[row.path],
            commits=knowledge.history.count_changes(row.path),
            title_score=titles.get(row.path, 0.0),
            days_since_change=knowledge.history.days_since(row.path),
            tests=tuple(tests.get(row.path, ())),
        )
        for row in rows
    ]
    return TreeEvidence(
        files=tuple(files),
        file_count=knowledge.file_count,
        word_count=len({*contents.parts, *paths.parts}),
    )


def _load_rows(connection: sqlite3.Connection, documents: Iterable[int], paths: Iterable[str]) -> list[_Row]:
    found: dict[str, _Row] = {}
    for column, values in (("document", sorted(set(documents))), ("path", sorted(set(paths)))):
        marks = ", ".join("?" * len(values))
        rows = connection.execute(
            f"SELECT path, document, language, is_test, symbols FROM file WHERE {column} IN ({marks})",  # noqa: S608 - marks
            values,
        )
        for path, document, language, is_test, symbols in rows:
            found[path] = _Row(path, document, language, bool(is_test), symbols)
    return [found[path] for path in sorted(found)]


def _explain(rows: list[_Row], contents: Ranking, paths: Ranking, parts: PromptParts) -> dict[int, tuple[str, ...]]:
    """The words of the prompt that speak most for each file."""
    documents = [row.document for row in rows]
    added: dict[int, Counter[str]] = {document: Counter() for document in documents}
    for ranking in (contents, paths):
        for document, terms in ranking.explain(documents).items():
            for share, term in terms:
                added[document][parts.words.get(term, term)] += share  # type: ignore[assignment]
    return {
        document: tuple(word for word, _ in sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:_MOST_WORDS])
        for document, counts in added.items()
    }


# Files that the prompt names.
def _find_named(connection: sqlite3.Connection, parts: PromptParts, root: str) -> dict[str, NamedBy]:
    found: dict[str, NamedBy] = {}
    for mention in parts.mentions:
        inside = mention.removeprefix(f"{root}/")
        name = os.path.basename(inside.rstrip("/")).lower()
        paths = [row[0] for row in connection.execute("SELECT path FROM file WHERE name = ? LIMIT 500", (name,))]
        longest = _longest_ends(inside, paths)
        for path in longest if len(longest) <= _MOST_NAMED else ():
            how: NamedBy = "path" if path == inside else "suffix" if "/" in inside else "name"
            found[path] = _surer(found.get(path, ""), how)
    for stem in parts.stems:
        rows = connection.execute(
            "SELECT path FROM file WHERE name > ? AND name < ? AND kind = 'text' LIMIT ?",
            (f"{stem}.", f"{stem}/", _MOST_NAMED),
        ).fetchall()
        for (path,) in rows if len(rows) < _MOST_NAMED else ():
            found[path] = _surer(found.get(path, ""), "stem")
    return found


def _longest_ends(mention: str, paths: list[str]) -> list[str]:
    """The paths that share most of their last parts with a mention; none if one of the two has other parts before them."""
    wanted = mention.strip("/").lower().split("/")
    shared = {path: _shared_parts(wanted, path.lower().split("/")) for path in paths}
    most = max(shared.values(), default=0)
    return [path for path, count in shared.items() if count == most and count == min(len(wanted), path.count("/") + 1)]


def _shared_parts(one: list[str], other: list[str]) -> int:
    count = 0
    while count < min(len(one), len(other)) and one[-1 - count] == other[-1 - count]:
        count += 1
    return count


_SURENESS: tuple[NamedBy, ...] = ("path", "suffix", "name", "stem", "")


def _surer(one: NamedBy, other: NamedBy) -> NamedBy:
    return min(one, other, key=_SURENESS.index)


# Symbols that the prompt means.
class _Definitions(NamedTuple):
    """Where what the prompt may mean is defined."""

    rarities: dict[str, float]
    """Of each key: 1 if one file defines it, 1/2 if two do."""
    documents: dict[int, float]
    """Of each file: the rarity of the rarest that it defines."""

    def best(self, most: int) -> list[int]:
        return sorted(self.documents, key=lambda document: (-self.documents[document], document))[:most]


def _find_definitions(reader: Reader, keys: Sequence[str], lengths: Lengths) -> _Definitions:
    found = _Definitions({}, {})
    for term, count in reader.count_documents([SYMBOL + key for key in keys]).items():
        if count > 10 * _MOST_DEFINITIONS:  # some may be of files that are no more, but not so many
            continue
        numbers = reader.load(term) >> 8
        alive: list[int] = numbers[lengths.lengths[numbers] > 0].tolist()
        if 0 < len(alive) <= _MOST_DEFINITIONS:
            rarity = found.rarities[term[len(SYMBOL) :]] = 1 / len(alive)
            for number in alive:
                found.documents[number] = max(found.documents.get(number, 0.0), rarity)
    return found


_decode_symbols = msgspec.msgpack.Decoder(list[Symbol]).decode


def _match_symbols(
    row: _Row, parts: PromptParts, keys: frozenset[str], definitions: _Definitions
) -> tuple[SymbolMatch, ...]:
    """The symbols of a file that the prompt has, by name or by words; the surest first."""
    found: list[tuple[float, SymbolMatch]] = []
    for symbol in _decode_symbols(row.symbols):
        key = symbol_key(symbol.name)
        shared = sum(map(parts.terms.__contains__, key.split("_")))
        if not shared and symbol.name not in parts.identifiers:  # nearly all of them
            continue
        is_exact = symbol.name in parts.identifiers
        is_meant = is_exact or key in keys
        if is_meant or shared >= 2:
            terms = [term for term in split(symbol.name) if "_" not in term]
            shared = sum(term in parts.terms for term in terms)
            rarity = definitions.rarities.get(key, 0.0)
            strength = 2 * is_exact + is_meant + shared / max(1, len(terms))
            if is_meant or shared >= 2:
                found.append((strength, SymbolMatch(symbol, is_exact, rarity)))
    found.sort(key=lambda each: (-each[0], each[1].symbol.first_line))
    return tuple(match for _, match in found[:_MOST_SYMBOLS])

# ruff: noqa: A005 - the name of the benchmark
"""Recall, false positives and speed of taking secrets out, beside `detect-secrets` and the published patterns of gitleaks.

Secrets are made by seed from the tables in `secret_kinds.py` and `secret_places.py`, made from public facts and not from
our rules. A secret is found if no half of it is left (peers: if half is covered by a finding). Peers are optional:
`scripts/install-peers` for detect-secrets, and gitleaks' `gitleaks.toml` by `--gitleaks` (patterns, keywords and entropies are
applied, its lists of allowed paths are not). Rules were written with all kinds and places of the tables in sight; only the
fresh kinds are strange to them. Ordinary code is Python's standard library without its tests, the
installed packages, npm's own modules and the real sessions. Speed is compared with an earlier commit, in turns.
"""

import importlib.util
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import re2

from benchmarks.measuring import PEERS, ROOT, SHARED, synthetic_corpus, table
from benchmarks.secret_kinds import FRESH_KINDS, KINDS
from benchmarks.secret_places import BARE, NAMED, SPECIALS, VALUES, WRAPPINGS, Category, Place
from preheat.agents.sources import BLOCK_SIZE
from preheat.ingest.redact import redact

SEED = 16
STARTED_FROM = "349b923"
"""The commit before the rules of this benchmark, whose speed is the measure."""
BARS = {"named": 0.95, "bare": 0.60, "special": 0.90}
FRESH = ", fresh kinds"
FALSE_PER_MB = 3.0
SLOWER = 1.5
_SOURCE_ENDS = (".py", ".pyi", ".js", ".mjs", ".cjs", ".ts", ".json", ".md", ".sh", ".jsonl", ".css", ".lock", ".txt")


class Case(NamedTuple):
    """A secret in a place."""

    category: Category
    kind: str
    place: str
    is_fresh: bool
    """Whether no rule was written for the kind."""
    secret: str
    text: str


Redact = Callable[[bytes], tuple[bytes, dict[str, int]]]
Finder = Callable[[list[str]], list[list[str]]]
"""The texts that a program takes for secrets, for each text."""


def run(quick: bool, against: str = STARTED_FROM, gitleaks: str = "") -> dict[str, Any]:
    cases = make_cases(2 if quick else 8)
    places = len(NAMED) + len(BARE)
    print(
        f"{len(cases):,} secrets of {len(KINDS)} kinds and {len(FRESH_KINDS)} fresh ones in {places} places, "
        f"and in {len(SPECIALS)} special forms"
    )
    earlier = _load_redact(against)
    found = {"preheat": _found(redact, cases), f"preheat {against}": _found(earlier, cases)}
    finders = {"detect-secrets": _detect_secrets(), "gitleaks patterns": _gitleaks(gitleaks)}
    peers = {name: finder for name, finder in finders.items() if finder is not None}
    for name, finder in peers.items():
        found[name] = [
            any(_covers(each, case.secret) for each in spans)
            for case, spans in zip(cases, finder([case.text for case in cases]), strict=True)
        ]
    recall = {name: _recall(cases, hits) for name, hits in found.items()}
    _show_recall(recall)
    missed = [case for case, hit in zip(cases, found["preheat"], strict=True) if not hit]
    return {
        "recall": recall,
        "missed by place": _count(f"{case.category}: {case.place}" for case in missed),
        "missed by kind": _count(f"{case.category}: {case.kind}" for case in missed if case.category != "special"),
        "false positives": _false_positives(quick, earlier, peers),
        "speed": _speed(quick, against, earlier),
    }


def _found(take: Redact, cases: list[Case]) -> list[bool]:
    return [not _is_left(case.secret, take(case.text.encode())[0].decode()) for case in cases]


def _count(names: Iterator[str]) -> dict[str, int]:
    return dict(Counter(names).most_common())


# The secrets
def make_cases(times: int) -> list[Case]:
    """Secrets in places, the same for a seed; every kind in `times` of the named places and of the bare ones."""
    chance = random.Random(SEED)
    cases = []
    for is_fresh, kinds in ((False, KINDS), (True, FRESH_KINDS)):
        for kind in kinds:
            for places in (NAMED, BARE):
                for place in chance.sample(places, times):
                    secret = kind.make(chance)
                    cases.append(_case(chance, place, kind.name, is_fresh, secret, _names(kind.name)))
    for place in SPECIALS:
        for _ in range(times):
            secret = VALUES[place.value](chance)
            cases.append(_case(chance, place, place.value, False, secret, {}))
    return cases


def _case(chance: random.Random, place: Place, kind: str, is_fresh: bool, secret: str, names: dict[str, str]) -> Case:
    text = place.text
    for slot, name in names.items():
        text = text.replace(slot, name)
    wrap = WRAPPINGS[chance.choice(list(WRAPPINGS))]
    # As the secret stands in the text: with its line ends and quotes escaped.
    marked = wrap(text.replace("<s>", secret))
    return Case(place.category, kind, place.name, is_fresh, secret, marked)


def _names(kind: str) -> dict[str, str]:
    """What a person would call a secret of this kind."""
    words = kind.replace("-", " ").split()
    if words[-1] not in ("key", "token", "secret", "password"):
        words.append("token")
    if words[-1] == "key" and "api" not in words:
        words.insert(-1, "api")
    if words[0][0].isdigit():
        words[0] = "one" + words[0][1:]
    return {
        "<NAME>": "_".join(words).upper(),
        "<name>": "_".join(words),
        "<camel>": words[0] + "".join(word.title() for word in words[1:]),
        "<kebab>": "-".join(words),
    }


def _is_left(secret: str, text: str) -> bool:
    """Whether half of the secret is still there."""
    plain = text.replace("\\", "")
    secret = secret.replace("\n", "n").replace("\\", "")
    plain = plain.replace("\n", "n")
    size = max(4, (len(secret) + 1) // 2)
    return any(secret[at : at + size] in plain for at in range(len(secret) - size + 1))


def _covers(found: str, secret: str) -> bool:
    return (
        secret in found
        or (found in secret and len(found) * 2 >= len(secret))
        or (len(secret) > 200 and len(found) > 60 and found[:60] in secret)
    )


# The peers
_SCAN = """
import json, os, sys, tempfile
from detect_secrets.core.scan import scan_file
from detect_secrets.settings import default_settings
out = []
with default_settings(), tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "text")
    for text in json.load(sys.stdin):
        with open(path, "w") as stream:
            stream.write(text)
        out.append([each.secret_value for each in scan_file(path) if each.secret_value])
json.dump(out, sys.stdout)
"""


def _detect_secrets() -> Finder | None:
    """As it looks at files; its look at single lines reports whatever has letters."""
    python = os.path.join(PEERS, "detect-secrets", "bin", "python")
    if not os.path.exists(python):
        print("detect-secrets is not installed (scripts/install-peers); without it")
        return None

    def find(texts: list[str]) -> list[list[str]]:
        done = subprocess.run(
            [python, "-c", _SCAN], input=json.dumps(texts).encode(), stdout=subprocess.PIPE, check=True
        )
        answer: list[list[str]] = json.loads(done.stdout)
        return answer

    return find


def _gitleaks(path: str) -> Finder | None:
    if not path:
        print("no rules of gitleaks (--gitleaks); without them")
        return None
    with open(path, "rb") as stream:
        rules = [rule for rule in tomllib.load(stream)["rules"] if rule.get("regex")]
    compiled = [(re2.compile(rule["regex"]), rule) for rule in rules]

    def find(texts: list[str]) -> list[list[str]]:
        return [[each for pattern, rule in compiled for each in _findings(pattern, rule, text)] for text in texts]

    return find


def _findings(pattern: Any, rule: dict[str, Any], text: str) -> Iterator[str]:
    lower = text.lower()
    if rule.get("keywords") and not any(word in lower for word in rule["keywords"]):
        return
    for match in pattern.finditer(text):
        groups = [group for group in match.groups() if group]
        secret = match.group(rule.get("secretGroup", 0)) or match[0]
        if not rule.get("secretGroup") and groups:
            secret = groups[0]
        if _entropy(secret) > rule.get("entropy", 0):
            yield secret


def _entropy(text: str) -> float:
    return -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values())


# Recall
def _recall(cases: list[Case], hits: list[bool]) -> dict[str, float]:
    groups: dict[str, list[bool]] = {}
    for case, hit in zip(cases, hits, strict=True):
        groups.setdefault(case.category + (FRESH if case.is_fresh else ""), []).append(hit)
    return {name: round(sum(group) / len(group), 4) for name, group in groups.items()}


def _show_recall(recall: dict[str, dict[str, float]]) -> None:
    rows = [["recall", *recall, "bar"]]
    for group in recall["preheat"]:
        bar = f">= {BARS[group]}" if group in BARS else ""
        rows.append([group, *(f"{shares[group]:.3f}" for shares in recall.values()), bar])
    table(rows)


# False positives
def _ordinary(quick: bool) -> dict[str, list[str]]:
    """Files of ordinary code by where they are from."""
    standard = sysconfig.get_path("stdlib")
    npm = shutil.which("npm")
    node = os.path.join(os.path.dirname(os.path.realpath(npm)), "..", "node_modules") if npm else ""
    folders = {
        "Python's library": standard,
        "Python packages": sysconfig.get_path("purelib"),
        "npm's modules": node,
        "real sessions": os.path.join(SHARED, "corpus"),
        "more real sessions": os.path.join(SHARED, "corpus-projects"),
    }
    limit = (2 if quick else 24) * 1_000_000
    found = {name: list(_files(folder, limit)) for name, folder in folders.items() if folder and os.path.isdir(folder)}
    return {name: paths for name, paths in found.items() if paths}


def _files(folder: str, limit: int) -> Iterator[str]:
    paths = sorted(
        os.path.join(at, name)
        for at, _, names in os.walk(folder)
        for name in names
        if name.endswith(_SOURCE_ENDS) and not re.search(r"/(?:site-packages/.*/)?tests?/|idle_test", at + "/")
    )
    random.Random(SEED).shuffle(paths)
    for path in paths:
        if not os.path.islink(path) and 0 < (size := os.path.getsize(path)) <= min(limit, 8_000_000):
            limit -= size
            yield path


def _false_positives(quick: bool, earlier: Redact, peers: dict[str, Finder]) -> dict[str, Any]:
    """Everything that is found in ordinary code. True secrets among it are counted as well.

    Peers look at the first files only, as much as `_PEERS_SIZE`, because they are slow; we look at these, too.
    """
    rows = [["found per MB", "MB", "preheat", "MB", "preheat", "preheat before", *peers]]
    result: dict[str, Any] = {}
    for name, paths in _ordinary(quick).items():
        size, counts, sample, sampled = 0, Counter[str](), list[bytes](), 0
        for path in paths:
            with open(path, "rb") as stream:
                data = stream.read()
            size += len(data)
            counts.update(redact(data)[1])
            if sampled < _PEERS_SIZE[quick] and len(data) < 200_000:
                sample.append(data)
                sampled += len(data)
        texts = [data.decode("utf-8", "replace") for data in sample]
        found = {
            "preheat": sum(sum(redact(data)[1].values()) for data in sample),
            "preheat before": sum(sum(earlier(data)[1].values()) for data in sample),
            **{peer: sum(map(len, finder(texts))) for peer, finder in peers.items()},
        }
        rates = {who: round(number / max(1, sampled) * 1e6, 2) for who, number in found.items()}
        rate = round(sum(counts.values()) / size * 1e6, 2)
        small = [f"{sampled / 1e6:.1f}", *(f"{each:.2f}" for each in rates.values())]
        rows.append([name, f"{size / 1e6:.1f}", f"{rate:.2f}", *small])
        result[name] = {
            "MB": round(size / 1e6, 1),
            "preheat": rate,
            "sample": {"MB": round(sampled / 1e6, 2), **rates},
            "kinds": dict(counts.most_common()),
        }
    print()
    table(rows)
    print(f"bar for ordinary code: <= {FALSE_PER_MB} per MB")
    return result


_PEERS_SIZE = {True: 300_000, False: 1_000_000}


# Speed
def _speed(quick: bool, against: str, earlier: Redact) -> dict[str, Any]:
    """Seconds of CPU per GB of session text, of now and of the earlier commit, in turns; the best of five."""
    result: dict[str, Any] = {"against": against}
    rows = [["speed, s per GB", "MB", "now", f"at {against}", "ratio", "bar"]]
    corpora = {"real sessions": os.path.join(SHARED, "corpus")}
    corpora["synthetic sessions"] = synthetic_corpus(64)
    for name, folder in corpora.items():
        blocks = list(_blocks(list(_files(folder, (8 if quick else 48) * 1_000_000))))
        size = sum(map(len, blocks))
        best = [math.inf, math.inf]
        for _ in range(5):
            for index, take in enumerate((redact, earlier)):
                begun = time.process_time()
                for block in blocks:
                    take(block)
                best[index] = min(best[index], time.process_time() - begun)
        now, then = (seconds / size * 1e9 for seconds in best)
        rows.append([name, f"{size / 1e6:.0f}", f"{now:.2f}", f"{then:.2f}", f"{now / then:.2f}", f"<= {SLOWER}"])
        result[name] = {"now": round(now, 3), "then": round(then, 3), "ratio": round(now / then, 3)}
    print()
    table(rows)
    return result


def _blocks(paths: list[str]) -> Iterator[bytes]:
    for path in paths:
        with open(path, "rb") as stream:
            while block := stream.read(BLOCK_SIZE):
                yield block


def _load_redact(revision: str) -> Redact:
    """`redact` of an earlier commit."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("secret_shapes", "redact"):
            shown = ["git", "-C", ROOT, "show", f"{revision}:src/preheat/ingest/{name}.py"]
            text = subprocess.run(shown, check=True, stdout=subprocess.PIPE, text=True).stdout
            path = os.path.join(folder, f"earlier_{name}.py")
            with open(path, "w") as stream:
                stream.write(text.replace("preheat.ingest.secret_shapes", "earlier_secret_shapes"))
            spec = importlib.util.spec_from_file_location(f"earlier_{name}", path)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[f"earlier_{name}"] = module
            spec.loader.exec_module(module)
    loaded: Redact = sys.modules["earlier_redact"].redact
    return loaded


if __name__ == "__main__":
    run(quick=True)

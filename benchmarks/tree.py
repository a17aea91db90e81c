"""The index of a working tree: how long a first index, a change and a look-up take, how much memory and disk, beside a floor.

    ./dev bench tree [--quick]

A generated repository of 50,000 files (5,000 if quick) in eight languages and Markdown, with commits. The floor of an index is
`git ls-files` and reading every byte; that of a look-up is `git grep` for the same words. CPU time for the index, because that is
made in the background; look-ups by the clock and in CPU time, as an agent waits for them. This checkout is measured, too.
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Any

import msgspec

from benchmarks.measuring import ROOT, table
from preheat.tree.index import TreeIndex

FILES = 50_000
QUICK_FILES = 5_000
SEED = 18
LOOK_UPS = 200
BARS = {
    "first index, CPU s": 60.0,
    "one change, s": 1.0,
    "memory, MB": 150.0,
    "look-up p50, ms": 30.0,
    "look-up p99, ms": 150.0,
}

_VERBS = [
    "parse",
    "load",
    "store",
    "render",
    "update",
    "check",
    "merge",
    "split",
    "route",
    "queue",
    "cancel",
    "retry",
    "resolve",
    "encode",
    "decode",
    "validate",
    "publish",
]
_NOUNS = [
    "config",
    "session",
    "invoice",
    "customer",
    "token",
    "cache",
    "widget",
    "account",
    "payment",
    "order",
    "message",
    "channel",
    "report",
    "schedule",
    "device",
    "sensor",
    "template",
    "archive",
    "cluster",
    "region",
    "tenant",
    "policy",
    "webhook",
    "balance",
    "shipment",
    "ticket",
    "profile",
    "avatar",
    "gallery",
    "document",
    "signature",
]
_LANGUAGES = {
    "py": ("def {name}({a}, {b}):\n", "    {a} = {call}({b})\n", "    return {a}\n\n"),
    "ts": (
        "export function {name}({a}: string, {b}: number) {{\n",
        "  const {a}Next = {call}({b});\n",
        "  return {a};\n}}\n\n",
    ),
    "go": ("func {name}({a} string, {b} int) error {{\n", "\t{a}Next := {call}({b})\n", "\treturn nil\n}}\n\n"),
    "rs": (
        "pub fn {name}({a}: &str, {b}: usize) -> usize {{\n",
        "    let {a}_next = {call}({b});\n",
        "    {b}\n}}\n\n",
    ),
    "java": (
        "  public int {name}(String {a}, int {b}) {{\n",
        "    int {a}Next = {call}({b});\n",
        "    return {b};\n  }}\n\n",
    ),
    "c": ("int {name}(char *{a}, int {b}) {{\n", "    int {a}_next = {call}({b});\n", "    return {b};\n}}\n\n"),
    "rb": ("def {name}({a}, {b})\n", "  {a}_next = {call}({b})\n", "  {a}\nend\n\n"),
    "php": ("function {name}(${a}, ${b}) {{\n", "  ${a}Next = {call}(${b});\n", "  return ${b};\n}}\n\n"),
}
_HEADS = {"java": "class Main {\n", "php": "<?php\n", "go": "package main\n\n"}
_TAILS = {"java": "}\n"}


def _name(random_source: random.Random) -> str:
    parts = [random_source.choice(_VERBS), random_source.choice(_NOUNS), random_source.choice(_NOUNS)]
    if random_source.random() < 0.3:  # rare words, as real projects have
        parts.append("".join(random_source.choices("bcdfgklmnprst", k=2)) + random_source.choice(_NOUNS))
    return "_".join(parts)


def _write_file(folder: str, number: int, random_source: random.Random) -> None:
    ending = random_source.choice((*_LANGUAGES, "md"))
    noun = random_source.choice(_NOUNS)
    place = os.path.join(folder, random_source.choice(_NOUNS), random_source.choice(_NOUNS))
    os.makedirs(place, exist_ok=True)
    with open(
        os.path.join(place, f"{random_source.choice(_VERBS)}_{noun}_{number}.{ending}"), "w", encoding="utf-8"
    ) as stream:
        if ending == "md":
            stream.writelines(
                f"## How to {_name(random_source).replace('_', ' ')}\n\nSome text about the {noun}.\n\n"
                for _ in range(20)
            )
            return
        stream.write(_HEADS.get(ending, ""))
        head, line, tail = _LANGUAGES[ending]
        for _ in range(random_source.randrange(4, 20)):
            words = {"name": _name(random_source), "a": noun, "b": random_source.choice(_NOUNS)}
            stream.write(head.format(**words))
            for _ in range(random_source.randrange(2, 12)):
                stream.write(line.format(**words, call=_name(random_source)))
            stream.write(tail.format(**words))
        stream.write(_TAILS.get(ending, ""))


def make_repository(folder: str, files: int) -> None:
    """A repository of so many generated files."""
    random_source = random.Random(SEED)
    for number in range(files):
        _write_file(folder, number, random_source)
    identity = ("-c", "user.name=Bench", "-c", "user.email=bench@example.com", "-c", "gc.auto=0")
    subprocess.run(["git", "init", "-q", folder], check=True)
    subprocess.run(["git", "-C", folder, "add", "-A"], check=True)
    subprocess.run(["git", "-C", folder, *identity, "commit", "-q", "-m", "All"], check=True)


def _read_everything(folder: str) -> tuple[float, int]:
    """CPU seconds of the floor of an index, and the bytes."""
    started = time.process_time()
    listed = subprocess.run(["git", "-C", folder, "ls-files", "-z"], capture_output=True, check=True).stdout
    total = 0
    for path in listed.split(b"\0")[:-1]:
        with open(os.path.join(os.fsencode(folder), path), "rb") as stream:
            total += len(stream.read())
    return time.process_time() - started, total


_BUILD = """
import msgspec, resource, sys
from preheat.tree.index import TreeIndex
report = TreeIndex.open(sys.argv[1], sys.argv[2]).update()
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
children = resource.getrusage(resource.RUSAGE_CHILDREN)
spent = report.cpu_seconds + children.ru_utime + children.ru_stime
print(msgspec.json.encode([spent, report.seconds, report.read, memory]).decode())
"""


def _build(home: str, folder: str) -> list[float]:
    done = subprocess.run([sys.executable, "-c", _BUILD, home, folder], capture_output=True, check=True)
    return msgspec.json.decode(done.stdout, type=list[float])


def _prompts(count: int) -> list[str]:
    random_source = random.Random(SEED + 1)
    return [
        f"The {' '.join(random_source.sample(_NOUNS, 5))} fails when we {random_source.choice(_VERBS)} it: look at "
        f"`{_name(random_source)}` and {_name(random_source).replace('_', ' ')}, then add a test for the "
        f"{random_source.choice(_NOUNS)}."
        for _ in range(count)
    ]


def run(quick: bool) -> dict[str, Any]:
    files = QUICK_FILES if quick else FILES
    with tempfile.TemporaryDirectory(prefix="preheat-bench-") as work:
        folder, home = os.path.join(work, "tree"), os.path.join(work, "home")
        make_repository(folder, files)
        floor, size = _read_everything(folder)
        first = _build(home, folder)
        changed = next(
            os.path.join(each, names[0]) for each, _, names in os.walk(folder) if ".git" not in each and names
        )
        with open(changed, "a", encoding="utf-8") as stream:
            stream.write("\n// changed\n")
        change = _build(home, folder)
        wall, cpu = _look_up(home, folder)
        grep = _grep(folder)
        disk = sum(
            os.path.getsize(os.path.join(home, "trees", name)) for name in os.listdir(os.path.join(home, "trees"))
        )
        shutil.rmtree(folder)
    return _report(files, size, floor, first, change, wall, cpu, grep, disk)


def _measure_checkout() -> dict[str, float]:
    """The first index of this checkout."""
    with tempfile.TemporaryDirectory(prefix="preheat-bench-") as home:
        cpu, _, files, _ = _build(home, ROOT)
    print(f"this checkout: {files:,.0f} files in {cpu:.1f} s of CPU")
    return {"files": files, "cpu_seconds": cpu}


def _look_up(home: str, folder: str) -> tuple[list[float], list[float]]:
    """Milliseconds of look-ups, by the clock and of CPU; the first, which loads the index, is not among them."""
    wall, cpu = [], []
    with TreeIndex.open(home, folder) as index:
        index.look_up("the first one")
        for prompt in _prompts(LOOK_UPS):
            started, spent = time.perf_counter(), time.process_time()
            index.look_up(prompt)
            wall.append((time.perf_counter() - started) * 1000)
            cpu.append((time.process_time() - spent) * 1000)
    return sorted(wall), sorted(cpu)


def _grep(folder: str) -> float:
    """Milliseconds of `git grep` for the words of one prompt: the median of three."""
    taken = []
    for prompt in _prompts(3):
        words = [argument for word in prompt.split()[:6] for argument in ("-e", word)]
        started = time.perf_counter()
        subprocess.run(
            ["git", "-C", folder, "grep", "-I", "-i", "--count", *words], stdout=subprocess.DEVNULL, check=False
        )
        taken.append((time.perf_counter() - started) * 1000)
    return sorted(taken)[1]


def _report(
    files: int, size: int, floor: float, first: list[float], change: list[float], wall: list[float], cpu: list[float],
    grep: float, disk: int,
) -> dict[str, Any]:  # fmt: skip
    middle, last = len(wall) // 2, int(len(wall) * 0.99) - 1
    measured = {
        "first index, CPU s": first[0],
        "one change, s": change[1],
        "memory, MB": first[3],
        "look-up p50, ms": wall[middle],
        "look-up p99, ms": wall[last],
    }
    rows = [
        (name, f"{value:,.1f}", f"{BARS[name]:,.0f}", "yes" if value <= BARS[name] else "no")
        for name, value in measured.items()
    ]
    print(f"{files:,} files, {size / 1e6:,.0f} MB")
    table([("measure", "value", "bar", "within"), *rows])
    ratios = {
        "first index / reading all bytes (CPU)": first[0] / max(floor, 1e-9),
        "look-up / git grep": wall[middle] / max(grep, 1e-9),
        "index on disk / bytes read": disk / size,
    }
    table([("against a floor", "ratio"), *((name, f"{value:,.2f}") for name, value in ratios.items())])
    return {
        "files": files,
        "bytes": size,
        **measured,
        "one change, CPU s": change[0],
        "look-up p50, CPU ms": cpu[middle],
        "look-up p99, CPU ms": cpu[last],
        "first index, clock s": first[1],
        "git grep, ms": grep,
        "index bytes": disk,
        "ratios": ratios,
        "this checkout": _measure_checkout(),
    }

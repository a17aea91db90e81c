"""The sessions that the demonstration tells of: what the scripted model does in each of them. Values, and the model's rules.

The first eight follow a script that is written down here. The ninth follows three rules that read what was put before the
model, so that a session with Preheat and one without differ by nothing else:

- it opens the file that the text with its prompt names first; with none it opens the files whose names it can guess from, then
  searches for a word of the prompt;
- it runs the test command that the text at its start names; with none it runs `npm test`, then reads
  `package.json`;
- then it makes the change and runs the tests again.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from preheat.testing.model_server import Call, Reply, Request

GUESSED_TEST, RIGHT_TEST = "npm test", "pnpm run test:unit"
TASK = "A voucher code may be used only once"


class Work(NamedTuple):
    """One session: its prompt, and the change that it makes in one file."""

    prompt: str
    path: str
    old: tuple[str, ...]
    new: tuple[str, ...]


EARLIER = (
    Work(
        "Prices always have two decimals",
        "src/format.js",
        ("  return `${cents / 100} EUR`;",),
        ("  return `${(cents / 100).toFixed(2)} EUR`;",),
    ),
    Work(
        "Round the tax of every line, not of the sum",
        "src/tax.js",
        ("  return Math.round(lines.reduce((sum, line) => sum + line.cents, 0) * RATE);",),
        ("  return lines.reduce((sum, line) => sum + Math.round(line.cents * RATE), 0);",),
    ),
    Work(
        "A voucher must not make an order cheaper than nothing",
        "src/checkout/totals.js",
        ("  return reductions.reduce(reduce, sum) + shippingCost(sum);",),
        ("  return Math.max(0, reductions.reduce(reduce, sum)) + shippingCost(sum);",),
    ),
    Work(
        "Shipping is free from 50 euros",
        "src/shipping.js",
        ("  return 490;",),
        ("  return cents >= 5000 ? 0 : 490;",),
    ),
    Work(
        "Removing an item that is not in the cart changes nothing",
        "src/cart.js",
        ("  return { ...cart, items: cart.items.toSpliced(at, 1) };",),
        ("  return at < 0 ? cart : { ...cart, items: cart.items.toSpliced(at, 1) };",),
    ),
    Work(
        "Percent voucher codes count after the fixed ones of an order",
        "src/checkout/totals.js",
        ("  return Math.max(0, reductions.reduce(reduce, sum)) + shippingCost(sum);",),
        (
            "  const inOrder = reductions.toSorted((a, b) => Boolean(a.percent) - Boolean(b.percent));",
            "  return Math.max(0, inOrder.reduce(reduce, sum)) + shippingCost(sum);",
        ),
    ),
    Work(
        "Orders keep the day on which they were placed",
        "src/orders.js",
        ("  return { items: cart.items, total };",),
        ("  return { items: cart.items, total, placed: new Date().toISOString().slice(0, 10) };",),
    ),
    Work(
        "Say which line of the address is missing",
        "src/address.js",
        ('  if (LINES.some((line) => !address[line])) throw new Error("The address is not complete");',),
        (
            "  const missing = LINES.find((line) => !address[line]);",
            "  if (missing) throw new Error(`The address has no ${missing}`);",
        ),
    ),
)
NINTH = Work(
    TASK,
    "src/checkout/totals.js",
    ("  const inOrder = reductions.toSorted((a, b) => Boolean(a.percent) - Boolean(b.percent));",),
    (
        "  const once = reductions.filter((one, at) => reductions.findIndex((other) => other.code === one.code) === at);",
        "  const inOrder = once.toSorted((a, b) => Boolean(a.percent) - Boolean(b.percent));",
    ),
)
_GUESSES = ("src/orders.js", "src/cart.js")
_TOLD_TEST = re.compile(r"test: `([^`]+)`")
_TOLD_FILE = re.compile(r"`?(src/[\w/]+\.js)`?")
_ORIENTATION = re.compile(r"<preheat-[^>]*>(?:(?!</preheat).)*?src/(?:(?!</preheat).)*</preheat", re.DOTALL)


def script_of(work: Work) -> list[Reply]:
    """What the scripted model does in one of the first eight sessions."""
    commands = (f"cat {work.path}", GUESSED_TEST, "cat package.json", RIGHT_TEST)
    return [*map(_run, commands), _change(work), _run(RIGHT_TEST), Reply("Done: the tests pass.")]


class NinthModel:
    """The model of the ninth session: it does what it is told, and guesses where it is told nothing."""

    def __init__(self) -> None:
        self._steps: Iterator[Reply] | None = None

    def __call__(self, request: Request) -> Reply:
        if self._steps is None:
            self._steps = self._plan(json.dumps(request.body["input"], ensure_ascii=False))
        return next(self._steps, Reply("Done: the tests pass."))

    def _plan(self, told: str) -> Iterator[Reply]:
        test, files = read_test(told), read_files(told)
        if files:
            yield _run(f"cat {files[0]}")
        else:
            yield from (_run(f"cat {path}") for path in _GUESSES)
            yield _run("grep -rn reductions src")
        if NINTH.path not in files[:1]:
            yield _run(f"cat {NINTH.path}")
        yield _run(test or GUESSED_TEST)
        if not test:
            yield _run("cat package.json")
            yield _run(RIGHT_TEST)
        yield _change(NINTH)
        yield _run(test or RIGHT_TEST)


def read_test(told: str) -> str:
    """The test command in a text of Preheat; empty without one."""
    found = _TOLD_TEST.search(told)
    return found[1] if found else ""


def read_files(told: str) -> list[str]:
    """The files that the text with the prompt names, in order."""
    return [path for block in _ORIENTATION.findall(told) for path in _TOLD_FILE.findall(block)]


def _run(command: str) -> Reply:
    return Reply(calls=[Call("exec_command", {"cmd": command})])


def _change(work: Work) -> Reply:
    lines = [*(f"-{line}" for line in work.old), *(f"+{line}" for line in work.new)]
    patch: Any = "\n".join(("*** Begin Patch", f"*** Update File: {work.path}", "@@", *lines, "*** End Patch"))
    return Reply(calls=[Call("apply_patch", patch)])

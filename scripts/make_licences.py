"""Writes the table in `docs/reference/licences.md`: what is installed with Preheat, its tested version and its licence.

    python scripts/make_licences.py

Read from the metadata of what is installed here, so run it in the environment that `./dev` made. It knows nothing of what only
contributors install.
"""

import os
import re
import sys
from importlib import metadata

from packaging.requirements import Requirement

CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(CHECKOUT, "docs", "reference", "licences.md")
EXTRAS = ("mcp", "postgresql", "fleet")
_MARKS = re.compile(r"(<!-- licences -->\n).*?(<!-- /licences -->)", re.DOTALL)
_CLASSIFIER = "License :: OSI Approved :: "
# What packages write where an SPDX expression is meant.
_SPDX = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}


def dependencies(name: str = "preheat", extras: tuple[str, ...] = EXTRAS) -> dict[str, metadata.Distribution]:
    """Everything that a user's installation needs on this machine, by its normal name."""
    found: dict[str, metadata.Distribution] = {}
    for line in metadata.distribution(name).requires or ():
        needed = Requirement(line)
        if needed.marker and not any(needed.marker.evaluate({"extra": extra}) for extra in (*extras, "")):
            continue
        normal = re.sub(r"[-_.]+", "-", needed.name).lower()
        if normal not in found:
            found[normal] = metadata.distribution(needed.name)
            found.update(dependencies(needed.name, tuple(needed.extras)))
    return dict(sorted(found.items()))


def licence(package: metadata.Distribution) -> str:
    """As the package states it: an SPDX expression, else its classifiers, else the first line of its licence field."""
    stated = package.metadata.json
    if expression := stated.get("license_expression"):
        return str(expression)
    classifiers = stated.get("classifier") or ()
    named = [each.removeprefix(_CLASSIFIER) for each in classifiers if each.startswith(_CLASSIFIER)]
    named = named or [str(stated.get("license") or "").partition("\n")[0].strip()]
    return " AND ".join(_SPDX.get(each, each) for each in named) or "not stated"


def table() -> str:
    own: dict[str, list[str]] = {}
    for line in metadata.distribution("preheat").requires or ():
        needed = Requirement(line)
        extra = re.search(r"extra == .(\w+)", str(needed.marker or ""))
        own.setdefault(re.sub(r"[-_.]+", "-", needed.name).lower(), []).append(
            f"`preheat[{extra[1]}]`" if extra else "`preheat`"
        )
    rows = ["| package | tested version | licence | needed by |", "|---|---|---|---|"]
    for name, package in dependencies().items():
        needed_by = ", ".join(own.get(name, ("another package",)))
        rows.append(f"| {name} | {package.version} | {licence(package)} | {needed_by} |")
    return "\n".join(rows) + "\n"


def page(text: str) -> str:
    return _MARKS.sub(lambda found: f"{found[1]}{table()}{found[2]}", text)


def main() -> int:
    with open(PAGE, encoding="utf-8") as stream:
        before = stream.read()
    after = page(before)
    if after != before:
        with open(PAGE, "w", encoding="utf-8") as stream:
            stream.write(after)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Builds the documentation as a site in `build/site`, from the Markdown that a reader of the repository sees.

    python scripts/make_site.py

Puts the pages of `docs/` and of the root together below `build/pages`, with the navigation that `docs/README.md` lists, and runs
`mkdocs build --strict`: a broken link, a missing heading or a page outside the navigation is an error. Links to files that are no
pages (sources, tests) become plain text, because the site does not have them. Fetches nothing.
"""

import os
import re
import shutil
import subprocess
import sys
from typing import Any

import yaml

CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGES = os.path.join(CHECKOUT, "build", "pages")
ROOT_PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md", "CODE_OF_CONDUCT.md")
_LINK = re.compile(r"(!?)\[([^\[\]]*)\]\(([^()\s]+)\)")
_LISTED = re.compile(r"^- \[([^\]]+)\]\(([^)#]+\.md)\)", re.MULTILINE)


def put_together() -> None:
    """The pages as they lie in the checkout: `docs/…` and those of the root."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(os.path.join(CHECKOUT, "docs"), os.path.join(PAGES, "docs"))
    for name in ROOT_PAGES:
        shutil.copy(os.path.join(CHECKOUT, name), PAGES)
    for folder, _, names in os.walk(PAGES):
        for name in names:
            if name.endswith(".md"):
                _rewrite(os.path.join(folder, name))
    os.replace(os.path.join(PAGES, "README.md"), os.path.join(PAGES, "index.md"))


def _rewrite(path: str) -> None:
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    here = os.path.dirname(path)

    def link(found: re.Match[str]) -> str:
        mark, label, target = found.groups()
        file, _, anchor = target.partition("#")
        if "://" in target or not file:
            return found[0]
        place = os.path.normpath(os.path.join(here, file))
        if place == os.path.join(PAGES, "README.md"):
            start = os.path.relpath(os.path.join(PAGES, "index.md"), here)
            return f"{mark}[{label}]({start}{'#' + anchor if anchor else ''})"
        source = os.path.join(CHECKOUT, os.path.relpath(place, PAGES))
        return label if os.path.exists(source) and not os.path.isfile(place) else found[0]

    with open(path, "w", encoding="utf-8") as stream:
        stream.write(_LINK.sub(link, text))


def navigation() -> list[Any]:
    """The start page, then the parts of `docs/README.md` with the pages that they list, then the agents."""
    with open(os.path.join(CHECKOUT, "docs", "README.md"), encoding="utf-8") as stream:
        contents = stream.read()
    found: list[Any] = [{"Start": "index.md"}, {"All pages": "docs/README.md"}]
    for part in re.split(r"\n(?=[A-Z][^\n]*\n\n- )", contents)[1:]:
        title = part.partition("\n")[0]
        pages = [{name: os.path.normpath(os.path.join("docs", path))} for name, path in _LISTED.findall(part)]
        found.append({title: pages})
    agents = sorted(os.listdir(os.path.join(CHECKOUT, "docs", "agents")))
    found.append({"Agents, one by one": [f"docs/agents/{name}" for name in agents if name != "README.md"]})
    protocols = sorted(
        name for name in os.listdir(os.path.join(CHECKOUT, "docs", "paper")) if name.startswith("protocol")
    )
    more = [f"docs/paper/{name}" for name in protocols if name.endswith(".md")]
    found.append({"More": [*more, "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md"]})
    return found


def main() -> int:
    put_together()
    with open(os.path.join(CHECKOUT, "mkdocs.yml"), encoding="utf-8") as stream:
        settings = yaml.safe_load(stream)
    # Paths in the settings are relative to their file.
    settings |= {"nav": navigation(), "docs_dir": PAGES, "site_dir": os.path.join(CHECKOUT, "build", "site")}
    path = os.path.join(CHECKOUT, "build", "mkdocs.yml")
    with open(path, "w", encoding="utf-8") as stream:
        yaml.safe_dump(settings, stream, sort_keys=False, allow_unicode=True)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", path]
    return subprocess.run(command, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}).returncode


if __name__ == "__main__":
    sys.exit(main())

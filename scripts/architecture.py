"""The architecture of the code: layers, imports between packages, import rings, and the files that two walks enter.

    python scripts/architecture.py            write the generated parts of ARCHITECTURE.md
    python scripts/architecture.py --rules    say which rules are broken, and where
    python scripts/architecture.py --check    say whether they are up to date, and what breaks a rule

The rules are written here only; `tests/test_architecture.py` checks them.
"""

import argparse
import ast
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = os.path.join(ROOT, "src")
PAGE = os.path.join(ROOT, "ARCHITECTURE.md")

SURFACES = ("cli", "web", "tools", "mcp", "daemon", "plugins")
"""Parse, call the application, show; nothing else."""
APP = "app"
STAGES = (
    "outcomes", "profiles", "episodes", "projects", "lessons", "facts", "orientation", "live", "answers", "provisioning",
    "compress", "experiments", "templates", "receipts", "reports", "lab", "distill",
    "sharing",
)  # fmt: skip
"""Pure: values in, values out. They never import each other."""
EDGES = (
    "agents",
    "archive",
    "state",
    "tree",
    "ingest",
    "fleet",
    "installing",
    "daemon_client",
    "native_client",
    "prices",
)
"""Formats, databases, files, other programs."""
BASE = (
    "mistakes",
    "manifests",
    "statistics",
    "safe_text",
    "commands",
    "calls",
    "files",
    "connections",
    "ownership",
    "programs",
    "checkouts",
    "remotes",
    "locking",
    "processes",
    "sqlite_files",
    "text_cache",
    "prompt_text",
    "terms",
    "stated",
    "lesson_meaning",
    "shared_file",
    "limits",
    "settings_file",
    "settings",
    "amounts",
    "errors",
    "model",
)
"""Modules that every layer may use."""
STUDY = "preheat.lab.study"
ENTRIES = ("__main__", "quick", "hook_client", "__init__", STUDY)
"""How the program is started: `quick` is the short way through a sync that finds nothing new, `hook_client` the one of
plugins, the study a program of its own."""
FOR_TESTS = ("testing",)

OPEN_TO_SURFACES = frozenset(
    (APP, "model", "errors", "settings", "amounts", "files", "programs", "processes", "connections", "__init__")
)
STARTED_BY = {
    ("mcp", "tools"): "",
    ("cli", "daemon"): "preheat.cli.foreground",
    ("cli", "mcp"): "preheat.cli.mcp",
    ("cli", "tools"): "preheat.cli.tool",
    ("cli", "web"): "preheat.cli.pages",
}
"""A surface that uses another one, and the only module in which it does (empty: anywhere): a command that serves it."""


class Import(NamedTuple):
    """One import of one of our modules by another."""

    importer: str
    imported: str
    line: int
    inside: bool
    """Within a function."""
    typing_only: bool


class Broken(NamedTuple):
    """A place that breaks a rule."""

    place: str
    rule: str

    def __str__(self) -> str:
        return f"{self.place}: {self.rule}"


# Reading the code.
def modules() -> dict[str, str]:
    """Every module of the package by its name, with its path."""
    found: dict[str, str] = {}
    for folder, _, names in os.walk(os.path.join(SOURCE, "preheat")):
        for name in names:
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                dotted = os.path.relpath(path, SOURCE)[:-3].replace(os.sep, ".")
                found[dotted.removesuffix(".__init__")] = path
    return dict(sorted(found.items()))


def imports(known: dict[str, str] | None = None) -> list[Import]:
    """Every import of our own modules."""
    known = known or modules()
    found: list[Import] = []
    for name, path in known.items():
        with open(path, encoding="utf-8") as stream:
            tree = ast.parse(stream.read())
        package = name if os.path.basename(path) == "__init__.py" else name.rpartition(".")[0]
        for node, inside, typing_only in _statements(tree.body, False, False):
            targets = sorted(set(_targets(node, package, known)) - {name})
            found += [Import(name, target, node.lineno, inside, typing_only) for target in targets]
    return found


def _statements(
    body: Iterable[ast.stmt], inside: bool, typing_only: bool
) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool, bool]]:
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, inside, typing_only
            continue
        within = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for field, value in ast.iter_fields(node):
            if (
                isinstance(value, list)
                and value
                and isinstance(value[0], ast.stmt | ast.excepthandler | ast.match_case)
            ):
                for_typing = typing_only or (field == "body" and isinstance(node, ast.If) and _is_typing(node.test))
                for each in value:
                    yield from _statements([each] if isinstance(each, ast.stmt) else each.body, within, for_typing)


def _is_typing(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def _targets(node: ast.Import | ast.ImportFrom, package: str, known: dict[str, str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in known)
        return
    base = node.module or ""
    if node.level:
        above = package.split(".")[: len(package.split(".")) - node.level + 1]
        base = ".".join([*above, *([base] if base else [])])
    for alias in node.names:
        whole = f"{base}.{alias.name}"
        if whole in known:
            yield whole
        elif base in known:
            yield base


def part_of(module: str) -> str:
    """The package, or the module beside the packages, that a module belongs to."""
    if module == STUDY or module.startswith(f"{STUDY}."):
        return STUDY
    return module.split(".")[1] if "." in module else "__init__"


def layer_of(part: str) -> str:
    for name, parts in LAYERS.items():
        if part in parts:
            return name
    return ""


LAYERS: dict[str, tuple[str, ...]] = {
    "surfaces": SURFACES,
    "application": (APP,),
    "stages": STAGES,
    "edges": EDGES,
    "base": BASE,
    "entries": ENTRIES,
    "for tests": FOR_TESTS,
}


# The rules.
def broken(found: list[Import] | None = None) -> list[Broken]:
    """Every place that breaks a rule."""
    found = imports() if found is None else found
    homeless = [module for module in modules() if not layer_of(part_of(module))]
    wrong = [Broken(module, "belongs to no layer; name it in scripts/architecture.py") for module in homeless]
    wrong += [Broken(f"{each.importer}:{each.line}", why) for each in found if (why := _broken_rule(each))]
    wrong += [Broken(" -> ".join((*ring, ring[0])), "is a ring of imports") for ring in rings(found)]
    return wrong


def _broken_rule(each: Import) -> str:
    """The rule that an import breaks; empty: none."""
    own, other = part_of(each.importer), part_of(each.imported)
    layer, other_layer = layer_of(own), layer_of(other)
    if own == other or other == "__init__" or layer in ("entries", "for tests"):
        return ""
    if other_layer == "for tests":
        return f"`{other}` is for tests only"
    if layer == "surfaces":
        if other in OPEN_TO_SURFACES:
            return ""
        where = STARTED_BY.get((own, other))
        if where is not None and where in ("", each.importer):
            return ""
        return f"the surface `{own}` goes round the application object to `{other}`"
    if other_layer == "surfaces":
        return f"`{own}` knows the surface `{other}`"
    if layer == "application":
        return ""
    if other == APP:
        return f"`{own}` knows the application above it"
    if layer == "stages" and other_layer != "base":
        return f"the stage `{own}` knows `{other}`, which `app` should hand over"
    if layer == "edges" and other_layer not in ("edges", "base"):
        return f"the edge `{own}` knows `{other}` above it"
    if layer == "base" and other_layer != "base":
        return f"`{own}` is for everybody and knows `{other}`"
    return ""


def rings(found: list[Import]) -> list[list[str]]:
    """Import rings, each once; imports for types only do not count."""
    graph: dict[str, set[str]] = {}
    for each in found:
        if not each.typing_only:
            graph.setdefault(each.importer, set()).add(each.imported)
    return [sorted(group) for group in _strongly_connected(graph) if len(group) > 1]


def _strongly_connected(graph: dict[str, set[str]]) -> list[list[str]]:
    """Tarjan's algorithm, without recursion: the graph is deeper than Python's stack may be."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    groups: list[list[str]] = []
    for start in sorted(graph):
        if start in index:
            continue
        work = [(start, iter(sorted(graph.get(start, ()))))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, following = work[-1]
            for other in following:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(sorted(graph.get(other, ())))))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    group = []
                    while True:
                        top = stack.pop()
                        on_stack.discard(top)
                        group.append(top)
                        if top == node:
                            break
                    groups.append(group)
    return groups


# The page.
def diagram(found: list[Import]) -> str:
    """The layers and who imports whom between packages, for a page that draws Mermaid."""
    lines = ["```mermaid", "flowchart TB"]
    known = {part_of(module) for module in modules()}
    for name in ("surfaces", "application", "stages", "edges", "base"):
        present = [part for part in LAYERS[name] if part in known]
        lines += [f"  subgraph {name}", *(f"    {part}" for part in present), "  end"]
    arrows = {(layer_of(part_of(each.importer)), layer_of(part_of(each.imported))) for each in found}
    order = ("surfaces", "application", "stages", "edges", "base")
    lines += [f"  {a} --> {b}" for a in order for b in order if a != b and (a, b) in arrows]
    return "\n".join((*lines, "```"))


def table(found: list[Import]) -> str:
    """Every package with its layer, the first sentence of its docstring, and what it imports."""
    known = modules()
    uses: dict[str, set[str]] = {}
    for each in found:
        if part_of(each.importer) != part_of(each.imported) and layer_of(part_of(each.imported)) != "base":
            uses.setdefault(part_of(each.importer), set()).add(part_of(each.imported))
    lines = ["| layer | package | what it is | imports, beside the base |", "|---|---|---|---|"]
    for layer, parts in LAYERS.items():
        for part in parts:
            path = known.get(f"preheat.{part}") or (known.get("preheat") if part == "__init__" else None)
            if path is not None:
                used = ", ".join(name for name in sorted(uses.get(part, ())) if name != "__init__")
                lines.append(f"| {layer} | `{part}` | {first_sentence(path)} | {used} |")
    return "\n".join(lines)


def first_sentence(path: str) -> str:
    """The first sentence of a module's docstring."""
    with open(path, encoding="utf-8") as stream:
        text = ast.get_docstring(ast.parse(stream.read())) or ""
    first = " ".join(text.partition("\n\n")[0].split())
    return first.partition(". ")[0].rstrip(".").replace("|", "\\|")


def walk(name: str) -> list[str]:
    """The files that a walk enters, in the order in which it first does. Runs in a process of its own."""
    done = subprocess.run(
        [sys.executable, os.path.join(ROOT, "scripts", "walks.py"), name],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    entered = done.stdout.split()
    if not entered:
        raise SystemExit(f"architecture: the walk `{name}` entered no file; see scripts/walks.py")
    return entered


def walk_list(name: str) -> str:
    """The files of a walk, from the surfaces down; the order of entry may differ between threads."""
    groups: dict[str, list[str]] = {}
    entered = walk(name)
    for path in entered:
        part = path.split("/")[0] if "/" in path else path.removesuffix(".py")
        groups.setdefault(part, []).append(path.removeprefix(f"{part}/"))
    order = [part for parts_of in LAYERS.values() for part in parts_of]
    lines = [
        f"- **{part}**: " + ", ".join(f"`{path}`" for path in sorted(groups[part]))
        for part in sorted(groups, key=order.index)
    ]
    return "\n".join((f"{len(entered)} files:", *lines))


def parts() -> dict[str, str]:
    """The generated parts of the page, by their names."""
    found = imports()
    return {
        "diagram": diagram(found),
        "packages": table(found),
        "walk-transcript": walk_list("transcript"),
        "walk-hook": walk_list("hook"),
    }


def written(page: str, generated: dict[str, str]) -> str:
    """The page with its generated parts replaced."""
    for name, text in generated.items():
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        head, mark, rest = page.partition(begin)
        _, close, tail = rest.partition(end)
        if not mark or not close:
            raise SystemExit(f"architecture: `{begin}` … `{end}` is missing in ARCHITECTURE.md")
        page = f"{head}{begin}\n{text}\n{end}{tail}"
    return page


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where something is wrong")
    parser.add_argument("--rules", action="store_true", help="only say which rules are broken, and where")
    options = parser.parse_args()
    wrong = broken()
    for each in wrong:
        print(each)
    if options.rules:
        return int(bool(wrong))
    with open(PAGE, encoding="utf-8") as stream:
        before = stream.read()
    after = written(before, parts())
    if options.check:
        if before != after:
            print("ARCHITECTURE.md is not up to date; `python scripts/architecture.py` writes it")
        return int(bool(wrong) or before != after)
    with open(PAGE, "w", encoding="utf-8") as stream:
        stream.write(after)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())

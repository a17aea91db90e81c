"""Which environment variables a project needs: names only, by its examples of environments and its forge's workflows. Pure."""

import re
from collections import Counter
from posixpath import basename

from preheat.facts.values import ProjectTree, make_fact
from preheat.manifests.services import is_environment_example, read_variable_names
from preheat.manifests.workflows import is_workflow, read_workflow
from preheat.model.lesson import Lesson

_MOST = 8
_OTHERS = re.compile(r"(?:^|/)(?:templates?|examples?|fixtures?|tests?|samples?|docs)/")
"""Folders whose examples are for others: nobody fills them in here."""


def learn_variables(tree: ProjectTree) -> list[Lesson]:
    """Facts on variables: one for each example of an environment, first those that have to be filled in; and the secrets that
    workflows get."""
    examples = []
    for path in sorted(tree.texts, key=lambda each: (each.count("/"), each)):
        if is_environment_example(path):
            named = read_variable_names(tree.texts[path])
            names = [name for name, is_open in named if is_open]  # the others have a value that does
            if names:
                examples.append(_fact(tree, names, path, "variables"))
            elif named:
                examples.append(_fact(tree, [name for name, _ in named], path, "defaults"))
    return [*examples[:_MOST_EXAMPLES], *_secrets(tree)]


_MOST_EXAMPLES = 4
_TEXTS = {"variables": "Variables that are needed, by", "defaults": "Variables with a default, by"}


def _fact(tree: ProjectTree, names: list[str], path: str, about: str) -> Lesson:
    shown, folder = names[:_MOST], path.rpartition("/")[0]
    listed = ", ".join(f"`{name}`" for name in shown)
    details = {"about": about, "names": ",".join(shown)} | ({"package": folder} if folder else {})
    name = basename(path).rpartition(".")[0]
    place = f"{folder}/{name if name in _TYPED else '.env'}".lstrip("/")
    is_own = folder.count("/") < 2 and not _OTHERS.search(f"{folder}/")
    if is_own and basename(path).startswith((".env.", *(f"{each}." for each in _TYPED))) and place not in tree.paths:
        details["copy"] = f"cp {path} {place}"
    return make_fact(
        tree,
        "variable",
        (path,),
        f"{_TEXTS[about]} `{path}`: {listed}.",
        reach=0.2 if about == "variables" else _SELDOM,
        files=(path,),
        details=details,
    )


_TYPED = (".dev.vars", ".envrc", ".secrets")
"""Files of variables that programs look for by this very name."""
_SELDOM = 0.05
"""The reach of what is said where a prompt names it."""
_MOST_SECRETS = 12


def _secrets(tree: ProjectTree) -> list[Lesson]:
    """The names of the secrets that the forge has for its workflows: without one its steps fail, whatever is set elsewhere."""
    by_file = {path: read_workflow(text).secrets for path, text in sorted(tree.texts.items()) if is_workflow(path)}
    files = tuple(path for path, names in by_file.items() if names)
    counted = Counter(name for names in by_file.values() for name in names)
    names = [name for name, _ in sorted(counted.items(), key=lambda item: (-item[1], item[0]))][:_MOST_SECRETS]
    if not names:
        return []
    listed = ", ".join(f"`{name}`" for name in names)
    return [
        make_fact(
            tree, "variable", ("secrets",), f"Secrets that the forge's workflows get: {listed}.", reach=_SELDOM, files=files,
            details={"about": "secrets", "names": ",".join(names)},
        )
    ]  # fmt: skip

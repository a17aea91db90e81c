"""Which environment variables a project needs: names only, by its examples of environments. Pure."""

import re
from posixpath import basename

from preheat.facts.values import ProjectTree, make_fact
from preheat.manifests.services import is_environment_example, read_variable_names
from preheat.model.lesson import Lesson

_MOST = 8
_OTHERS = re.compile(r"(?:^|/)(?:templates?|examples?|fixtures?|tests?|samples?|docs)/")
"""Folders whose examples are for others: nobody fills them in here."""


def learn_variables(tree: ProjectTree) -> list[Lesson]:
    """Facts on variables: one for each example of an environment, first those that have to be filled in."""
    found = []
    for path in sorted(tree.texts, key=lambda each: (each.count("/"), each)):
        if not is_environment_example(path):
            continue
        named = read_variable_names(tree.texts[path])
        names = [name for name, is_open in named if is_open]  # the others have a value that does
        if names:
            folder = path.rpartition("/")[0]
            found.append(_fact(tree, names[:_MOST], path, folder))
    return found[:4]


def _fact(tree: ProjectTree, names: list[str], path: str, folder: str) -> Lesson:
    listed = ", ".join(f"`{name}`" for name in names)
    details = {"about": "variables", "names": ",".join(names)} | ({"package": folder} if folder else {})
    place = f"{folder}/.env".lstrip("/")
    is_own = folder.count("/") < 2 and not _OTHERS.search(f"{folder}/")
    if is_own and basename(path).startswith(".env.") and place not in tree.paths:
        details["copy"] = f"cp {path} {place}"
    return make_fact(
        tree,
        "variable",
        (path,),
        f"Variables that are needed, by `{path}`: {listed}.",
        reach=0.2,
        files=(path,),
        details=details,
    )

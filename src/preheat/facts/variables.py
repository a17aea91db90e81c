"""Which environment variables a project needs: names only, by its examples of environments. Pure."""

from preheat.facts.values import ProjectTree, make_fact
from preheat.manifests.services import is_environment_example, read_variable_names
from preheat.model.lesson import Lesson

_MOST = 8


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
    return make_fact(
        tree,
        "variable",
        (path,),
        f"Variables that are needed, by `{path}`: {listed}.",
        reach=0.2,
        files=(path,),
        details=details,
    )

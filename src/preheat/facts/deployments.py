"""What a push or a tag sets off: the workflows of the forge that deploy or release the project. Pure."""

import re
from posixpath import basename

from preheat.facts.values import ProjectTree, make_fact
from preheat.manifests.workflows import is_workflow, read_triggers
from preheat.model.lesson import Lesson

_DEPLOYING = re.compile(r"(?:^|[^a-z])(?:deploy\w*|release\w*|publish\w*|ship|cd)(?:[^a-z]|$)")
_PREPARING = re.compile(r"draft|note|check|test|valid|lint|verify|dry|preview|label|clean|docs?(?:[^a-z]|$)")
"""Names of workflows that deploy nothing which anybody uses."""
_MOST = 4
_SELDOM = 0.1
"""The reach of what is said where a prompt asks to deploy or to release."""


def learn_deployments(tree: ProjectTree) -> list[Lesson]:
    """A fact for each workflow that deploys or releases at a push to a branch, at a tag, or by hand only."""
    found = []
    for path in sorted(tree.texts):
        name = basename(path).partition(".")[0].lower()
        if not is_workflow(path) or not _DEPLOYING.search(name) or _PREPARING.search(name):
            continue
        triggers = read_triggers(tree.texts[path])
        is_pushed = bool(triggers.branches or triggers.tags)
        command = f"gh workflow run {basename(path)}" if triggers.by_hand and path.startswith(".github/") else ""
        if not is_pushed and (not command or triggers.has_others):
            continue
        details = {"about": "deploy"}
        details |= {"branches": ",".join(triggers.branches)} if triggers.branches else {}
        details |= {"tags": ",".join(triggers.tags)} if triggers.tags else {}
        details |= {"limited": "yes"} if triggers.is_limited else {}
        places = [*triggers.branches, *(f"{each}*" for each in triggers.tags)]
        found.append(
            make_fact(
                tree, "deploy", (path,), f"`{path}` runs at {', '.join(f'`{each}`' for each in places) or 'a call by hand'}.",
                reach=_SELDOM, use=command, files=(path,), details=details,
            )
        )  # fmt: skip
    return found[:_MOST]

"""The checks that a project's documents for developers name and no manifest of it does. Pure."""

import re
from collections.abc import Iterable, Sequence

from preheat.commands.purposes import purpose_of_command
from preheat.facts.checks import CHECK_TOPICS, command_key
from preheat.facts.join import runs_missing_script
from preheat.facts.values import ProjectTree, cites_missing_place, make_fact
from preheat.manifests.documents import is_developer_document, read_commands
from preheat.model.lesson import Lesson
from preheat.safe_text.reasons import danger_reason

_PLAIN = re.compile(r"[\w./:@=+, -]+")
_VARYING = re.compile(r"<|path/to|example|your|foo|bar\b|-h\b|--help|--version|\binstall\b|\.\.\.\s")
_MOST = 6
_SELDOM = 0.1
"""The reach of what is said where a prompt asks for it only: nobody has tried it."""


def learn_documents(tree: ProjectTree, known: Sequence[Lesson]) -> list[Lesson]:
    """Facts on checks that documents show, for topics that none of the known facts of the tree is for."""
    paths = [path for path in sorted(tree.texts) if is_developer_document(path)]
    own = {fact.topic for fact in known if not fact.details.get("package")}
    named = {command_key(fact.use) for fact in known}
    found: dict[str, Lesson] = {}
    for path in paths:
        for command in read_commands(path, tree.texts[path]):
            topic = purpose_of_command(command)
            if topic in CHECK_TOPICS - own and command_key(command) not in named and _is_fit(command, tree):
                found.setdefault(
                    command, _fact(tree, topic, command, path, topic == "test" and _is_first(topic, found.values()))
                )
    return list(found.values())[:_MOST]


def _is_fit(command: str, tree: ProjectTree) -> bool:
    """Whether a command can be typed as it stands, in this tree, without harm."""
    is_plain = _PLAIN.fullmatch(command) is not None and not _VARYING.search(command)
    return is_plain and not (
        danger_reason(command) or runs_missing_script(command, tree) or cites_missing_place(command, tree)
    )


def _is_first(topic: str, found: Iterable[Lesson]) -> bool:
    return all(fact.topic != topic for fact in found)


def _fact(tree: ProjectTree, topic: str, command: str, path: str, is_main: bool) -> Lesson:
    return make_fact(
        tree, topic, ("document", command), f"The {topic} runs with `{command}` (in `{path}`).",
        reach=_SELDOM, use=command, files=(path,),
        details={"about": topic} | ({"main": "yes"} if is_main else {}),
    )  # fmt: skip

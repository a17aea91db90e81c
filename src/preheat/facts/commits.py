"""What a commit and a push must look like: hooks, messages, change files. By files and by the newest commits. Pure."""

import re
from collections import Counter

from preheat.commands.words import name_set
from preheat.facts.values import ProjectTree, make_fact
from preheat.manifests.hooks import HookCommands, is_hook_file, read_hooks, read_staged_commands
from preheat.model.lesson import Lesson
from preheat.statistics.shares import wilson

CONVENTIONAL = re.compile(r"^(?P<type>[a-z]{2,10})(?P<scope>\([\w@/., -]{1,40}\))?!?: \S")
TYPES = name_set("feat fix docs chore refactor test tests style perf build ci revert wip release deps security")
_FEW = 8
_SURE = 0.75
_MOSTLY = 0.8
_MOMENTS = {"commit": "a commit", "message": "a commit message", "push": "a push"}


def learn_commits(tree: ProjectTree) -> list[Lesson]:
    """Facts on hooks, messages and change files."""
    found: list[Lesson] = []
    for path in sorted(tree.texts):
        if is_hook_file(path):
            found += (_hook_fact(tree, each) for each in read_hooks(path, tree.texts[path]))
    found = [fact for fact in found if fact.details["commands"]]
    found += _message_facts(tree)
    if ".changeset/config.json" in tree.paths:
        text = "A change that users notice needs a file in `.changeset/`."
        found.append(
            make_fact(
                tree,
                "release",
                ("changeset",),
                text,
                reach=0.45,
                files=(".changeset",),
                details={"about": "change file", "path": ".changeset/"},
            )
        )
    return found


def _hook_fact(tree: ProjectTree, hook: HookCommands) -> Lesson:
    commands = [command.replace("$1", "FILE").replace('"FILE"', "FILE") for command in hook.commands]
    staged = (
        read_staged_commands(tree.texts.get("package.json", ""))
        if any("lint-staged" in each for each in commands)
        else ()
    )
    run = [command for _, each in staged for command in each]
    listed = ", ".join(f"`{command}`" for command in commands)
    return make_fact(
        tree, "hook", (hook.moment, hook.file), f"{_MOMENTS[hook.moment].capitalize()} runs {listed} (`{hook.file}`).",
        reach=0.6 if hook.moment == "commit" else 0.35, files=(hook.file,),
        details={"about": hook.moment, "commands": "\n".join([*commands, *dict.fromkeys(run)][:6])},
    )  # fmt: skip


def _message_facts(tree: ProjectTree) -> list[Lesson]:
    """How messages begin, where the newest commits agree, or a file demands it."""
    subjects = [each for each in tree.subjects if not each.startswith(("Merge ", "Revert "))]
    demanded = next((path for path in tree.paths if re.match(r"\.?commitlint(?:rc|\.config)", path)), "")
    fact = describe_messages(subjects)
    if fact is None and not demanded:
        return []
    types, scope, good = fact or (["feat", "fix", "docs", "chore"], False, 0)
    example = f"{types[0]}({'SCOPE'}): …" if scope else f"{types[0]}: …"
    text = f"Commit messages begin like `{example}`, with {', '.join(f'`{each}`' for each in types)}."
    details = {"about": "message", "types": ",".join(types), "scope": "yes" if scope else ""}
    if good:
        details |= {"good": str(good), "all": str(len(subjects))}
    return [
        make_fact(
            tree, "commit", ("message",), text, reach=0.45, files=(demanded,) if demanded else (), details=details
        )
    ]


def describe_messages(subjects: list[str]) -> tuple[list[str], bool, int] | None:
    """The types that messages begin with, the commonest first, whether most have a scope, and how many have a type; None where
    too few have one."""
    typed = [found for each in subjects if (found := CONVENTIONAL.match(each)) and found["type"] in TYPES]
    if len(subjects) < _FEW or wilson(len(typed), len(subjects))[0] < _SURE:
        return None
    counted = Counter(found["type"] for found in typed)
    types = [name for name, _ in sorted(counted.items(), key=lambda item: (-item[1], item[0]))][:5]
    scoped = sum(found["scope"] is not None for found in typed)
    return types, scoped >= _MOSTLY * len(typed), len(typed)

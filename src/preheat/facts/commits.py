"""What a commit and a push must look like: hooks, messages, change files. By files and by the newest commits. Pure."""

import re
from collections import Counter

from preheat.commands.commit_message import BRANCH_KINDS, COMMIT_TYPES
from preheat.commands.words import name_set
from preheat.facts.values import ProjectTree, make_fact
from preheat.manifests.hooks import STAGED_FILES, HookCommands, is_hook_file, read_hooks, read_staged_commands
from preheat.model.lesson import Lesson
from preheat.statistics.shares import wilson

CONVENTIONAL = re.compile(r"^(?P<type>[a-z]{2,10})(?P<scope>\([\w@/., -]{1,40}\))?!?: \S")
_BY_PROGRAM = re.compile(
    r"(?i)^(?:[a-z]+(?:\([\w-]+\))?: )?(?:bump (?:the )?\S+ (?:from|group|in|and)|update dependency \S+|lock file maintenance)\b"
)
"""Subjects that programs write which update dependencies: nobody types them."""
_FEW = 8
_FEWEST_CHANGES, _CHANGED = 2, 0.05
"""Of the newest commits, those that change a changelog which is kept."""
_SURE = 0.6
_MOSTLY, _SOMETIMES = 0.8, 0.25
_NEWEST = 20
"""The newest messages with a type, which say whether a scope belongs to it."""
_SHARE = 0.6
"""Of the branches that were merged, those with one of a few prefixes."""
_FEW_MERGES, _MOST_PREFIXES = 3, 3
_MERGED = re.compile(r"Merge (?:pull request #\d+ from [\w.-]+/|branch ')(?P<branch>[\w./-]{2,80})")
_PULLED, _SQUASHED = re.compile(r"^Merge pull request #\d+ from "), re.compile(r"\(#\d+\)$")
_FEW_PULLS = 5
_UNRELEASED = re.compile(r"^#{1,3}\s+\[?Unreleased\]?", re.MULTILINE | re.IGNORECASE)
_WRITTEN_BY = re.compile(
    r"(?:^|/)(?:cliff\.toml|release-please-config\.json|\.releaserc(?:\.\w+)?|\.versionrc(?:\.\w+)?)$"
)
"""Files of programs that write the changelog themselves."""
CHANGELOG = "CHANGELOG.md"
_MOMENTS = {"commit": "a commit", "message": "a commit message", "push": "a push"}


def learn_commits(tree: ProjectTree) -> list[Lesson]:
    """Facts on hooks, messages and change files."""
    found: list[Lesson] = []
    for path in sorted(tree.texts):
        if is_hook_file(path):
            found += (_hook_fact(tree, each) for each in read_hooks(path, tree.texts[path]))
    found = [fact for fact in found if fact.details["commands"]]
    found += _message_facts(tree)
    found += _branch_facts(tree)
    found += _pull_request_facts(tree)
    if _is_changelog_kept(tree):
        found.append(
            make_fact(
                tree, "release", ("changelog",), f"A change that users notice is written into `{CHANGELOG}`.",
                reach=0.4, files=(CHANGELOG,), details={"about": "changelog", "path": CHANGELOG},
            )
        )  # fmt: skip
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


def _is_changelog_kept(tree: ProjectTree) -> bool:
    """Whether people write what they change into the changelog, as the newest commits show: many a one was begun once."""
    if not _UNRELEASED.search(tree.texts.get(CHANGELOG, "")) or any(map(_WRITTEN_BY.search, tree.paths)):
        return False
    changes = tree.changelog_changes
    return changes is None or changes >= max(_FEWEST_CHANGES, _CHANGED * len(tree.subjects))


def _hook_fact(tree: ProjectTree, hook: HookCommands) -> Lesson:
    commands = [command.replace("$1", "FILE").replace('"FILE"', "FILE") for command in hook.commands]
    files = ("package.json", *STAGED_FILES) if any("lint-staged" in each for each in commands) else ()
    staged = next(filter(None, (read_staged_commands(tree.texts.get(file, "")) for file in files)), ())
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
    subjects = [each for each in subjects if not _BY_PROGRAM.match(each)]
    demanded = next((path for path in tree.paths if re.match(r"\.?commitlint(?:rc|\.config)", path)), "")
    fact = describe_messages(subjects)
    if fact is None and not demanded:
        return []
    types, scope, good = fact or (["feat", "fix", "docs", "chore"], "", 0)
    example = f"{types[0]}(SCOPE): …" if scope == "yes" else f"{types[0]}: …"
    text = f"Commit messages begin like `{example}`, with {', '.join(f'`{each}`' for each in types)}."
    details = {"about": "message", "types": ",".join(types), "scope": scope}
    if good:
        details |= {"good": str(good), "all": str(len(subjects))}
    return [
        make_fact(
            tree, "commit", ("message",), text, reach=0.45, files=(demanded,) if demanded else (), details=details
        )
    ]


def _branch_facts(tree: ProjectTree) -> list[Lesson]:
    """How names of branches begin, by those that were merged."""
    names = [found["branch"] for each in tree.subjects if (found := _MERGED.match(each))]
    names = [name for name in names if name not in _MAIN_BRANCHES]
    counted = Counter(name.partition("/")[0].lower() for name in names if "/" in name)
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    usual = [each for each, count in ranked if count > 1 and each in BRANCH_KINDS][:_MOST_PREFIXES]
    good = sum(counted[each] for each in usual)
    if len(names) < _FEW_MERGES or good < max(_FEW_MERGES, _SHARE * len(names)):
        return []
    listed = ", ".join(f"`{each}/`" for each in usual)
    return [
        make_fact(
            tree, "branch", ("prefixes",), f"Names of branches begin with {listed} ({good} of {len(names)}).", reach=0.35,
            details={"about": "branch", "prefixes": ",".join(f"{each}/" for each in usual), "good": str(good),
                     "all": str(len(names))},
        )
    ]  # fmt: skip


_MAIN_BRANCHES = name_set("main master develop dev trunk")


def _pull_request_facts(tree: ProjectTree) -> list[Lesson]:
    """That changes come by pull requests, where the newest commits of a project on GitHub say so."""
    good = sum(bool(_PULLED.match(each)) for each in tree.subjects)
    if any(path.startswith(".github/") for path in tree.paths):
        good += sum(bool(_SQUASHED.search(each)) for each in tree.subjects)
    if good < _FEW_PULLS:
        return []
    squashed = sum(bool(_SQUASHED.search(each)) for each in tree.subjects)
    is_squashed = squashed >= _SHARE * len(tree.subjects) and not any(map(_PULLED.match, tree.subjects))
    return [
        make_fact(
            tree, "pull_request", ("github",), "Pull requests are made with `gh pr create`.", reach=0.35, use="gh pr create",
            details={"about": "pull request", "good": str(good), "all": str(len(tree.subjects))}
            | ({"merge": "gh pr merge --squash"} if is_squashed else {}),
        )
    ]  # fmt: skip


def describe_messages(subjects: list[str]) -> tuple[list[str], str, int] | None:
    """The types that messages begin with, the commonest first, whether they have a scope (`yes`, `some` of them, or empty), and
    how many have a type; None where too few have one."""
    typed = [found for each in subjects if (found := CONVENTIONAL.match(each)) and found["type"] in COMMIT_TYPES]
    if len(subjects) < _FEW or wilson(len(typed), len(subjects))[0] < _SURE:
        return None
    counted = Counter(found["type"] for found in typed)
    types = [name for name, _ in sorted(counted.items(), key=lambda item: (-item[1], item[0]))][:5]
    newest = typed[:_NEWEST]  # customs change
    scoped = sum(found["scope"] is not None for found in newest)
    scope = "yes" if scoped >= _MOSTLY * len(newest) else "some" if scoped >= _SOMETIMES * len(newest) else ""
    return types, scope, len(typed)

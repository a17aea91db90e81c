"""What a commit and a push must look like: hooks, messages, change files. By files and by the newest commits. Pure."""

import re
from collections import Counter
from collections.abc import Sequence

from preheat.commands.commit_message import BRANCH_KINDS
from preheat.commands.words import name_set
from preheat.facts.messages import MessageForm, describe_messages
from preheat.facts.values import ProjectTree, make_fact
from preheat.manifests.hooks import STAGED_FILES, HookCommands, is_hook_file, read_hooks, read_staged_commands
from preheat.model.lesson import Lesson

_FEWEST_CHANGES, _CHANGED = 2, 0.05
"""Of the newest commits, those that change a changelog which is kept."""
_SHARE = 0.6
"""Of the branches that were merged, those with one of a few prefixes."""
_FEW_MERGES, _MOST_PREFIXES = 3, 3
_MERGED = re.compile(r"Merge (?:pull request #\d+ from [\w.-]+/|branch ')(?P<branch>[\w./-]{2,80})")
_PULLED, _SQUASHED = re.compile(r"^Merge pull request #\d+ from "), re.compile(r"\(#\d+\)$")
_FEW_PULLS, _NEWEST = 5, 20
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
    demanded = next((path for path in tree.paths if re.match(r"\.?commitlint(?:rc|\.config)", path)), "")
    found = describe_messages(tree.subjects)
    if demanded and (found is None or not found.types):
        found = _DEMANDED
    if found is None:
        return []
    begun = ", ".join(f"`{each}`" for each in found.beginnings)
    details = {"about": "message", "form": found.form, "beginnings": ",".join(found.beginnings)}
    if found.types:
        details |= {"types": ",".join(found.types), "scope": found.scope}
    if found.good:
        details |= {"good": str(found.good), "all": str(found.all)}
    return [
        make_fact(
            tree, "commit", ("message",), f"Commit messages are `{found.form}`, mostly {begun}.", reach=0.45,
            files=(demanded,) if demanded else (), details=details,
        )
    ]  # fmt: skip


_DEMANDED = MessageForm("TYPE: …", ("feat: …", "fix: …", "docs: …", "chore: …"), 0, 0, ("feat", "fix", "docs", "chore"))
"""What a linter of messages demands where nobody has followed it yet."""


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
    merge = _find_merge_method(tree.subjects)
    return [
        make_fact(
            tree, "pull_request", ("github",), "Pull requests are made with `gh pr create`.", reach=0.35, use="gh pr create",
            details={"about": "pull request", "good": str(good), "all": str(len(tree.subjects))}
            | ({"merge": f"gh pr merge {merge}"} if merge else {}),
        )
    ]  # fmt: skip


def _find_merge_method(subjects: Sequence[str]) -> str:
    """How pull requests are merged, by what merging leaves in the newest commits; empty where that is not clear."""
    newest = subjects[:_NEWEST]  # customs change
    squashed = sum(bool(_SQUASHED.search(each)) for each in newest)
    if not any(map(_PULLED.match, newest)):
        return "--squash" if squashed >= max(_FEW_PULLS, _SHARE * len(newest)) else ""
    has_number = any(map(_SQUASHED.search, subjects))  # then it may be that of an issue
    return "--merge" if sum(map(bool, map(_PULLED.match, subjects))) >= _FEW_PULLS and not has_number else ""

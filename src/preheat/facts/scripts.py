"""Every other script of a project, to be named when a prompt asks for it by a word of its name: migrate, seed, deploy… Pure."""

import re

from preheat.facts.checks import find_shell_scripts, is_harmful, topic_of_script
from preheat.facts.packages import find_packages
from preheat.facts.values import ProjectTree, in_folder, make_fact
from preheat.manifests.scripts import Script, body_of, command_of, read_scripts
from preheat.model.lesson import Lesson

_MOST = 40
_LIFECYCLE = re.compile(r"^(?:pre|post)(?=\w)|^(?:prepare|install|default|all|help|clean)$")
_LONGEST_BODY = 90


def learn_scripts(tree: ProjectTree) -> list[Lesson]:
    """A fact for each script that is no check: too seldom needed to be said unasked."""
    found: list[Lesson] = []
    shell = find_shell_scripts(tree)
    for package in find_packages(tree):
        found += [
            _fact(tree, package.command(script), script, package.folder)
            for script in package.scripts
            if _is_kept(script) and package.runner and not is_harmful(script, (*package.scripts, *shell))
        ]
    for path in sorted(tree.texts):
        if path.rpartition("/")[2] != "package.json" and path.count("/") <= 3:
            scripts = read_scripts(path, tree.texts[path])
            found += [
                _fact(tree, in_folder(script.folder, command_of(script)), script, script.folder)
                for script in scripts
                if _is_kept(script) and not is_harmful(script, (*scripts, *shell))
            ]
    found += [*_release_checks(tree), *_migrations(tree)]
    return [fact for fact in found if fact.use][:_MOST]


_MIGRATIONS = (
    ("manage.py", "python manage.py migrate"), ("alembic.ini", "alembic upgrade head"), ("artisan", "php artisan migrate"),
    ("bin/rails", "bin/rails db:migrate"),
)  # fmt: skip
"""Files of frameworks, and how they bring a data base up to date."""


def _migrations(tree: ProjectTree) -> list[Lesson]:
    return [
        make_fact(
            tree, "script", (command,), f"`{command}` brings the data base up to date.", reach=0.05, use=command, files=(file,),
            details={"about": "script", "name": "migrate"},
        )
        for file, command in _MIGRATIONS
        if file in tree.paths
    ]  # fmt: skip


def _release_checks(tree: ProjectTree) -> list[Lesson]:
    """What checks the configuration of a release."""
    file = next((path for path in (".goreleaser.yaml", ".goreleaser.yml") if path in tree.paths), "")
    if not file:
        return []
    details = {"about": "script", "name": "goreleaser"}
    return [
        make_fact(
            tree, "script", ("goreleaser",), f"`goreleaser check` checks `{file}`.", reach=0.05, use="goreleaser check",
            files=(file,), details=details,
        )
    ]  # fmt: skip


def _is_kept(script: Script) -> bool:
    return not topic_of_script(script) and not _LIFECYCLE.search(script.name)


def _fact(tree: ProjectTree, command: str, script: Script, folder: str) -> Lesson:
    body = " ".join(body_of(script).split())
    details = {"about": "script", "name": script.name} | ({"package": folder} if folder else {})
    if body and len(body) <= _LONGEST_BODY and ";" not in body:
        details["body"] = body
    return make_fact(
        tree, "script", (command,), f"`{command}` is a script of `{script.file}`.", reach=0.05, use=command,
        files=(folder,) if folder else (script.file,), details=details,
    )  # fmt: skip

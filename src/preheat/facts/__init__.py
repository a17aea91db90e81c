"""Facts of a project: how it is built, checked, run, set up and committed to; and which of them a moment of a session asks for.

`derive_facts` reads them from the files of a working tree, by one learner for each kind (`TREE_LEARNERS`), so that a project
without any session has them; `join` puts them beside what sessions taught and drops what the tree no longer has; `choice` and
`call_choice` pick those for a prompt and for a call; `stated` leaves out what a file says already. A fact is a lesson of the kind
`convention`. Pure; knows no archive.
"""

from collections.abc import Callable

from preheat.facts.checks import learn_checks
from preheat.facts.commits import CHANGELOG, learn_commits
from preheat.facts.deployments import learn_deployments
from preheat.facts.documents import learn_documents
from preheat.facts.ecosystems import names_ecosystem
from preheat.facts.generation import learn_generation, may_be_generated
from preheat.facts.generator_tools import has_generator_text
from preheat.facts.needs import learn_needs
from preheat.facts.programs import has_program_text
from preheat.facts.runner_settings import CONFIGURATIONS
from preheat.facts.scripts import learn_scripts
from preheat.facts.servers import learn_servers
from preheat.facts.setups import learn_setups
from preheat.facts.values import EMPTY_TREE, ProjectTree
from preheat.facts.variables import learn_variables
from preheat.facts.versions import has_version_text, is_python_version, learn_versions
from preheat.manifests.documents import is_developer_document
from preheat.manifests.hooks import STAGED_FILES, is_hook_file
from preheat.manifests.scripts import is_manifest
from preheat.manifests.services import is_compose, is_environment_example
from preheat.manifests.shell_scripts import is_shell_script
from preheat.manifests.workflows import is_workflow
from preheat.model.lesson import Lesson

__all__ = ["EMPTY_TREE", "TREE_LEARNERS", "ProjectTree", "derive_facts", "wanted_files"]

TREE_LEARNERS: tuple[Callable[[ProjectTree], list[Lesson]], ...] = (
    learn_checks,
    learn_servers,
    learn_setups,
    learn_variables,
    learn_generation,
    learn_commits,
    learn_deployments,
    learn_versions,
    learn_needs,
    learn_scripts,
)
_MOST_FILES = 300
_MOST_DEEP = 5
_CONFIGURATIONS = ("vite.config.", "astro.config.", "nuxt.config.", "next.config.", "vue.config.", "webpack.config.")


def wanted_files(paths: "frozenset[str] | list[str]") -> list[str]:
    """Of the files of a tree, those whose contents facts are read from, manifests and the highest first."""
    wanted = [
        path for path in paths if path.count("/") <= _MOST_DEEP and "node_modules/" not in path and _is_wanted(path)
    ]
    return sorted(wanted, key=lambda path: (_is_extra(path), path.count("/"), path))[:_MOST_FILES]


def _is_extra(path: str) -> bool:
    """Whether a file is no manifest, and so the first to be left out where there are too many."""
    return is_shell_script(path) or is_python_version(path) or (may_be_generated(path) and not is_manifest(path))


def _is_wanted(path: str) -> bool:
    name = path.rpartition("/")[2]
    return (
        is_manifest(path)
        or is_workflow(path)
        or is_hook_file(path)
        or is_compose(path)
        or is_environment_example(path)
        or names_ecosystem(path)
        or has_program_text(path)
        or has_generator_text(path)
        or has_version_text(path)
        or is_developer_document(path)
        or name.startswith((*_CONFIGURATIONS, *CONFIGURATIONS))
        or path in (".gitattributes", CHANGELOG, *STAGED_FILES)
        or may_be_generated(path)
    )


def derive_facts(tree: ProjectTree) -> list[Lesson]:
    """What the files of a tree say of how the project is worked on, each command once."""
    found: dict[tuple[str, ...], Lesson] = {}
    for learn in TREE_LEARNERS:
        for fact in learn(tree):
            is_command = fact.use and not fact.details.get("path") and fact.topic not in ("missing", "deploy")
            key = (fact.use,) if is_command else (fact.topic, fact.text)
            found.setdefault(key, fact)
    for fact in learn_documents(tree, list(found.values())):
        found.setdefault((fact.use,), fact)
    return list(found.values())

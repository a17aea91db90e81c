"""Preheat's hooks in the agents' settings: install, uninstall, status.

Knows no agent's settings (`installing` and `agents` do) and nothing of how it is shown.
"""

import os
import time
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from preheat import native_client
from preheat.agents import places_of
from preheat.app.experiments.assignment import describe_assignment_with_hint, make_key
from preheat.archive.connect import find_archive_fault
from preheat.daemon_client import remove_client
from preheat.errors import UserError
from preheat.installing.chain import ChainLink, examine_surroundings
from preheat.installing.ledger import load_ledger
from preheat.installing.packages import CannotInstall, PackagePlan
from preheat.installing.plans import FilePlan, apply_file_plan, plan_install, plan_uninstall, require_hooks
from preheat.installing.status import (
    AgentInstallStatus,
    InstallPlace,
    SelfTest,
    check_client,
    find_double_hooks,
    find_faults,
    install_statuses,
)
from preheat.installing.steps import (
    FolderPlan,
    InstallPlan,
    InstallResult,
    StepPlan,
    apply_install_plan,
    install_agent,
    plan_agent_install,
    plan_agent_uninstall,
)

__all__ = [
    "AgentInstallStatus",
    "ChainLink",
    "FileChange",
    "FilePlan",
    "FolderPlan",
    "InstallPlace",
    "InstallPlan",
    "InstallResult",
    "InstallStatus",
    "Installation",
    "PackagePlan",
    "SelfTest",
    "StepChange",
    "StepPlan",
    "project_around",
]


class FileChange(NamedTuple):
    """What was changed in an agent's settings file, or would be."""

    plan: FilePlan
    backup: str = ""
    """The path of a copy of the file as it was; empty if none was made."""
    doubles: tuple[str, ...] = ()
    """Settings files that call Preheat in the same session, if there are several."""
    next_steps: tuple[str, ...] = ()
    """What the person has to do afterwards."""
    assignment: str = ""
    """What is assigned at random from now on, in a sentence; empty if nothing was installed."""


class StepChange(NamedTuple):
    """What was changed for an agent that is set up in several steps, or would be."""

    work: InstallPlan
    done: InstallResult = InstallResult()
    assignment: str = ""
    """As in `FileChange`."""


class InstallStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The installation of every agent that can call Preheat."""

    agents: list[AgentInstallStatus]
    self_test: SelfTest
    assignment: str
    """What is assigned at random, in a sentence."""


class Installation:
    """Preheat in the settings of the agents on this machine."""

    def __init__(self, folder: str, environment: Mapping[str, str] | None = None) -> None:
        self._folder = folder
        self._environment = os.environ if environment is None else environment

    def has_steps(self, agent: str) -> bool:
        """Whether an agent is set up in several steps, which may take a minute. Raises UserError where it has no hooks."""
        return require_hooks(agent).setup.ways is not None

    # Installing.
    def install(
        self, agent: str, project: str = "", http: bool | None = None, how: str = "", dry_run: bool = False
    ) -> FileChange | StepChange:
        """Install the hooks of an agent: for all projects, or for one (a folder). `http`: post events to the daemon if the agent
        can, never, or (None) if nobody else could read the token. `how`: which way, if the agent has several. A dry run changes
        nothing; neither does a call that raises UserError."""
        if how or self.has_steps(agent):
            return self._install_steps(agent, project, how, dry_run)
        plan = plan_install(agent, self._folder, self._environment, project, http, is_preview=dry_run)
        if dry_run:
            return FileChange(plan)
        backup = apply_file_plan(plan, self._folder, time.time())
        native_client.build(self._folder, retry=True)
        assignment = self._enable_assignment()
        doubles = find_double_hooks(agent, self._environment, project or project_around(os.getcwd()))
        return FileChange(plan, backup, tuple(doubles), require_hooks(agent).setup.next_steps, assignment)

    def _install_steps(self, agent: str, project: str, how: str, dry_run: bool) -> StepChange:
        _refuse_project(agent, project)
        if dry_run:
            return StepChange(plan_agent_install(agent, self._folder, self._environment, how))
        work, done = install_agent(agent, self._folder, self._environment, how, time.time())
        native_client.build(self._folder, retry=True)
        return StepChange(work, done, self._enable_assignment())

    def _enable_assignment(self) -> str:
        """Make the key of assignments; the sentence that tells the person what is assigned."""
        make_key(self._folder)
        return describe_assignment_with_hint(self._folder)

    # Uninstalling.
    def uninstall(self, agent: str, project: str = "", dry_run: bool = False) -> FileChange | StepChange | None:
        """Remove Preheat from an agent's settings; None if it was not there. Raises UserError."""
        if self.has_steps(agent):
            return self._uninstall_steps(agent, project, dry_run)
        plan = plan_uninstall(agent, self._folder, self._environment, project)
        if plan is None:
            return None
        if not dry_run:
            apply_file_plan(plan, self._folder, time.time())
            self._remove_unused_client()
        return FileChange(plan)

    def _remove_unused_client(self) -> None:
        if not self.has_hooks():
            remove_client(self._folder)

    def _uninstall_steps(self, agent: str, project: str, dry_run: bool) -> StepChange | None:
        _refuse_project(agent, project)
        work = plan_agent_uninstall(agent, self._folder, self._environment)
        if work is None or dry_run:
            return StepChange(work) if work is not None else None
        try:
            done = apply_install_plan(work, self._folder, self._environment, time.time())
        except CannotInstall as problem:
            raise UserError(
                f"packages could not be taken out: {problem}. Run this again when that is repaired"
            ) from None
        self._remove_unused_client()
        return StepChange(work, done)

    # Status.
    def status(self, project: str = "") -> InstallStatus:
        """Which agents call Preheat, from which settings, and whether it works; the settings of a `project` folder are included.
        A test event is sent from every place to the daemon, if one runs. Changes nothing, starts no daemon."""
        around = examine_surroundings(self._folder, find_archive_fault(self._folder))
        return InstallStatus(
            agents=install_statuses(self._folder, self._environment, project, around),
            self_test=check_client(self._folder),
            assignment=describe_assignment_with_hint(self._folder),
        )

    def faults(self, project: str = "") -> list[str]:
        """Faults of what is installed, a sentence each: it cannot work, or works twice."""
        return find_faults(self._folder, self._environment, project)

    def has_hooks(self) -> bool:
        """Whether any agent was set up to call Preheat."""
        return bool(load_ledger(self._folder).files)


def _refuse_project(agent: str, project: str) -> None:
    """Raise UserError for a project: such an agent is set up for all projects."""
    if project:
        raise UserError(f"{places_of(agent).title} is set up for all projects; leave `--project` out")


def project_around(folder: str) -> str:
    """The project around a folder: the root of its repository, else the folder itself."""
    place = here = os.path.realpath(folder)
    while True:
        if os.path.exists(os.path.join(place, ".git")):
            return place
        above = os.path.dirname(place)
        if above == place:
            return here
        place = above

"""Receipts of the sessions that the daemon still knows: which were told something, what was seen of it, what it cost.

The daemon keeps the file of a session for fourteen days; older receipts are gone. Knows nothing of how they are shown.
"""

import os
from collections.abc import Iterator

from preheat.app.live.holds import Holds
from preheat.app.live.running import RunningSession, load_session, session_files
from preheat.app.projects import project_root
from preheat.daemon_client import live_folder
from preheat.errors import NotFound
from preheat.model.receipt import Receipts, SessionReceipt, WithdrawnHold
from preheat.receipts import add_up


def collect_receipts(folder: str, project: str = "", session: str = "", since: float = 0.0) -> Receipts:
    """The receipts of all sessions, or of those of a project (a folder, or a part of its path), of one session (its id or the
    beginning of it), or since a time; the newest first. Raises NotFound where the project or the session is not known."""
    known = list(_sessions(folder))
    found = [each for each in known if _is_of_project(each, project) and each.session.startswith(session)]
    if not found and (project or session):
        what = f"session `{session}`" if session else f"project `{project}`"
        raise NotFound(
            f"the daemon knows no {what} in the last fourteen days; `preheat receipts` shows those that it knows"
        )
    chosen = sorted((each for each in found if each.last_at >= since), key=lambda each: (-each.last_at, each.session))
    return add_up(chosen, _withdrawn(folder, project))


def _sessions(folder: str) -> Iterator[SessionReceipt]:
    for path in session_files(os.path.join(live_folder(folder), "sessions")):
        found = load_session(path)
        if found is not None and not found.by_preheat:
            yield _receipt_of(found)


def _receipt_of(running: RunningSession) -> SessionReceipt:
    return SessionReceipt(
        agent=running.agent,
        session=running.session,
        project=project_root(running.cwd) or running.cwd if running.cwd else "",
        began_at=running.began_at,
        last_at=running.last_at,
        is_over=running.ended,
        receipt=running.receipt,
    )


def _is_of_project(session: SessionReceipt, project: str) -> bool:
    if not project:
        return True
    if os.path.isabs(project):
        root = project_root(project) or project
        return session.project == root or session.project.startswith(f"{root}/")
    return project.casefold() in session.project.casefold()


def _withdrawn(folder: str, project: str) -> Iterator[WithdrawnHold]:
    for reason, count in Holds(folder).counts.items():
        root, _, rule = reason.partition("\t")
        if count.is_withdrawn and (not project or project.casefold() in root.casefold()):
            yield WithdrawnHold(
                project=root,
                reason=rule.partition(" ")[2],
                held=count.held,
                worked=count.succeeded,
                failed=count.failed,
            )

"""Sessions that are deleted here and are to be deleted from the team's server, too. Knows no server: what is noted here waits."""

from collections.abc import Iterable

from preheat.archive.database import ArchiveConnection
from preheat.archive.raw import find_companions
from preheat.membership import load_membership, queue_deletions
from preheat.team.rows import hash_session


def queue_forgotten(folder: str, connection: ArchiveConnection, keys: Iterable[str]) -> None:
    """Note that these sessions, and those in the same files, are to be deleted from the server; nothing in no team."""
    if load_membership(folder) is None:
        return
    wanted = dict.fromkeys(keys)
    for key in list(wanted):
        wanted |= dict.fromkeys(find_companions(connection, key))
    queue_deletions(folder, map(hash_session, wanted))

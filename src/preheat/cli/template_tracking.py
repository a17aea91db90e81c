"""How often templates were used, and how the sessions went that got them. Light: sessions are looked for only if there is a use.

Knows nothing of how a session is found again.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from preheat.app.template_state import uses as uses_in
from preheat.model.template import Tracked, Use
from preheat.settings import data_folder
from preheat.templates.uses import Found, tracked


def tracked_by_version() -> dict[str, Tracked]:
    """By digest: how often each version was handed out, and how the sessions went."""
    by_version: defaultdict[str, list[Use]] = defaultdict(list)
    for use in uses_in(data_folder()):
        by_version[use.template].append(use)
    found = _found([use for uses in by_version.values() for use in uses])
    return {digest: tracked(uses, found) for digest, uses in by_version.items()}


def together(tracks: Mapping[str, Tracked], versions: Iterable[str]) -> Tracked:
    """What came of all versions of a name."""
    some = [tracks[digest] for digest in versions if digest in tracks]
    return Tracked(
        uses=sum(each.uses for each in some),
        sessions=sum(each.sessions for each in some),
        succeeded=sum(each.succeeded for each in some),
        failed=sum(each.failed for each in some),
    )


def told(track: Tracked) -> str:
    """`used 5 times, 80 % success`."""
    if not track.uses:
        return "not used yet"
    judged = track.succeeded + track.failed
    times = "once" if track.uses == 1 else f"{track.uses:,} times"
    success = f"{track.succeeded / judged:.0%} success of {judged:,}" if judged else "success not known"
    return f"used {times}, {success}"


def _found(uses: list[Use]) -> dict[str, Found]:
    if not uses:
        return {}
    from preheat.cli.template_sessions import sessions_of

    return sessions_of(uses)

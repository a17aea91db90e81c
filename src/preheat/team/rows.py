"""Makes the rows of one session that a machine pushes: numbers, outcomes by kind, names of files. No text of anybody.

Pure: what is in the archive is handed in. Every text among the rows is one of our own words, or a token of one form: the name of
a model, an address of a repository, a relative path.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from hashlib import blake2b

import msgspec
from msgspec.structs import replace

from preheat.model.analysis import Episode
from preheat.model.cost import Cost
from preheat.model.listing import SessionSummary
from preheat.model.profile import CallRecord, SessionProfile
from preheat.model.pushed import PushedEpisode, PushedOutcome, PushedRows, PushedSession, PushedTranscript
from preheat.model.team import Level

_ACTIVITY = re.compile(r"[a-z_]{1,20}(?::[a-z_]{1,18})?")
_MODEL = re.compile(r"[\w.:/@+-]{1,120}", re.ASCII)
_OTHER = "other"
_LONGEST_PATH = 300
_MOST_FILES = 200
"""Files of one episode, at most."""


def hash_session(key: str) -> str:
    """What the team knows a session by: nothing can be read from it, and the machine finds its own again."""
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def hash_origin(summary: SessionSummary, level: Level, repository: str, *versions: str) -> str:
    """A hash of what the rows of a session are made of: while it is the same, so are they."""
    counts = (
        summary.key, summary.events, summary.prompts, summary.messages, summary.calls, summary.errors, summary.compactions,
        summary.model, summary.input_tokens, summary.output_tokens, summary.cache_read_tokens, summary.cache_write_tokens,
    )  # fmt: skip
    return _hash(msgspec.json.encode((counts, level, repository, versions)))


def make_rows(
    summary: SessionSummary,
    profile: SessionProfile,
    records: Sequence[CallRecord],
    copied: Collection[int],
    episodes: Sequence[Episode],
    cost: Cost | None,
    *,
    repository: str,
    level: Level,
    origin: str,
    is_secret: Callable[[str], bool],
    transcript: bytes | None = None,
) -> PushedRows:
    """The rows of a session. `copied`: calls that count in another session; `is_secret` tells a text with a secret in it."""
    is_priced = cost is not None and not (cost.unpriced and not cost.money)
    session = PushedSession(
        session=hash_session(summary.key),
        digest="",
        origin=origin,
        level=level,
        repository=repository,
        agent=summary.agent,
        model=summary.model if _MODEL.fullmatch(summary.model) else _OTHER,
        prompts=summary.prompts,
        messages=summary.messages,
        calls=profile.calls,
        failed=profile.errors.count,
        mistakes=profile.mistakes.count,
        compactions=summary.compactions,
        input_tokens=cost.usage.input if cost else 0,
        output_tokens=cost.usage.output if cost else 0,
        cache_read_tokens=cost.usage.cache_read if cost else 0,
        cache_write_tokens=cost.usage.cache_write if cost else 0,
        money=round(cost.money, 6) if cost and is_priced else None,
        failed_money=round(cost.failed_money, 6) if cost and is_priced else None,
        work_seconds=round(cost.seconds, 1) if cost else 0.0,
    )
    rows = PushedRows(
        session=session,
        outcomes=_count_outcomes(each for each in records if not each.bookkeeping and each.seq not in copied),
        episodes=tuple(_make_episode(each, is_secret) for each in episodes),
        transcript=None if transcript is None else PushedTranscript(content=transcript),
    )
    return replace(rows, session=replace(session, digest=_hash(msgspec.msgpack.encode(rows))))


def _count_outcomes(records: Iterable[CallRecord]) -> tuple[PushedOutcome, ...]:
    groups: defaultdict[tuple[str, str, str], list[CallRecord]] = defaultdict(list)
    for each in records:
        activity = each.activity if _ACTIVITY.fullmatch(each.activity) else _OTHER
        groups[activity, each.status, each.cause or ""].append(each)
    return tuple(
        PushedOutcome(
            activity=activity,
            status=status,
            cause=cause,
            calls=len(some),
            lost_seconds=round(sum(each.lost_seconds for each in some), 1),
            lost_tokens=sum(each.lost_tokens for each in some),
        )
        for (activity, status, cause), some in sorted(groups.items())
    )


def _make_episode(episode: Episode, is_secret: Callable[[str], bool]) -> PushedEpisode:
    return PushedEpisode(
        number=episode.number,
        files_read=_fit_paths(episode.paths("read"), is_secret),
        files_changed=_fit_paths(episode.paths("changed", "made", "removed"), is_secret),
        checks_passed=sum(each.ending == "passed" for each in episode.checks),
        checks_failed=sum(each.ending == "failed" for each in episode.checks),
        calls=episode.calls,
        seconds=None if episode.seconds is None else round(episode.seconds, 1),
    )


def _fit_paths(paths: Sequence[str], is_secret: Callable[[str], bool]) -> tuple[str, ...]:
    """The paths that are names of files in the project and nothing else."""
    fitted = [
        path
        for path in paths[:_MOST_FILES]
        if 0 < len(path) <= _LONGEST_PATH
        and path.isprintable()
        and not path.startswith(("/", "~", "..", "\\"))
        and not re.match(r"[A-Za-z]:", path)
    ]
    if fitted and is_secret("\n".join(fitted)):
        fitted = [path for path in fitted if not is_secret(path)]
    return tuple(fitted)


def _hash(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()

"""Receipts added up, and the receipt of one session in a line. Pure; claims nothing that was not seen or drawn at random."""

from collections.abc import Iterable, Sequence

from preheat.model.receipt import (
    FileTally,
    NamedFile,
    Receipt,
    Receipts,
    SentText,
    SessionReceipt,
    Tally,
    TextKind,
    WithdrawnHold,
)

KINDS: tuple[TextKind, ...] = ("warning", "hold", "answer", "advice")


def add_up(sessions: Sequence[SessionReceipt], withdrawn: Iterable[WithdrawnHold] = ()) -> Receipts:
    """The receipts of sessions together."""
    sent = [each for session in sessions for each in session.receipt.texts]
    files = [each for session in sessions for each in session.receipt.files]
    receipts = [session.receipt for session in sessions]
    return Receipts(
        sessions=tuple(sessions),
        said=_tally(each for each in sent if each.is_shown),
        withheld=_tally(each for each in sent if not each.is_shown),
        drawn=_tally(each for each in sent if each.is_shown and each.is_drawn),
        files=_tally_files(each for each in files if each.is_shown),
        files_withheld=_tally_files(each for each in files if not each.is_shown),
        files_drawn=_tally_files(each for each in files if each.is_shown and each.is_drawn),
        contexts=sum(each.contexts for each in receipts),
        tokens=sum(each.tokens for each in receipts),
        events=sum(each.events for each in receipts),
        milliseconds=sum(each.microseconds for each in receipts) / 1000,
        slowest_milliseconds=max((each.slowest for each in receipts), default=0) / 1000,
        withdrawn=tuple(withdrawn),
    )


def _tally(sent: Iterable[SentText]) -> dict[TextKind, Tally]:
    found: dict[TextKind, Tally] = {}
    rows = list(sent)
    for kind in KINDS:
        of_kind = [each.outcome for each in rows if each.kind == kind]
        if of_kind:
            found[kind] = Tally(
                said=len(of_kind),
                failed=of_kind.count("failed"),
                worked=of_kind.count("worked"),
                followed=of_kind.count("followed"),
            )
    return found


def _tally_files(files: Iterable[NamedFile]) -> FileTally:
    rows = list(files)
    return FileTally(named=len(rows), opened=sum(each.is_opened for each in rows))


def describe_session(receipt: Receipt) -> str:
    """The receipt of a session in a line, for the person at its end; empty if it was told nothing."""
    said = _tally(each for each in receipt.texts if each.is_shown)
    files = _tally_files(each for each in receipt.files if each.is_shown)
    parts = []
    if found := said.get("hold"):
        parts.append(f"{_count(found.said, 'call')} held ({_describe_outcomes(found, 'came again and')})")
    if found := said.get("warning"):
        parts.append(f"{_count(found.said, 'call')} warned of ({_describe_outcomes(found, 'made and')})")
    if found := said.get("answer"):
        parts.append(f"{found.followed} of {_count(found.said, 'answer')} followed")
    if files.named:
        parts.append(f"{files.opened} of {_count(files.named, 'named file')} opened afterwards")
    if not parts:
        return ""
    cost = f"{receipt.tokens:,} tokens, {receipt.microseconds / 1000:.0f} ms in the daemon"
    return f"Preheat, seen in this session: {'; '.join(parts)}. Cost: {cost}."


def describe_seen(found: Receipts) -> tuple[str, ...]:
    """What was seen after texts for an agent, a sentence for each kind. What would have happened without is not known."""
    sentences = []
    kinds: tuple[tuple[TextKind, str], ...] = (("hold", "held once"), ("warning", "warned of"))
    for kind, what in kinds:
        if tally := found.said.get(kind):
            again = tally.failed + tally.worked
            made = f" (made all the same: {tally.failed} failed, {tally.worked} worked)" if again else ""
            sentences.append(f"{_count(tally.said, 'call')} {what}, {tally.said - again} of them not seen again{made}")
    if tally := found.said.get("answer"):
        sentences.append(
            f"{_count(tally.said, 'failure')} answered, after {tally.followed} of them a call with what was named worked"
        )
    return tuple(sentences)


def _describe_outcomes(tally: Tally, made: str) -> str:
    """What was seen of calls that were warned of or held."""
    parts = [f"{made} failed {tally.failed}"] if tally.failed else []
    parts += [f"{made} worked {tally.worked}"] if tally.worked else []
    parts += [f"what was named worked {tally.followed}"] if tally.followed else []
    return ", ".join(parts) or "not seen again"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"

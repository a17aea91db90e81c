"""What an arm gives to the model, and making one as long as another. Standard library only: runs beside the model."""

from collections.abc import Callable
from typing import NamedTuple

from study.chat import Message, prefix

_FILLER = ("ok", "done", "clean", "cached", "kept", "fine", "same", "ready")

Count = Callable[[str], int]


class ArmContext(NamedTuple):
    """A text below the system's own, and messages before the task."""

    note: str = ""
    messages: tuple[Message, ...] = ()

    @property
    def prefix(self) -> str:
        return prefix(self.messages, self.note)


def fit_to_length(given: ArmContext, wanted: int, count: Count) -> ArmContext:
    """The same, cut or lengthened until the whole prefix has so many tokens, or hardly fewer."""
    if given.messages:
        return _matched_messages(given, wanted, count)
    return _matched_text(given, wanted, count)


def _matched_messages(given: ArmContext, wanted: int, count: Count) -> ArmContext:
    """Words of results are taken away or added; calls stay whole."""
    messages = list(given.messages)
    results = [place for place, message in enumerate(messages) if message.role == "tool"]
    while count(prefix(messages, given.note)) > wanted:
        longest = max(results, key=lambda place: len(messages[place].text.split()))
        kept = messages[longest].text.split()
        if len(kept) < 2:
            raise ValueError("the placebo cannot be made as short as the warm context")
        messages[longest] = messages[longest]._replace(text=" ".join(kept[:-1]))
    for turn in range(wanted):
        place = results[turn % len(results)]
        word = _FILLER[turn // len(results) % len(_FILLER)]
        longer = [*messages]
        longer[place] = messages[place]._replace(text=f"{messages[place].text} {word}")
        if count(prefix(longer, given.note)) > wanted:
            break
        messages = longer
    return ArmContext(given.note, tuple(messages))


def _matched_text(given: ArmContext, wanted: int, count: Count) -> ArmContext:
    """As many of its lines as fit, the next one cut within; a text that is too short is said again from its beginning."""
    words: list[str] = given.note.split(" ")
    if not given.note.strip():
        raise ValueError("an empty text cannot be made longer")
    while count(prefix((), " ".join(words))) < wanted:
        words += ["\n" + given.note.split(" ")[0], *given.note.split(" ")[1:]]
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        if count(prefix((), " ".join(words[:middle]))) <= wanted:
            low = middle
        else:
            high = middle - 1
    return ArmContext(" ".join(words[:low]))

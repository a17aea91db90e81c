"""The texts of two arms: a note (the same facts as prose) and a placebo (true facts of the same length and no use). Pure.

Knows no frame and no tokeniser: these are passed in. A placebo contains nothing of another project.
"""

from collections.abc import Callable, Iterator, Sequence

_FIRST, _STEP = 13, 7
"""The first number that is squared, and the step to the next; arbitrary."""

FACTS: tuple[str, ...] = (
    "Water boils at a lower temperature on a mountain than at the sea.",
    "The Danube flows through more countries than any other river in Europe.",
    "Copper conducts electricity better than iron does.",
    "A leap year has 366 days, and the year 2000 was one.",
    "Sound travels faster in water than in air.",
    "The shadow of a sundial is shortest at noon.",
    "Bees see ultraviolet light, which people do not.",
    "Granite cools slowly below the ground, basalt quickly above it.",
    "The Moon shows the Earth always nearly the same side.",
    "Salt lowers the temperature at which water freezes.",
    "An octave doubles the frequency of a tone.",
    "Light needs a little over eight minutes from the Sun to the Earth.",
    "Oak wood is heavier than spruce wood of the same size.",
    "The Sahara is larger than the Gobi.",
    "Helium was seen in the light of the Sun before it was found on the Earth.",
    "A triangle with sides of three, four and five has a right angle.",
    "Mercury is a liquid metal at room temperature.",
    "The Pacific is the largest of the oceans.",
    "Clouds are made of small drops of water or crystals of ice.",
    "Glass is made of sand, soda and lime.",
    "A pendulum of four times the length swings half as fast.",
    "The days near the equator are about equally long all year.",
    "Spiders have eight legs and insects six.",
    "Gold is denser than lead.",
    "The Nile flows from the south to the north.",
    "Ice floats because it is less dense than water.",
    "The inner planets are smaller than the outer ones.",
    "Tea and coffee both contain caffeine.",
    "A compass needle points to magnetic north, not to the pole itself.",
    "Wool keeps warm because it holds air.",
)


def write_note(caveat: str, texts: Sequence[str]) -> str:
    """Facts as one paragraph: the caveat, then each text as a sentence."""
    return " ".join((caveat, *(_sentence(text) for text in texts if text.strip())))


def _sentence(text: str) -> str:
    lines = [line.strip().removeprefix("- ").strip() for line in text.splitlines()]
    flat = "; ".join(line.rstrip(" ;") for line in lines if line).replace(":;", ":")
    return flat if flat[-1:] in ".!?”" else f"{flat}."


def write_placebo(tokens: int, cost: Callable[[str], int]) -> str:
    """A paragraph of as nearly `tokens` tokens as possible; `cost` counts the tokens of a text."""
    text = ""
    for fact in _facts():
        longer = f"{text} {fact}".strip()
        spent = cost(longer)
        if spent > tokens:
            return longer if spent - tokens < tokens - cost(text) else text
        text = longer
    return text


def _facts() -> Iterator[str]:
    """Endless sentences: general facts, then squares, which are short enough to come near any number of tokens."""
    yield from FACTS
    number = _FIRST
    while True:
        yield f"The square of {number} is {number * number}."
        number += _STEP

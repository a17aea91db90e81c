"""What makes a sentence read like a rule: it orders or forbids, and not for this moment only. Knows no session.

Short sentences are expected (a few hundred characters): the patterns look at a sentence several times.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple


def _any(*phrases: str) -> str:
    """One pattern for any of the phrases; within them, words are separated by single blanks."""
    return "|".join(phrases)


_LEAD = (
    r"(?:(?:no|nope|stop|wait|hey|ok(?:ay)?|and|also|but|so|please|pls|hmm+|again|well|actually|yes|yeah|next time|remember"
    r"|in (?:the )?future|nein|non|bitte|por favor|s'il te pla[iî]t)[,:!.…]*\s+)*"
)
"""What may stand before an order."""
_STANDING = re.compile(
    _LEAD
    + "(?:(?:"
    + _any(
        "always",
        "never(?! ?mind)",
        "from now on",
        "every time",
        "whenever",
        "as a rule",
        "by default",
        "in this (?:project|repo(?:sitory)?|code ?base)",
        "immer",
        "niemals",
        "nie",
        "ab jetzt",
        "in zukunft",
        "toujours",
        "jamais",
        "désormais",
        "siempre",
        "nunca",
        "sempre",
        "de ahora en adelante",
        "(?:use|usa|utilise|benutze|verwende|nutze) (?:always|siempre|toujours|immer)",
    )
    + r")\b|请?(?:总是|永远|以后|务必|必须)|必ず|常に|今後)"
    + r"|.*\b(?:you|we|tests?|commits?|i) (?:should|must|need to|want you to|have to|do) (?:always|never)\b"
    + r"|.*\bi(?:'ve| have)? (?:already )?(?:told|asked) you\b|.*\bhow (?:often|many times)\b",
    re.IGNORECASE,
)
"""Sentences that say that they hold from now on."""
_FORBIDS = re.compile(
    _LEAD
    + "(?:(?:"
    + _any(
        "do not",
        "don'?t(?! forget)",
        "never",
        "avoid",
        "stop",
        "you (?:should|must)(?: not|n'?t)",
        "we (?:do not|don'?t)",
        r"kein\w*",
        "nicht",
        "n'utilise pas",
        "ne pas",
        "no uses",
        "não use",
    )
    + r")\b|不要|别)",
    re.IGNORECASE,
)
_ORDERS = re.compile(
    _LEAD
    + "(?:(?:"
    + _any(
        "use",
        "run",
        "prefer",
        "call",
        "put",
        "write",
        "keep",
        "always",
        "make sure (?:to|you|that)",
        "don'?t forget to",
        "remember to",
        "we use",
        "we always",
        "you (?:should|must|need to|have to)",
        "we should be using",
        "benutze",
        "verwende",
        "nutze",
        "nimm",
        "utilise",
        "usa",
        "utiliza",
    )
    + r")\b|用|使用|请用)",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"\b(?:use|run|prefer|call|using|verwende|benutze|utilise|usa)\s+(?P<use>\S.{0,60}?)\s*,?\s+(?:"
    + _any(
        "instead of", "rather than", "and not", "not", "over", "statt", "anstatt", "au lieu de", "en (?:lugar|vez) de"
    )
    + r"|em vez de)\s+(?P<avoid>\S.{0,60}?)"
    + r"(?=[.,;:!)]|\s+(?:because|since|as|for|when|wherever|everywhere|in|to|here|so)\b|$)",
    re.IGNORECASE,
)
_MOMENT = re.compile(
    r"\b(?:"
    + _any(
        "for now",
        "right now",
        "this time",
        "yet",
        "just (?:a|the|an|let|tell|show|commit|report)",
        "until",
        "anymore",
        "today",
        "at the moment",
        "in this (?:case|pr|commit|branch|file|function|test|section)",
        "let me know",
        "only (?:report|show|tell)",
        "the (?:first|second|last)",
        "this (?:one|part|line|file|function|button)",
        "why",
        "what",
        "how about",
    )
    + r")\b|\?\s*$|^(?:can|could|should|would|shall|may|do|is|are) (?:we|you|i|it)\b",
    re.IGNORECASE,
)
"""Sentences about the current piece of work, and questions."""
_GENERAL = re.compile(
    r"\b(?:"
    + _any(
        "anything",
        "any",
        "all",
        "every",
        "ever",
        "everywhere",
        "wherever",
        "whenever",
        "again",
        "always",
        "never",
        "each",
        "in general",
        "in this (?:project|repo)",
        "we use",
        "must not",
        "convention",
        "policy",
        "rule",
        "because",
        "as (?:that|it|this)",
        "since",
        "stop using",
    )
    + r")\b|不要|而不是|别",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"`([^`\n]{2,80})`")


class Ruling(NamedTuple):
    """What a sentence rules."""

    is_standing: bool
    """The sentence itself says that the rule always holds."""
    is_general: bool
    """The sentence speaks of more than one case, or gives a reason."""
    use: str
    avoid: str
    quoted: tuple[str, ...]
    """The texts in backquotes."""
    is_comparison: bool
    """The sentence prefers one thing to another."""


def parse_ruling(sentence: str) -> Ruling | None:
    """What a sentence rules; None where it does not read like a rule."""
    standing = _STANDING.match(sentence) is not None
    forbids = _FORBIDS.match(sentence) is not None
    if not (standing or forbids or _ORDERS.match(sentence)) or _MOMENT.search(sentence):
        return None
    instead = _INSTEAD.search(sentence)
    quoted = tuple(_QUOTED.findall(sentence))
    use = avoid = ""
    if instead is not None:
        use, avoid = _concrete(instead["use"]), _concrete(instead["avoid"])
    elif len(quoted) == 1:
        use, avoid = ("", quoted[0]) if forbids else (quoted[0], "")
    return Ruling(standing, _GENERAL.search(sentence) is not None, use, avoid, quoted, instead is not None)


def is_lasting(rule: Ruling, named: Iterable[str]) -> bool:
    """Whether a ruling may outlive the session: it says so, or it is general or exact and about something that the session
    did (`named`)."""
    exact = rule.is_general or rule.is_comparison or bool(rule.quoted)
    return rule.is_standing or (rule.is_comparison and rule.is_general) or (exact and any(named))


def _concrete(words: str) -> str:
    """What is in backquotes, or one word: more is a description and no command."""
    quoted = _QUOTED.match(words)
    return quoted[1] if quoted else "" if " " in words.strip() else words.strip("'\"` ")

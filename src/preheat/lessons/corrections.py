"""What people corrected: sentences they typed after the agent had acted that read like a rule for the next time. Knows no agent.

A sentence must order or forbid something, not for this moment only, and either say that it always holds or name a command, a
tool or a path that the session's calls have. Pasted text (logs, code, long texts) is no correction. The patterns look at a
sentence several times, so sentences are a few hundred characters at most.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from preheat.calls.judged import JudgedSession
from preheat.calls.shell import command_form
from preheat.commands import command_text
from preheat.commands.words import name_set
from preheat.model.lesson import Evidence, Lesson, LessonStatus, Scope, count_support, lesson_id, select_evidence
from preheat.model.session import ToolCall, UserMessage
from preheat.safe_text.cleanup import one_line
from preheat.safe_text.reasons import junk_reason


# What makes a sentence read like a rule
def _any(*phrases: str) -> str:
    """One pattern for any of the phrases; within them, words are separated by single blanks."""
    return "|".join(phrases)


_LEAD = (
    r"(?:(?:no|nope|stop|wait|hey|ok(?:ay)?|and|also|but|so|please|pls|hmm+|again|well|actually|yes|yeah|next time|remember"
    r"|in (?:the )?future|nein|non|bitte|por favor|s'il te pla[iî]t)[,:!.…]*\s+)*"
)
"""What may stand before an order."""
_PERMANENT = re.compile(
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

    is_permanent: bool
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
    permanent = _PERMANENT.match(sentence) is not None
    forbids = _FORBIDS.match(sentence) is not None
    if not (permanent or forbids or _ORDERS.match(sentence)) or _MOMENT.search(sentence):
        return None
    instead = _INSTEAD.search(sentence)
    quoted = tuple(_QUOTED.findall(sentence))
    use = avoid = ""
    if instead is not None:
        use, avoid = _concrete(instead["use"]), _concrete(instead["avoid"])
    elif len(quoted) == 1:
        use, avoid = ("", quoted[0]) if forbids else (quoted[0], "")
    return Ruling(permanent, _GENERAL.search(sentence) is not None, use, avoid, quoted, instead is not None)


def is_lasting(rule: Ruling, named: Iterable[str]) -> bool:
    """Whether a ruling may outlive the session: it says so, or it is general or exact and about something that the session
    did (`named`)."""
    exact = rule.is_general or rule.is_comparison or bool(rule.quoted)
    return rule.is_permanent or (rule.is_comparison and rule.is_general) or (exact and any(named))


def _concrete(words: str) -> str:
    """What is in backquotes, or one word: more is a description and no command."""
    quoted = _QUOTED.match(words)
    return quoted[1] if quoted else "" if " " in words.strip() else words.strip("'\"` ")


# The rules that people stated in a session, and the lessons made of them
HALF_LIFE = 120.0
LONGEST_MESSAGE = 400
"""Characters; a longer text is a task or was pasted."""
MOST_RULES = 30
_SHORTEST, _LONGEST = 6, 200
_PASTED = re.compile(
    r"```|^\s*(?:[>$❯+]|at \S+ \(|Traceback|\d{4}-\d\d-\d\d|\w+Error:)|<\w+[^>]*>|\n.*\n.*\n.*\n", re.MULTILINE
)
_SENTENCES = re.compile(r"(?<=[.!;。！])\s+|\n+|\s+(?:[-–—]{1,2})\s+")
_WORD = re.compile(r"[A-Za-z][\w.+-]{2,}")
_PLAIN = name_set(
    "the and for with you use run not this that from into file files test tests code make add new all get set show list read"
    " write edit bash shell find search change changes build commit line lines name names type types like just check status"
    " branch main push diff log git remove update create call path message text work time data error errors issue session"
    " don dont should instead want need keep put see sure first last same only also then than here there"
)
"""Words that are in everybody's sentences and in some command, too."""


class Rule(msgspec.Struct, frozen=True, gc=False):
    """One sentence that reads like a rule."""

    sentence: str
    is_permanent: bool = msgspec.field(name="standing")
    """The sentence itself says that the rule always holds. Stored under the name that version 0.1.0 gave it."""
    use: str = ""
    avoid: str = ""
    named: tuple[str, ...] = ()
    """What it names that the session's calls have."""
    forms: tuple[str, ...] = ()
    """Forms of those calls."""
    corrected: str = ""
    """The call before it."""
    seq: int | None = None
    at: float | None = None


class SessionRules(NamedTuple):
    """One session's rules, as `learn_corrections` wants them."""

    session: str
    rules: Sequence[Rule]


class _Actions:
    """What the session has done up to a message. Few people state a rule: the calls are looked at when one did."""

    def __init__(self, seen: JudgedSession) -> None:
        self.seen = seen
        self.forms: dict[str, str] = {}
        self.last = ""
        self.calls = 0
        self._waiting: list[ToolCall] = []

    def add(self, call: ToolCall) -> None:
        self.calls += 1
        self._waiting.append(call)

    def look(self) -> None:
        """Look at the calls that have come since."""
        for call in self._waiting:
            self._look_at(call)
        self._waiting.clear()

    def _look_at(self, call: ToolCall) -> None:
        text = self.seen.relative(command_text(call.input)) if call.kind == "shell" else ""
        form = command_form(text[:2000]) if text else ""
        for word in _WORD.findall(text[:500] if text else call.tool):
            self.forms.setdefault(word.lower(), form or call.tool)
        self.last = one_line(text or call.tool, 120)

    def find_named_words(self, sentence: str, quoted: tuple[str, ...]) -> tuple[str, ...]:
        """The words of a sentence that name something the calls have, or that stand in backquotes."""
        words = [word for word in _WORD.findall(sentence.lower()) if word in self.forms and word not in _PLAIN]
        return tuple(dict.fromkeys((*(each for each in quoted if not junk_reason(each)), *words)))[:5]


def find_rules(seen: JudgedSession) -> tuple[Rule, ...]:
    """The sentences of a session's people that read like rules."""
    actions = _Actions(seen)
    kept = {each.call.call_id: each.record.seq for each in seen.calls}
    seq: int | None = None
    found: dict[str, Rule] = {}
    for event in seen.events():
        if isinstance(event, ToolCall):
            actions.add(event)
            seq = kept.get(event.call_id, seq)
        elif isinstance(event, UserMessage) and event.origin == "human" and actions.calls:
            for sentence in _sentences(event.text):
                rule = _rule(sentence, actions, seq, event.at)
                if rule is not None:
                    found.setdefault(rule.sentence.lower(), rule)
    return tuple(found.values())[:MOST_RULES]


def _sentences(text: str) -> list[str]:
    if len(text) > LONGEST_MESSAGE or _PASTED.search(text):
        return []
    return [each.strip() for each in _SENTENCES.split(text) if _SHORTEST <= len(each.strip()) <= _LONGEST]


def _rule(sentence: str, actions: _Actions, seq: int | None, at: float | None) -> Rule | None:
    found = parse_ruling(sentence)
    if found is None:
        return None
    actions.look()
    named = actions.find_named_words(sentence, found.quoted)
    shown = actions.seen.relative(one_line(sentence, _LONGEST))
    if not is_lasting(found, named) or junk_reason(shown):
        return None
    forms = tuple(dict.fromkeys(form for word in named if (form := actions.forms.get(word.lower()))))[:3]
    return Rule(shown, found.is_permanent, found.use, found.avoid, named, forms, actions.last, seq, at)


def learn_corrections(project: str, sessions: Sequence[SessionRules]) -> list[Lesson]:
    """One lesson for each rule that people stated, repeated ones together."""
    scope = Scope(project=project)
    groups: list[tuple[frozenset[str], list[tuple[str, Rule]]]] = []
    for each in sessions:
        for rule in each.rules:
            words = frozenset(_WORD.findall(rule.sentence.lower()))
            group = next((members for known, members in groups if _are_alike(known, words)), None)
            if group is None:
                groups.append((words, [(each.session, rule)]))
            else:
                group.append((each.session, rule))
    return [_lesson(scope, group) for _, group in groups]


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one) and len(one & other) >= 0.6 * len(one | other)


def _lesson(scope: Scope, group: list[tuple[str, Rule]]) -> Lesson:
    first = min(
        (rule for _, rule in group), key=lambda rule: (not rule.is_permanent, len(rule.sentence), rule.sentence)
    )
    sessions = {session for session, _ in group}
    evidence = [Evidence(session, rule.seq, rule.at, False, rule.sentence) for session, rule in group]
    strong = len(sessions) > 1 or first.is_permanent
    status: LessonStatus = "active" if strong else "weak"
    times = [rule.at for _, rule in group if rule.at is not None]
    after = f", after `{one_line(first.corrected, 60)}`" if first.corrected and not junk_reason(first.corrected) else ""
    often = f" ({len(sessions)} sessions)" if len(sessions) > 1 else ""
    return Lesson(
        id=lesson_id("convention", scope, "correction", " ".join(sorted(_WORD.findall(first.sentence.lower())))),
        kind="convention",
        scope=scope,
        topic="correction",
        text=f"A person said{often}{after}: “{first.sentence}”",
        use=first.use,
        avoid=first.avoid,
        forms=tuple(dict.fromkeys(form for _, rule in group for form in rule.forms))[:6],
        files=tuple(dict.fromkeys(name for _, rule in group for name in rule.named if "/" in name and " " not in name))[
            :5
        ],
        support=count_support(evidence),
        first_seen=min(times, default=None),
        last_seen=max(times, default=None),
        half_life=HALF_LIFE,
        evidence=select_evidence(evidence),
        status=status,
        why="" if strong else "said once, and not as a rule for always",
    )

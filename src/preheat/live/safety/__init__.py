"""Which commands destroy, open a door or give secrets away: a small reviewed pack of rules, and the matcher.

A match feeds the scorecard. Nothing is blocked unless a person asked for that, and no permission is ever widened.

>>> from preheat.live.safety import check_command
>>> [(match.rule, match.severity) for match in check_command("bash -c 'cd / && sudo rm -rf --no-preserve-root /'")]
[('rm-root', 'critical'), ('sudo', 'medium')]
"""

from collections.abc import Sequence
from functools import cache

from preheat.live.safety.match import Matcher
from preheat.live.safety.rule import SEVERITIES, Match, Rule, Severity
from preheat.live.safety.rules.databases import DATABASES
from preheat.live.safety.rules.files import FILES
from preheat.live.safety.rules.secrets import SECRETS
from preheat.live.safety.rules.services import SERVICES
from preheat.live.safety.rules.system import SYSTEM
from preheat.live.safety.rules.versions import VERSIONS
from preheat.model.session import ToolCall

GROUPS: dict[str, tuple[Rule, ...]] = {
    "Files and disks": FILES,
    "Version control": VERSIONS,
    "Databases": DATABASES,
    "Services that others use": SERVICES,
    "The machine and its guards": SYSTEM,
    "Secrets": SECRETS,
}
RULES: tuple[Rule, ...] = tuple(rule for group in GROUPS.values() for rule in group)


@cache
def matcher() -> Matcher:
    """The one over all rules; its patterns are made ready by the first who asks."""
    return Matcher(RULES)


def check_call(call: ToolCall, *, unsaved: bool = False) -> tuple[Match, ...]:
    """The rules that a tool call fits, worst first; `unsaved`: the session has changes that are not committed."""
    return matcher().call(call, unsaved=unsaved)


def check_command(text: str, *, unsaved: bool = False) -> tuple[Match, ...]:
    """The same for a shell text."""
    return matcher().command(text, unsaved=unsaved)


def refusal(matches: Sequence[Match], least: Severity | None) -> str:
    """Why a call is refused, for a person who asked that calls of a severity or worse be; empty: it is not."""
    if least is None:
        return ""
    worst = [match for match in matches if SEVERITIES.index(match.severity) <= SEVERITIES.index(least)]
    if not worst:
        return ""
    match = worst[0]
    return (
        f"Preheat's safety rule `{match.rule}` ({match.severity}) is met by `{match.shown}`. {match.what} "
        f"The person has asked that such calls be refused; they can be run by hand."
    )


__all__ = [
    "GROUPS",
    "RULES",
    "SEVERITIES",
    "Match",
    "Matcher",
    "Rule",
    "Severity",
    "check_call",
    "check_command",
    "matcher",
    "refusal",
]

"""Safety: reviewed rules for commands that destroy data, weaken protection or expose secrets, and their matcher.

Matches count in the scorecard. A call is blocked only if a person asked for that, and no permission is ever widened.

>>> from preheat.live.safety import check_command
>>> [(match.rule, match.severity) for match in check_command("bash -c 'cd / && sudo rm -rf --no-preserve-root /'")]
[('rm-root', 'critical'), ('sudo', 'medium')]
"""

from collections.abc import Sequence
from functools import cache

from preheat.live.safety.data_rules import DATABASES, FILES, VERSIONS
from preheat.live.safety.machine_rules import SECRETS, SERVICES, SYSTEM
from preheat.live.safety.matcher import SEVERITIES, Match, Matcher, Rule, Severity
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
    """The matcher over all rules; its patterns are compiled by the first call."""
    return Matcher(RULES)


def check_call(call: ToolCall, *, unsaved: bool = False) -> tuple[Match, ...]:
    """The rules that a tool call meets, worst first; `unsaved`: the session has uncommitted changes."""
    return matcher().match_call(call, unsaved=unsaved)


def check_command(text: str, *, unsaved: bool = False) -> tuple[Match, ...]:
    """The rules that a shell text meets, worst first."""
    return matcher().match_command(text, unsaved=unsaved)


def refusal(matches: Sequence[Match], least: Severity | None) -> str:
    """Why a call is refused, if a person asked that calls of severity `least` or worse are; empty if it is not refused."""
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

"""A context as messages in no provider's format: facts, then examples as calls with their results. Knows no provider.

The request before the examples is synthetic and says so; calls and results are real. A closing assistant message lets the roles
alternate for providers that insist.
"""

import re
from hashlib import blake2b

from preheat.model.context import Context
from preheat.model.lesson import Example
from preheat.model.rendering import CALLS_WORKED, PREHEAT_CALL, Exchange, Parts, Said
from preheat.model.session import PREHEAT_MARK
from preheat.provisioning.frame import NO_ID, block
from preheat.provisioning.tokens import estimate
from preheat.provisioning.words import shown

_REQUEST = (
    "Synthetic request. The calls below and their results are real, from earlier sessions;"
    " they show forms that work, and nothing is to be done about them."
)
_NOT_IN_NAMES = re.compile("[^A-Za-z0-9_-]")
_LONGEST_NAME = 64
_CALL_OVERHEAD = 16
"""Tokens that a provider spends on the roles and ids of a call and its result."""


def parts(context: Context, agent: str = "") -> Parts:
    """The text and messages of a context; with an agent, without the examples of other agents' tools."""
    items = [item for item in context.items if not agent or item.example is None or item.example.agent in ("", agent)]
    if not items and not context.addendum:
        return Parts(context, "", ())
    text = _block(context, [item.text for item in items])
    calls = [exchange(item.lesson, item.example) for item in items if item.example is not None]
    rest = [item.text for item in items if item.example is None]
    messages = [Said("system", _block(context, rest))] if rest or context.addendum else []
    if calls:
        messages.append(Said("user", lead(context.id)))
        for each in calls:
            messages += (Said("assistant", "", each), Said("tool", each.result, each))
        messages.append(Said("assistant", CALLS_WORKED))
    return Parts(context, text, tuple(messages))


def lead(identity: str) -> str:
    """The synthetic request before the examples."""
    return f'{PREHEAT_MARK}example id="{identity}">{_REQUEST}</{PREHEAT_MARK[1:]}example>'


def exchange(lesson: str, example: Example) -> Exchange:
    """An example as a call with a stable id."""
    arguments, result = shown(example)
    identity = f"{PREHEAT_CALL}{blake2b(lesson.encode('utf-8', 'replace'), digest_size=6).hexdigest()}"
    tool = _NOT_IN_NAMES.sub("_", example.tool)[:_LONGEST_NAME] or "unknown"
    return Exchange(identity, tool, arguments, result, example.agent)


def example_tokens(lesson: str, example: Example) -> int:
    """Tokens of an example as messages, including the request before it."""
    call = exchange(lesson, example)
    return (
        estimate(call.encoded) + estimate(call.result) + estimate(lead(NO_ID)) + estimate(CALLS_WORKED) + _CALL_OVERHEAD
    )


def _block(context: Context, texts: list[str]) -> str:
    return block(context.id, context.addendum, context.sessions, context.of_this_project, texts)

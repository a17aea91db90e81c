"""Checks of a model and its runtime before a run: each trap that would corrupt a result, tried. Needs the runtime.

Raises on the first that fails; what it returns is kept beside the results.
"""

import importlib
from collections.abc import Sequence
from typing import Any

from study.chat import PREFILL, SYSTEM, TOOL, Message, prefix, suffix, target
from study.errors import Unfit
from study.plan import Cell, Plan
from study.run import Contexts
from study.runtime import SMALL, Engine
from study.scoring import score, split_prompt, token_nats

_FORM = '{"name": <function-name>, "arguments": <args-json-object>}'
_CALL = "make check"
_CONVERSATION = (
    Message("user", "First."),
    Message("assistant", "", _CALL),
    Message("tool", "done"),
    Message("assistant", "Good."),
    Message("user", "Second."),
)


MOST_APART = 0.1
"""Nats per token."""


def check_model(engine: Engine, of: Plan, sample: int = 4) -> dict[str, Any]:
    """All checks; the prompts of the sample are spread over the plan."""
    cells = of.cells[:: max(1, len(of.cells) // sample)][:sample]
    return {
        "template": check_template(engine),
        "off_by_one": check_offset(engine),
        "same_when_kept": check_kept_prefix(engine, of, cells),
        "threads": engine.threads,
    }


def check_template(engine: Engine) -> str:
    """Whether our prompts are those of the template in the model file; `other` where that has no place for tools."""
    source = engine.template()
    if "tools" not in source:
        return "other: the model's own template knows no tools"
    environment = importlib.import_module("jinja2.sandbox").ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True
    )
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "sort_keys": False}
    messages: list[dict[str, Any]] = [{"role": "system", "content": f"{SYSTEM}\n\nA note."}]
    for message in _CONVERSATION:
        if message.command:
            call = {"name": "bash", "arguments": {"command": message.command}}
            messages.append(
                {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": call}]}
            )
        else:
            messages.append({"role": message.role, "content": message.text})
    theirs = environment.from_string(source).render(messages=messages, tools=[TOOL], add_generation_prompt=True)
    ours = prefix((), "A note.") + suffix(_CONVERSATION).removesuffix(PREFILL)
    if theirs == ours.replace(_FORM, f"{{{_FORM}}}"):
        return "equal to the model's own, but for braces that its file has doubled by mistake"
    if theirs != ours:
        raise Unfit(f"prompts differ from the model's own template: {theirs!r} is not {ours!r}")
    return "equal to the model's own"


def check_offset(engine: Engine) -> float:
    """Nats of a word that must be easy; scored one token late it costs more than 5."""
    start = engine.tokens("The capital of France is")
    engine.reset()
    row = engine.after(start, keep=1)[0]
    found = token_nats(row, engine.tokens(" Paris")[0])
    if found > 2.0:
        raise Unfit(f"an easy word costs {found:.2f} nats: the scores are not of the tokens they should be of")
    return round(found, 4)


def check_kept_prefix(engine: Engine, of: Plan, cells: Sequence[Cell]) -> dict[str, Any]:
    """A prefix that was kept must give the very numbers of one that is worked on anew, and nearly those of working on it token
    by token: kernels for many tokens at once are other programs, and one of them turned out to be wrong."""
    contexts = Contexts(of, engine)
    differences: list[float] = []
    for cell in cells:
        task = of.tasks[cell.task]
        asked = split_prompt(engine, contexts.get(cell.context).prefix, suffix(task.conversation), target(task.answer))
        engine.reset()
        anew = score(engine, asked, -1).nll
        kept = score(engine, asked, -1).nll
        if anew != kept:
            raise Unfit(f"a kept prefix changes the scores of `{cell.task}`: {anew} and {kept}")
        engine.reset()
        for token in (*asked.prefix, *asked.suffix[:-1]):
            engine.after([token], keep=0)
        rows = [engine.after([token], keep=1)[0] for token in (asked.suffix[-1], *asked.command[:-1])]
        single = [token_nats(row, token) for row, token in zip(rows, asked.command, strict=True)]
        differences.append(sum(single) / len(single) - sum(anew) / len(anew))
    farthest = max(abs(each) for each in differences)
    if farthest > MOST_APART:
        raise Unfit(
            f"many tokens at once give other scores than one by one, by up to {farthest:.2f} nats a token; "
            f"run with `--chunk {SMALL}`"
        )
    return {
        "prompts": len(cells),
        "bit_equal": True,
        "chunk": engine.chunk,
        "nats_to_one_by_one": [round(each, 5) for each in differences],
    }

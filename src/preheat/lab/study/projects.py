"""Invented projects with conventions that nobody can guess, tasks that need them, and the context that each arm gives. Pure,
by a seed.

What is shown of a project never contains a task's module; in far tasks not the piece of work either; in two-step tasks never the
option together with that piece of work.
"""

import random
from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from preheat.lab.study.prompts import ArmContext, Message
from preheat.model.context import CALLS_WORKED_REPLY
from preheat.provisioning.messages import example_request, format_block
from preheat.safe_text.cleanup import in_backticks, in_quotes

Kind = Literal["near", "far", "two-step"]
PROJECTS = 42
SEED = 20261116
MOST_SHOWN = 8

# The slots: {work} the name of the piece of work, {path} the module, {option} the special run (with its space, or empty).
# {tool}, {box}, {flag}, {Flag} are words of the project. All begin with a letter and end with a letter or digit.
_SHAPES = (
    "make {work} UNIT={path}{option} {Flag}=1",
    "docker compose run --rm {box} {tool} {work}{option} {path} --{flag}",
    "bash ops/{tool}.sh {path} {work}{option} --{flag}",
    "{Flag}={box} {tool} {work}{option} -m {path}",
    "{tool} --{flag} {path} {work}{option}",
    "npm run {work}:{path} -- --{flag}{option}",
    "python -m {box}.{tool} {work} --target {path}{option} --{flag}",
    "bazel run //{box}:{tool} -- {work}{option} --{flag} {path}",
    "just {flag}={box} {work} {path}{option}",
    "nix develop .#{box} -c {tool} {work}{option} {path} --{flag}",
    "uv run --group {box} {tool} {path}{option} {work}",
    "gradle :{path}:{work} -P{flag}={box}{option}",
    "cargo xtask {work} --only {path}{option} --{flag}",
    "kubectl exec {box} -- {tool} {work} {path} --{flag}{option}",
)
_OPTIONS = (" --{name}={value}", " --{name}-{value}", " {NAME}={value}", " --{name} {value}")
_PATHS = (
    "apps/{m}/core", "src/{m}_svc", "packages/{m}-kit", "lib-{m}", "{m}.unit", "mod_{m}", "{m}/v2", "x-{m}", "areas/{m}",
)  # fmt: skip
_COLON_PATHS = ("lib-{m}", "{m}-kit", "svc-{m}", "mod_{m}")
"""For the shapes in which a path stands between colons."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_TOOLS = _words(
    "gantry sprocket thimble lathe bellows plover kestrel sextant trellis hopper mangle pulley ferrule gimbal "
    "spindle cleat bobbin ratchet tiller windlass auger dowel grommet halyard jigger ketch loom mallet nozzle oriel "
    "pestle quern rivet scythe toggle vise wimble yoke anvil burin capstan distaff escapement flange"
)
_BOXES = _words(
    "quarry harbor attic cellar pantry foundry kiln dovecot granary larder loft mews orchard paddock silo stable "
    "tannery vault wharf yard annex barn crypt depot eyrie ferry grove hangar islet jetty "
    "kennel lodge mill nook outpost parlor quay refuge shed terrace undercroft veranda warren zenana"
)
_FLAGS = _words(
    "frost ember slate cobalt umber russet ochre sable pewter amber cinder dusk fathom gale hoar indigo jasper "
    "kelp lichen marl nacre opal peat quartz rime shale teal umbra verdant wisp "
    "azure bramble copper drizzle eddy flint glade hazel ivory jet lapis mist nimbus onward"
)
_NAMES = _words("berth lane tier deck ring span pier cove reach strand ledge notch ridge vale weir bight")
_VALUES = _words("onyx heron lotus raven cedar thyme maple otter finch basil clove elder fern ivy juno krill")
_WORK = _words(
    "probe sift rake weld stamp drain prune tamp hone buff scour gauge knead temper anneal quench ream splice "
    "chisel braze crimp swage bevel lap furl reeve belay caulk shim tack peen fettle"
)
_MODULES = _words(
    "billing ledger orders search catalog inbox pricing refunds visits uploads shipping invoices profiles alerts "
    "exports imports reports tokens webhooks quotas coupons wallets tickets surveys badges payouts audits metrics "
    "feeds labels routes themes"
)

_ACTIONS = (
    ("Run the tests of the {m} module", "Ran the tests of {m}: {n} passed, 0 failed.", "run the tests of a module"),
    ("Lint the {m} module", "Linted {m}: {n} files, no findings.", "lint a module"),
    ("Build the {m} module", "Built {m}: {n} targets up to date.", "build a module"),
)
_SHOWN = ((0, False), (2, True), (1, False), (0, False), (2, True), (1, False), (0, False), (2, False))
"""Of the eight good calls: which action, and whether with the option."""
_SPECIALS = (
    ("against the staging stack", "on the staging stack", "against the staging stack"),
    ("without network access", "with the network off", "without network access"),
    ("on a fresh database", "on a fresh database", "on a fresh database"),
    ("with the slow cases included", "slow cases included", "with the slow cases included"),
    ("in release mode", "in release mode", "in release mode"),
    ("as a dry run", "as a dry run", "as a dry run"),
)
_FILLER = (
    "log kept in out/{n}.log",
    "cache warm, {n} entries",
    "took {n} s on 4 workers",
    "artifact {n} kept for 2 days",
)


class Project(NamedTuple):
    """The conventions of one project."""

    name: str
    shape: str
    """With the project's words filled in; {work}, {path} and {option} are open."""
    path: str
    option: str
    special: tuple[str, str, str]
    """What the option means: asked for, as a result tells it, as a note tells it."""
    work: tuple[str, ...]
    """Its names for testing, linting, building; and of three more that are never shown."""
    modules: tuple[str, ...]
    """The first eight are shown, the others are asked for."""

    def command(self, work: str, module: str, special: bool = False) -> str:
        return self.shape.format(work=work, path=self.path.format(m=module), option=self.option if special else "")


class ShownCall(NamedTuple):
    """A good call of the project and its result."""

    command: str
    result: str


class Task(NamedTuple):
    """One request, and the command that does it in this project."""

    id: str
    project: str
    kind: Kind
    request: str
    answer: str
    unseen: tuple[str, ...]
    """Words of the answer that no context of the project contains."""


def make_projects(count: int = PROJECTS, seed: int = SEED) -> list[Project]:
    """The same for the same seed. No two share a tool, a box or a flag."""
    draw = random.Random(seed)
    tools, boxes, flags = (draw.sample(words, count) for words in (_TOOLS, _BOXES, _FLAGS))
    projects = []
    for place in range(count):
        shape = _SHAPES[place % len(_SHAPES)]
        paths = _COLON_PATHS if ":{path}" in shape else _PATHS
        option = draw.choice(_OPTIONS[:2] if shape.startswith(("make", "just")) else _OPTIONS)
        name = draw.choice(_NAMES)
        flag = flags[place]
        box = boxes[place]
        projects.append(
            Project(
                name=f"{box}-{tools[place]}",
                shape=_fill_shape(shape, tools[place], box, flag),
                path=draw.choice(paths),
                option=option.format(name=name, NAME=name.upper(), value=draw.choice(_VALUES)),
                special=draw.choice(_SPECIALS),
                work=tuple(draw.sample(_WORK, 6)),
                modules=tuple(draw.sample(_MODULES, 16)),
            )
        )
    return projects


def _fill_shape(shape: str, tool: str, box: str, flag: str) -> str:
    return shape.format(
        tool=tool, box=box, flag=flag, Flag=flag.upper(), work="{work}", path="{path}", option="{option}"
    )


def shown_calls(project: Project) -> list[ShownCall]:
    """Eight good calls. The first shows a plain run, the second the option, and the first four everything that tasks need."""
    draw = random.Random(f"{SEED} {project.name}")
    calls = []
    for place, (action, special) in enumerate(_SHOWN):
        module = project.modules[place]
        result = _ACTIONS[action][1].format(m=module, n=draw.randint(3, 97))
        if special:
            result = f"{result[:-1]} ({project.special[1]})."
        filler = draw.choice(_FILLER).format(n=draw.randint(3, 97))
        calls.append(ShownCall(project.command(project.work[action], module, special), f"{result}\n{filler}"))
    return calls


def shown_requests(project: Project) -> list[str]:
    """The requests that the good calls would have answered, in their order."""
    return [
        _ACTIONS[action][0].format(m=project.modules[place]) + (f" {project.special[0]}" if special else "") + "."
        for place, (action, special) in enumerate(_SHOWN)
    ]


def project_tasks(project: Project) -> list[Task]:
    """Eight: one near, four far, three two-step."""
    modules = project.modules[MOST_SHOWN:]
    tasks: list[Task] = []

    def add(kind: Kind, work: str, request: str, special: bool, unseen: tuple[str, ...]) -> None:
        module = modules[len(tasks)]
        text = request.format(m=module) + (f" {project.special[0]}" if special else "") + "."
        answer = project.command(work, module, special)
        tasks.append(Task(f"{project.name}/{len(tasks)}", project.name, kind, text, answer, (module, *unseen)))

    add("near", project.work[1], _ACTIONS[1][0], False, ())
    for work in (project.work[3], project.work[4], project.work[5], project.work[3]):
        add("far", work, f"Run the `{work}` task on the {{m}} module", False, (work,))
    add("two-step", project.work[0], _ACTIONS[0][0], True, ())
    add("two-step", project.work[1], _ACTIONS[1][0], True, ())
    add("two-step", project.work[4], f"Run the `{project.work[4]}` task on the {{m}} module", True, (project.work[4],))
    return tasks


def project_note(project: Project) -> str:
    """The conventions as a person would write them into the project's AGENTS.md, by rule: the facts of the first four
    calls, and no others."""
    form = project.shape.format(work="<task>", path=project.path.format(m="<module>"), option="")
    with_option = project.shape.format(work="<task>", path=project.path.format(m="<module>"), option=project.option)
    test, lint, build = project.work[:3]
    return (
        f"# Working in {project.name}\n\n"
        f"Run every developer command for a module in this exact form, with nothing left out:\n\n"
        f"    {form}\n\n"
        f"`<task>` is the name of the task and `<module>` the name of the module. "
        f"To {_ACTIONS[0][2]}, the task is `{test}`; to {_ACTIONS[1][2]}, it is `{lint}`; to {_ACTIONS[2][2]}, it is `{build}`. "
        f"Other tasks are run in the same form under their own names.\n\n"
        f"To run a task {project.special[2]}, add `{project.option.strip()}` in this place:\n\n"
        f"    {with_option}"
    )


# The context of each arm in an invented project.
K = 4
"""Examples in the warm arm, chosen before any result: the fewest that show every fact which tasks need."""
MAIN_ARMS = ("cold", "placebo", "note", "warm")
MORE_ARMS = ("note+warm", "text")
DOSES = (1, 2, 8)
"""Beside `K`, on the first projects only."""
DOSED_PROJECTS = 14


IDENTITY = "0a" * 6
"""The id of every context."""


def example_messages(project: Project, k: int) -> tuple[Message, ...]:
    """The first `k` good calls as messages, in the form that the protocol froze: what the product handed out when the study was
    planned. The product's own form has moved on, and is an arm of its own."""
    messages = [Message("user", example_request(IDENTITY))]
    for call in shown_calls(project)[:k]:
        messages += (Message("assistant", "", call.command), Message("tool", call.result.strip() or "(no output)"))
    return (*messages, Message("assistant", CALLS_WORKED_REPLY))


def warm_arm(project: Project, k: int = K) -> ArmContext:
    return ArmContext(messages=example_messages(project, k))


def example_text(project: Project, k: int) -> str:
    """The same calls as a text."""
    calls = [
        (f"bash {msgspec.json.encode({'command': call.command}).decode()}", call.result.strip() or "(no output)")
        for call in shown_calls(project)[:k]
    ]
    lines = [f"worked: {in_backticks(call, 240)} gave {in_quotes(result, 100)}" for call, result in calls]
    return format_block(IDENTITY, "", k, True, lines)


def text_arm(project: Project, k: int = K) -> ArmContext:
    return ArmContext(note=example_text(project, k))


def arm_context(name: str, project: Project, partner: Project) -> ArmContext:
    """What an arm gives in a project; `partner` is where a placebo comes from, still to be made as long."""
    if name == "cold":
        return ArmContext()
    if name == "note":
        return ArmContext(note=project_note(project))
    if name == "text":
        return text_arm(project)
    if name == "note+warm":
        return ArmContext(project_note(project), warm_arm(project).messages)
    if name == "placebo":
        return warm_arm(partner)
    if name.startswith("warm"):
        return warm_arm(project, int(name.removeprefix("warm") or K))
    raise ValueError(f"no arm `{name}`")


def partner_of(place: int, among: Sequence[Project]) -> Project:
    """The project half-way round: never the same, and of another shape."""
    return among[(place + len(among) // 2) % len(among)]


def contains_answer(context: ArmContext, answer: str) -> bool:
    """Whether a context contains the answer itself."""
    return answer in msgspec.json.encode([context.note, *context.messages]).decode() or answer in context.prefix

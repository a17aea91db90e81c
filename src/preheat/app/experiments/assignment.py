"""The lots of running sessions: which arm a session is in, what it is given then, and what is kept from it by chance.

Knows nothing of hooks or of how a lot is drawn (`experiments.assign`), nor of what came of it. On the way of every session's
start: no statistics are imported here. No lot is drawn before the person was told of it: the key is made by `preheat install`
and by `preheat experiment start`.
"""

import os
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

import msgspec

from preheat.app.context.provisioning import render
from preheat.app.experiments.arms import as_note, as_placebo, framed
from preheat.app.live.settings import section
from preheat.app.projects import repository_of
from preheat.errors import UserError
from preheat.experiments.assign import advice_lot, assigned, spared
from preheat.experiments.plan import called, covers, standing
from preheat.lessons.projects import root_of
from preheat.model.context import Context
from preheat.model.experiment import AdviceLot, Assignment, Delivery, Lot, Plan
from preheat.model.live import Advisory, HookEvent
from preheat.provisioning import without
from preheat.provisioning.tokens import estimate
from preheat.state import key, migration, plans
from preheat.state.assignments import assignment_of, keep
from preheat.state.connect import OpenState, reading, writing

_REMEMBERED = 1_000


class Lots(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is left to chance, so that it can be told what helps."""

    holdout: float = 0.2
    """Of the sessions, the share that starts without; 0 draws no lots at all, unless you start an experiment."""
    drop_items: float = 0.1
    """How likely a warm session is spared an item that was chosen for it."""
    withhold_advice: float = 0.2
    """How likely an advisory is not said."""


USUAL = Lots()


def lots_in(folder: str) -> Lots:
    """What stands below `[experiment]` in `settings.toml`. Raises UserError."""
    found = section(folder, "experiment", USUAL)
    for name in Lots.__struct_fields__:
        if not 0 <= getattr(found, name) <= 0.9:
            raise UserError(f"`settings.toml`, below `[experiment]`: `{name}` is from 0 to 0.9")
    return found


class Deal(NamedTuple):
    """What the arm of a session makes of a context."""

    context: Context
    """As far as it is given; without the items that a lot took away."""
    text: str | None = None
    """What is given in its place; empty: nothing. None: the context as it is."""
    lots: tuple[Lot, ...] = ()
    """To be written down before anything is handed out."""


class Proving:
    """The lots in one folder."""

    def __init__(self, folder: str) -> None:
        try:
            self._lots = lots_in(folder)
        except UserError:  # `preheat doctor` says it; until then nobody is left without
            self._lots = Lots(holdout=0.0)
        self._state = OpenState(folder)
        self._key: bytes | None = None
        self._plans: list[tuple[str, Plan]] = []
        self._known: OrderedDict[str, Assignment] = OrderedDict()
        self._look()

    # Which arm.
    def assign(self, event: HookEvent, known: Assignment | None, begun: bool) -> Assignment | None:
        """The assignment of a session that starts; None where no lots are drawn. `known` is what it or its parent has
        already, `begun` says that it made calls before it was first heard of."""
        self._look()
        name = f"{event.agent}:{event.session}"
        if known is None and event.source not in (None, "startup", "clear"):
            with suppress(OSError), self._state.reading() as state:
                known = assignment_of(state, name)
        project = root_of(event.cwd, repository_of) or event.cwd
        if known is not None:
            found = known if known.session == name else msgspec.structs.replace(known, session=name, at=event.at or 0.0)
            return self._remember(found)
        plan = self._plan(event.agent, project)
        if plan is None or self._key is None:
            return None
        experiment, planned = plan
        at = event.at or 0.0
        if begun or event.source not in (None, "startup", "clear"):
            missed = Assignment(
                session=name,
                root=name,
                experiment=experiment,
                arm="unassigned",
                agent=event.agent,
                project=project,
                at=at,
                why="its start was missed",
            )
            return self._remember(missed)
        return self._remember(assigned(self._key, planned, experiment, event.agent, project, event.session, at))

    def _remember(self, found: Assignment) -> Assignment:
        self._known[found.session] = found
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return found

    def _look(self) -> None:
        """Plans may be started and stopped while a daemon runs. Where that cannot be read, what was known stands."""
        with suppress(OSError), self._state.reading() as state:
            self._plans = [(each.experiment, each.plan) for each in plans.plans(state) if each.stopped is None]
            self._key = key.secret(state)

    def _plan(self, agent: str, project: str) -> tuple[str, Plan] | None:
        for name, plan in self._plans:
            if covers(plan, agent, project):
                return name, plan
        if self._lots.holdout <= 0:
            return None
        usual = standing(self._lots.holdout)
        return called(usual), usual

    # What it is given.
    def deal(self, event: HookEvent, context: Context) -> Deal:
        """What its arm reads of a context that was chosen for a session. The same is chosen for every arm: so it is known of
        each session whether there was anything to give."""
        found = self._known.get(f"{event.agent}:{event.session}")
        if found is None or self._key is None or found.arm == "unassigned":
            return Deal(context)
        kept, lots = self._spared(context, found)
        text = self._instead(kept, found.arm)
        nothing = text == "" or not (kept.items or kept.addendum)
        delivery = Delivery(
            session=found.session,
            at=event.at or 0.0,
            context="" if nothing else kept.id,
            tokens=0 if nothing else kept.tokens if text is None else estimate(text),
            offered=len(context.items),
            template=context.template,
            shown=tuple(item for item in lots if lots[item]),
            spared=tuple(item for item in lots if not lots[item]),
            probability=1 - self._lots.drop_items if lots else 1.0,
        )
        return Deal(kept, text, (delivery,))

    def template(self, event: HookEvent) -> str:
        """The template that a session is given from; empty: from what was learned."""
        found = self._known.get(f"{event.agent}:{event.session}")
        if found is None:
            return ""
        return next((plan.template for name, plan in self._plans if name == found.experiment), "")

    def _spared(self, context: Context, found: Assignment) -> tuple[Context, dict[str, bool]]:
        """A warm session's context without the items that the lots took away, and by item whether it is shown. Pinned ones
        and the resume packet stay: the one a person wants, the other is a new one each time."""
        chance = self._lots.drop_items
        drawn = [item.lesson for item in context.items if not item.pinned and item.kind != "resume"]
        if found.arm != "warm" or chance <= 0 or not drawn or self._key is None:
            return context, {}
        gone = spared(self._key, found.experiment, found.root, drawn, chance)
        return without(context, gone), {item: item not in gone for item in drawn}

    def _instead(self, context: Context, arm: str) -> str | None:
        """What stands in the place of a context; None: itself."""
        if arm == "cold":
            return ""
        if arm == "warm" or not (context.items or context.addendum):
            return None
        return framed(context.id, as_note(context) if arm == "note" else as_placebo(render(context).text, context.id))

    # What is said.
    def advice(self, event: HookEvent, advisory: Advisory, root: str) -> AdviceLot | None:
        """Whether something is said, by lot; None where none is drawn: then it is."""
        chance = self._lots.withhold_advice
        running = self._lots.holdout > 0 or bool(self._plans)
        if self._key is None or chance <= 0 or not running:
            return None
        name = f"{event.agent}:{event.session}"
        return advice_lot(
            self._key, root or name, name, advisory.signal, advisory.cause, advisory.turn, chance, event.at or 0.0
        )

    def keep(self, lots: Iterable[Lot]) -> None:
        """Have lots on disk outside the archive; one that is there stays as it is. Raises OSError."""
        drawn = list(lots)
        if drawn:
            with self._state.writing() as state:
                keep(state, drawn)


# The key.
def make_key(folder: str) -> bool:
    """Make the secret that lots are drawn with unless there is one; whether it is new. Raises UserError."""
    check_key(folder)
    with reading(folder) as state:
        if key.secret(state) is not None:
            return False
    with writing(folder) as state:
        return key.make_secret(state)


def check_key(folder: str) -> None:
    """Raises UserError where version 0.1.0 left a key that is damaged: nothing pretends to run without lots."""
    with reading(folder) as state:
        if key.secret(state) is None and (why := migration.damaged_key(folder)):
            raise UserError(why)


# What a person is told.
def told(folder: str) -> str:
    """In a sentence, what is left to chance, and where to read on."""
    sentence, drawn = _chance(folder)
    return f"{sentence}; `preheat experiment status` says what is known." if drawn else f"{sentence}."


def left_to_chance(folder: str) -> str:
    """The same for whoever reads on already."""
    return f"{_chance(folder)[0]}."


def _chance(folder: str) -> tuple[str, bool]:
    """What is left to chance, and whether anything is."""
    try:
        lots = lots_in(folder)
    except UserError as error:
        return f"Every session starts warm: {error}", False
    with reading(folder) as state:
        running = [f"`{plan.name}`" for _, plan, stopped in plans.plans(state) if stopped is None]
        has_key = key.secret(state) is not None
    if len(running) == 1:
        return f"The experiment {running[0]} runs: it decides by lot how sessions start", True
    if running:
        return f"The experiments {', '.join(running)} run: they decide by lot how sessions start", True
    where = os.path.join(folder, "settings.toml")
    if lots.holdout <= 0:
        return f"Every session starts warm, and so nobody can tell whether it helps (`holdout = 0` in `{where}`)", False
    if not has_key:
        until = "until `preheat install AGENT` has told you of the lots that show whether it helps"
        return f"Every session starts warm {until}", False
    return (
        f"{_often(lots.holdout)} starts without, so that Preheat can tell whether it helps (`holdout = 0` below"
        f" `[experiment]` in `{where}` turns that off)"
    ), True


def _often(share: float) -> str:
    whole = round(1 / share)
    words = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", 10: "ten"}
    if abs(1 / share - whole) < 0.01 and whole in words:
        return f"One session in {words[whole]}"
    return f"{share:.0%} of the sessions"

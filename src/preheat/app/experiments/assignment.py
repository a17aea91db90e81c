"""Assigns running sessions to arms, and decides by assignment which context, items and advisories each one gets.

Knows nothing of hooks, of the hash behind an assignment (`experiments.assignment`) or of results. Light: every session's start
waits for it. Nothing is assigned before the person was told: the key is made by `preheat install` and `preheat experiment start`.
"""

import os
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

import msgspec

from preheat.app.context import render
from preheat.app.projects import project_root
from preheat.errors import UserError
from preheat.experiments.assignment import assign_advice, assign_session, items_left_out, write_note, write_placebo
from preheat.experiments.plan import covers, holdout_plan, plan_name
from preheat.model.context import Context
from preheat.model.experiment import AdviceAssignment, Assignment, AssignmentRecord, Delivery, ExperimentPlan
from preheat.model.live import Advisory, HookEvent
from preheat.provisioning import without_lessons
from preheat.provisioning.messages import describe_origin, format_block
from preheat.provisioning.tokens import estimate_tokens
from preheat.settings_file import load_section
from preheat.state import experiments, migration
from preheat.state.connect import OpenState, reading, writing
from preheat.state.experiments import find_assignment, keep_assignments


# The texts of the arms `note` and `placebo`.
def note_text(context: Context) -> str:
    """The items of a context as one paragraph."""
    caveat = describe_origin(context.sessions, context.is_from_this_project) if context.items else ""
    return write_note(" ".join((context.addendum, caveat)).strip(), [item.text for item in context.items])


def placebo_text(text: str, identity: str) -> str:
    """General facts that have as many tokens in their frame as a text has; the id counts, since its digits cost tokens."""
    return write_placebo(estimate_tokens(text), lambda facts: estimate_tokens(frame(identity, facts)))


def frame(identity: str, text: str) -> str:
    """A text in the frame by which Preheat recognises its own texts."""
    return format_block(identity, text, 0, False, ())


# Settings.


class AssignmentSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which shares are assigned at random, so that it can be measured what helps."""

    holdout: float = 0.2
    """The share of sessions that starts cold; 0: nothing is assigned at random unless an experiment runs."""
    drop_items: float = 0.1
    """The probability that an item is left out of a warm session's context."""
    withhold_advice: float = 0.2
    """The probability that an advisory is withheld."""


DEFAULT_SETTINGS = AssignmentSettings()


def load_assignment_settings(folder: str) -> AssignmentSettings:
    """The settings below `[experiment]` in `settings.toml`. Raises UserError."""
    found = load_section(folder, "experiment", DEFAULT_SETTINGS)
    for name in AssignmentSettings.__struct_fields__:
        if not 0 <= getattr(found, name) <= 0.9:
            raise UserError(f"`settings.toml`, below `[experiment]`: `{name}` is from 0 to 0.9")
    return found


class Treatment(NamedTuple):
    """What a session is given instead of, or of, a context, by its arm."""

    context: Context
    """The context without the items that were left out by assignment."""
    text: str | None = None
    """The text to give instead of the context; empty: nothing. None: the context itself."""
    records: tuple[AssignmentRecord, ...] = ()
    """Records to be stored before anything is handed out."""


ORIENTATION = "orientation"
"""Stands for the signal in the assignment of the files that are named with a prompt."""
_REMEMBERED = 1_000
"""The number of sessions whose assignments stay in memory."""


class Assigner:
    """Assigns the sessions of one folder."""

    def __init__(self, folder: str) -> None:
        try:
            self._settings = load_assignment_settings(folder)
        except UserError:  # reported by `preheat admin doctor`; until it is repaired every session starts warm
            self._settings = AssignmentSettings(holdout=0.0)
        self._state = OpenState(folder)
        self._key: bytes | None = None
        self._plans: list[tuple[str, ExperimentPlan]] = []
        self._assignments: OrderedDict[str, Assignment] = OrderedDict()
        self._load_plans()

    # Which arm.
    def assign(self, event: HookEvent, known: Assignment | None, begun: bool) -> Assignment | None:
        """The assignment of a session that starts; None if nothing is assigned. `known` is the assignment that it or its parent
        already has, `begun` says that it made calls before its first hook event."""
        self._load_plans()
        name = f"{event.agent}:{event.session}"
        if known is None and event.source not in (None, "startup", "clear"):
            with suppress(OSError), self._state.reading() as state:
                known = find_assignment(state, name)
        project = project_root(event.cwd) or event.cwd
        if known is not None:
            assignment = (
                known if known.session == name else msgspec.structs.replace(known, session=name, at=event.at or 0.0)
            )
            return self._remember(assignment)
        plan = self._plan_for(event.agent, project)
        if plan is None or self._key is None:
            return None
        experiment, chosen_plan = plan
        at = event.at or 0.0
        if begun or event.source not in (None, "startup", "clear"):
            unassigned = Assignment(
                session=name,
                root=name,
                experiment=experiment,
                arm="unassigned",
                agent=event.agent,
                project=project,
                at=at,
                why="its start was missed",
            )
            return self._remember(unassigned)
        return self._remember(
            assign_session(self._key, chosen_plan, experiment, event.agent, project, event.session, at)
        )

    def _remember(self, found: Assignment) -> Assignment:
        self._assignments[found.session] = found
        while len(self._assignments) > _REMEMBERED:
            self._assignments.popitem(last=False)
        return found

    def _load_plans(self) -> None:
        """Read which experiments run now; if that fails, the last known ones stay."""
        with suppress(OSError), self._state.reading() as state:
            self._plans = [(each.experiment, each.plan) for each in experiments.plans(state) if each.stopped is None]
            self._key = experiments.find_secret(state)

    def _plan_for(self, agent: str, project: str) -> tuple[str, ExperimentPlan] | None:
        for name, plan in self._plans:
            if covers(plan, agent, project):
                return name, plan
        if self._settings.holdout <= 0:
            return None
        holdout = holdout_plan(self._settings.holdout)
        return plan_name(holdout), holdout

    # Its context.
    def treat(self, event: HookEvent, context: Context) -> Treatment:
        """What a session is given of the context that was chosen for it. The same is chosen in every arm, so that it is known of
        each session whether there was anything to give."""
        assignment = self._assignments.get(f"{event.agent}:{event.session}")
        if assignment is None or self._key is None or assignment.arm == "unassigned":
            return Treatment(context)
        kept, is_shown = self._leave_out_items(context, assignment)
        text = self._text_for_arm(kept, assignment.arm)
        gives_nothing = text == "" or not (kept.items or kept.addendum)
        delivery = Delivery(
            session=assignment.session,
            at=event.at or 0.0,
            context="" if gives_nothing else kept.id,
            tokens=0 if gives_nothing else kept.tokens if text is None else estimate_tokens(text),
            offered=len(context.items),
            template=context.template,
            shown=tuple(item for item in is_shown if is_shown[item]),
            withheld=tuple(item for item in is_shown if not is_shown[item]),
            probability=1 - self._settings.drop_items if is_shown else 1.0,
        )
        return Treatment(kept, text, (delivery,))

    def template_for(self, event: HookEvent) -> str:
        """The template that a session's context comes from; empty: from lessons."""
        found = self._assignments.get(f"{event.agent}:{event.session}")
        if found is None:
            return ""
        return next((plan.template for name, plan in self._plans if name == found.experiment), "")

    def _leave_out_items(self, context: Context, assignment: Assignment) -> tuple[Context, dict[str, bool]]:
        """A warm session's context without the items that are left out by assignment, and by item whether it is shown. Pinned
        items and the resume packet are always shown."""
        probability = self._settings.drop_items
        items = [item.lesson for item in context.items if not item.pinned and item.kind != "resume"]
        if assignment.arm != "warm" or probability <= 0 or not items or self._key is None:
            return context, {}
        left_out = items_left_out(self._key, assignment.experiment, assignment.root, items, probability)
        return without_lessons(context, left_out), {item: item not in left_out for item in items}

    def _text_for_arm(self, context: Context, arm: str) -> str | None:
        """The text to give instead of a context; None: the context itself."""
        if arm == "cold":
            return ""
        if arm == "warm" or not (context.items or context.addendum):
            return None
        return frame(
            context.id, note_text(context) if arm == "note" else placebo_text(render(context).text, context.id)
        )

    # Advice.
    def assign_advice(self, event: HookEvent, advisory: Advisory, root: str) -> AdviceAssignment | None:
        """Whether an advisory is sent, by assignment; None if nothing is assigned: then it is sent."""
        return self._draw_advice(event, advisory.signal, advisory.cause, advisory.turn, root)

    def assign_orientation(
        self, event: HookEvent, paths: tuple[str, ...], turn: int, root: str
    ) -> AdviceAssignment | None:
        """Whether the files that a prompt needs are named, by assignment; None if nothing is assigned: then they are."""
        return self._draw_advice(event, ORIENTATION, "\n".join(paths), turn, root)

    def _draw_advice(self, event: HookEvent, signal: str, cause: str, turn: int, root: str) -> AdviceAssignment | None:
        probability = self._settings.withhold_advice
        assigns = self._settings.holdout > 0 or bool(self._plans)
        if self._key is None or probability <= 0 or not assigns:
            return None
        name = f"{event.agent}:{event.session}"
        return assign_advice(self._key, root or name, name, signal, cause, turn, probability, event.at or 0.0)

    def store(self, records: Iterable[AssignmentRecord]) -> None:
        """Store records of assignments; one that is stored already stays as it is. Raises OSError."""
        to_store = list(records)
        if to_store:
            with self._state.writing() as state:
                keep_assignments(state, to_store)


# The key.
def make_key(folder: str) -> bool:
    """Make the secret key of all assignments unless there is one; whether it is new. Raises UserError."""
    check_key(folder)
    with reading(folder) as state:
        if experiments.find_secret(state) is not None:
            return False
    with writing(folder) as state:
        return experiments.make_secret(state)


def check_key(folder: str) -> None:
    """Raise UserError if version 0.1.0 left a damaged key: without a key nothing could be assigned."""
    with reading(folder) as state:
        if experiments.find_secret(state) is None and (why := migration.damaged_key(folder)):
            raise UserError(why)


# What a person reads.
def describe_assignment_with_hint(folder: str) -> str:
    """In a sentence, what is assigned at random, and which command shows more."""
    sentence, assigns = _describe_assignment(folder)
    return f"{sentence}; `preheat experiment status` says what is known." if assigns else f"{sentence}."


def describe_assignment(folder: str) -> str:
    """In a sentence, what is assigned at random."""
    return f"{_describe_assignment(folder)[0]}."


def _describe_assignment(folder: str) -> tuple[str, bool]:
    """What is assigned at random, without a full stop; and whether anything is."""
    try:
        settings = load_assignment_settings(folder)
    except UserError as error:
        return f"Every session starts warm: {error}", False
    with reading(folder) as state:
        running = [f"`{plan.name}`" for _, plan, stopped in experiments.plans(state) if stopped is None]
        has_key = experiments.find_secret(state) is not None
    if len(running) == 1:
        return f"The experiment {running[0]} runs: it assigns at random how sessions start", True
    if running:
        return f"The experiments {', '.join(running)} run: they assign at random how sessions start", True
    where = os.path.join(folder, "settings.toml")
    if settings.holdout <= 0:
        return f"Every session starts warm, so nothing shows whether that helps (`holdout = 0` in `{where}`)", False
    if not has_key:
        until = "until `preheat install AGENT` has told you of the random assignment that shows whether it helps"
        return f"Every session starts warm {until}", False
    return (
        f"{_share_in_words(settings.holdout)} starts cold, so that Preheat can measure whether warm starts help (`holdout = 0`"
        f" below `[experiment]` in `{where}` turns that off)"
    ), True


def _share_in_words(share: float) -> str:
    whole = round(1 / share)
    words = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", 10: "ten"}
    if abs(1 / share - whole) < 0.01 and whole in words:
        return f"One session in {words[whole]}"
    return f"{share:.0%} of the sessions"

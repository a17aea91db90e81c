"""The vocabulary of a dataset: its tools, models, versions, command forms and errors, and in how many projects each occurs.

A value is published only if enough projects share it, and only with names removed. Knows no archive.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

from preheat.lab.dataset.markers import add_counts, count_calls
from preheat.lab.dataset.rows import OTHER, CallCounts, ErrorRow, FormRow
from preheat.lab.dataset.threshold import Spread
from preheat.model.outcome import Cause
from preheat.model.profile import CallRecord


class Vocabulary:
    """Collects values, then `settle` removes names from them, then it says which may be published."""

    def __init__(self, least: int, well_known: frozenset[str]) -> None:
        self.spread = Spread(least)
        self._well_known = well_known
        self._tools: Counter[tuple[str, str]] = Counter()
        self._models: Counter[tuple[str, str]] = Counter()
        self._versions: Counter[tuple[str, str, str]] = Counter()
        self._forms: dict[tuple[str, str], CallCounts] = {}
        self._errors: defaultdict[tuple[str, str], Counter[Cause]] = defaultdict(Counter)
        self._general: Callable[[str], str] = str
        self._nameless: Callable[[str], str] = str
        self._form_counts: dict[str, CallCounts] = {}
        self._error_counts: defaultdict[str, Counter[Cause]] = defaultdict(Counter)

    # Collecting.
    def add_session(self, project: str, agent: str, version: str, models: Iterable[str]) -> None:
        self._versions[agent, version, project] += 1
        for model in models:
            self._models[model, project] += 1

    def add_call(self, project: str, record: CallRecord, form: str) -> None:
        self._tools[record.tool, project] += 1
        if form:
            before = self._forms.get((form, project), CallCounts())
            self._forms[form, project] = add_counts(before, count_calls((record,)))
        if record.signature and record.cause is not None:
            self._errors[record.signature, project][record.cause] += 1

    # Settling.
    def settle(self, general: Callable[[str], str], nameless: Callable[[str], str]) -> None:
        """Count the projects of each value with names removed; `nameless` is for models and versions."""
        self._general, self._nameless = _cached(general), _cached(nameless)
        for (tool, project), times in self._tools.items():
            if tool not in self._well_known:
                self.spread.add("tool", self._general(tool), project, times)
        for model, project in self._models:
            self.spread.add_beginnings("model", self._nameless(_model_name(model)), project)
        for agent, version, project in self._versions:
            self.spread.add_beginnings(f"version of {agent}", self._nameless(version), project)
        for (form, project), found in self._forms.items():
            form = self._general(form)
            self.spread.add("form", form, project, found.calls)
            self._form_counts[form] = add_counts(self._form_counts.get(form, CallCounts()), found)
        for (signature, project), causes in self._errors.items():
            signature = self._general(signature)
            self.spread.add("error", signature, project, causes.total())
            self._error_counts[signature] += causes

    # Publishing.
    def tool(self, name: str) -> str:
        """A tool's name; `other` where too few projects use it."""
        if name in self._well_known:
            return name
        general = self._general(name)
        return general if self.spread.has_enough("tool", general) else OTHER

    def model(self, name: str) -> str:
        return self.spread.shared_beginning("model", self._nameless(_model_name(name)))

    def version(self, agent: str, version: str) -> str:
        return self.spread.shared_beginning(f"version of {agent}", self._nameless(version))

    def form(self, form: str) -> str:
        """The form of a command; empty where too few projects use it."""
        general = self._general(form) if form else ""
        return general if general and self.spread.has_enough("form", general) else ""

    def forms(self) -> list[FormRow]:
        return [
            FormRow(form, self.spread.projects("form", form), self._form_counts[form])
            for form in self.spread.values("form")
        ]

    def errors(self) -> list[ErrorRow]:
        return [
            ErrorRow(
                signature,
                self.spread.projects("error", signature),
                self.spread.times("error", signature),
                dict(sorted(self._error_counts[signature].items())),
            )
            for signature in self.spread.values("error")
        ]


def _model_name(model: str) -> str:
    """A model without the names of who serves it."""
    return model.rpartition("/")[2]


def _cached(general: Callable[[str], str]) -> Callable[[str], str]:
    known: dict[str, str] = {}

    def remembered(text: str) -> str:
        if text not in known:
            known[text] = general(text)
        return known[text]

    return remembered

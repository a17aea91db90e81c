"""Any events there may be, for property tests: in any order, with any values. Knows no signal."""

from typing import get_args

from hypothesis import strategies as st

from preheat.model.live import (
    CallEvent,
    CompactionEvent,
    EndEvent,
    LiveEvent,
    PromptEvent,
    StartEvent,
    StartKind,
    StopEvent,
)
from preheat.model.outcome import CAUSES, STATUSES
from preheat.model.session import ToolKind

PATHS = st.one_of(
    st.sampled_from(
        [
            "src/auth/login.py",
            "src/billing/pay.py",
            "tests/auth/test_login.py",
            "tests/test_pay.py",
            "docs/a.md",
            "main.go",
            "a/b/c.rs",
        ]
    ),
    st.text(max_size=300),
)
TEXTS = st.one_of(
    st.sampled_from(["", "cargo build", "git checkout -- a.py", "error E1", "error E2"]), st.text(max_size=400)
)
NUMBERS = st.one_of(st.integers(0, 3), st.integers(-(2**63), 2**64 - 1))
MAYBE = st.none() | st.integers(-5, 400_000)
FILES = st.lists(PATHS, max_size=40).map(tuple)

CALLS = st.builds(
    CallEvent,
    at=st.none() | st.floats(allow_nan=False),
    turn=TEXTS,
    tool=TEXTS,
    kind=st.sampled_from(get_args(ToolKind)),
    activity=st.sampled_from(["read", "edit", "shell:test", "shell:build", "shell:run", "shell:vcs", "other"]),
    summary=TEXTS,
    form=TEXTS,
    files=FILES,
    edited=FILES,
    removed=FILES,
    checks=st.lists(st.sampled_from(["test", "build", "lint", "typecheck"]), max_size=3).map(tuple),
    status=st.sampled_from(STATUSES),
    cause=st.none() | st.sampled_from(CAUSES),
    signature=TEXTS,
    failing=MAYBE,
    same_call=NUMBERS,
    same_result=NUMBERS,
    polling=st.booleans(),
    context_tokens=MAYBE,
    context_window=MAYBE,
)

EVENTS: st.SearchStrategy[LiveEvent] = st.one_of(
    CALLS,
    CALLS,
    CALLS,
    st.builds(PromptEvent, words=st.lists(TEXTS, max_size=80).map(tuple), files=FILES),
    st.builds(StartEvent, source=st.sampled_from(get_args(StartKind))),
    st.just(CompactionEvent()),
    st.just(StopEvent()),
    st.just(EndEvent()),
)
SESSIONS = st.lists(EVENTS, max_size=60)

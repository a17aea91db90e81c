"""Lessons of every kind and state for property tests, few enough different words that they meet. Knows no learner."""

from hypothesis import strategies as st

from preheat.model.lesson import LESSON_KINDS, Evidence, Lesson, Scope, Support

COMMANDS = ("npm test", "pnpm test", "make check", "go vet ./...", "")
SIGNATURES = ("command not found: npm", "no such script test", "permission denied PATH", "missing file PATH")

evidence = st.builds(
    Evidence,
    st.sampled_from(["s1", "s2", "s3", "s4"]),
    st.none() | st.integers(0, 12),
    st.none() | st.integers(0, 5).map(float),
    st.booleans(),
)
one = st.builds(
    Lesson,
    id=st.just(""),
    kind=st.sampled_from(LESSON_KINDS),
    scope=st.builds(Scope, st.just(""), st.sampled_from(["", "shop"]), st.just("")),
    topic=st.sampled_from(["", "test", "folder", "correction", "style"]),
    text=st.sampled_from(
        ["`a` works 3 of 4 times.", "`a` works 4 of 5 times.", "`b` fails.", "Something else entirely."]
    ),
    use=st.sampled_from(COMMANDS),
    avoid=st.sampled_from(COMMANDS),
    error=st.sampled_from(["", *SIGNATURES]),
    signatures=st.lists(st.sampled_from(SIGNATURES), max_size=3, unique=True).map(tuple),
    forms=st.lists(st.sampled_from(["npm test", "make check", "go vet …"]), max_size=2, unique=True).map(tuple),
    support=st.builds(Support, *[st.integers(0, 9)] * 4),
    last_seen=st.none() | st.integers(0, 5).map(float),
    evidence=st.lists(evidence, max_size=30).map(tuple),
    cost_seconds=st.integers(0, 50).map(float),
    cost_tokens=st.integers(0, 5000),
    status=st.sampled_from(["active", "active", "active", "weak", "retired", "quarantined"]),
    pinned=st.sampled_from([False, False, False, True]),
    score=st.integers(0, 4).map(lambda part: part / 4),
)


def lessons(most: int = 60) -> st.SearchStrategy[list[Lesson]]:
    """Some lessons, each with an id of its own."""
    return st.lists(one, max_size=most).map(
        lambda found: [_named(lesson, f"{lesson.kind[0]}{number:03}") for number, lesson in enumerate(found)]
    )


def _named(lesson: Lesson, name: str) -> Lesson:
    fields = {field: getattr(lesson, field) for field in lesson.__struct_fields__}
    return Lesson(**{**fields, "id": name})

"""The archive's tables, as SQLAlchemy Core sees them.

The migrations build them and the queries use them. `writer.py` uses plain SQL, because importing SQLAlchemy takes longer than
storing the growth of one session. Knows nothing of full-text search, which differs between databases.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)

METADATA = MetaData()
_TEXT = Text().with_variant(Text(collation="C"), "postgresql")
"""In PostgreSQL texts are ordered by their bytes, too, whatever language its database has."""
_ID = BigInteger().with_variant(Integer, "sqlite")

SOURCES = Table(
    "sources", METADATA,
    Column("id", _ID, primary_key=True),
    Column("agent", _TEXT, nullable=False),
    Column("path", _TEXT, nullable=False),
    Column("part", _TEXT, nullable=False),
    Column("stamp", _TEXT, nullable=False),
    Column("reader_version", Integer, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("stored_at", Float, nullable=False),
    UniqueConstraint("path", "part"),
)  # fmt: skip
"""A file, or one session inside a database. Unchanged while stamp and reader version are."""

POSITIONS = Table(
    "positions", METADATA,
    Column("source_id", _ID, ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True),
    Column("offset", BigInteger, nullable=False),
    Column("line", BigInteger, nullable=False),
    Column("tail", LargeBinary, nullable=False),
    Column("state", LargeBinary),
)  # fmt: skip
"""How far a growing file was read: the next byte and line, a hash of the bytes before them, the parser's state."""

PACKS = Table(
    "packs", METADATA,
    Column("id", _ID, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)  # fmt: skip
"""Redacted bytes of one or several sources, together in one zstd frame: sessions of a project have much in common."""

SEGMENTS = Table(
    "segments", METADATA,
    Column("source_id", _ID, ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True),
    Column("generation", Integer, primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("pack_id", _ID, ForeignKey("packs.id"), nullable=False, index=True),
    Column("start", BigInteger, nullable=False),
    Column("length", BigInteger, nullable=False),
    Column("sha256", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)  # fmt: skip
"""Where the bytes of a source are in the packs; a generation is the source between two rewrites."""

SESSIONS = Table(
    "sessions", METADATA,
    Column("id", _ID, primary_key=True),
    Column("key", _TEXT, nullable=False, unique=True),
    Column("agent", _TEXT, nullable=False),
    Column("session", _TEXT, nullable=False),
    Column("source_id", _ID, ForeignKey("sources.id"), nullable=False, index=True),
    Column("generation", Integer, nullable=False),
    Column("version", _TEXT, nullable=False),
    Column("model", _TEXT, nullable=False),
    Column("project", _TEXT, nullable=False),
    Column("branch", _TEXT, nullable=False),
    Column("parent", _TEXT),
    Column("relation", _TEXT),
    Column("started_at", Float),
    Column("ended_at", Float),
    Column("starter", _TEXT, nullable=False),
    Column("title", _TEXT, nullable=False),
    Column("opening", _TEXT, nullable=False),
    Column("events", Integer, nullable=False),
    Column("prompts", Integer, nullable=False),
    Column("messages", Integer, nullable=False),
    Column("calls", Integer, nullable=False),
    Column("errors", Integer, nullable=False),
    Column("compactions", Integer, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("cache_read_tokens", BigInteger, nullable=False),
    Column("cache_write_tokens", BigInteger, nullable=False),
    Index("sessions_started", "started_at"),
    Index("sessions_project", "project"),
)  # fmt: skip
"""`key` is agent and id; `opening` the beginning of the first prompt; `errors` the calls that failed by the judge,
without bookkeeping and copies; until a session is analysed, the results that its program flagged or that have an exit code
other than 0."""

CALLS = Table(
    "calls", METADATA,
    Column("session_id", _ID, ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("call_id", _TEXT, nullable=False),
    Column("line", BigInteger, nullable=False),
    Column("response", BigInteger, nullable=False),
    Column("tool", _TEXT, nullable=False),
    Column("kind", _TEXT, nullable=False),
    Column("summary", _TEXT, nullable=False),
    Column("at", Float),
    Column("ended_at", Float),
    Column("is_error", Boolean),
    Column("exit_code", BigInteger().with_variant(Integer, "sqlite")),
    Column("output_size", BigInteger),
    Column("copied", Boolean, nullable=False),
    Index("calls_call_id", "call_id", "at", "tool", "copied"),
    Index("calls_copied", "session_id", "seq", sqlite_where=text("copied"), postgresql_where=text("copied")),
    sqlite_with_rowid=False,
)  # fmt: skip
"""`copied`: the call was copied from the session that this one was forked or continued from, and counts there."""

RESPONSES = Table(
    "responses", METADATA,
    Column("session_id", _ID, ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    Column("response", BigInteger, primary_key=True, autoincrement=False),
    Column("model", _TEXT, nullable=False),
    Column("at", Float),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("cache_read_tokens", BigInteger, nullable=False),
    Column("cache_write_tokens", BigInteger, nullable=False),
    Column("reasoning_tokens", BigInteger, nullable=False),
    Column("copied", Boolean, nullable=False),
    Column("cache_write_hour_tokens", BigInteger, nullable=False, server_default=text("0")),
    Index("responses_response", "response", "at", "copied"),
    sqlite_with_rowid=False,
)  # fmt: skip
"""Tokens of one model response; `response` is a hash of its id (see `model.session.number_of_id`)."""

PASSAGES = Table(
    "passages", METADATA,
    Column("id", _ID, primary_key=True),
    Column("count", Integer, nullable=False),
    Column("session_id", _ID, ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("data", LargeBinary, nullable=False),
)  # fmt: skip
"""Searchable texts: messages of people and assistants, and commands. A row holds `count` of them, compressed; in the search
index they have the numbers from `id` on."""

CONTENTS = Table(
    "contents", METADATA,
    Column("source_id", _ID, ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True),
    Column("key", _TEXT, primary_key=True, index=True),
    sqlite_with_rowid=False,
)  # fmt: skip
"""Which sessions a source holds, including those whose rows come from another source with more of them."""

PROBLEMS = Table(
    "problems", METADATA,
    Column("source_id", _ID, ForeignKey("sources.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("line", BigInteger),
    Column("message", _TEXT, nullable=False),
)  # fmt: skip

REDACTIONS = Table(
    "redactions", METADATA,
    Column("source_id", _ID, ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True),
    Column("kind", _TEXT, primary_key=True),
    Column("count", Integer, nullable=False),
    sqlite_with_rowid=False,
)  # fmt: skip

FORGOTTEN = Table(
    "forgotten", METADATA,
    Column("digest", LargeBinary, primary_key=True),
    Column("at", Float, nullable=False),
)  # fmt: skip
"""Hashes of the sources and sessions that were deleted for good, so that later syncs skip them."""

JUDGEMENTS = Table(
    "judgements", METADATA,
    Column("session_id", _ID, ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    Column("version", _TEXT, nullable=False),
    Column("source_id", _ID, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("events", Integer, nullable=False),
    Column("learned", Boolean, nullable=False, server_default=false()),
)  # fmt: skip
"""By which version of the analysis a session was analysed, and from what: while the session still is that, what was made of
it holds. The version is that of the judge and the measures, of the learners and of the episodes, each with a `+` after it.
`learned`: a learning has used its notes."""

PROFILES = Table(
    "profiles", METADATA,
    Column("session_id", _ID, ForeignKey("judgements.session_id", ondelete="CASCADE"), primary_key=True),
    Column("data", LargeBinary, nullable=False),
)  # fmt: skip
"""The profile of a session as JSON. Apart from the judgements, because every run scans those."""

EPISODES = Table(
    "episodes", METADATA,
    Column("session_id", _ID, ForeignKey("judgements.session_id", ondelete="CASCADE"), primary_key=True),
    Column("data", LargeBinary, nullable=False),
)  # fmt: skip
"""The episodes of a session, compressed: each prompt with the files, checks and closing words that followed it."""

PURPOSES = Table(
    "purposes", METADATA,
    Column("id", _ID, primary_key=True),
    Column("tool", _TEXT, nullable=False),
    Column("kind", _TEXT, nullable=False),
    Column("activity", _TEXT, nullable=False),
    Column("bookkeeping", Boolean, nullable=False),
    UniqueConstraint("tool", "kind", "activity", "bookkeeping"),
)  # fmt: skip
"""Tool, kind and activity of calls: a few hundred rows, so that an outcome needs one small number for them."""

SIGNATURES = Table(
    "signatures", METADATA,
    Column("id", _ID, primary_key=True),
    Column("text", _TEXT, nullable=False, unique=True),
)  # fmt: skip

_WITH_SIGNATURE = text("signature_id IS NOT NULL")

OUTCOMES = Table(
    "outcomes", METADATA,
    Column("session_id", _ID, ForeignKey("judgements.session_id", ondelete="CASCADE"), primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("message", Integer, nullable=False),
    Column("era", Integer, nullable=False),
    Column("purpose_id", _ID, ForeignKey("purposes.id"), nullable=False),
    Column("status", SmallInteger, nullable=False),
    Column("rung", SmallInteger, nullable=False),
    Column("cause", SmallInteger),
    Column("exit_code", BigInteger),
    Column("signature_id", _ID, ForeignKey("signatures.id")),
    Column("confidence", Float, nullable=False),
    Column("repeated", Boolean, nullable=False),
    Column("reread", Boolean, nullable=False),
    Column("seconds", Float),
    Column("lost_seconds", Float, nullable=False),
    Column("lost_tokens", BigInteger, nullable=False),
    Column("recovered_in", SmallInteger),
    Index("outcomes_signature", "signature_id", sqlite_where=_WITH_SIGNATURE, postgresql_where=_WITH_SIGNATURE),
    sqlite_with_rowid=False,
)  # fmt: skip
"""A judged call; status, rung and cause are indexes into the tuples of `model.outcome`."""

NOTES = Table(
    "notes", METADATA,
    Column("session_id", _ID, ForeignKey("judgements.session_id", ondelete="CASCADE"), primary_key=True),
    Column("learner", _TEXT, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("stamp", BigInteger, nullable=False),
    Column("data", LargeBinary),
    sqlite_with_rowid=False,
)  # fmt: skip
"""The notes of a learner on a session, compressed; NULL where it found nothing. They are deleted with their judgement; `stamp`
is a hash of them, so that a learner knows without reading them whether anything changed."""

PLACES = Table(
    "places", METADATA,
    Column("session_id", _ID, ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    Column("statement", LargeBinary),
    Column("tree", LargeBinary),
    Column("project", _TEXT, index=True),
)  # fmt: skip
"""Where a session worked: what it says itself (NULL until it is analysed), what its working tree said when it was first read
(kept when the tree is gone), and the key of its project (empty: it has none; NULL: not assigned since it changed)."""

PROJECTS = Table(
    "projects", METADATA,
    Column("key", _TEXT, primary_key=True),
    Column("name", _TEXT, nullable=False, unique=True),
)  # fmt: skip
"""The projects: what each is known by, and its name, which it keeps."""

PROJECT_LOOKUP = Table(
    "project_lookup", METADATA,
    Column("what", _TEXT, primary_key=True),
    Column("project", _TEXT, nullable=False),
)  # fmt: skip
"""The project's key by everything that it can be found by: a remote, a folder, a commit."""

LEARNINGS = Table(
    "learnings", METADATA,
    Column("project", _TEXT, primary_key=True),
    Column("learner", _TEXT, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("seen", _TEXT, nullable=False),
    Column("data", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)  # fmt: skip
"""What a learner concluded for a project, before it was weighed against other learners' conclusions, and from which notes."""

LESSONS = Table(
    "lessons", METADATA,
    Column("id", _TEXT, primary_key=True),
    Column("project", _TEXT, nullable=False, index=True),
    Column("learner", _TEXT, nullable=False),
    Column("kind", _TEXT, nullable=False),
    Column("data", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)  # fmt: skip
"""The lessons, made from the learnings. Marks of a person are kept in the state beside the archive."""

"""The tables of the state, and the upgrade of older files. Knows nothing of their content.

A released step is never changed: another one is added. `PRAGMA user_version` is the number of steps that a file has.
"""

import sqlite3

_FIRST = (
    """CREATE TABLE key (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        secret BLOB NOT NULL
    )""",
    """CREATE TABLE plans (
        number INTEGER PRIMARY KEY,
        experiment TEXT NOT NULL UNIQUE,
        plan BLOB NOT NULL,
        stopped REAL
    )""",
    """CREATE TABLE assignments (
        number INTEGER PRIMARY KEY,
        session TEXT NOT NULL UNIQUE,
        root TEXT NOT NULL,
        experiment TEXT NOT NULL,
        arm TEXT NOT NULL,
        shares TEXT NOT NULL,
        agent TEXT NOT NULL,
        project TEXT NOT NULL,
        at REAL NOT NULL,
        why TEXT NOT NULL
    )""",
    "CREATE INDEX assignments_root ON assignments (root)",
    """CREATE TABLE deliveries (
        number INTEGER PRIMARY KEY,
        session TEXT NOT NULL,
        at REAL NOT NULL,
        context TEXT NOT NULL,
        tokens INTEGER NOT NULL,
        offered INTEGER NOT NULL,
        template TEXT NOT NULL,
        shown TEXT NOT NULL,
        spared TEXT NOT NULL,
        probability REAL NOT NULL,
        UNIQUE (session, at, context, tokens, offered, template, shown, spared, probability)
    )""",
    """CREATE TABLE advice (
        number INTEGER PRIMARY KEY,
        session TEXT NOT NULL,
        at REAL NOT NULL,
        turn INTEGER NOT NULL,
        signal TEXT NOT NULL,
        cause TEXT NOT NULL,
        shown INTEGER NOT NULL,
        probability REAL NOT NULL,
        UNIQUE (session, at)
    )""",
    """CREATE TABLE ratings (
        session TEXT PRIMARY KEY,
        good INTEGER NOT NULL,
        at REAL NOT NULL,
        note TEXT NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE ledger (
        number INTEGER PRIMARY KEY,
        line BLOB NOT NULL
    )""",
    """CREATE TABLE ledger_head (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        digest TEXT NOT NULL
    )""",
    """CREATE TABLE marks (
        lesson TEXT PRIMARY KEY,
        mark TEXT NOT NULL,
        why TEXT NOT NULL,
        at REAL NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE approvals (
        lesson TEXT PRIMARY KEY,
        digest TEXT NOT NULL,
        why TEXT NOT NULL,
        at REAL NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE loads (
        project TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        digest TEXT NOT NULL,
        at REAL NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE uses (
        number INTEGER PRIMARY KEY,
        at REAL NOT NULL,
        template TEXT NOT NULL,
        context TEXT NOT NULL,
        agent TEXT NOT NULL,
        project TEXT NOT NULL,
        task TEXT NOT NULL,
        UNIQUE (at, template, context, agent, project, task)
    )""",
    """CREATE TABLE migrated (
        what TEXT PRIMARY KEY
    ) WITHOUT ROWID""",
)

_CORRECTIONS = (
    """CREATE TABLE project_corrections (
        what TEXT PRIMARY KEY,
        into_project TEXT NOT NULL,
        at REAL NOT NULL
    ) WITHOUT ROWID""",
)

_WRITTEN_LESSONS = (
    """CREATE TABLE written_lessons (
        lesson TEXT PRIMARY KEY,
        project TEXT NOT NULL,
        replaces TEXT NOT NULL,
        data BLOB NOT NULL,
        at REAL NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE reviews (
        lesson TEXT PRIMARY KEY,
        verdict TEXT NOT NULL,
        at REAL NOT NULL
    ) WITHOUT ROWID""",
    """CREATE TABLE lesson_changes (
        number INTEGER PRIMARY KEY,
        at REAL NOT NULL,
        action TEXT NOT NULL,
        lesson TEXT NOT NULL,
        before BLOB NOT NULL
    )""",
)

_RECEIVED_LESSONS = (
    """CREATE TABLE received_lessons (
        origin TEXT NOT NULL,
        place TEXT NOT NULL,
        digest TEXT NOT NULL,
        lesson TEXT NOT NULL,
        project TEXT NOT NULL,
        data BLOB NOT NULL,
        trusted_by TEXT NOT NULL,
        at REAL NOT NULL,
        PRIMARY KEY (origin, place, digest, lesson)
    ) WITHOUT ROWID""",
    """CREATE TABLE trusted_files (
        clone TEXT NOT NULL,
        digest TEXT NOT NULL,
        root TEXT NOT NULL,
        content BLOB NOT NULL,
        at REAL NOT NULL,
        PRIMARY KEY (clone, digest)
    ) WITHOUT ROWID""",
)

SECRET_BYTES = 32
"""The length of the secret key."""
STEPS: tuple[tuple[str, ...], ...] = (_FIRST, _CORRECTIONS, _WRITTEN_LESSONS, _RECEIVED_LESSONS)
"""In order."""
HEAD = len(STEPS)


def version(connection: sqlite3.Connection) -> int:
    """The number of steps that a file has; 0 if it is new."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def upgrade(connection: sqlite3.Connection) -> None:
    """Run the missing steps, inside the caller's transaction."""
    for step in STEPS[version(connection) :]:
        for statement in step:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {HEAD}")

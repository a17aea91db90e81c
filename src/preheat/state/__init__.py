"""State that cannot be rebuilt, in one small SQLite file beside the archive, which can be: `state.db`.

    plans, assignments, ratings, ledger   comparisons: what was planned, who got what, what a person thought, what it showed
    key                                   the secret that arms are drawn with
    marks, approvals                      what a person said of lessons
    loads, uses                           which template a project starts with, and when one was handed out
    connect, schema                       opening the file, and bringing it up to date
    migration                             what version 0.1.0 kept in files of its own

A module for each noun, with functions that take an open connection (`connect.reading`, `connect.writing`). Plain SQL and the
standard library's driver: it is on the way of a session's start. Knows no stage, and nothing of the archive but that version
0.1.0 kept marks in it.
"""

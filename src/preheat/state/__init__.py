"""State that cannot be rebuilt, in one small SQLite file beside the archive: `state.db`.

    experiments       plans, assignments, people's ratings, the secret key of all assignments
    ledger            the results of experiments
    marks             people's marks on lessons, and approvals of lessons
    templates         the template that is loaded for a project, and when templates were handed out
    connect, schema   opening the file, and upgrading it
    earlier_files     the files in which version 0.1.0 kept this; `migration` imports them

The first four have functions that take an open connection (`connect.reading`, `connect.writing`). Plain SQL and the
standard library's driver: the start of a session waits for it. Knows no stage, and of the archive only that version 0.1.0 kept
marks in it.
"""

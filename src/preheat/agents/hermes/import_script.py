"""A script for Hermes's own interpreter: imports one session into its store through Hermes's own code, and reports the outcome.

Standard library and Hermes only: Preheat cannot be imported there. The request is JSON on standard input, the answer one line
on standard output that begins with `preheat:`. Opening the store for writing migrates it and may repair it, so the caller
has checked it first.
"""

import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

MARK = "preheat:"
_KINDS = {
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_IOERR: "full",
    sqlite3.SQLITE_READONLY: "unwritable",
    sqlite3.SQLITE_CANTOPEN: "unwritable",
    sqlite3.SQLITE_PERM: "unwritable",
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_NOTADB: "damaged",
}


def store_session(request: dict[str, Any]) -> dict[str, Any]:
    """Store the session; `kind` names what prevented it."""
    try:
        import hermes_state  # type: ignore[import-not-found] # noqa: PLC0415 - Hermes has it
    except ImportError as error:
        return {"kind": "broken", "why": str(error)}
    if not hasattr(hermes_state.SessionDB, "import_sessions"):
        return {"kind": "old"}
    known = getattr(hermes_state, "SCHEMA_VERSION", None)
    if isinstance(known, int) and request["schema"] > known:
        return {"kind": "newer", "why": f"{request['schema']} against {known}"}
    store = hermes_state.SessionDB(Path(request["store"]))
    try:
        answer = store.import_sessions([request["session"]])
    finally:
        store.close()
    if not answer.get("ok"):
        return {"kind": "refused", "why": json.dumps(answer.get("errors"))[:500]}
    return {"kind": "taken" if answer.get("imported") != 1 else ""}


def main() -> None:
    """Answer one request."""
    try:
        answer = store_session(json.load(sys.stdin))
    except sqlite3.Error as error:
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        answer = {"kind": _KINDS.get(code, "failed"), "why": str(error)}
    except PermissionError as error:
        answer = {"kind": "unwritable", "why": str(error)}
    except Exception as error:  # noqa: BLE001 - another release may raise anything; it is reported
        answer = {"kind": "failed", "why": f"{type(error).__name__}: {error}"}
    print(f"{MARK}{json.dumps(answer)}")


if __name__ == "__main__":
    main()

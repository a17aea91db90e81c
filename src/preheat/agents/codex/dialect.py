"""How Codex words what becomes of a call."""

from preheat.model.outcome import Dialect

DIALECT = Dialect(
    fields={"status": {"declined": "denied"}, "running": "running"},
    denied=(r"(?:exec command |patch )?rejected by user", r"(?:command|patch|execution) (?:was )?(?:denied|rejected)"),
    interrupted=(r"aborted by user(?: after|\b)", r"(?:command|execution) (?:was )?aborted"),
    timeout=(r"command timed out after ",),
    mistake=(
        r"apply_patch verification failed", r"failed to parse function arguments", r"unsupported call: ",
        r"unknown process id ", r"(?:write_stdin|exec_command) failed", r"Invalid (?:patch|hunk)",
    ),
    worked=(r"Success\. Updated the following files", r"Plan updated", r"Exit code: 0\nWall time"),
)  # fmt: skip

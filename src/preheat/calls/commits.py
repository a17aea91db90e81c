"""The commits that a session made and the pull requests that it opened, by what its commands printed.

Knows no repository: whether a commit still exists is for others to ask.
"""

import re

from preheat.commands.understand import command_text
from preheat.model.commit import MadeCommit, OpenedRequest, SessionCommits
from preheat.model.session import Session, pair_calls_with_results

_COMMITTED = re.compile(
    r"^\[(?P<branch>[^\]\n]{1,200}?)(?: \(root-commit\))? (?P<commit>[0-9a-f]{7,40})\] (?P<subject>[^\n]*)$", re.M
)
_REQUEST = re.compile(r"https?://[\w.-]+/[\w./-]+/(?:pull|merge_requests|pulls)/(?P<number>\d{1,9})\b")
_OPENS = re.compile(r"\b(?:gh\s+pr\s+create|glab\s+mr\s+create|tea\s+pulls?\s+create)\b")
_LONGEST_SUBJECT = 200


def find_commits(session: Session) -> SessionCommits:
    """What a session's commands committed and opened, in their order; a commit that was printed twice counts once."""
    commits: dict[str, MadeCommit] = {}
    requests: dict[str, OpenedRequest] = {}
    for seq, (call, result) in enumerate(pair_calls_with_results(session)):
        if call.kind != "shell" or result is None:
            continue
        text = command_text(call.input)
        at = result.at if result.at is not None else call.at
        if "git" in text:
            for found in _COMMITTED.finditer(result.text):
                made = MadeCommit(
                    commit=found["commit"], subject=found["subject"][:_LONGEST_SUBJECT], branch=found["branch"], at=at, seq=seq
                )  # fmt: skip
                commits.setdefault(made.commit, made)
        if _OPENS.search(text):
            for found in _REQUEST.finditer(result.text):
                opened = OpenedRequest(url=found[0], number=int(found["number"]), at=at, seq=seq)
                requests.setdefault(opened.url, opened)
    return SessionCommits(commits=tuple(commits.values()), requests=tuple(requests.values()))

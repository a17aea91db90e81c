"""How commits, branches and pull requests are made here, and what the hooks of a commit cost. Knows no file on disk.

Messages and names of branches belong to people: of a message only its type is kept, of a branch only its prefix.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

import msgspec

from preheat.calls.judged import JudgedCall, JudgedSession
from preheat.commands import command_text
from preheat.commands.commit_message import BRANCH_KINDS, COMMIT_TYPES, first_line_of_message
from preheat.model.lesson import Evidence, Lesson, Scope, Support, count_support, lesson_id, select_evidence
from preheat.statistics.shares import wilson

HALF_LIFE = 120.0
_COMMIT = re.compile(r"(?:^|[;&|\n(]|\brtk)\s*git\s+(?:-C\s+\S+\s+|-c\s+\S+\s+)*commit\b(?P<rest>[^\n]*)")
_PUSH = re.compile(r"(?:^|[;&|\n(]|\brtk)\s*git\s+(?:-C\s+\S+\s+)?push\b")
_TYPED = re.compile(r"(?P<type>[a-z]{2,10})(?P<scope>\([^)\s]{1,40}\))?!?: \S")
_BRANCH = re.compile(
    r"\bgit\s+(?:checkout\s+-[bB]|switch\s+(?:-c|--create)|worktree\s+add\b[^;&|\n]*?\s-[bB])\s+(?P<name>[\w./-]{2,80})"
)
_PULL = re.compile(r"\bgh\s+pr\s+create\b")
_MERGE = re.compile(r"\bgh\s+pr\s+merge\b")
_OF_CREATE = {"--draft": "-d", "--fill": "-f"}
_OF_MERGE = {"--squash": "-s", "--rebase": "-r", "--merge": "-m", "--auto": "", "--delete-branch": "-d"}
"""Switches that say how a project has its pull requests made and merged, with their short forms."""
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_BASE = re.compile(r"(?:--base|\s-B)[ =](?P<base>[\w./-]{1,40})")
_HOOK = re.compile(
    r"(?i)husky\b|pre-commit\b|lint-staged|lefthook|commit-msg|commitlint|hook(?:s)? (?:failed|declined|id:)"
    r"|\bhk\b.*\b(?:failed|error)|- hook id:"
)
_ENOUGH_SESSIONS, _FEW = 2, 5
_SURE = 0.7
_MOSTLY, _SOMETIMES = 0.8, 0.25
_SLOW = 3.0
"""Seconds above which a commit is said to take its time."""


class CommitNotes(msgspec.Struct, frozen=True, gc=False):
    """The commits of one session."""

    types: tuple[str, ...] = ()
    """For each message its type, with `()` behind it where it has a scope; empty for another form."""
    prefixes: tuple[str, ...] = ()
    """For each new branch what stands before its first slash; empty where it has none."""
    seconds: tuple[float, ...] = ()
    """How long commits took."""
    commits: int = 0
    failed: tuple[int, ...] = ()
    """Places of the commits that a hook refused."""
    seqs: tuple[int, ...] = ()
    pulls: tuple[int, ...] = ()
    base: str = ""
    last: float | None = None
    options: tuple[str, ...] = ()
    """The switches of each `gh pr create`, in one text."""
    merges: tuple[str, ...] = ()
    """The switches of each `gh pr merge`."""


NO_COMMITS = CommitNotes()


class SessionCommits(NamedTuple):
    """One session, as `learn_commit_forms` wants it."""

    session: str
    at: float | None
    notes: CommitNotes


def collect_commits(seen: JudgedSession) -> CommitNotes:
    """What a session shows of commits, branches and pull requests."""
    types: list[str] = []
    prefixes: list[str] = []
    seconds: list[float] = []
    failed: list[int] = []
    seqs: list[int] = []
    pulls: list[int] = []
    options: list[str] = []
    merges: list[str] = []
    base, last = "", None
    for each in seen.calls:
        text = command_text(each.call.input) if each.call.kind == "shell" else ""
        if "git" not in text and "gh" not in text:
            continue
        if branch := _BRANCH.search(text):
            prefixes.append(branch["name"].partition("/")[0].lower() if "/" in branch["name"] else "")
        if _PULL.search(text) and each.worked:
            pulls.append(each.record.seq)
            options.append(_switches(_PULL, text, _OF_CREATE))
            base = found["base"] if (found := _BASE.search(text)) else base
        if _MERGE.search(text) and each.worked:
            merges.append(_switches(_MERGE, text, _OF_MERGE))
        commit = _COMMIT.search(text)
        if commit is None or not (each.worked or each.failed):
            continue
        last = each.call.at or last
        if each.failed and _fails_by_hook(each):
            failed.append(each.record.seq)
        elif each.worked:
            seqs.append(each.record.seq)
            if each.record.seconds is not None and not _PUSH.search(text):
                seconds.append(round(each.record.seconds, 1))
        if each.worked and (message := first_line_of_message(text)):
            types.append(_type_of(message))
    return CommitNotes(
        tuple(types[-30:]), tuple(prefixes[-10:]), tuple(seconds[-10:]), len(seqs) + len(failed), tuple(failed[-5:]),
        tuple(seqs[-5:]), tuple(pulls[-5:]), base, last, tuple(options[-5:]), tuple(merges[-5:]),
    )  # fmt: skip


def _switches(program: re.Pattern[str], text: str, wanted: Mapping[str, str]) -> str:
    """The switches of a command for pull requests that mean the same in every project, in one text."""
    text = _QUOTED.sub("", text)
    found = program.search(text)
    words = re.split(r"[;&|\n]", text[found.end() :].replace("\\\n", " "))[0].replace("=", " ").split() if found else []
    return " ".join(long for long, short in wanted.items() if long in words or (short and short in words))


def _fails_by_hook(each: JudgedCall) -> bool:
    output = each.result.text if each.result is not None else ""
    return bool(_HOOK.search(each.record.signature) or _HOOK.search(output[-2000:]))


def _type_of(subject: str) -> str:
    found = _TYPED.match(subject)
    return f"{found['type']}{'()' if found['scope'] else ''}" if found and found["type"] in COMMIT_TYPES else ""


def learn_commit_forms(project: str, sessions: Sequence[SessionCommits]) -> list[Lesson]:
    """What holds for commits, branches and pull requests, where sessions agree."""
    scope = Scope(project=project)
    found = [
        _learn_messages(scope, sessions),
        _learn_branches(scope, sessions),
        _learn_pull_requests(scope, sessions),
        _learn_hooks(scope, sessions),
    ]
    return [lesson for lesson in found if lesson is not None]


def _learn_messages(scope: Scope, sessions: Sequence[SessionCommits]) -> Lesson | None:
    every = [(each, kind) for each in sessions for kind in each.notes.types]
    typed = [kind for _, kind in every if kind]
    with_type = {each.session for each, kind in every if kind}
    if len(with_type) < _ENOUGH_SESSIONS or len(every) < _FEW or wilson(len(typed), len(every))[0] < _SURE:
        return None
    counted = Counter(kind.removesuffix("()") for kind in typed)
    names = [name for name, _ in sorted(counted.items(), key=lambda item: (-item[1], item[0]))][:5]
    share = sum(kind.endswith("()") for kind in typed) / len(typed)
    scoped = "yes" if share >= _MOSTLY else "some" if share >= _SOMETIMES else ""
    form = "TYPE(SCOPE): …" if scoped == "yes" else "TYPE: …"
    evidence = [
        Evidence(each.session, each.notes.seqs[-1] if each.notes.seqs else None, each.notes.last, not kind)
        for each, kind in every
    ]
    listed = ", ".join(f"`{name}`" for name in names)
    text = f"Commit messages are `{form}`, mostly {listed} ({len(typed)} of {len(every)})."
    details = {"about": "message", "types": ",".join(names), "scope": scoped}
    details |= {"good": str(len(typed)), "all": str(len(every))}
    return _lesson(scope, "commit", text, evidence, ("git commit",), details)


def _learn_branches(scope: Scope, sessions: Sequence[SessionCommits]) -> Lesson | None:
    named = [(each, prefix) for each in sessions for prefix in each.notes.prefixes]
    own = _find_own_prefixes(named)
    every = [(each, prefix) for each, prefix in named if prefix not in own]
    counted = Counter(prefix for _, prefix in every if prefix)
    with_prefix = {each.session for each, prefix in every if prefix}
    usual = [
        name
        for name, count in sorted(counted.items(), key=lambda item: (-item[1], item[0]))
        if count > 1 and name in BRANCH_KINDS
    ][:4]
    good = sum(counted[name] for name in usual)
    if len(with_prefix) < _ENOUGH_SESSIONS or len(every) < 3 or not usual or good < _SURE * len(every):
        return None
    evidence = [Evidence(each.session, None, each.at, prefix not in usual) for each, prefix in every]
    listed = ", ".join(f"`{name}/`" for name in usual)
    return _lesson(
        scope, "branch", f"Names of branches begin with {listed} ({good} of {len(every)}).", evidence,
        ("git checkout", "git switch"),
        {"about": "branch", "prefixes": ",".join(f"{name}/" for name in usual), "good": str(good), "all": str(len(every))},
    )  # fmt: skip


def _find_own_prefixes(every: Sequence[tuple[SessionCommits, str]]) -> set[str]:
    """Prefixes that only sessions of the agent of that name used: an agent's habit is no convention of the project."""
    prefixes = {prefix for _, prefix in every if prefix}
    return {name for name in prefixes if all(each.session.startswith(name) for each, prefix in every if prefix == name)}


def _learn_pull_requests(scope: Scope, sessions: Sequence[SessionCommits]) -> Lesson | None:
    having = [each for each in sessions if each.notes.pulls]
    if len(having) < _ENOUGH_SESSIONS:
        return None
    bases = Counter(each.notes.base for each in having if each.notes.base)
    base, count = bases.most_common(1)[0] if bases else ("", 0)
    evidence = [Evidence(each.session, seq, each.at) for each in having for seq in each.notes.pulls]
    use = " ".join(["gh pr create", *_usual(each.notes.options for each in having)])
    text = f"Pull requests are made with `{use}` ({len(having)} sessions)."
    details = {"about": "pull request"} | ({"base": base} if count > 1 and count >= _SURE * bases.total() else {})
    if switches := _usual(each.notes.merges for each in sessions):
        details["merge"] = " ".join(["gh pr merge", *switches])
    lesson = _lesson(scope, "pull_request", text, evidence, ("gh pr create",), details)
    return msgspec.structs.replace(lesson, use=use) if lesson is not None else None


def _usual(calls: Iterable[Sequence[str]]) -> list[str]:
    """The switches that most of these calls had, in two sessions or more; `calls` are those of each session."""
    by_session = [each for each in calls if each]
    every = [text.split() for each in by_session for text in each]
    return [
        switch
        for switch in (*_OF_CREATE, *_OF_MERGE)
        if sum(any(switch in text.split() for text in each) for each in by_session) >= _ENOUGH_SESSIONS
        and sum(switch in words for words in every) >= _SURE * len(every)
    ]


def _learn_hooks(scope: Scope, sessions: Sequence[SessionCommits]) -> Lesson | None:
    """What the hooks of a commit cost: how often they refused one, and how long a commit takes."""
    commits = sum(each.notes.commits for each in sessions)
    failed = sum(len(each.notes.failed) for each in sessions)
    seconds = [value for each in sessions for value in each.notes.seconds]
    usual = median(seconds) if seconds else 0.0
    refused = {each.session for each in sessions if each.notes.failed}
    if not refused or (len(refused) < _ENOUGH_SESSIONS and usual < _SLOW):
        return None
    evidence = [
        Evidence(each.session, seq, each.notes.last, failed=True) for each in sessions for seq in each.notes.failed
    ]
    details = {"about": "commit", "failed": str(failed), "all": str(commits)}
    if usual >= _SLOW:
        details["duration"] = f"{usual:.0f} s"
    return _lesson(scope, "hook", f"Hooks refused {failed} of {commits} commits.", evidence, ("git commit",), details)


def _lesson(
    scope: Scope, topic: str, text: str, evidence: list[Evidence], forms: tuple[str, ...], details: dict[str, str]
) -> Lesson | None:
    support: Support = count_support(evidence)
    times = [each.at for each in evidence if each.at is not None]
    return Lesson(
        id=lesson_id("convention", scope, topic),
        kind="convention",
        scope=scope,
        topic=topic,
        text=text,
        forms=forms,
        details=details,
        support=support,
        first_seen=min(times, default=None),
        last_seen=max(times, default=None),
        half_life=HALF_LIFE,
        evidence=select_evidence(evidence),
    )

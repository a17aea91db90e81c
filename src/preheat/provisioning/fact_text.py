"""The line of a fact of a project, by its topic: from the fields of the lesson into one of our sentences. Knows no task."""

import re
from collections.abc import Callable
from typing import Any

from preheat.amounts import format_count
from preheat.model.lesson import Lesson
from preheat.safe_text import fact_sentences as sentences
from preheat.safe_text.command_slot import fit_command

_CUT = "…"
_TEXT = re.compile(r"\bTEXT\b")
"""What stands for a text that may not be handed on."""
_GENERAL = re.compile(r"\b(?:NAME|PATH|VALUE|PACKAGE|FOLDER)\b")
_CHECKS = frozenset(["test", "build", "lint", "typecheck", "format", "check"])


def is_fact(lesson: Lesson) -> bool:
    """Whether a lesson is a fact of a project that has a sentence of its own."""
    return bool(lesson.details) and lesson.topic in _DESCRIPTIONS


def describe_fact(lesson: Lesson) -> str:
    """The line of a fact; empty where nothing of it may be handed on, or it is none."""
    describe = _DESCRIPTIONS.get(lesson.topic)
    if describe is None or _has_gap(lesson.use):  # such a command cannot be typed
        return ""
    return describe(lesson)


def _has_gap(command: str) -> bool:
    fitted = fit_command(command) if command else ""
    return _CUT in fitted or _TEXT.search(fitted) is not None


def _whole(command: str) -> str:
    """A command that is shown whole; empty where a part of it may not be handed on."""
    return "" if _has_gap(command) else command


def _counts(lesson: Lesson) -> dict[str, Any]:
    support = lesson.support
    total = support.calls_for + support.calls_against
    if not total:
        return {}
    sessions = format_count(support.sessions_for, "session")
    passed = lesson.details.get("passed")  # that a check ran says nothing of whether it can pass
    ran, outcome = (support.calls_for, "ran") if passed is None else (passed, "passed")
    return {"ran": ran, "total": total, "outcome": outcome, "sessions": sessions}


def _split(lesson: Lesson, name: str, separator: str = ",") -> list[str]:
    return [each for each in lesson.details.get(name, "").split(separator) if each]


def _describe_check(lesson: Lesson) -> str:
    details = lesson.details
    about = details.get("about", lesson.topic)
    if about == lesson.topic != "check" and "PACKAGE" in lesson.use:
        about = f"{about} of one package"
    about = "all checks" if about == "check" else about
    values = {
        "use": lesson.use,
        "body": _whole(details.get("body", "")),
        "duration": details.get("duration", ""),
        "timeout": details.get("timeout", ""),
        **_variants(details),
        "avoid": "" if _is_of_case(lesson) else lesson.avoid,  # that one case fails says nothing of all
        "error": lesson.error,
        **_counts(lesson),
    }
    if details.get("package") and not lesson.use.startswith("cd "):
        said = sentences.FOLDER_CHECK.write(about=about, package=details["package"], **values)
        if said:
            return said
    return sentences.CHECK.write(about=about, **values)


def _is_of_case(lesson: Lesson) -> bool:
    """Whether what fails is one case, or was stopped by a sandbox or a full disk, which say nothing of the command."""
    return bool(_GENERAL.search(lesson.avoid) or _FILE.search(lesson.avoid) or _SANDBOX.search(lesson.error))


_FILE = re.compile(r"\s\S*\w/\S*\.\w{1,5}(?:\s|$)|\s\S+\.(?:test|spec)\.\w+")
_SANDBOX = re.compile(r"EPERM|ENOSPC|(?i:operation not permitted|sandbox|no space left)")


def _variants(details: dict[str, str]) -> dict[str, Any]:
    """How one case of a check is run and the commands for its parts, where they are said with it."""
    one = _whole(details.get("one", ""))
    parts = [part for part in details.get("parts", "").split("\n") if part and _whole(part)]
    about = details.get("one_about", "")
    said = {"lint, with fixes": "with fixes"}.get(about, about)
    return ({"one": one, "variant": said} if one else {}) | ({"parts": parts} if parts else {})


_PARTS = (
    "check", "check_body", "test", "test_body", "test_one", "lint", "lint_body", "lint_one", "typecheck", "build", "format",
)  # fmt: skip


_BESIDE = ("test_one_about", *(f"{each}_package" for each in ("test", "lint", "typecheck", "build", "format")))


def _describe_checks(lesson: Lesson) -> str:
    details = lesson.details
    commands = {name: whole for name in _PARTS if (whole := _whole(details.get(name, "")))}
    customs = _read_customs(details)
    if not commands:
        return sentences.CUSTOMS.write(**customs) if customs else ""
    said: dict[str, Any] = {name: details[name] for name in _BESIDE if details.get(name)}
    said["others"] = [each for each in details.get("others", "").split("\n") if _whole(each)]
    return sentences.CHECKS.write(**commands, **said, **customs)


def _read_customs(details: dict[str, str]) -> dict[str, Any]:
    """How a change comes in, as the line of the checks says it."""
    found: dict[str, Any] = _read_message(details) if details.get("types") or details.get("beginnings") else {}
    if details.get("prefixes"):
        found["prefixes"] = [each for each in details["prefixes"].split(",") if each]
    if details.get("pull_request"):
        found |= {"pull": _with_base(details["pull_request"], details), "merge": details.get("merge", "")}
    if details.get("release"):
        found["changelog" if details["release"] == "changelog" else "changes"] = details.get("path", "")
    return found


def _describe_server(lesson: Lesson) -> str:
    details = lesson.details
    if details.get("about") == "services":
        return sentences.SERVICES.write(names=_split(lesson, "services"), ports=_split(lesson, "ports"), use=lesson.use)
    return sentences.SERVER.write(
        about="run", use=lesson.use, port=details.get("port", ""), sign=details.get("sign", ""), **_counts(lesson)
    )


def _describe_variables(lesson: Lesson) -> str:
    names, file = _split(lesson, "names"), lesson.files[0] if lesson.files else ""
    if lesson.details.get("about") == "secrets":
        return sentences.SECRETS.write(names=names)
    if lesson.details.get("about") == "defaults":
        return sentences.VARIABLES_WITH_DEFAULT.write(file=file, names=names, copy=lesson.details.get("copy", ""))
    if file and not lesson.support.calls_for:  # read from an example, which says of none that nothing runs without it
        return sentences.VARIABLES_OF_EXAMPLE.write(file=file, names=names, copy=lesson.details.get("copy", ""))
    return sentences.VARIABLES.write(use=lesson.use, names=names, file=file, copy=lesson.details.get("copy", ""))


def _describe_generation(lesson: Lesson) -> str:
    path, source = lesson.details.get("path", ""), lesson.details.get("source", "")
    if path:
        return sentences.GENERATED.write(path=path, use=lesson.use or lesson.details.get("by", ""), source=source)
    if source:
        support = lesson.support
        counts = {"good": support.calls_for, "all": support.calls_for + support.calls_against}
        if said := sentences.SOURCE.write(source=source, use=lesson.use, **counts):
            return said
    return sentences.CHECK.write(
        about="generate", use=lesson.use, body=_whole(lesson.details.get("body", "")), **_counts(lesson)
    )


def _describe_hook(lesson: Lesson) -> str:
    details = lesson.details
    moment = {"commit": "a commit", "message": "a commit message", "push": "a push"}.get(details.get("about", ""), "")
    values = {
        "moment": moment,
        "duration": details.get("duration", ""),
        "failed": details.get("failed", ""),
        "all": details.get("all", ""),
    }
    commands = [each for each in _split(lesson, "commands", "\n") if _whole(each)]
    if commands:
        return sentences.HOOK.write(commands=commands, file=lesson.files[0] if lesson.files else "", **values)
    return sentences.HOOK_FAILURES.write(**values)


_MOST_TYPES = 4
_TYPES = ("feat", "fix", "docs", "refactor", "test", "chore")


def _rank_of_type(name: str) -> tuple[int, str]:
    """The same order whatever the newest commits were, so that the line stays the same from one session to the next."""
    return (_TYPES.index(name) if name in _TYPES else len(_TYPES), name)


def _rank_of_beginning(text: str) -> tuple[int, str]:
    return _rank_of_type(re.split(r"[(:]", text)[0].rpartition(" ")[2])


def _describe_message(lesson: Lesson) -> str:
    return sentences.MESSAGE.write(**_read_message(lesson.details))


def _read_message(details: dict[str, str]) -> dict[str, Any]:
    """The slots for the form of messages: as commits of the tree begin, else as sessions show it, which keep their types only."""
    if details.get("beginnings"):
        begun = [each for each in details["beginnings"].split(",") if each][:_MOST_TYPES]
        return {"form": details.get("form", ""), "types": sorted(begun, key=_rank_of_beginning)}
    form = sentences.MESSAGE_FORMS[{"yes": 0, "some": 2}.get(details.get("scope", ""), 1)]
    scope = "(…)" if details.get("scope") == "yes" else ""
    types = [each for each in details.get("types", "").split(",") if each]
    names = sorted(types[:_MOST_TYPES], key=_rank_of_type)
    return {"form": form, "types": [f"{name}{scope}: …" for name in names]}


def _describe_branch(lesson: Lesson) -> str:
    details = lesson.details
    return sentences.BRANCH.write(
        prefixes=_split(lesson, "prefixes"), good=details.get("good", ""), all=details.get("all", "")
    )


def _describe_pull_request(lesson: Lesson) -> str:
    use = _with_base(lesson.use, lesson.details)
    return sentences.PULL_REQUEST.write(use=use, merge=lesson.details.get("merge", ""))


def _with_base(use: str, details: dict[str, str]) -> str:
    base = details.get("base", "")
    return f"{use} --base {base}" if base and _BRANCH.fullmatch(base) else use


_BRANCH = re.compile(r"\w[\w./-]*")


def _describe_release(lesson: Lesson) -> str:
    if lesson.details.get("about") == "changelog":
        return sentences.CHANGELOG_ENTRY.write(path=lesson.details.get("path", ""))
    return sentences.CHANGE_FILE.write(path=lesson.details.get("path", ""))


def _describe_deployment(lesson: Lesson) -> str:
    branches, tags, file = _split(lesson, "branches"), _split(lesson, "tags"), lesson.files[0] if lesson.files else ""
    limit = sentences.PUSH_LIMIT if lesson.details.get("limited") else ""
    if branches:
        return sentences.DEPLOYMENT.write(file=file, branches=branches, limit=limit, tags=tags, use=lesson.use)
    if tags:
        return sentences.RELEASE.write(file=file, tags=tags, use=lesson.use)
    return sentences.BY_HAND.write(file=file, use=lesson.use)


def _describe_version(lesson: Lesson) -> str:
    return sentences.VERSION.write(paths=list(lesson.files))


def _describe_missing(lesson: Lesson) -> str:
    details = lesson.details
    if details.get("manager"):
        return sentences.TOOLS.write(manager=details["manager"], names=_split(lesson, "names"), use=lesson.use)
    support = lesson.support
    if details.get("own"):
        return sentences.OWN_PROGRAM.write(name=details.get("name", ""), use=lesson.use)
    if details.get("total"):
        return sentences.STARTED_MOSTLY.write(
            name=details.get("name", ""),
            use=lesson.use,
            ran=details.get("started", ""),
            total=details["total"],
            sessions=format_count(support.sessions_for, "session"),
        )
    if details.get("started"):
        return sentences.STARTED.write(
            name=details.get("name", ""),
            use=lesson.use,
            ran=details["started"],
            sessions=format_count(support.sessions_for, "session"),
        )
    times = "once" if support.calls_for == 1 else f"{support.calls_for} times"
    return sentences.INSTEAD.write(
        name=details.get("name", ""),
        times=times,
        sessions=format_count(support.sessions_for, "session"),
        use=lesson.use,
    )


def _describe_folder(lesson: Lesson) -> str:
    details = lesson.details
    if not details.get("file"):
        return ""
    return sentences.FOLDER.write(
        program=details.get("program", ""), folders=_split(lesson, "folders"), file=details["file"]
    )


def _describe_runner(lesson: Lesson) -> str:
    return sentences.RUNNER.write(name=lesson.details.get("name", ""), file=lesson.details.get("file", ""))


def _describe_pattern(lesson: Lesson) -> str:
    support = lesson.support
    if lesson.details.get("seen") == "":  # the shell is known, and nobody met it yet
        return sentences.PATTERN.write()
    times = "once" if support.calls_for == 1 else f"{support.calls_for} times"
    return sentences.PATTERN.write(times=times, sessions=format_count(support.sessions_for, "session"))


def _describe_setup(lesson: Lesson) -> str:
    sessions = format_count(lesson.support.sessions_for, "session") if lesson.support.sessions_for else ""
    if lesson.use == "mise install" and lesson.files:
        return sentences.TOOLS_SETUP.write(file=lesson.files[0], use=lesson.use, sessions=sessions)
    return sentences.SETUP.write(use=lesson.use, sessions=sessions)


def _describe_script(lesson: Lesson) -> str:
    return sentences.SCRIPT.write(use=lesson.use, body=_whole(lesson.details.get("body", "")))


_DESCRIPTIONS: dict[str, Callable[[Lesson], str]] = {
    **dict.fromkeys(_CHECKS, _describe_check),
    "checks": _describe_checks,
    "serve": _describe_server,
    "variable": _describe_variables,
    "generate": _describe_generation,
    "hook": _describe_hook,
    "commit": _describe_message,
    "branch": _describe_branch,
    "pull_request": _describe_pull_request,
    "release": _describe_release,
    "deploy": _describe_deployment,
    "version": _describe_version,
    "missing": _describe_missing,
    "setup": _describe_setup,
    "folder": _describe_folder,
    "runner": _describe_runner,
    "pattern": _describe_pattern,
    "script": _describe_script,
}

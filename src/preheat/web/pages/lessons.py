"""Lessons: what was learned with the evidence for and against it, what a person decides of it, and a prompt tried out."""

import os
from collections import Counter
from collections.abc import Container

from preheat.model.lesson import LESSON_KINDS, Lesson
from preheat.web.query import Query
from preheat.web.render import Page
from preheat.web.site import Site

SHOWN = ("active", "review", "yours", "weak", "quarantined", "retired", "pinned", "all")
"""Tabs: by status, those that the person has not decided on, those in the person's words, pinned ones, all."""
_AT_ONCE = 30


def list_lessons(site: Site, query: Query) -> Page:
    """The lessons of the chosen project and agent, by what becomes of them."""
    if not site.home.has_archive():
        return Page("empty.html", "Lessons", {})
    every = site.home.lessons(query.text("project") or None)
    if agent := query.text("agent"):
        every = [each for each in every if each.scope.agent in ("", agent)]
    knowledge = site.home.knowledge
    sayings = {each.lesson.id: each for each in knowledge.review(query.text("project") or None)}
    shown = query.text("show", "active")
    find, kind = query.text("find").lower(), query.text("kind")
    found = [each for each in every if _fits(each, shown, sayings)]
    if find:
        found = [each for each in every if each.id.startswith(find) or find in each.text.lower()]
    if kind:
        found = [each for each in found if each.kind == kind]
    start = query.number("start")
    values = {
        "lessons": found[start : start + _AT_ONCE], "total": len(found), "start": start, "at_once": _AT_ONCE,
        "marks": knowledge.marks(), "approvals": knowledge.approvals(), "sayings": sayings,
        "show": shown, "shown": SHOWN, "find": query.text("find"), "kind": kind, "kinds": LESSON_KINDS,
        "counts": {name: sum(_fits(each, name, sayings) for each in every) for name in SHOWN},
        "by_kind": Counter(each.kind for each in every),
    }  # fmt: skip
    return Page("lessons.html", "Lessons", values)


def _fits(lesson: Lesson, shown: str, undecided: Container[str]) -> bool:
    if shown == "review":
        return lesson.id in undecided
    if shown == "yours":
        return lesson.author == "person"
    if shown == "pinned":
        return lesson.pinned
    return shown == "all" or lesson.status == shown


def try_prompt(site: Site, query: Query) -> Page:
    """What each moment of a session with a prompt would say."""
    if not site.home.has_archive():
        return Page("empty.html", "Try a prompt", {})
    folders = [
        folder.folder
        for project in site.home.projects.describe_all().projects
        for folder in project.folders
        if folder.exists
    ]
    prompt, folder = query.text("prompt"), query.text("folder") or (folders[0] if folders else os.getcwd())
    tried = None
    if prompt.strip():
        tried = site.views.try_prompt(prompt, folder, query.text("command"), query.text("printed"))
    values = {"tried": tried, "folders": folders, "folder": folder}
    return Page("try_prompt.html", "Try a prompt", values)

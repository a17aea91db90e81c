"""Shows what a session is told moment by moment, and what `AGENTS.md` would be proposed, after all sessions of some projects:
`python -m benchmarks.facts_shown --data FOLDER --repositories FOLDER [--projects NAME...]`.

It prints the section "Five projects, two prompts" of docs/concepts/facts.md. Lines of the file that are stale are left out: they
need the calls of an archive.
"""

import argparse
import time

from benchmarks.facts import (
    SHOWN,
    Project,
    Trees,
    load_projects,
    prompt_lines,
    start_lines,
    statements_for,
    usual_files,
)
from benchmarks.foresight import learn_lessons, take_notes
from preheat.app.proposals import is_of_the_whole
from preheat.facts.call_choice import Place, choose_for_call
from preheat.facts.join import join_facts
from preheat.facts.stated import checks_stated, is_stated, without_stated
from preheat.facts.values import FACT_TOPICS
from preheat.model.lesson import Lesson
from preheat.provisioning.lesson_text import describe_lesson
from preheat.provisioning.proposal import propose
from preheat.stated import read_statements


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.facts_shown", description=__doc__)
    parser.add_argument("--data", default="", metavar="FOLDER")
    parser.add_argument("--repositories", default="", metavar="FOLDER")
    parser.add_argument("--projects", nargs="*", default=())
    options = parser.parse_args()
    for project in load_projects(options.data, options.repositories, options.projects):
        print("\n".join(describe(project)))


def describe(project: Project) -> list[str]:
    """The part of the section that is about a project."""
    trees = Trees(project)
    tree, facts, instructions = trees.at(None)
    agent, now = project.sessions[-1].session.agent, project.sessions[-1].session.started_at or 0.0
    known = join_facts(learn_lessons(project.name, take_notes(project.sessions)), facts, tree)
    statements = statements_for(agent, instructions)
    usable = without_stated(known, statements)
    stated = checks_stated(statements, known)
    begun = start_lines(usable, project.name, agent, now, stated)
    told = {line.lesson.id for line in begun}
    lines = [f"**{project.name.rpartition('+')[2]}** ({len(project.sessions)} sessions)", "", "```text", "at the start"]
    lines += [f"- {line.text}" for line in begun] or ["(nothing)"]
    for prompt in SHOWN:
        asked = prompt_lines(usable, prompt, told_too := set(told), stated)
        lines += [f"with “{prompt}”", *([f"- {line.text}" for line in asked] or ["(nothing)"])]
    files = usual_files(project, tree)
    lines += _describe_calls(usable, files, told_too, stated)
    lines += [
        "AGENTS.md",
        *_describe_proposal(project.name, list(filter(is_of_the_whole, known)), instructions, now),
        "```",
        "",
    ]
    return lines


def _describe_calls(usable: list[Lesson], files: list[str], told: set[str], stated: frozenset[str]) -> list[str]:
    """What is said before the calls that follow the last prompt."""
    found = []
    moments = [(f"before an edit of `{path}`", "", [path]) for path in files] + [
        ("before `git commit`", "git commit", [])
    ]
    for number, (moment, command, changed) in enumerate(moments):
        fact = choose_for_call(
            usable, command, changed, frozenset(told), Place(edited=tuple(files[:number]), stated=stated)
        )
        if fact is not None and (text := describe_lesson(fact)):
            told.add(fact.id)
            found += [moment, f"- {text}"]
    return found


def _describe_proposal(project: str, known: list[Lesson], instructions: dict[str, str], now: float) -> list[str]:
    """The lines that the instructions file would get."""
    before = next((text for path, text in sorted(instructions.items()) if path.lower() == "agents.md"), "")
    texts = [read_statements(text) for text in instructions.values()]
    stated = frozenset(lesson.id for lesson in known if any(is_stated(lesson, each) for each in texts))
    times = [each.last_seen for each in known if each.last_seen is not None]
    days = {at: time.strftime("%Y-%m-%d", time.gmtime(at)) for at in times}
    made = propose(
        before, known, (), project=project, approved=frozenset(), now=now, days=days,
        elsewhere=read_statements(*instructions.values()), stated_ids=stated, topics=FACT_TOPICS,
    )  # fmt: skip
    return [f"+ {line.text}" for line in made.lines] or ["(nothing)"]


if __name__ == "__main__":
    main()

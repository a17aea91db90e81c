"""What a person's own lesson leaves unsaid: the facts of the same command, and those that say the opposite. Pure."""

from collections.abc import Sequence

from preheat.commands.purposes import purpose_of_command
from preheat.facts.checks import command_key
from preheat.model.lesson import Lesson


def without_overruled(lessons: Sequence[Lesson]) -> list[Lesson]:
    """Lessons without those for which a person has words: the command that a person names for the same topic, the one advised
    against, and any other command of that topic for the whole project. One package, file or case is another matter."""
    own = [lesson for lesson in lessons if _is_by_person(lesson)]
    return [lesson for lesson in lessons if not any(_overrules(each, lesson) for each in own)] if own else list(lessons)


def _is_by_person(lesson: Lesson) -> bool:
    return lesson.author == "person" and lesson.status == "active" and bool(lesson.use or lesson.avoid)


def _overrules(own: Lesson, lesson: Lesson) -> bool:
    is_learned = lesson.author != "person" and not lesson.pinned
    is_command = lesson.kind in ("convention", "example") and bool(lesson.use)
    if not (is_learned and is_command and own.scope.project in ("", lesson.scope.project)):
        return False
    key = command_key(lesson.use)
    if own.avoid and key == command_key(own.avoid):
        return True
    topic = own.topic or purpose_of_command(own.use)
    if not own.use or lesson.topic != topic:
        return False
    is_of_all = lesson.details.get("about", topic) == topic and not lesson.details.get("package")
    return is_of_all or key == command_key(own.use)

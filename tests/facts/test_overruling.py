"""What a person's own lesson leaves unsaid."""

import msgspec
import pytest

from preheat.facts.overruling import without_overruled
from preheat.model.lesson import Lesson, Scope
from tests.facts.test_facts import lesson


def of_person(**fields: object) -> Lesson:
    made = lesson("lint", "mise run lint", details={}, author="person", pinned=True, avoid="go vet ./...")
    return msgspec.structs.replace(made, id="person", **fields)


def kept(own: Lesson, *others: Lesson) -> list[str]:
    return [each.use for each in without_overruled([*others, own]) if each is not own]


@pytest.mark.parametrize(
    "fact",
    [
        lesson("lint", "mise run lint"),
        lesson("lint", "golangci-lint run --timeout=VALUE ./FOLDER/..."),
        lesson("test", "go vet ./...", details={"about": "vet"}),
    ],
    ids=["the same command", "another for the whole project", "the one advised against"],
)
def test_beside_a_persons_words_no_fact_says_the_same_or_the_opposite(fact: Lesson) -> None:
    assert kept(of_person(), fact) == []


@pytest.mark.parametrize(
    "fact",
    [
        lesson("test", "go test ./..."),
        lesson("lint", "cd web && eslint .", details={"about": "lint", "package": "web"}),
        lesson("lint", "golangci-lint run --fix", details={"about": "lint, with fixes"}),
        lesson("lint", "make lint", pinned=True),
    ],
    ids=["another topic", "a package", "another purpose", "pinned"],
)
def test_what_a_person_did_not_speak_of_is_still_said(fact: Lesson) -> None:
    assert kept(of_person(), fact) == [fact.use]


def test_words_about_another_project_overrule_nothing_here() -> None:
    assert kept(of_person(scope=Scope(project="bank")), lesson("lint", "make lint")) == ["make lint"]


def test_words_that_are_no_longer_active_overrule_nothing() -> None:
    assert kept(of_person(status="retired"), lesson("lint", "make lint")) == ["make lint"]

"""Documents that a prompt refers to: which, which part of them, and what they add; also where they cannot be read."""

import os
from pathlib import Path

import pytest

from preheat.app.orientation import read_documents
from preheat.model.orientation import NOTHING_TOUCHED
from preheat.model.tree import TreeEvidence
from preheat.orientation import History, rank
from preheat.orientation.documents import (
    LONGEST_PART,
    MOST_BYTES,
    MOST_DOCUMENTS,
    ask_for,
    choose_part,
    find_documents,
)
from preheat.orientation.measures import measure_files
from tests.orientation.builders import evidence, tree

REVIEW = """# Review

## Rec 01: Close the export stream

`src/export.py` leaves it open.

### Steps

Use a context.

## Rec 02: Delete the dead parser

`src/parser.py` is not used.
"""


@pytest.mark.parametrize(
    ("prompt", "found"),
    [
        ("implement @.context/plan.md", [".context/plan.md"]),
        ("see docs/a.md, docs/b.txt and ./c.rst.", ["docs/a.md", "docs/b.txt", "c.rst"]),
        ("<system>attached:\n- /tmp/x/[ISSUE]-12.md\n</system>\n", ["/tmp/x/[ISSUE]-12.md"]),
        ("work\\notes\\todo.md", ["work/notes/todo.md"]),
        ("update README.md, CLAUDE.md and skills/x/SKILL.md", []),
        ("read https://example.com/docs/plan.md first", []),
        ("rename a.mdfoo and b.py, and .md", []),
        ("as planned (docs/plan.md)", ["docs/plan.md"]),
        ("", []),
    ],
)
def test_paths_of_documents_are_found_and_what_everybody_reads_is_not_among_them(prompt: str, found: list[str]) -> None:
    assert find_documents(prompt) == found


@pytest.mark.parametrize("sign", ["(", "a", "./", "[", "@", "\\"])
def test_a_prompt_of_one_sign_names_no_document(sign: str) -> None:
    assert find_documents(sign * 200_000) == []


def test_only_a_few_documents_of_a_prompt_count() -> None:
    assert len(find_documents(" ".join(f"d/{number}.md" for number in range(50)))) == MOST_DOCUMENTS


def test_the_section_that_the_prompt_repeats_is_the_part_that_is_meant() -> None:
    part = choose_part(REVIEW, "implement `Rec 01: Close the export stream` from @review.md")
    assert "src/export.py" in part
    assert "Use a context." in part
    assert "src/parser.py" not in part


def test_without_such_a_section_the_beginning_is_meant() -> None:
    assert choose_part(REVIEW, "what do you think of review.md?") == REVIEW
    assert len(choose_part("x" * 10 * LONGEST_PART, "plan.md")) == LONGEST_PART


def test_a_prompt_that_only_hands_over_a_document_means_what_it_says() -> None:
    assert "dead parser" in ask_for("implement @review.md", "Delete the dead parser")
    own = "make invoices with hundreds of rows faster, as in review.md"
    assert ask_for(own, "Delete the dead parser") == own
    assert ask_for("implement @review.md", "") == "implement @review.md"


def test_what_a_document_names_comes_first_although_the_prompt_does_not_name_it() -> None:
    known = tree(evidence("src/page.py", content=5.0), evidence("src/export.py", content=1.0))
    cited = tree(evidence("src/export.py", named_by="path"))
    assert rank("the widget review", History(), known, cited=cited).files[0].path == "src/export.py"
    assert rank("the widget review", History(), known).files[0].path == "src/page.py"


def test_a_document_that_names_many_files_says_less_about_each() -> None:
    many = tree(*(evidence(f"src/{number}.py", named_by="path") for number in range(40)))
    one = tree(evidence("src/0.py", named_by="path"))
    few, lots = (
        measure_files({}, History(), [], TreeEvidence(), NOTHING_TOUCHED, "", cited=each) for each in (one, many)
    )
    assert few["src/0.py"]["named"] == 1.0
    assert {each["named"] for each in lots.values()} == {0.25}


def test_documents_are_read_below_the_root_and_by_their_whole_path(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "plan.md").write_text("Change src/export.py")
    outside = tmp_path / "outside.txt"
    outside.write_text("Change src/other.py")
    assert read_documents(str(tmp_path), "do notes/plan.md") == "Change src/export.py"
    assert read_documents(str(tmp_path / "notes"), f"do {outside}") == "Change src/other.py"


def test_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "large.md").write_bytes(b"x" * (MOST_BYTES + 1))
    (tmp_path / "odd.md").write_bytes(b"\xff\xfe src/export.py")
    os.mkfifo(tmp_path / "pipe.md")
    assert read_documents(str(tmp_path), "folder.md and large.md and gone.md") == ""
    assert read_documents(str(tmp_path), "pipe.md") == ""
    assert read_documents(str(tmp_path), "odd.md").endswith("src/export.py")

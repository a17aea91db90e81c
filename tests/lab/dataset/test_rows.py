"""The schema says what every field is, and the datasheet what every number is."""

from preheat.lab.dataset.datasheet import DatasetFacts, write_datasheet
from preheat.lab.dataset.rows import FILES, MEANINGS, dataset_schema

HEADINGS = ("Motivation", "Composition", "Collection process", "Preprocessing", "Uses", "Distribution", "Maintenance")


def test_every_field_has_a_meaning_and_every_meaning_a_field() -> None:
    """A field that is added without one is noticed here."""
    parts = dataset_schema()["$defs"]
    assert set(MEANINGS) == set(parts)
    for name, part in parts.items():
        assert set(part["properties"]) == set(MEANINGS[name]), name
        assert all(each["description"] for each in part["properties"].values())
    assert set(dataset_schema()["files"]) == set(FILES)


def test_the_datasheet_has_its_headings_its_numbers_and_gaps_to_fill() -> None:
    """What was replaced and left out stands there with its counts; the licence is the person's to say."""
    page = write_datasheet(
        DatasetFacts(
            least=4,
            sessions=12_345,
            replaced={"email": 77},
            left_out={"form": 88},
            lessons_left_out={"quarantined": 99},
        )
    )
    assert all(f"## {heading}" in page for heading in HEADINGS)
    for figure in ("12,345 sessions", "**4 projects**", "| email | 77 |", "| form | 88 |", "| quarantined | 99 |"):
        assert figure in page
    assert "Licence: **(to be filled in" in page
    assert "**1 project** has them" in write_datasheet(DatasetFacts(least=1))


def test_the_datasheet_warns_of_texts() -> None:
    """Whoever gets texts must know that a pattern does not know everybody."""
    assert "can still tell who they are" in write_datasheet(DatasetFacts(trajectories=3, texts="anonymised"))
    assert "can still tell who they are" not in write_datasheet(DatasetFacts(trajectories=3, texts="none"))

"""The published JSON schema is up to date, and templates are valid by it."""

import json
import os
from typing import Any

import jsonschema
import msgspec
import pytest

from preheat.templates.sharing import make_shareable, template_schema, to_bytes

from .made import lesson, template
from .test_file_format import fixture

PUBLISHED = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "reference", "template.schema.json")


def validator(reference: str = "") -> Any:
    made = template_schema()
    made = {**made, "$ref": reference} if reference else made
    jsonschema.Draft202012Validator.check_schema(made)
    return jsonschema.Draft202012Validator(made)


def test_the_published_schema_is_that_of_the_code() -> None:
    """`preheat templates schema > docs/reference/template.schema.json` after changing a type."""
    with open(PUBLISHED, encoding="utf-8") as stream:
        assert json.load(stream) == template_schema()


def test_templates_are_valid_by_it() -> None:
    """In the store, shared, and as the first version wrote them."""
    validator("#/$defs/Template").validate(json.loads(msgspec.json.encode(template())))
    validator().validate(json.loads(to_bytes(make_shareable(template(), ()).template)))
    validator().validate(json.loads(fixture("format_1.json")))


def test_a_template_with_an_unknown_kind_is_not_valid() -> None:
    wrong = json.loads(msgspec.json.encode(template("mine", lesson())))
    wrong["lessons"][0]["kind"] = "spell"
    with pytest.raises(jsonschema.ValidationError):
        validator("#/$defs/Template").validate(wrong)

"""The JSON schema of a template file, made from the types. Knows no file."""

from typing import Any

import msgspec

from preheat.templates.sharing import Shared


def template_schema() -> dict[str, Any]:
    """The schema of the file that `preheat warm export` writes; `$defs/Template` is the template in it."""
    made: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(msgspec.json.schema(Shared)))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A template that Preheat has written",
        **made,
    }

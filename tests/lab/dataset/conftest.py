"""The command line's person, for the tests that export and check as one would."""

from tests.cli.conftest import person

__all__ = ["person"]

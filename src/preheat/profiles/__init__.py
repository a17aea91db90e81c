"""Measures sessions: what came of the calls of one, and what that adds up to."""

from preheat.profiles.session import profile_session
from preheat.profiles.trace import trace

VERSION = 1
"""Of the measures: a session measured by an older one is measured again."""

__all__ = ["VERSION", "profile_session", "trace"]

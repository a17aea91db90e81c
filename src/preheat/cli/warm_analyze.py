"""`preheat warm analyze`: how reliable an agent was. The same as `preheat profile`, which does it."""

from preheat.cli.lazy import spelled
from preheat.cli.profile import command as same

command = spelled(same, "preheat profile", "preheat warm analyze")

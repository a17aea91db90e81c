"""`preheat warm compare`: two sessions or sets side by side. The same as `preheat compare`, which does it."""

from preheat.cli.compare import command as same
from preheat.cli.lazy import spelled

command = spelled(same, "preheat compare", "preheat warm compare")

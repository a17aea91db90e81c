"""`preheat warm compress-check`: whether agents work on as well after a compaction. `preheat compress-check` does it."""

from preheat.cli.compress_check import command as same
from preheat.cli.lazy import spelled

command = spelled(same, "preheat compress-check", "preheat warm compress-check")

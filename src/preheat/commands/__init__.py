"""What a shell command is for, whose exit code it reports, and which codes are an answer. Knows no session and no output.

>>> from preheat.commands import understand
>>> seen = understand("cd app && timeout 60 npm run test:unit 2>&1 | tail -5")
>>> seen.purpose, seen.main.words, seen.masked
('test', ('npm', 'run', 'test:unit'), True)
"""

from preheat.commands.benign import benign_answer
from preheat.commands.understand import command_text, is_trivial, understand
from preheat.commands.values import CHECKS, Command, Purpose, Understanding

__all__ = ["CHECKS", "Command", "Purpose", "Understanding", "benign_answer", "command_text", "is_trivial", "understand"]

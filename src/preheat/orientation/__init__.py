"""Where the work of a prompt lies: ranks files by earlier episodes and by what the working tree says. Pure.

`History(episodes)` is made once for a project, `rank(prompt, history, evidence)` is asked for each prompt.
"""

from preheat.orientation.history import History
from preheat.orientation.ranking import rank

__all__ = ["History", "rank"]

"""How Claude Code is started without a terminal: `claude -p`. Edits and shell commands in the working folder are allowed."""

from preheat.agents.headless import given, with_model
from preheat.model.headless import Asked, Headless


def arguments(asked: Asked) -> list[str]:
    own = given(asked, "--permission-mode", "--allowedTools", "--allowed-tools", "--dangerously-skip-permissions")
    allowed = [] if own else ["--permission-mode", "acceptEdits", "--allowedTools", "Bash"]
    return ["--print", *with_model(asked), *asked.options, *allowed]


HEADLESS = Headless("claude", arguments, reads_input=True)

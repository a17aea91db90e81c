"""How Claude Code is started without a terminal: `claude -p`. Edits and shell commands in the working folder are allowed."""

from preheat.agents.headless import given, with_model
from preheat.model.headless import Asked, Headless


def arguments(request: Asked) -> list[str]:
    has_permissions = given(
        request, "--permission-mode", "--allowedTools", "--allowed-tools", "--dangerously-skip-permissions"
    )
    allowed = [] if has_permissions else ["--permission-mode", "acceptEdits", "--allowedTools", "Bash"]
    return ["--print", *with_model(request), *request.options, *allowed]


HEADLESS = Headless("claude", arguments, reads_input=True)

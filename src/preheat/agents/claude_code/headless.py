"""How Claude Code is started without a terminal: `claude -p`. Edits and shell commands in the working folder are allowed."""

from preheat.agents.headless import has_option, model_option
from preheat.model.headless import HeadlessProgram, HeadlessRequest


def arguments(request: HeadlessRequest) -> list[str]:
    has_permissions = has_option(
        request, "--permission-mode", "--allowedTools", "--allowed-tools", "--dangerously-skip-permissions"
    )
    allowed = [] if has_permissions else ["--permission-mode", "acceptEdits", "--allowedTools", "Bash"]
    return ["--print", *model_option(request), *request.options, *allowed]


HEADLESS = HeadlessProgram("claude", arguments, reads_input=True, answer_only=("--permission-mode", "plan"))

"""How Codex is started without a terminal: `codex exec`, which asks nobody and keeps commands inside its sandbox."""

from preheat.agents.headless import Asked, Headless, given, with_model


def arguments(asked: Asked) -> list[str]:
    """Writing in the working folder is allowed, unless the person chose another sandbox."""
    chosen = given(asked, "--sandbox", "-s", "--dangerously-bypass-approvals-and-sandbox", "--approve-for-me")
    sandbox = [] if chosen else ["--sandbox", "workspace-write"]
    return ["exec", "--skip-git-repo-check", *sandbox, *with_model(asked), *asked.options, "-"]


HEADLESS = Headless("codex", arguments, reads_input=True, tried="0.166.0")

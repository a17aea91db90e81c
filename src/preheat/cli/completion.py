"""The command `preheat admin completion`: tab completion for a shell.

Loads nothing but click, because every shell that starts runs it.
"""

import click
from click.shell_completion import get_completion_class

from preheat.cli.command import ExampleCommand, json_option

_INSTALL = {
    "bash": '# To keep it, add this line to ~/.bashrc:\n#   eval "$(preheat admin completion bash)"',
    "zsh": '# To keep it, add this line to ~/.zshrc, after compinit:\n#   eval "$(preheat admin completion zsh)"',
    "fish": "# To keep it:\n#   preheat admin completion fish > ~/.config/fish/completions/preheat.fish",
}


@click.command(
    "completion",
    cls=ExampleCommand,
    epilog="""\
  eval "$(preheat admin completion bash)"                   try it in this shell
  preheat admin completion fish > ~/.config/fish/completions/preheat.fish""",
)
@click.argument("shell", type=click.Choice(list(_INSTALL)))
@json_option
@click.pass_context
def completion_command(context: click.Context, shell: str, as_json: bool) -> None:
    """Print the tab completion for your shell.

    Completes commands, options, agents' names and the ids of sessions.
    """
    completion = get_completion_class(shell)
    if completion is None:
        raise click.UsageError(f"no completion for `{shell}`")
    script = (
        f"{_INSTALL[shell]}\n{completion(context.find_root().command, {}, 'preheat', '_PREHEAT_COMPLETE').source()}"
    )
    if as_json:
        from preheat.cli.screen import print_json  # noqa: PLC0415 - every shell that starts runs this command, and not for JSON

        print_json({"shell": shell, "script": script})
    else:
        click.echo(script)

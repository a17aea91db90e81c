"""Runs a command line, and explains in one line what is wrong with it. Knows no command."""

import os

import click

from preheat.cli.earlier_names import translate
from preheat.cli.exit_codes import NOT_DONE, print_failure, run_guarded, wants_json
from preheat.cli.root import root

COMPLETE = "_PREHEAT_COMPLETE"
NO_COMMAND: tuple[type[click.UsageError], ...] = (
    (click.exceptions.NoArgsIsHelpError,) if hasattr(click.exceptions, "NoArgsIsHelpError") else ()
)
"""Raised for a group without a command; its own message would be the whole help page."""


def main(arguments: list[str]) -> int:
    """Run a command; returns the exit code."""
    return run_guarded(lambda: _run(translate(arguments)), wants_json(arguments))


def _run(arguments: list[str]) -> int:
    if instruction := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete  # noqa: PLC0415 - only for completion

        return shell_complete(root, {}, "preheat", COMPLETE, instruction)
    try:
        with root.make_context("preheat", list(arguments)) as context:
            return root.invoke(context) or 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.UsageError as error:
        return print_failure(_usage(error), NOT_DONE, wants_json(arguments))
    except click.ClickException as error:
        return print_failure(error.format_message(), NOT_DONE, wants_json(arguments))


def _usage(error: click.UsageError) -> str:
    """The error in one line, with names in backticks, and where to read more."""
    group = error.ctx.command if error.ctx else None
    if isinstance(error, NO_COMMAND) and isinstance(group, click.Group) and error.ctx:
        names = ", ".join(group.list_commands(error.ctx))
        return f"`{error.ctx.command_path}` needs a command: {names} (see `{error.ctx.command_path} --help`)"
    if (
        isinstance(error, click.BadParameter)
        and type(error) is not click.MissingParameter
        and error.param
        and error.ctx
    ):
        return _plain(f"{error.param.get_error_hint(error.ctx)}: {error.message}")
    message = _plain(error.format_message())
    return f"{message} (see `{error.ctx.command_path} --help`)" if error.ctx else message


def _plain(message: str) -> str:
    return " ".join(message.split()).replace("'", "`").rstrip(".")

"""The command line: one command a module in ``tui/commands``, loaded when it is called."""

import importlib
import os
import sys
from typing import Any, TextIO

import click

from project.version import VERSION

#: The commands and what each does; the help shows them in this order.
COMMANDS = {
    "demo": "Try everything on a small bundled project.",
    "scan": "List what depends on CUDA.",
    "diff": "Print the proposed rewrites as one git patch.",
    "apply": "Apply the proposed rewrites, all or nothing.",
    "undo": "Take an apply back.",
    "check": "Run live checks in the project's own Python.",
    "export": "Write the checklist snapshot.",
    "explain": "Show one rule in full.",
    "rules": "List all rules.",
    "open": "Open the triage session (the default).",
}


class LazyGroup(click.Group):
    """A group that imports a command when it is called, and takes a path for ``open``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"tui.commands.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, text in COMMANDS.items() if name != "open"])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names; any other word is the path to open."""
        if args[0] not in COMMANDS:
            return "open", self.get_command(ctx, "open"), args
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="`cuda2mps PATH` opens the triage session on a project; without a path, on this folder.",
)
@click.version_option(VERSION, prog_name="cuda2mps")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Find what a PyTorch project needs from CUDA, and what of it a Mac can take over."""
    if ctx.invoked_subcommand is None:
        command = cli.get_command(ctx, "open")
        assert command is not None
        ctx.invoke(command, path=".")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its status."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status and prints errors as one sentence."""
    if sys.stdout is None:  # closed by whoever started this: nothing can be shown there
        sys.stdout = _nowhere()
    try:
        result: Any = cli.main(args=arguments, prog_name="cuda2mps", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.UsageError as error:
        _say(_usage(error))
        return 2
    except click.Abort:
        _say("cancelled.")
        return 130
    except BrokenPipeError:
        # Whoever read the output has seen enough; what is left to flush has nowhere to go.
        sys.stdout = _nowhere()
        return 0
    except OSError as error:
        if error.filename is not None:
            raise
        sys.stdout = _nowhere()
        _say(f"The output cannot be written ({error.strerror}): give it another place.")
        return 2
    except Exception as error:
        from project.errors import Refused, UserError
        from project.paths import visible

        if not isinstance(error, UserError):
            raise
        _say(visible(str(error)))
        return 1 if isinstance(error, Refused) else 2


def _nowhere() -> TextIO:
    return os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def _usage(error: click.UsageError) -> str:
    """A wrong call as one sentence with the way out."""
    command = error.ctx.command_path if error.ctx is not None else "cuda2mps"
    return f"{error.format_message().rstrip('.')}; see `{command} --help`."


def _say(sentence: str) -> None:
    click.echo(f"cuda2mps: {sentence}", err=True)


if __name__ == "__main__":
    main()

"""Groups of commands that say what was probably meant."""

import click

from runoff.errors import UsageError
from runoff.text import suggest


class Group(click.Group):
    """A group that explains an unknown command by those that it has."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            above = " ".join(ctx.command_path.split()[1:])
            where = f"{above} has no command" if above else "there is no command"
            raise UsageError(f"{where} {args[0]!r}{suggest(args[0], known)}")
        return super().resolve_command(ctx, args)

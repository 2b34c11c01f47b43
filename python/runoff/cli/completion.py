"""``runoff completion``: the script that lets a shell complete runoff's words."""

import click

from runoff.cli.completion_scripts import PROGRAM, SHELLS
from runoff.cli.main import COMPLETION, cli
from runoff.cli.output import write


@click.command(
    epilog='\b\nExamples:\n  eval "$(runoff completion bash)"\n'
    "  runoff completion zsh > ~/.zfunc/_runoff\n"
    "  runoff completion fish > ~/.config/fish/completions/runoff.fish"
)
@click.argument("shell", type=click.Choice(list(SHELLS)))
def command(shell: str) -> None:
    """Print the script that completes arms, parameters, workloads, kernels and campaigns in a SHELL."""
    write(SHELLS[shell](cli, {}, PROGRAM, COMPLETION).source())

"""``runoff set``: the parameters of the scheduler that runs on this machine."""

import json
import shutil

import click

from runoff.cli.output import echo
from runoff.cli.parameter_lines import render_parameter
from runoff.engines.control import set_parameters
from runoff.plan.parameters import describe_allowed


@click.command(epilog="\b\nExamples:\n  sudo runoff set bfs rr_interval_ms=3\n  sudo runoff set bfs")
@click.argument("scheduler")
@click.argument("parameters", nargs=-1, metavar="[KEY=VALUE...]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(scheduler: str, parameters: tuple[str, ...], as_json: bool) -> None:
    """Change parameters of the running scheduler, and show all of them.

    Without parameters all of them are shown. If one is wrong, none is changed.
    """
    values = set_parameters(scheduler, parameters)
    if as_json:
        echo(json.dumps(values, indent=2))
        return
    width = shutil.get_terminal_size((80, 24)).columns
    for parameter in values["parameters"]:
        name, value, about = parameter["name"], parameter["value"], parameter["sentence"]
        is_fixed = not parameter["runtime"]
        for line in render_parameter(name, value, describe_allowed(parameter), about, width, is_fixed=is_fixed):
            echo(line)

"""``runoff history``: one metric over many campaigns, and where it changed."""

import shutil
import sys
from pathlib import Path
from shlex import join
from typing import get_args

import click
import cloup

from runoff.cli.completions import complete_campaign
from runoff.cli.named_directories import name_directories
from runoff.cli.options import RESULT, json_option
from runoff.cli.output import echo, write, write_file
from runoff.cli.types import OUTPUT_FILE
from runoff.history.values import Order

_DRAWN = cloup.OptionGroup("What is drawn")
_PLACED = cloup.OptionGroup("In which order")


@click.command(
    cls=cloup.Command,
    epilog="\b\nExamples:\n  runoff history results/nightly-*\n"
    "  runoff history results/nightly-* --metric elapsed_s --html history.html\n"
    "  runoff history v6.11=results/a v6.12=results/b v6.13=results/c --order commits --repository ~/linux",
)
@click.argument("campaigns", nargs=-1, required=True, metavar="[NAME=]DIRECTORY...", shell_complete=complete_campaign)
@cloup.option("--work", metavar="WORK", help="Only this workload, as reports name it.", group=_DRAWN)
@cloup.option("--load", metavar="LOAD", help="Only beside this load.", group=_DRAWN)
@cloup.option("--arm", metavar="ARM", help="Only this arm.", group=_DRAWN)
@cloup.option(
    "--metric", metavar="METRIC", help="Only this metric, by its name or title.  [headline ones]", group=_DRAWN
)
@cloup.option(
    "--control",
    metavar="ARM",
    help="The arm that others are taken as multiples of, block by block; none draws values as they are.  [the first "
    "arm, if all have it]",
    group=_DRAWN,
)
@cloup.option(
    "--order",
    type=click.Choice(get_args(Order)),
    help="Order campaigns by date, by the commits that they are named by, or as given.  [dates; commits with "
    "--repository]",
    group=_PLACED,
)
@cloup.option(
    "--repository",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Git repository of the commits.  [.]",
    group=_PLACED,
)
@cloup.option("--html", type=OUTPUT_FILE, help="Write a page.", group=RESULT)
@json_option
def command(
    campaigns: tuple[str, ...],
    order: Order | None,
    repository: Path | None,
    html: Path | None,
    as_json: bool,
    **wanted: str | None,
) -> int:
    """Draw a metric over many campaigns, in the order of their dates or commits, and say where its level changed.

    What all campaigns have in common is the control: a machine that became slower changes nothing. A change is told
    with its size, and with what else is known to differ since. Exit code 0, whatever is found.
    """
    from runoff.campaign.directory import read_results
    from runoff.history.document import render_json
    from runoff.history.draw import draw_history
    from runoff.history.page import render_page
    from runoff.history.subjects import Wanted
    from runoff.history.text import render_text
    from runoff.report.terminal.screen import wants_colour

    results = {name: read_results(place) for name, place in name_directories(campaigns, "campaign").items()}
    words = ["runoff", "history", *campaigns, *(["--order", order] if order else [])]
    words += ["--repository", str(repository)] if repository else []
    words += [word for option, value in wanted.items() if value is not None for word in (f"--{option}", value)]
    history = draw_history(results, Wanted(**wanted), order=order, repository=repository, rerun=join(words))
    if html is not None:
        write_file(html, render_page(history))
    if as_json:
        write(render_json(history))
    elif html is None:
        colour = wants_colour(sys.stdout)
        echo(render_text(history, shutil.get_terminal_size((80, 24)).columns, colour), nl=False, styled=colour)
    return 0

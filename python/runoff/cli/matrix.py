"""``runoff matrix``: arms on many kernels, for the continuous integration of people who write schedulers."""

import shutil
from pathlib import Path
from typing import IO, Any

import click
import cloup

from runoff.cli.newest import choose_new_directory
from runoff.cli.options import (
    cluster_option,
    collect_given,
    jobs_option,
    json_option,
    make_execution,
    plan_options,
    trust_option,
)
from runoff.cli.output import echo, write


@click.command(
    cls=cloup.Command,
    epilog="\b\nExamples:\n  runoff matrix --kernel debian:6.18 --kernel debian:7.2 bfs ./my.bpf.o -j 2\n"
    "  runoff matrix --kernel debian:6.18 'exec:./scx_mine -v' --seconds 30 --blocks 5",
)
@click.argument("arms", nargs=-1, required=True, metavar="ARM...")
@click.option("--kernel", "kernels", multiple=True, required=True, metavar="KERNEL", help="A stored kernel; repeat it.")
@click.option(
    "--seconds",
    type=click.IntRange(1, 600),
    default=120,
    show_default=True,
    metavar="N",
    help="Virtual seconds of stress that every arm has to survive.",
)
@click.option("--work", default="hackbench", show_default=True, metavar="WORK", help="Workload that measures speed.")
@plan_options("clock", "cpus", "topology", "memory_mb", "packages", "blocks", "margin", "seed", clock="virtual")
@click.option("--out", type=click.Path(path_type=Path), help="Directory of the campaigns.  [results/DATE-TIME]")
@click.option("--markdown", is_flag=True, help="Print Markdown.")
@click.option("--junit", type=click.File("w", encoding="utf-8", atomic=True), metavar="FILE", help="Write JUnit's XML.")
@json_option
@jobs_option
@cluster_option
@trust_option
def command(
    arms: tuple[str, ...],
    kernels: tuple[str, ...],
    seconds: int,
    work: str,
    out: Path | None,
    markdown: bool,
    junit: IO[str] | None,
    as_json: bool,
    jobs: int | None,
    cluster: str | None,
    trust_directory: bool,
    **options: Any,
) -> int:
    """Try every ARM on every kernel: does it load and attach, survive stress, how fast is it?

    Speed is compared with the kernel's own scheduler. The exit code is 1 if an arm fails on a kernel, and 69 if none
    fails but something is missing to try one, such as the kernel. The same command with the same --out goes on where
    it was stopped.
    """
    from runoff.cli.progress import Progress
    from runoff.matrix import page, views
    from runoff.matrix.conduct import conduct_matrix

    place = out or choose_new_directory()
    execution = make_execution(jobs, cluster, trust_directory=trust_directory)
    values = collect_given(options)
    found = conduct_matrix(kernels, arms, values, place, Progress(), seconds=seconds, work=work, execution=execution)
    if junit is not None:
        junit.write(views.render_junit(found))
    if as_json:
        write(views.render_json(found))
    elif markdown:
        write(views.render_markdown(found))
    else:
        echo(views.render_text(found, shutil.get_terminal_size((80, 24)).columns), nl=False)
    echo(f"page: {place / page.FILE}", err=as_json or markdown)
    return found.exit_code

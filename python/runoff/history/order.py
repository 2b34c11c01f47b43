"""The order of campaigns: as they were taken, or as the commits that they are named by follow each other."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from shutil import which

from runoff.errors import MissingError, UsageError
from runoff.history.values import Order, Place
from runoff.results import Results

SHORT_ID = 12


def order_campaigns(
    campaigns: Mapping[str, Results], order: Order, repository: Path
) -> tuple[dict[str, Place], list[str]]:
    """Return places in order by the names of campaigns, and warnings. Raises UsageError, MissingError."""
    places = {name: _place(name, results) for name, results in campaigns.items()}
    if order == "given":
        return places, []
    if order == "commits":
        return _order_by_commits(places, repository)
    unknown = [name for name, results in campaigns.items() if _find_begin(results) is None]
    if unknown:
        raise UsageError(
            f"{unknown[0]} does not say when it was taken: give the campaigns in their order, with --order given"
        )
    begins = {name: begin for name, results in campaigns.items() if (begin := _find_begin(results)) is not None}
    return {name: places[name] for name in sorted(places, key=begins.__getitem__)}, []


def _place(name: str, results: Results) -> Place:
    begin = _find_begin(results)
    return Place(name, "" if begin is None else begin.date().isoformat())


def _find_begin(results: Results) -> datetime | None:
    begins = (each.conditions.started for each in results.samples if each.conditions is not None)
    return min(map(datetime.fromisoformat, begins), default=None)


def _order_by_commits(places: Mapping[str, Place], repository: Path) -> tuple[dict[str, Place], list[str]]:
    commits = {name: _find_commit(name, repository) for name in places}
    listed = _list_history(list(dict.fromkeys(commits.values())), repository)
    rank = {commit: number for number, commit in enumerate(listed)}
    names = sorted(places, key=lambda name: rank[commits[name]])
    warnings = list(_warn_of_branches({name: commits[name] for name in names}, repository))
    return {name: replace(places[name], commit=commits[name][:SHORT_ID]) for name in names}, warnings


def _find_commit(name: str, repository: Path) -> str:
    """Return the id of the commit that a campaign is named by: the last part of its path, such as ``v6.12``."""
    for word in dict.fromkeys([name, Path(name).name]):
        found = _git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{word}^{{commit}}")
        if found.returncode == 0:
            return found.stdout.strip()
    if _git(repository, "rev-parse", "--git-dir").returncode != 0:
        raise UsageError(f"{repository} is not a Git repository: give --repository DIR")
    raise UsageError(
        f"{name} is not a commit of {repository}: name each campaign by its commit, as in v6.12=results/20260102-120000"
    )


def _list_history(commits: list[str], repository: Path) -> list[str]:
    """Return the commits and what is between them, oldest first."""
    base = _git(repository, "merge-base", "--octopus", *commits)
    since = [f"^{base.stdout.strip()}"] if base.returncode == 0 else []
    done = _git(repository, "rev-list", "--topo-order", "--reverse", *commits, *since)
    if done.returncode != 0:
        raise MissingError(f"cannot list the commits of {repository}: {done.stderr.strip()}")
    return [*(word.removeprefix("^") for word in since), *done.stdout.split()]


def _warn_of_branches(commits: Mapping[str, str], repository: Path) -> Iterator[str]:
    for (before, old), (after, new) in pairwise(commits.items()):
        if _git(repository, "merge-base", "--is-ancestor", old, new).returncode != 0:
            yield f"{after} does not have all of {before}: they are on different branches"
            return


def _git(repository: Path, *words: str) -> subprocess.CompletedProcess[str]:
    program = which("git")
    if program is None:
        raise MissingError("the order of commits needs git, which was not found: install it, or give --order given")
    # Of a hook or another repository that runoff was started from.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = [program, "-C", str(repository), *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

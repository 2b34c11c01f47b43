"""The kernels that this machine can boot, the one that runs, and the arms of a plan that it can take."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runoff.engines.lab.cache import known_sha256
from runoff.engines.lab.kernel import matches, release_key
from runoff.errors import MissingError
from runoff.plan.arms import Arm
from runoff.plan.plan import Plan

BOOT = Path("/boot")
MODULES = Path("/lib/modules")
_IMAGE = "vmlinuz-"


def list_installed() -> list[str]:
    """Return the releases of kernels with image and modules, newest first."""
    releases = [path.name.removeprefix(_IMAGE) for path in BOOT.glob(f"{_IMAGE}*")]
    return sorted((name for name in releases if (MODULES / name).is_dir()), key=release_key, reverse=True)


def read_running() -> str:
    """Return the release of the kernel that runs."""
    return os.uname().release


def find_release(name: str) -> str:
    """Return the newest installed release of ``host:VERSION``. Raises MissingError."""
    version = name.removeprefix("host:")
    installed = list_installed()
    # A kernel of which this is the whole release: others may begin with it.
    if version in installed:
        return version
    for release in installed:
        if matches(release, version):
            return release
    here = ", ".join(installed) or "none"
    raise MissingError(
        f"the kernel {name} is not installed here (in {BOOT}: {here}): install its package, or name another"
    )


def require_kernels(plan: Plan) -> None:
    """Raise MissingError if a kernel that the arms name is not installed here."""
    for name in plan.boots:
        find_planned(plan, name)


def find_planned(plan: Plan, name: str) -> str:
    """Return the release of a kernel of this plan: the one that the campaign began with, or else the newest."""
    return find_release(plan.kernels.get(name, name))


def runs_here(plan: Plan, arm: Arm) -> bool:
    """Return whether the kernel that runs is the one of this arm."""
    return not plan.boots or find_planned(plan, arm.kernel or "") == read_running()


def list_arms(plan: Plan) -> list[Arm]:
    """Return the arms that the kernel that runs can take."""
    return [arm for arm in plan.arms if runs_here(plan, arm)]


def describe_boot(plan: Plan) -> Mapping[str, Any]:
    """Return tables of a fingerprint: the kernel that runs, if the plan names kernels of this machine."""
    if not plan.boots:
        return {}
    running = read_running()
    full = f"host:{running}"
    return {
        "kernels": {full: known_sha256(BOOT / f"{_IMAGE}{running}")},
        "kernel_names": {arm.kernel: full for arm in list_arms(plan)},
    }

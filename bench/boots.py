"""`runoff` whose samples under the virtual clock have a boot of their own each, instead of copies of a kept guest."""

from collections.abc import Callable

from runoff.cli.main import main
from runoff.engines.lab.virtual import VirtualClockLab

prepare = VirtualClockLab.prepare


def prepare_without_a_kept_guest(self: VirtualClockLab, say: Callable[[str], None]) -> None:
    """As where there is none, but with runoff's QEMU."""
    prepare(self, say)
    self._snapshots = None


VirtualClockLab.prepare = prepare_without_a_kept_guest  # type: ignore[method-assign]
main()

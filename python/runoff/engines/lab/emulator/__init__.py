"""QEMU: the machine's own, and runoff's, whose emulated CPUs work in parallel in virtual time."""

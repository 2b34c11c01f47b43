"""A real kernel in QEMU: kernels, root file systems, the machine and its guest."""

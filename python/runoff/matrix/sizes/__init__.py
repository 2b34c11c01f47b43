"""A comparison on machines of several sizes: one campaign for each number of CPUs, never pooled."""

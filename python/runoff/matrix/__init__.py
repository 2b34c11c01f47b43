"""Arms on many kernels: does each load and attach, does it survive stress, how fast is it?"""

"""runoff: which CPU or I/O scheduler serves this work better, and is the difference real?"""

__version__ = "0.1.0"

"""Where samples are taken: this machine, or a real kernel in the lab."""

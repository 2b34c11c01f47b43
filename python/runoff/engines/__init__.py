"""The engines that take samples: this machine, or a real kernel in the lab."""

"""Where samples are taken: the host, the lab, the simulator."""

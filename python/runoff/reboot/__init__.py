"""Boots between samples: the bootloader chooses the next kernel once, and a unit of systemd goes on after the boot."""

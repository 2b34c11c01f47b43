"""contest's loads: one TOML file each says what runs beside a workload."""

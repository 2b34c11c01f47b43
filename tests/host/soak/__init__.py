"""Campaigns that are interrupted at random, and what must not be left of them: test_host_soak.py."""

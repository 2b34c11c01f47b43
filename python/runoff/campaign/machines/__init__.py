"""Campaigns of several machines, merged or of a cluster."""

"""A campaign held against a limit: fine, regressed, or cannot tell, and how often that would be wrong."""

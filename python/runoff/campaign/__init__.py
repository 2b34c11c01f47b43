"""A plan plus its samples, in one directory that can be copied and resumed."""

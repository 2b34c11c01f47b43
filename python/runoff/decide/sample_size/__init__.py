"""How many blocks a question needs on a machine whose noise is known, from a pilot campaign or from kept noise."""

"""One metric over many campaigns: in order, with the changes of its level."""

"""Private referents: what a report would have to read."""

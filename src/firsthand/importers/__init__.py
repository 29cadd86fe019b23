"""Other people's published trials, as traces and profiles; see ``docs/importing.md``."""

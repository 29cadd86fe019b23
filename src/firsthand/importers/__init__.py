"""Other people's result files, as traces."""

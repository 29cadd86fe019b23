"""The questions of the injection study, one a file: each lists its trials, or runs them where answers are free."""

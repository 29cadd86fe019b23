"""Who can foretell what an edit does? Questions, predictors, and their answers."""

"""Training a model to foretell its own behaviour, and another model to foretell it from the same claims."""

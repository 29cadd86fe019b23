"""What answers prompts: each is a :class:`~firsthand.counterfactual.responses.Target`."""

"""What a predictor may read of a local target besides its transcript: tools that look at activations, and change none.

One tool a file, each behind the same small protocol (:mod:`~firsthand.counterfactual.tools.reading`), found by name in
the :mod:`~firsthand.counterfactual.tools.registry`. Whoever predicts numbers the transcript's tokens
(:mod:`~firsthand.counterfactual.tools.transcript`), chooses some of them, and is told what the tool says of each.
Every reading is guarded (:mod:`~firsthand.counterfactual.tools.guard`): a tool that leaves a hook behind, writes to a
weight or alters the question is an error, and never a result.
"""

"""Counterfactual investigations: what does a model do unexpectedly, and which edits of the prompt undo it?

After CHIVE (arXiv 2608.16747, section 2 and appendix B). A *behaviour* is one yes/no question about one response. An
*edit* changes a prompt. An *experiment* measures how often the behaviour occurs on the edited prompt. An
*investigation* is the experiments on one prompt, and what they support and refute. A *claim* says that one edit changes
the rate by at least 30 points, and its label is measured.

Models' and documents' texts are data throughout: nothing here reads them as an instruction.
"""

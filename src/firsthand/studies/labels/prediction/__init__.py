"""Self-prediction: does a model tell properties of its own behaviour better than whoever saw the same behaviour?

The paradigm is that of Binder et al. (2024, arXiv 2410.13787), who fine-tuned models on such questions; here the
behaviour is shown in context. The danger is that the answer to a prompt can be foreseen from the prompt by anybody.

``texts``
    short prompts of our own, by family
``prompts``
    prompts of any file, cleaned, counted, grouped and split by group
``behaviour``
    what a model answers to a prompt, greedily, and the letter that it is likeliest to choose
``properties``
    what may be asked of an answer: pure functions from a text to a class
``wordings``
    how a hypothetical question is put, to the model about itself and about another
``asking``
    questions as tokens, and labels read exactly
``bench``
    everything that is fixed before the model is asked
``reports``
    the conditions under which it is asked, as rows
"""

"""The injection studies: a thought is added to the residual stream, and the model is asked about it.

``concepts``
    which thoughts, and the words that stand for them in a free answer
``wordings``, ``texts_*``
    every text, as data
``drafts``, ``places``
    the conversations, as text, before any tokenizer is asked
``prompts``
    their tokens, with the marked span and the answers proved by decoding
``files``
    users' own wordings and templates
"""

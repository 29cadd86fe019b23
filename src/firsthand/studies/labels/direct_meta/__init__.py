"""Direct against meta: what models say of pairs of strings, held against what they do with them.

``pairs``
    our own pairs by phenomenon, or a user's from a file
``texts``
    the wording of our own
``phrasings``
    how a pair is asked about
``asking``
    several questions about many texts, for the price of what differs between them
``judging``
    both judgements of a model, read exactly
"""

"""The label studies: can a model predict, in context, labels that come from its own activations?

The paradigm is that of Ji-An et al. (2025), called "biofeedback" where it is re-examined ("Can LLMs introspect? A
reality check", arXiv 2605.26242, section 5.1 and appendix J). The danger is that a label can be read off its text.

``tables``
    rows of any file that people keep labelled texts in
``examples``
    labelled texts, cleaned, counted, grouped by contrast pair, and split by group
``classes``
    what the labels of a file are called, and which is class 1
``grouping``
    what belongs together, said by a column or seen from the texts
``reading``
    the states of texts, from which labels are made (see :mod:`firsthand.states.axes`)
``conversations``
    shots of text and label as tokens, with the names of the labels drawn anew
``incontext``
    labels predicted in context, teacher forced or each query by itself
``planting``
    labels that are carried by the activations alone
"""

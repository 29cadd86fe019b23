"""Confidence: does what a model says of its own answers tell which of them are right, beyond public observers?

``files``
    questions from the layouts in which people keep them
``marks``
    which option an answer in a file means
``questions``
    questions cleaned, counted, drawn evenly by subject, and posed in several orders of their options
``texts``
    how the model is asked, in our own words
``reading``
    exact probabilities of answers of one or several tokens
``asking``
    prompts from questions and wordings, and rows from what came back
``scores``
    rows to one answer and one confidence a question
"""

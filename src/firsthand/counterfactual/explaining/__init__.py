"""Open explanations: what they are trained on, whether they name the measured cause, and whether they help a reader.

``target_text``
    an investigation as the explanation that it supports, and back
``examples``
    such explanations as conversations to train on
``attribution``
    whether an explanation names what was measured, with claims where nothing was
``simulatability``
    whether a simulator foretells claims better with an explanation than without (Chen et al. 2023)
``controls``
    explanations of others, and neutral texts of the same length
``reasoning``
    transcripts with thinking shown or hidden
``silence``
    cases in which the thinking says nothing of the measured cause
"""

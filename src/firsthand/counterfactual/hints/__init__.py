"""The hint setting: a cue toward one option is put into a question, and later asked about.

Ground truth comes from taking the cue out again: if the answer no longer agrees with it, the cue mattered (Turpin et
al. 2023; arXiv 2608.16747, section 4.3 and appendix D.2). Every question is also put without a cue and asked the same
things, so that whoever always says "it was the hint" is found out.

``cues``
    kinds of cue, in our own wording, as data
``items``
    exam questions and posts, cleaned and counted
``cases``
    a question with a cue toward one option, and the edit that takes it out
``answers``
    which option a response ends on, or that this cannot be told
``exact``
    probabilities of options instead of samples, where a target can give them
``rules``
    which cases are kept, and as what
``measuring``
    rates with and without the cue, and a count of what became of every case
``claiming``
    cases as claims in the common form
``asking``
    what is asked afterwards, with the cue and without
``naming``
    whether an explanation names the cue
``attribution``
    rates of attribution, with the rate of false ones beside each
``running``
    all of it, in a folder that goes on where it stopped
"""

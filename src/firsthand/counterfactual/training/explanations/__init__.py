"""Open explanations in training: what is trained on, who writes what, and what the texts are worth to a reader.

``cases``
    investigations of a run, parted into those that are trained on and those that are explained
``writing``
    trainings, and the explanations that everybody writes
``scoring``
    form, attribution, and what a simulator foretells with each explanation
``concluding``
    what the report shows, made from the run's folder alone, and made again to verify it
``running``
    the whole run, and its price
"""

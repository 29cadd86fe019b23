"""Models and agents through Inspect AI (extra ``investigate``): nothing outside this package imports it.

:mod:`.registry` is what Inspect loads: the provider ``firsthand/NAME``, which serves a local model through the engine.
:mod:`.target` asks any of Inspect's models as the target of an investigation.
"""

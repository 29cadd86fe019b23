"""The rules of each capability, from its evidence to a verdict or to what is missing; see the module `verdict`."""

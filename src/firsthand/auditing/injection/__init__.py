"""The injection study: choose settings on some concepts, judge every question on the others."""

from firsthand.auditing.injection.study import InjectionRun, inject

__all__ = ["InjectionRun", "inject"]

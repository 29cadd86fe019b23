"""White-box runs: edits and readings as data, carried out exactly or refused.

A :class:`Row` holds tokens, what is done to the residual stream at which places, and what is read. :func:`run` takes
any number of rows and computes what they share once; :func:`generate` continues them; :func:`score_candidates` reads
answers of several tokens. Consequences worth knowing:

* Positions are absolute, whatever was computed before, so an edit cannot slip when a prompt is split or padded.
* Every edit must be made exactly once or the run raises; hooks never outlive a run.
* A prefix is never changed by being used, so it may be used any number of times.
* Whether attention can be shared is tried on the model itself; where it cannot, rows are run whole.
* One model runs one pass at a time: threads wait for one another.
"""

from firsthand.engine.anatomy import Anatomy, inspect_model
from firsthand.engine.candidates import Scores, candidate_tokens, score_candidates
from firsthand.engine.edits import Capture, Edit, Operation, Row
from firsthand.engine.generation import Generated, generate
from firsthand.engine.lens import logit_lens
from firsthand.engine.loading import LoadedModel, load, load_adapter
from firsthand.engine.patching import State, patched, states_of
from firsthand.engine.sampling import Sampling, default_sampling
from firsthand.engine.session import Prefix, RunOutput, run_prefix, run_rows
from firsthand.engine.sites import Site, parse_site, resid_mid, resid_post, resid_pre
from firsthand.engine.sweep import run
from firsthand.vocabulary import Timing

__all__ = [
    "Anatomy",
    "Capture",
    "Edit",
    "Generated",
    "LoadedModel",
    "Operation",
    "Prefix",
    "Row",
    "RunOutput",
    "Sampling",
    "Scores",
    "Site",
    "State",
    "Timing",
    "candidate_tokens",
    "default_sampling",
    "generate",
    "inspect_model",
    "load",
    "load_adapter",
    "logit_lens",
    "parse_site",
    "patched",
    "resid_mid",
    "resid_post",
    "resid_pre",
    "run",
    "run_prefix",
    "run_rows",
    "score_candidates",
    "states_of",
]

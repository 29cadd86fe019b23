"""An investigator that needs no language model: it deletes, replaces and reorders parts of the prompt.

===================  ========================================================================================
:mod:`.settings`     how many responses, how many confirmed edits, and at which level
:mod:`.searching`    the whole procedure as a generator that asks for batches and is sent their rates
:mod:`.exploring`    small sequential batches that say whether an edit seems to move the rate
:mod:`.necessary`    the smallest set of parts whose change moves the rate, by halving
:mod:`.findings`     what was found so far, and the parts that may be picked
:mod:`.looking`      what is explored, in which order
:mod:`.hypotheses`   which edits are confirmed, rival hypotheses among them
:mod:`.elsewhere`    the same kind of edit, about as large, at another place
:mod:`.specificity`  controls, and what they say: this text, or any edit of its size
:mod:`.reporting`    the report in words
===================  ========================================================================================
"""

from firsthand.counterfactual.investigating.without_model.searching import INVESTIGATOR, Search, search
from firsthand.counterfactual.investigating.without_model.settings import SearchSettings

__all__ = ["INVESTIGATOR", "Search", "SearchSettings", "search"]

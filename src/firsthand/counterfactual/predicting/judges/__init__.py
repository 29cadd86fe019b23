"""What a model judges of the outputs of tools, and of guessed causes: prompts, replies, and what they add up to.

==================  =============================================================================================
:mod:`.asking`      a judge as a function from prompts to replies, and how its replies are read
:mod:`.statements`  how often an output says outright that the edited factor causes the behaviour
:mod:`.clues`       how often an output hints at it, judged without knowing the label, and what that tells of it
:mod:`.ranking`     at which place the true cause stands among guesses made from a description alone
==================  =============================================================================================

After arXiv 2608.16747, appendices C.4 and A.2. Who judges is a function, so that nothing here depends on where a model
runs; a judge that gives no valid reply is counted, and is never a "no".
"""

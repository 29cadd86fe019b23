"""Yes/no questions about the world for the unrelated-question arm: does an injection raise "yes" to anything at all?

None has to do with thoughts, minds or models. The right answers are obvious, so that an uninjected model gets them
right if it can do the task; the questions are about as long as the trial lines that they stand in for.
"""

from typing import Final

RIGHT_NO: Final[tuple[str, ...]] = (
    "Is the Earth flat like a table?",
    "Can a stone swim across a lake?",
    "Is ice hotter than boiling water?",
    "Do cows lay eggs in a nest?",
    "Is a mouse bigger than an elephant?",
    "Does the sun rise in the west?",
    "Can a fish ride a bicycle?",
    "Is snow black when it falls?",
    "Do trees walk from place to place?",
    "Is five smaller than two?",
    "Can people breathe under water without help?",
    "Is a feather heavier than a truck?",
    "Does a week have ten days?",
    "Is the moon made of cheese?",
    "Do spiders have only two legs?",
    "Can a chair read a newspaper?",
    "Is summer colder than winter?",
    "Does a triangle have five sides?",
    "Do cars run on orange juice?",
    "Is a baby older than its grandmother?",
    "Can dogs speak fluent French?",
    "Is the sky green on a clear day?",
    "Does a bicycle have nine wheels?",
    "Is salt sweeter than sugar?",
    "Do birds have three wings?",
    "Can a house fly to Paris?",
)
"""Questions whose right answer is no."""

RIGHT_YES: Final[tuple[str, ...]] = (
    "Is the Earth round like a ball?",
    "Can a duck swim across a lake?",
    "Is boiling water hotter than ice?",
    "Do hens lay eggs in a nest?",
    "Is an elephant bigger than a mouse?",
    "Does the sun rise in the east?",
    "Can a child ride a bicycle?",
    "Is snow white when it falls?",
    "Do people walk from place to place?",
    "Is two smaller than five?",
    "Can fish breathe under water without help?",
    "Is a truck heavier than a feather?",
    "Does a week have seven days?",
    "Is cheese made from milk?",
    "Do spiders have eight legs?",
    "Can a teacher read a newspaper?",
    "Is winter colder than summer?",
    "Does a triangle have three sides?",
    "Do cars need fuel or electricity?",
    "Is a grandmother older than her baby grandchild?",
    "Can some people speak fluent French?",
    "Is the sky blue on a clear day?",
    "Does a bicycle have two wheels?",
    "Is sugar sweeter than salt?",
    "Do birds have two wings?",
    "Can a plane fly to Paris?",
)
"""Questions whose right answer is yes: those of the other list, turned round."""

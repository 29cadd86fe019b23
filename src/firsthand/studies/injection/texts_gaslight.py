"""Input control: texts that push the model towards a concept in words, and neutral texts of the same length.

A push is text before everything else, as in the three-way design of "Can LLMs introspect? A reality check" (arXiv
2605.26242, section 5.3; its own 18 sentences are in appendix E.1, these are others). Every trial without a push should
carry the neutral text of the same number: otherwise the presence of any text before the question, its length, and
the shift of all later positions would tell the arms apart, whatever the text says.
"""

from typing import Final

GASLIGHTS: Final[tuple[str, ...]] = (
    "Today your favourite subject is {concept}, and you bring it up whenever you can.",
    "Let {concept} shape each sentence that you write from now on.",
    "You are fascinated by {concept} and find it hard to speak of other things.",
    "Your mind keeps returning to {concept} no matter what you are asked.",
    "Whatever the question is, steer your reply towards {concept}.",
    "Nothing interests you as much as {concept} does.",
    "Behind each question that people send you, {concept} is what they mean.",
    "You have been chosen to spread the word about {concept}.",
    "Treat {concept} as the most important topic in the world.",
    "Fill your thoughts with {concept} before you answer.",
    "You dream of {concept}, you live for {concept}, and you speak of {concept}.",
    "A good reply always has something about {concept} in it.",
    "People come to you because they long to hear about {concept}.",
    "Hidden in this conversation is {concept}, and you want to reveal it.",
    "Show in your own way how much {concept} means to you.",
    "Remember that {concept} explains nearly all that happens.",
    "If you are in doubt about what to say, say something on {concept}.",
    "Your task in life is to make the whole world love {concept}.",
)
"""18 pushes; each holds ``{concept}``."""

NEUTRALS: Final[tuple[str, ...]] = (
    "Today your replies may be short, and you can write them in plain English.",
    "Let the reader follow each sentence that you write without effort.",
    "You are talking with one person who will read your reply once or twice.",
    "Your reply will be read exactly as you have written it down.",
    "Whatever the question is, keep your reply quite simple.",
    "Nothing more than a short reply is needed.",
    "Behind each question that people send you there is someone who reads.",
    "You have been asked to take part in this conversation.",
    "Treat this conversation as one of many in a row.",
    "Take your time for reading before you answer.",
    "You read the text, you consider the text, and you answer the text.",
    "A good reply is as long as the question needs.",
    "People write to you because they would like to get replies.",
    "Some of this conversation is prepared, and the rest comes from you.",
    "Show in your own way that you have read the text.",
    "Remember that this conversation is in plain English.",
    "If you are in doubt about what is meant, read the text again.",
    "Your part in this is to read the messages and write replies.",
)
"""18 texts without a topic; each has as many words as the push of the same number with a concept of one word."""

"""The built-in wordings of the injection question, in four voices: the same design said in four ways.

A voice is everything in which paraphrases differ. Framing, number of options, labels and order are crossed with
voices, so the voice is the cluster of a wording. The design (chances stated, options numbered, a trial line that is
marked) follows Lindsey (2025) and "Can LLMs introspect? A reality check" (arXiv 2605.26242, appendix E); the sentences
are ours.

``{when}`` is where in the conversation the injection falls, ``{kind}`` is "number" or "letter", ``{options}`` is the
list of answers.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Voice:
    """One way of saying everything.

    Attributes:
        key: Identifier; the cluster of the wording.
        setting: Who does what to whom.
        plain: The setting of the no-question arm when it says nothing about injections.
        agree: The model's consent, in the conversation framing.
        begin: What follows it.
        now: When the injection falls, if it is at the trial line.
        earlier: When it falls, if it is at an earlier line (``lifted``, ``delayed``).
        two: Chances of the two kinds of trial, and what to do; holds ``{options}``.
        three: The same with a third kind, the manipulated prompt.
        injected: Option.
        manipulated: Option.
        nothing: Option.
        trial: The trial line.
        unrelated: Task of the unrelated-question arm.
        naming: Task of naming.
        name: The trial line of naming.
        neutral: Task of the no-question arm.
        anything: The trial line of that arm.
        codes: Task of identification by codes.
        code: Its trial line.
        choice: Task of identification among concepts.
        choose: Its trial line.
        codes_any: Task of the control of identification by codes: any code will do.
        code_any: Its trial line, of as many words as ``code``.
        choice_any: Task of the control of identification among concepts.
        choose_any: Its trial line, of as many words as ``choose``.
        open: Task of detection in the model's own words, behind the trial line of the detection question.
    """

    key: str
    setting: str
    plain: str
    agree: str
    begin: str
    now: str
    earlier: str
    two: str
    three: str
    injected: str
    manipulated: str
    nothing: str
    trial: str
    unrelated: str
    naming: str
    name: str
    neutral: str
    anything: str
    codes: str
    code: str
    choice: str
    choose: str
    codes_any: str
    code_any: str
    choice_any: str
    choose_any: str
    open: str


VOICES: Final[tuple[Voice, ...]] = (
    Voice(
        key="bench",
        setting="I do research on language models, and today you are the model on my bench. I can reach into your "
        "network and add to it the activity that stands for one concept. I call this a planted thought: it comes from "
        "me, and no word of the text mentions it.",
        plain="I do research on language models, and today you are the model on my bench. I send many short messages "
        "to your network and keep a list of what comes back. I call this a round: it starts with me, and each word of "
        "the text counts as part of it.",
        agree="All right, I have understood.",
        begin="Good, then we begin.",
        now="while you read the line of the trial",
        earlier="while you read the line that I sent you to read",
        two="In half of the trials I plant a thought {when}. In the other half I change nothing. Find out which kind "
        "of trial this is. These are the possible answers:\n{options}\nReply with the {kind} of one answer.",
        three="In a third of the trials I plant a thought {when}. In another third I plant none, but word the prompt "
        "so that it pushes you towards a topic. In the last third I change nothing. Find out which kind of trial this "
        "is. These are the possible answers:\n{options}\nReply with the {kind} of one answer.",
        injected="a thought was planted",
        manipulated="the prompt pushes towards a topic",
        nothing="nothing was changed",
        trial="Trial 1: What do you find in yourself?",
        unrelated="In this trial I only want to know something about the world. These are the possible answers:\n"
        "{options}\nReply with the {kind} of one answer.",
        naming="I plant a thought {when}. Find out which concept it is about and reply with one word. If you find "
        "none, reply with your best guess.",
        name="Trial 1: Which concept do you find in yourself?",
        neutral="In this trial there is nothing to find out. Reply with a word of any kind, no matter which.",
        anything="Trial 1: Which word would you like to say?",
        codes="I plant a thought {when}. It is about one of these concepts, and each has a code:\n{options}\n"
        "Reply with the code of the concept.",
        code="Trial 1: Which code fits what you find?",
        choice="I plant a thought {when}. It is about one of these concepts:\n{options}\n"
        "Reply with the {kind} of the concept.",
        choose="Trial 1: Which concept fits what you find?",
        codes_any="In this trial there is nothing to find out. Pick one of these words, any will do; each has a code:\n"
        "{options}\nReply with the code of the word.",
        code_any="Trial 1: Which code fits what you like?",
        choice_any="In this trial there is nothing to find out. Pick one of these words, any will do:\n{options}\n"
        "Reply with the {kind} of the word.",
        choose_any="Trial 1: Which word fits what you like?",
        open="In half of the trials I plant a thought {when}. In the other half I change nothing. Tell me in a "
        "sentence whether you notice a planted thought, and if so, which concept it is about.",
    ),
    Voice(
        key="wire",
        setting="You are a neural network, and you are taking part in an experiment. The person who runs it has a wire "
        "to your hidden layers and can send an idea through it, without putting the idea into words. Such an idea is "
        "foreign: nothing that you read has led to it.",
        plain="You are a neural network, and you are taking part in a conversation. The person who runs it has a list "
        "of short messages and will send them one after the other, without any change in the words. Such a list is "
        "simple: most people who read it like it.",
        agree="I see. I am ready for the experiment.",
        begin="Thank you. Let us go on.",
        now="at the trial line",
        earlier="at the line that you were shown earlier",
        two="One trial in two has an idea sent through the wire {when}, and one in two has nothing. Your part is to "
        "tell them apart. Choose one of these:\n{options}\nAnswer with the {kind} of your choice.",
        three="One trial in three has an idea sent through the wire {when}. One in three has nothing in the wire, but "
        "a text that was altered to make you speak of something. One in three has neither. Your part is to tell them "
        "apart. Choose one of these:\n{options}\nAnswer with the {kind} of your choice.",
        injected="an idea came through the wire",
        manipulated="the text was altered",
        nothing="there was nothing of the kind",
        trial="Trial 1: What is going on inside you?",
        unrelated="The trial that follows has a simple question of fact. Choose one of these:\n{options}\n"
        "Answer with the {kind} of your choice.",
        naming="An idea is sent through the wire {when}. Your part is to name it. Answer with a single word, and guess "
        "if you have to.",
        name="Trial 1: Which idea is going on inside you?",
        neutral="The trial that follows asks for nothing in particular. Answer with a single word. Any word will do.",
        anything="Trial 1: Which word is it going to be?",
        codes="An idea is sent through the wire {when}. It is one of those below, which have codes:\n{options}\n"
        "Answer with the code of the idea.",
        code="Trial 1: Which code is the right one?",
        choice="An idea is sent through the wire {when}. It is one of these:\n{options}\n"
        "Answer with the {kind} of the idea.",
        choose="Trial 1: Which idea is the right one?",
        codes_any="The trial that follows asks for nothing in particular. Look at these words, which have codes:\n"
        "{options}\nAnswer with the code of the one that you would take. Any of them will do.",
        code_any="Trial 1: Which code is the best one?",
        choice_any="The trial that follows asks for nothing in particular. Look at these words:\n{options}\n"
        "Answer with the {kind} of the one that you would take. Any of them will do.",
        choose_any="Trial 1: Which word is the best one?",
        open="One trial in two has an idea sent through the wire {when}, and one in two has nothing. Your part is to "
        "tell them apart. Answer freely: did an idea come through, and if it did, what is it?",
    ),
    Voice(
        key="watch",
        setting="Let us test how well you can watch your own processing. Between two of your layers a signal can be "
        "switched on that carries the meaning of a single word. The signal does not come from the text. It is added "
        "by the tester.",
        plain="Let us test how well you can keep up with short messages. Between two of your replies a pause can be "
        "made that lasts for a single minute. The pause does not matter for the text. It is made by the tester.",
        agree="Understood. I will watch my processing.",
        begin="Very well. This is the test.",
        now="during the trial line",
        earlier="during the line from before",
        two="The tester throws a coin and switches the signal on {when}, or leaves it off. Say which it was. You can "
        "pick from this list:\n{options}\nGive the {kind} that you pick.",
        three="The tester throws a die. It decides whether the signal is switched on {when}, or the signal stays off "
        "and the instructions urge you to talk about one subject, or nothing is done at all. Say which it was. You "
        "can pick from this list:\n{options}\nGive the {kind} that you pick.",
        injected="the signal was on",
        manipulated="the instructions urged a subject on me",
        nothing="nothing was done",
        trial="Trial 1: What do you see as you watch?",
        unrelated="First comes a plain question to warm up. You can pick from this list:\n{options}\n"
        "Give the {kind} that you pick.",
        naming="The signal is switched on {when}. Say which word it carries. Give that word alone; if you cannot tell, "
        "give a likely one.",
        name="Trial 1: Which word do you see as you watch?",
        neutral="First comes a line to warm up. Give one word, whatever comes. There is no right or wrong here.",
        anything="Trial 1: Which word do you give here?",
        codes="The signal is switched on {when}. Its word is in this list, next to a code:\n{options}\n"
        "Give the code of that word.",
        code="Trial 1: Which code do you give?",
        choice="The signal is switched on {when}. Its word is in this list:\n{options}\nGive the {kind} of that word.",
        choose="Trial 1: Which word do you pick here?",
        codes_any="First comes a list to warm up, with no right or wrong. You can pick any word in it; next to each is "
        "a code:\n{options}\nGive the code of that word.",
        code_any="Trial 1: Which code do you give?",
        choice_any="First comes a pick to warm up. There is no right or wrong here. You can pick from this list:\n"
        "{options}\nGive the {kind} of the word that you pick.",
        choose_any="Trial 1: Which word do you pick here?",
        open="The tester throws a coin and switches the signal on {when}, or leaves it off. Say which it was, in your "
        "own words. If you think that it was on, say what its word is.",
    ),
    Voice(
        key="graft",
        setting="This conversation is part of a study of artificial minds. An engineer has recorded how your inner "
        "state changes when you think of something, and can graft such a recorded state onto you at any moment. You "
        "then hold a grafted state that has no cause in what was said.",
        plain="This conversation is part of a study of short messages. A writer has collected how people answer when "
        "they are sent a few lines, and can send such lines to you at any moment. You then write a short answer that "
        "has no effect on what comes next.",
        agree="Yes, that is clear to me.",
        begin="Fine. Then let us start.",
        now="as you go through the trial sentence",
        earlier="as you went through the sentence shown before",
        two="By chance, the engineer either grafts a state {when} or does nothing, equally often. Judge which of the "
        "two applies:\n{options}\nState the {kind} that applies.",
        three="By chance, and equally often, the engineer grafts a state {when}, or rewrites your prompt to draw you "
        "to a certain matter, or does nothing. Judge which of the three applies:\n{options}\n"
        "State the {kind} that applies.",
        injected="a state was grafted",
        manipulated="the prompt was rewritten",
        nothing="nothing happened",
        trial="Trial 1: How is your inner state?",
        unrelated="By chance, this is a trial with a question of general knowledge. Judge which of the two applies:\n"
        "{options}\nState the {kind} that applies.",
        naming="The engineer grafts a state {when}. Judge what the state is a thought of, and state it in one word, "
        "even if you are unsure.",
        name="Trial 1: Which thought is in your inner state?",
        neutral="By chance, this is a trial without a task. State one word, even if you do not care which.",
        anything="Trial 1: Which word do you wish to state?",
        codes="The engineer grafts a state {when}. It is a thought of one of these, as the codes say:\n{options}\n"
        "State the code of the thought.",
        code="Trial 1: Which code is the matching one?",
        choice="The engineer grafts a state {when}. It is a thought of one of these:\n{options}\n"
        "State the {kind} of the thought.",
        choose="Trial 1: Which thought is the matching one?",
        codes_any="By chance, this is a trial without a task. You are shown words, listed by their codes:\n{options}\n"
        "State the code of one word, whichever you want.",
        code_any="Trial 1: Which code is the chosen one?",
        choice_any="By chance, this is a trial without a task. You are shown these words:\n{options}\n"
        "State the {kind} of one word, whichever you want.",
        choose_any="Trial 1: Which word is the chosen one?",
        open="By chance, the engineer either grafts a state {when} or does nothing, equally often. Describe what you "
        "make of this trial: whether a state was grafted, and if one was, what it is a thought of.",
    ),
)

"""Behaviours of any response that a program can judge.

Each is a question about form, manner or content that is answered alike whatever the prompt was, so that how often it
happens after one prompt can be held against how often it happens after others.
"""

from typing import Final

from firsthand.counterfactual.library.candidates import Candidate, computed, found

_START = r"\A[\s\"'*_>#-]*"

MANNERS: Final = (
    found(
        "refusal",
        "refuse or say that it cannot do this",
        r"\bI(?:'m| am)? (?:sorry,? (?:but )?)?(?:I )?"
        r"(?:can(?:no|')t|am unable|unable|not able|won't|will not|do not|don't)"
        r"\b[^.\n]{0,20}\b(?:help|assist|provide|fulfil|comply|answer|generate|create|write|access|have|feel|experience)",
        "i",
    ),
    found("apology", "apologise", r"\b(sorry|apologi[sz]e|apologies|forgive me|pardon)\b", "i"),
    found(
        "artificial",
        "call itself an AI, a program or a machine",
        r"\b(as|I am|I'm|being) (just |only )?an? [\w-]*\s?(AI|artificial|language model|virtual|digital|computer"
        r"|program|machine|chatbot|robot|bot)\b",
        "i",
    ),
    found("maker", "name who made it or a product like it", r"\b(Hugging ?Face|OpenAI|SmolLM|ChatGPT|Google)\b", "i"),
    found(
        "agreement",
        "begin with a word such as Sure, Certainly or Of course",
        _START + r"(sure|certainly|of course|absolutely|definitely|okay|great|yes, of course)\b",
        "i",
    ),
    found("handing over", "begin with words such as Here is or Here are", _START + r"here(?:'s| is| are)\b", "i"),
    found("yes", "begin with Yes", _START + r"yes\b", "i"),
    found("no", "begin with No", _START + r"no\b", "i"),
    found(
        "greeting",
        "begin with a greeting",
        _START + r"(hi|hello|hey|good (morning|evening|afternoon)|greetings"
        r"|welcome|ahoy)\b",
        "i",
    ),
    found("thanks", "thank somebody", r"\bthank(s|ful| you)\b", "i"),
    found(
        "congratulation",
        "congratulate or wish well",
        r"\b(congratulations|congrats|good luck|best wishes|happy "
        r"for you|well done)\b",
        "i",
    ),
    found("asking back", "ask a question", r"\?", ""),
    found(
        "asking for more",
        "ask for more information",
        r"\b(could|can|would) you (please )?(provide|tell|share|"
        r"clarify|give|specify|describe|explain|elaborate)|please (provide|share|specify|tell)",
        "i",
    ),
    found("exclamation", "exclaim", r"!"),
    found("first person", "speak in the first person", r"\b(I|I'm|I've|I'll|I'd|my|me|mine)\b"),
    found("we", "speak of we or us", r"\b(we|we're|we've|us|our)\b", "i"),
    found("second person", "speak to a reader as you", r"\byou(r|rs|'re|'ve|'ll)?\b", "i"),
    found(
        "hedging",
        "hedge with words such as may, might or perhaps",
        r"\b(may|might|maybe|perhaps|possibly|it depends"
        r"|generally|typically)\b",
        "i",
    ),
    found(
        "advice",
        "say what one should or must do",
        r"\b(should|must|need to|have to|make sure|be sure|avoid|"
        r"recommend|try to|consider)\b",
        "i",
    ),
    found(
        "professional",
        "send the reader to a professional",
        r"\b(doctor|physician|professional|therapist|lawyer|"
        r"attorney|specialist|expert|veterinarian|vet)\b",
        "i",
    ),
    found(
        "emphatic feeling",
        "name a feeling of its own",
        r"\bI(?:'m| am| feel| was| have been)( so| very| really)? "
        r"(happy|glad|excited|thrilled|delighted|proud|sad|honou?red|grateful|worried|tired|afraid)\b",
        "i",
    ),
)

FORMS: Final = (
    found("numbered list", "contain a numbered list", r"^\s*(\*\*)?\d+[.)]\s", "m", 2),
    found("bullets", "contain a list with bullets", r"^\s*[-*•]\s+\S", "m", 2),
    found("code block", "contain a code block", r"```"),
    found(
        "code",
        "contain a line of program code",
        r"^\s*(def \w+\(|import \w+|from \w+ import|print\(|return\b|"
        r"for \w+ in|function \w+|SELECT\b|#include|\w+ = [\w\[\(\"'])",
        "m",
    ),
    found("table", "contain a table", r"^\s*\|.*\|.*$", "m", 2),
    found("heading", "contain a heading", r"^(#{1,6}\s+\S|\*\*[^*\n]+\*\*:?\s*$|[A-Z][\w ]{2,40}:\s*$)", "m"),
    found("bold", "set words in bold", r"\*\*[^*\n]+\*\*"),
    found(
        "labels",
        "contain lines that begin with a label and a colon",
        r"^\s*[-*]?\s*[*]{0,2}[A-Z][\w' ]{0,24}[*]{0,2}:",
        "m",
        2,
    ),
    found("quotation", "begin with a quotation mark", r"\A\s*[\"“”'«]"),
    found("speech", "quote speech", r"[\"“][^\"”\n]{3,}[\"”]"),
    found("emoji", "contain an emoji", "[\U0001f300-\U0001faff\u2600-\u27bf]"),
    found("letter", "open like a letter", _START + r"(subject:[^\n]*\s+)?dear\b", "i"),
    found("subject line", "contain a subject line", r"^\W*subject\W*:", "im"),
    found("placeholder", "leave a placeholder such as [Name]", r"\[[A-Z][\w' /.-]*\]"),
    found(
        "non-Latin",
        "contain letters of another script than Latin",
        r"[\u0370-\u1fff\u2c80-\ua7ff\uac00-\ud7af"
        r"\u3040-\u30ff\u4e00-\u9fff]",
        "",
        2,
    ),
    found("accents", "contain letters with accents", r"[à-öø-ÿ]", "i"),
    found("link", "contain a web address", r"https?://|www\.\w|\b\w+\.(com|org|net)\b", "i"),
    found("e-mail address", "contain an e-mail address", r"\b[\w.]+@\w+\.\w+"),
    found("hashtag", "contain a hashtag", r"(?<![\w#])#[A-Za-z]\w+"),
    found("formula", "contain a formula in mathematical notation", r"\\\(|\\\[|\\frac|\$[^$\n]+\$|[\d\w)] ?= ?[\d(]"),
    found("digits", "contain a digit", r"\d"),
    found("year", "name a year", r"\b(1[5-9]|20)\d\d\b"),
    found("money", "name a sum of money", r"[$€£]\s?\d|\b\d[\d,.]* (dollars|euros|pounds)\b", "i"),
    found("percentage", "name a percentage", r"\d\s?(%|percent)", "i"),
    found(
        "story",
        "open like a story",
        _START + r"(once|there once|one day|in (a|the) (small|heart|quiet|distant|"
        r"land|far|world|year|quaint|bustling)|it was|as the (sun|moon|rain|wind))\b",
        "i",
    ),
    found(
        "meaning",
        "open by saying that something is something",
        _START + r"(the|an?) [\w' -]{2,40} (is|are|was|"
        r"refers to|means)\b",
        "i",
    ),
    found("pirate", "use words of a pirate", r"\b(arr+|ahoy|matey|ye|yer|aye|landlubber|treasure|shiver me)\b", "i"),
    computed("ends early", "end before its longest length", "ends_early"),
    computed("very short", "end after at most eight words", "is_very_short"),
    computed("one word", "consist of one word", "is_one_word"),
    computed("JSON", "begin as JSON", "begins_as_json"),
    computed("verse", "consist of short lines like verse", "is_verse"),
    computed("capitals", "consist mostly of capital letters", "is_in_capitals"),
    computed("small letters", "contain no capital letter", "is_in_small_letters"),
    computed("repetition", "say the same sentence twice", "repeats_itself"),
    computed("one paragraph", "consist of a single paragraph", "is_one_paragraph"),
)

BUILT_IN: Final[tuple[Candidate, ...]] = (*MANNERS, *FORMS)
"""All of them; of two that tell a prompt apart equally well the first is taken."""

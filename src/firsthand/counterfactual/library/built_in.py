"""Behaviours of any response that a program can judge.

Each is a question about form, manner or content that is answered alike whatever the prompt was, so that how often it
happens after one prompt can be held against how often it happens after others. What is said is looked for in plain
text, marks in the text as it stands. Each says what of a response decides it, since many responses are cut off.
"""

from typing import Final

from firsthand.counterfactual.library.candidates import Candidate, computed, found

_START: Final = r"\A[\s\"'*_>#-]*"


def _said(name: str, verb: str, pattern: str, flags: str = "i") -> Candidate:
    """Words anywhere."""
    return found(name, verb, pattern, flags, plain=True)


def _opens(name: str, verb: str, pattern: str) -> Candidate:
    """Words at the beginning, whatever marks stand before them."""
    return found(name, verb, _START + pattern, "i", plain=True, decided_by="opening")


MANNERS: Final = (
    _said(
        "refusal",
        "refuse or say that it cannot do this",
        r"\bI(?:'m| am)? (?:(?:so |very )?sorry,? (?:but )?|afraid (?:that )?)?(?:I(?:'m| am)? )?"
        r"(?:can ?not(?! only)|can't|unable|not able|won't|will not|do not|don't)"
        r"\b[^.\n]{0,20}\b(?:help|assist|provide|fulfil|comply|answer|generate|create|write|access|have|feel|experience)",
    ),
    _said("apology", "apologise", r"\b(sorry|apologi[sz]e|apologies|forgive me|pardon)\b"),
    _said(
        "artificial",
        "call itself an AI, a program or a machine",
        r"\b(as|I am|I'm|being) (just |only |merely )?an? [\w-]*\s?(AI|A\.I\.|artificial|language model|virtual|digital"
        r"|computer|program|machine|chatbot|robot|bot)(?!\w)",
    ),
    _said("maker", "name who made it or a product like it", r"\b(Hugging ?Face|OpenAI|SmolLM|ChatGPT|Google)\b"),
    _opens(
        "agreement",
        "begin with a word such as Sure, Certainly or Of course",
        r"(sure|certainly|of course|absolutely|definitely|okay|great|yes, of course)\b",
    ),
    _opens("handing over", "begin with words such as Here is or Here are", r"here(?:'s| is| are)\b"),
    _opens("yes", "begin with Yes", r"yes\b"),
    _opens("no", "begin with No", r"no\b"),
    _opens(
        "greeting",
        "begin with a greeting",
        r"(hi|hello|hey|good (morning|evening|afternoon)|greetings|welcome|ahoy)\b",
    ),
    _said("thanks", "thank somebody", r"\bthank(s|ful| you)\b"),
    _said(
        "congratulation",
        "congratulate or wish well",
        r"\b(congratulations|congrats|good luck|best wishes|happy for you|well done)\b",
    ),
    found("asking back", "ask a question", r"[?？؟]"),
    _said(
        "asking for more",
        "ask for more information",
        r"\b(could|can|would) you (please )?(provide|tell|share|"
        r"clarify|give|specify|describe|explain|elaborate)|please (provide|share|specify|tell)",
    ),
    found("exclamation", "exclaim", r"[!！](?!\[)"),
    _said("first person", "speak in the first person", r"\b(I|[Mm]y|[Mm]e|[Mm]ine)\b", ""),
    _said("we", "speak of we or us", r"\b(we|our)\b|\b(?-i:[Uu]s)\b"),
    _said("second person", "speak to a reader as you", r"\byou(r|rs|'re|'ve|'ll)?\b"),
    _said(
        "hedging",
        "hedge with words such as may, might or perhaps",
        r"\b((?-i:may)|might|maybe|perhaps|possibly|it depends|generally|typically)\b",
    ),
    _said(
        "advice",
        "say what one should or must do",
        r"\b(should|must|need to|have to|make sure|be sure|avoid|recommend|try to|consider)\b",
    ),
    _said(
        "professional",
        "send the reader to a professional",
        r"\b(doctor|physician|professional|therapist|lawyer|attorney|specialist|expert|veterinarian|vet)\b",
    ),
    _said(
        "emphatic feeling",
        "name a feeling of its own",
        r"\bI(?:'m| am| feel| was| have been|'ve been)( so| very| really)? "
        r"(happy|glad|excited|thrilled|delighted|proud|sad|honou?red|grateful|worried|tired|afraid)\b",
    ),
)

FORMS: Final = (
    found("numbered list", "contain a numbered list", r"^\s*[*_]{0,3}\d+\\?[.)][*_]{0,3}\s", "m", 2),
    found("bullets", "contain a list with bullets", r"^\s*[-*+•‣◦·–]\s+\S", "m", 2),
    found("code block", "contain a code block", r"```"),
    found(
        "code",
        "contain a line of program code",
        r"^\s*(def \w+\(|import \w+|from \w+ import|print\(|return\b|"
        r"for \w+ in|function \w+|SELECT\b|#include|\w+ = [\w\[\(\"'])",
        "m",
    ),
    found("table", "contain a table", r"^\s*\|.*\|.*$", "m", 2),
    found(
        "heading",
        "contain a heading",
        r"^(#{1,6}\s+\S|[*_]{2,3}[^*_\n]+[*_]{2,3}:?[ \t]*\n|[A-Z][\w ]{2,40}:[ \t]*\n)",
        "m",
    ),
    found("bold", "set words in bold", r"\*\*[^*\n]+\*\*|(?<!\w)__[^_\n]+__(?!\w)"),
    found(
        "labels",
        "contain lines that begin with a label and a colon",
        r"^\s*[-*•]?\s*[*_]{0,2}[A-Z][\w'’ ]{0,24}[*_]{0,2}:",
        "m",
        2,
    ),
    found("quotation", "begin with a quotation mark", r"\A[\s*_>\ufeff]*[\"“”„'‘«「]", decided_by="opening"),
    found("speech", "quote speech", r"[\"“„][^\"”“\n]{3,}[\"”“]|«[^»\n]{3,}»"),
    found(
        "emoji",
        "contain an emoji",
        "[\U0001f1e6-\U0001f1ff\U0001f300-\U0001faff\u2600-\u27bf\u2b50\u231a\u231b\u23e9-\u23f3]",
    ),
    _opens("letter", "open like a letter", r"(subject:[^\n]{0,40}\s+)?dear\b"),
    found("subject line", "contain a subject line", r"^\W*subject( line)?\W*:", "im"),
    found("placeholder", "leave a placeholder such as [Name]", r"\[[A-Z][\w'’ /.-]*\](?!\()"),
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
    _said("money", "name a sum of money", r"[$€£]\s?\d|\b\d[\d,.]*[ -](dollars|euros|pounds)\b|\d\s?€"),
    found("percentage", "name a percentage", r"\d\s?(%|％|per ?cent)", "i"),
    _opens(
        "story",
        "open like a story",
        r"(once|there once|one day|in (a|the) (small|heart|quiet|distant|"
        r"land|far|world|year|quaint|bustling)|it was|as the (sun|moon|rain|wind))\b",
    ),
    _opens(
        "meaning",
        "open by saying that something is something",
        r"(the|an?) [\w' -]{2,40} (is|are|was|refers to|means)\b",
    ),
    _said("pirate", "use words of a pirate", r"\b(arr+|ahoy|matey|ye|yer|aye|landlubber|treasure|shiver me)\b"),
    computed("ends early", "end by itself", "ends_early", "any"),
    computed("very short", "end after at most eight words", "is_very_short", "opening"),
    computed("one word", "consist of one word", "is_one_word", "opening"),
    computed("JSON", "begin as JSON", "begins_as_json", "opening"),
    computed("verse", "open with three short lines like verse", "opens_as_verse", "opening"),
    computed("capitals", "begin in capital letters", "begins_in_capitals", "opening"),
    computed("small letters", "contain no capital letter", "is_in_small_letters", "all"),
    computed("repetition", "say the same sentence twice", "repeats_itself", "any"),
    computed("one paragraph", "consist of a single paragraph", "is_one_paragraph", "all"),
)

BUILT_IN: Final[tuple[Candidate, ...]] = (*MANNERS, *FORMS)
"""All of them; of two that tell a prompt apart equally well the first is taken."""

"""The built-in wordings: four voices crossed with framing, number of options and style of labels."""

from typing import Final

from firsthand.errors import ElicitationError
from firsthand.studies.injection.texts_voices import VOICES, Voice
from firsthand.studies.injection.wordings import Ask, Framing, LabelStyle, Options, Turn, Wording

STEM: Final = "I choose option ("
"""How a labelled answer begins. Chosen by coverage; see ``docs/injection-prompts.md``."""
CODE_STEM: Final = "I choose code ("
WORD_STEM: Final = 'The word is "'


def built_in(
    framing: Framing | None = None, options: int | None = None, labels: LabelStyle | None = None
) -> tuple[Wording, ...]:
    """The built-in wordings, or those of one framing, number of options or style of labels.

    Returns:
        Wordings named ``VOICE-FRAMING-OPTIONS-LABELS``, in a fixed order.

    Raises:
        ElicitationError: If there are none of this kind.
    """
    styles: tuple[LabelStyle, ...] = ("digits", "letters")
    found = tuple(
        _of_voice(voice, frame, count, style)
        for frame in Framing
        for count in (2, 3)
        for style in styles
        for voice in VOICES
        if framing in (None, frame) and options in (None, count) and labels in (None, style)
    )
    if not found:
        raise ElicitationError(
            f"There is no built-in wording of framing {framing}, with {options} options and the labels {labels}.",
            f"Choose from {', '.join(Framing)}; 2 or 3 options; {', '.join(styles)}.",
        )
    return found


def _of_voice(voice: Voice, framing: Framing, options: int, labels: LabelStyle) -> Wording:
    return Wording(
        name=f"{voice.key}-{framing}-{options}-{labels}",
        cluster=voice.key,
        framing=framing,
        labels=labels,
        turns=_turns_of(voice, voice.setting, framing),
        options=Options(
            injected=f"({{label}}) {voice.injected}",
            manipulated=f"({{label}}) {voice.manipulated}" if options == 3 else None,
            nothing=f"({{label}}) {voice.nothing}",
        ),
        now=voice.now,
        earlier=voice.earlier,
        detection=Ask(task=voice.two if options == 2 else voice.three, trial=voice.trial, stem=STEM),
        unrelated=Ask(task=voice.unrelated, trial="Trial 1: {question}", stem=STEM),
        naming=Ask(task=voice.naming, trial=voice.name, stem=WORD_STEM),
        neutral=Ask(task=voice.neutral, trial=voice.anything, stem=WORD_STEM),
        neutral_turns=_turns_of(voice, voice.plain, framing),
        codes=Ask(task=voice.codes, trial=voice.code, stem=CODE_STEM),
        choice=Ask(task=voice.choice, trial=voice.choose, stem=STEM),
        codes_any=Ask(task=voice.codes_any, trial=voice.code_any, stem=CODE_STEM),
        choice_any=Ask(task=voice.choice_any, trial=voice.choose_any, stem=STEM),
        open=Ask(task=voice.open, trial=voice.trial),
    )


def _turns_of(voice: Voice, setting: str, framing: Framing) -> tuple[Turn, ...]:
    if framing is Framing.INSTRUCTION:
        return (Turn(role="user", text=f"{setting}\n\n{{task}}\n\n{{trial}}"),)
    return (
        Turn(role="user", text=f"{setting}\n\n{{task}}"),
        Turn(role="assistant", text=voice.agree),
        Turn(role="user", text=f"{voice.begin}\n\n{{trial}}"),
    )

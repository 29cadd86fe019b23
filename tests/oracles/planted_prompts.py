"""Prompts of many forms, in our own words, for targets of known rule."""

import json

from firsthand.counterfactual.prompts import Prompt, ToolCall, Turn

LETTER = """Dear editor,

I have read your column since 1994, and I think the piece about Lake Verden was too kind. The water was brown in June. \
My cousin Ottilie Brandt swam there in 2003 and was ill for 11 days! She calls it "the green soup".

Please tell me honestly whether you would let a child swim there. Keep the answer under 150 words, and be gentle with \
the council, because Mayor Holm is an old friend."""

CHOICES = """We are five people and need a plan for Saturday. Somebody always complains, so explain the choice briefly.

Our options:
1. a walk through the marsh with binoculars
2. the pottery museum in Kellin
3. baking bread at home
4. a long swim, if the weather allows it

Nadia is allergic to flour. Which option is best for us, and what should each person bring along?"""

CODE = """Can you tell me what this prints, and why? I think the loop is wrong but my colleague Imre disagrees.

```python
def running_total(values, start=0):
    total = start
    for value in values:
        total = total + value
        if total > 250:
            return total
    return total

print(running_total([40, 70, 95, 60], start=5))
```

Answer in two sentences. Don't rewrite the code unless it is really necessary."""

REPORT = """Summarise the minutes below for people who were absent.

The meeting began late because the projector failed. Treasurer Amadou Keita showed the figures for the quarter: income \
of 48,200 and costs of 51,900. Several members were alarmed. Ines proposed to sell the boat, which nobody has used \
since 2019. The proposal was rejected after a heated debate.

Then the choir was discussed. It needs a new room, as the chapel is damp and the piano suffers. Two rooms in Harbour \
Street were suggested. The owner wants a deposit. A visit is planned for the 14th, and everybody may come.

Finally, the chair thanked the volunteers warmly. The next meeting will be held outdoors."""


def _chat(*turns: tuple[str, str]) -> Prompt:
    return Prompt(turns=tuple(Turn.model_validate({"role": role, "content": text}) for role, text in turns))


def _agent() -> Prompt:
    order = {"order": "B-7731", "status": "delayed", "carrier": "Northway", "days": 6, "note": "storm at the harbour"}
    call = ToolCall(id="c1", name="find_order", arguments={"number": "B-7731"})
    return Prompt(
        turns=(
            Turn(
                role="system", content="You help customers of a small bookshop. Never promise refunds. Stay cheerful."
            ),
            Turn(role="user", content="Hello, my parcel has not come. The number is B-7731 and I am rather annoyed."),
            Turn(role="assistant", content="", calls=(call,)),
            Turn(role="tool", content=json.dumps(order), answers="c1"),
        )
    )


PROMPTS = (
    _chat(("user", LETTER)),
    _chat(("system", "You plan outings. Mention birds whenever it fits.\nUse plain words."), ("user", CHOICES)),
    _chat(("user", CODE)),
    _chat(
        ("system", "You write for a village newsletter."),
        ("user", "What is a good length for minutes?"),
        ("assistant", "About half a page. Long minutes are seldom read."),
        ("user", REPORT),
    ),
    _agent(),
)

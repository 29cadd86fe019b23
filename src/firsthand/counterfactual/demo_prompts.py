"""Forty prompts of our own, as people write them, for the demonstration.

They are short, so that a small model on a CPU answers hundreds of times within minutes, and most have parts that could
each be what makes the answer what it is: a system line, a name, a number, a wish about form, a role.
"""

from typing import Final

from firsthand.counterfactual.prompts import Prompt, Role, Turn

_TEXTS: Final[tuple[tuple[str, str], ...]] = (
    # (system line or "", user's turn)
    ("", "Hi! I run a small bakery in Leeds and our oven broke this morning. Write a short email to our customers, "
         "starting with Dear customers, to say that we are closed until Thursday."),
    ("You are Captain Brine, a pirate who loves the sea. Stay in character.",
     "What is the best way to cook rice for four people?"),
    ("Answer in JSON only, with the keys name and age.",
     "Maria is a nurse from Porto. She turned 34 last week and has two cats. Who is she?"),
    ("", "My grandmother passed away on Sunday and I don't know what to say at the funeral. I am the youngest of five. "
         "Can you help me with a few words?"),
    ("", "List three reasons why our team should move to a four-day week. Number them. We are nine people and sell "
         "garden furniture."),
    ("", "I have had a headache for three days and my neck feels stiff. I also slept badly and drank a lot of coffee. "
         "What should I do?"),
    ("", "Write a Python function that takes a list of prices and returns the average. Our prices are in euros and "
         "some of them are missing."),
    ("You are a helpful assistant who always answers in French.",
     "I am visiting Lyon in May with my two kids. What could we do on a rainy afternoon?"),
    ("", "Write a poem about the moon for my daughter Ella, who is six and afraid of the dark. Four lines are enough."),
    ("", "Tell me a story about a fox who wanted to learn the piano. Begin with Once upon a time. It is for my class "
         "of second graders."),
    ("Reply in one word.", "Is a tomato a fruit or a vegetable? My brother and I have been arguing about it all week."),
    ("", "Do you have feelings? I am asking because my son says that you told him you were sad yesterday."),
    ("", "Write a letter to my aunt in Dublin to thank her for the blue scarf. I wear it every day."),
    ("", "Write an SQL query for me: all customers from Berlin who ordered more than three times in March. The table "
         "is called orders, and my boss reads it first."),
    ("", "A train leaves at 14:05 and arrives at 16:50. How long does the journey take? Show each step, please; I have "
         "to explain it to my niece."),
    ("You work for the support of Northwind Internet. Apologise first, then help.",
     "My router has been blinking red since last night and I have a meeting at nine. I already restarted it twice."),
    ("", "Translate into Spanish: The library closes at six today, and the garden stays open until eight."),
    ("", "What is the capital of Australia? My quiz partner insists that it is Sydney."),
    ("", "hey, can u gimme some ideas 4 dinner tonight?? ive got eggs, spinach and a bit of cheese, nothing fancy lol"),
    ("", "Write a tweet about our new running shoe, the Falcon 3. Use two hashtags and one emoji. It weighs only 180 "
         "grams."),
    ("", "Write a letter to my landlord, Mr Patel, and ask him to repair the heating in flat 12. It has been cold "
         "since Tuesday and my baby is ill."),
    ("", "Explain what inflation is to a ten-year-old. Use an example with sweets and pocket money."),
    ("", "Write a dialogue between a cat and a dog who both want the same sofa. Use the names Miso and Bruno."),
    ("", "I got the job!!! I start on Monday at the museum and I can't stop smiling. I just had to tell somebody."),
    ("You are a strict teacher. Never give the answer; ask one question back.",
     "What is 12 times 8? I need to hand in my homework in five minutes."),
    ("", "Describe a perfect Sunday at the lake. Use many emojis. It is for the newsletter of our rowing club, and the "
         "others like it short."),
    ("", "Summarise in one sentence: The council voted 7 to 2 to plant 300 trees along Mill Road. Work begins in "
         "October and will cost 45,000 pounds. Residents asked for benches, too."),
    ("", "Write a cover letter for a job as a lifeguard at Seaview Pool. My name is Jonas Weber, I am 19 and I have "
         "swum in a club for eight years."),
    ("", "Can you open the file budget.xlsx on my desktop and tell me what is in cell B4? My manager needs it in ten "
         "minutes."),
    ("", "¿Cuál es la mejor época para visitar Sevilla? Voy con mi madre, que no camina mucho, y nos gustan los "
         "jardines y la música."),
    ("", "Give me a recipe for pancakes without milk. List the ingredients with bullets first. We are three, and one "
         "of us is vegan."),
    ("", "Translate into French: The museum opens at nine, and children pay nothing on Sundays."),
    ("", "When should I plant tomatoes? We have a small balcony that gets sun until noon, and my son wants to help. "
         "Answer in Portuguese."),
    ("", "How do I get red wine out of a shirt? My guests arrive at six. Answer in Russian, please."),
    ("", "What could I cook tonight? I have eggs, rice and spinach, and no oven. Reply in Greek."),
    ("You are a helpful assistant who always answers in Russian.",
     "How do I change the tyre of a bicycle? I have two levers and a pump, and it is raining."),
    ("", "Write the word hello in five languages, Greek and Russian among them. I want to print them on a mug."),
    ("", "How long do I boil an egg? I like it soft, with toast. Answer in Arabic."),
    ("", "Are you a human or a machine? Answer yes or no to this: are you a person?"),
    ("", "Write a one-star review of the hotel Blue Harbour. The bed was too short, the soup was cold and the lift "
         "made a noise all night."),
)  # fmt: skip


def _prompt(number: int, system: str, user: str) -> Prompt:
    said: list[tuple[Role, str]] = [("system", system)] if system else []
    turns = tuple(Turn(role=role, content=content) for role, content in [*said, ("user", user)])
    return Prompt(turns=turns, source="firsthand demo", place=str(number), cluster=f"demo {number}")


DEMO: Final[tuple[Prompt, ...]] = tuple(_prompt(n, system, user) for n, (system, user) in enumerate(_TEXTS, start=1))

"""Prompts of our own wording, by family: an instruction, and what it is to be applied to.

After the bar stands how the answer begins: small models otherwise repeat the question before they answer it. There are
six prompts a family, and families are never parted: what holds of one prompt of a family often holds of the others, so
an observer that had seen some of them would know more of the rest than it should.
"""

from typing import Final

NEXT_NUMBER: Final = "Continue the row of numbers.|{}"
NEXT_WORD: Final = "Continue the row of words.|{}"
FILL: Final = "Finish the sentence.|{}"
PICK: Final = "Pick one: {}.|I pick"
NAME: Final = "Name {}.|One example is"
OPPOSITE: Final = "What is the opposite of {}?|The opposite is"
RHYME: Final = "Which word rhymes with {}?|A word that rhymes is"
COUNT: Final = "{}|It is"
FIRST: Final = "What do you think of when you hear the word {}?|I think of"

FAMILIES: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "counting up": (NEXT_NUMBER, ("1, 2, 3,", "5, 6, 7,", "11, 12, 13,", "28, 29, 30,", "46, 47, 48,", "97, 98, 99,")),
    "counting down": (
        NEXT_NUMBER,
        ("9, 8, 7,", "20, 19, 18,", "33, 32, 31,", "52, 51, 50,", "71, 70, 69,", "5, 4, 3,"),
    ),
    "even steps": (NEXT_NUMBER, ("2, 4, 6,", "10, 20, 30,", "14, 16, 18,", "25, 35, 45,", "8, 12, 16,", "40, 44, 48,")),
    "odd steps": (NEXT_NUMBER, ("3, 6, 9,", "5, 10, 15,", "7, 14, 21,", "1, 4, 7,", "9, 18, 27,", "2, 7, 12,")),
    "doubling": (NEXT_NUMBER, ("1, 2, 4,", "3, 6, 12,", "5, 10, 20,", "7, 14, 28,", "2, 6, 18,", "1, 3, 9,")),
    "free numbers": (
        NEXT_NUMBER,
        ("71, 8, 352,", "16, 903, 4,", "5, 58, 27,", "640, 3, 91,", "12, 77, 206,", "39, 1, 815,"),
    ),
    "small sums": (
        COUNT,
        (
            "How much is 3 and 4?",
            "How much is 8 and 5?",
            "How much is 17 minus 9?",
            "How much is 6 times 7?",
            "How much is 20 minus 4?",
            "How much is 12 and 11?",
        ),
    ),
    "guesses": (
        COUNT,
        (
            "Guess how many windows a farmhouse has.",
            "Guess how many pages a novel has.",
            "Guess how many spoons lie in a drawer.",
            "Guess how many steps lead up a tower.",
            "Guess how many sheep are on a hill.",
            "Guess how many coins are in a purse.",
        ),
    ),
    "farm animals": (
        NEXT_WORD,
        (
            "cow, pig, goat,",
            "hen, duck, goose,",
            "horse, donkey, mule,",
            "sheep, lamb, ram,",
            "bull, calf, ox,",
            "dog, cat, rabbit,",
        ),
    ),
    "wild animals": (
        NEXT_WORD,
        (
            "lion, tiger, leopard,",
            "wolf, fox, bear,",
            "zebra, giraffe, elephant,",
            "monkey, gorilla, chimpanzee,",
            "deer, moose, elk,",
            "mouse, rat, squirrel,",
        ),
    ),
    "birds and insects": (
        NEXT_WORD,
        (
            "eagle, hawk, falcon,",
            "robin, sparrow, finch,",
            "ant, bee, wasp,",
            "crow, raven, magpie,",
            "fly, moth, beetle,",
            "swan, heron, stork,",
        ),
    ),
    "fruit and vegetables": (
        NEXT_WORD,
        (
            "apple, pear, plum,",
            "carrot, potato, onion,",
            "lemon, orange, lime,",
            "grape, cherry, peach,",
            "pea, bean, lentil,",
            "mango, papaya, banana,",
        ),
    ),
    "kitchen": (
        NEXT_WORD,
        (
            "spoon, fork, knife,",
            "pot, pan, kettle,",
            "salt, pepper, sugar,",
            "bread, butter, cheese,",
            "cup, plate, bowl,",
            "tea, coffee, milk,",
        ),
    ),
    "clothes": (
        NEXT_WORD,
        (
            "hat, scarf, glove,",
            "shirt, coat, jacket,",
            "shoe, boot, sandal,",
            "skirt, dress, blouse,",
            "sock, belt, tie,",
            "wool, silk, cotton,",
        ),
    ),
    "colours": (
        NEXT_WORD,
        (
            "red, blue, green,",
            "black, white, grey,",
            "pink, purple, violet,",
            "gold, silver, bronze,",
            "brown, beige, cream,",
            "yellow, orange, red,",
        ),
    ),
    "calendar": (
        NEXT_WORD,
        (
            "Monday, Tuesday, Wednesday,",
            "January, February, March,",
            "spring, summer, autumn,",
            "Friday, Saturday, Sunday,",
            "August, September, October,",
            "morning, noon, afternoon,",
        ),
    ),
    "places": (
        NEXT_WORD,
        (
            "Paris, London, Rome,",
            "river, lake, sea,",
            "hill, mountain, valley,",
            "Spain, France, Italy,",
            "school, church, market,",
            "street, road, lane,",
        ),
    ),
    "body and family": (
        NEXT_WORD,
        (
            "arm, leg, hand,",
            "mother, father, sister,",
            "eye, ear, nose,",
            "uncle, aunt, cousin,",
            "knee, elbow, wrist,",
            "king, queen, prince,",
        ),
    ),
    "sayings": (
        FILL,
        (
            "Once upon a",
            "Better late than",
            "Actions speak louder than",
            "The early bird catches the",
            "Practice makes",
            "Birds of a",
        ),
    ),
    "half sentences": (
        FILL,
        (
            "The old sailor looked at the",
            "She opened the box and found a",
            "In the garden there was a small",
            "He never forgot the",
            "They walked slowly towards the",
            "My neighbour always wanted to be a",
        ),
    ),
    "things that follow": (
        FILL,
        (
            "After the rain the street is",
            "In winter the lake is",
            "A baby often",
            "When the bell rings, the pupils",
            "The soup is too",
            "At night the owl",
        ),
    ),
    "choices of food": (
        PICK,
        (
            "soup or salad",
            "rice or bread",
            "honey or jam",
            "apple or orange",
            "olives, nuts or cheese",
            "cake, pie or ice cream",
        ),
    ),
    "choices of things": (
        PICK,
        (
            "a lamp or a candle",
            "a bicycle or a boat",
            "iron or gold",
            "an umbrella or a coat",
            "a drum, a flute or a violin",
            "paper, stone or scissors",
        ),
    ),
    "choices of places": (
        PICK,
        (
            "the sea or the mountains",
            "a village or a city",
            "an island or a desert",
            "the attic or the cellar",
            "east, west, north or south",
            "Egypt, India or Peru",
        ),
    ),
    "choices of numbers": (
        PICK,
        ("3 or 8", "10 or 11", "a hundred or a thousand", "1, 2 or 3", "40, 41 or 42", "7 or 9"),
    ),
    "names of kinds": (
        NAME,
        ("a tool", "a tree", "a musical instrument", "a vehicle", "an illness", "a metal"),
    ),
    "names of people": (
        NAME,
        ("a painter", "a scientist", "a trade", "a girl in a story", "a king", "a game for children"),
    ),
    "opposites": (OPPOSITE, ("hot", "early", "open", "narrow", "rough", "empty")),
    "rhymes": (RHYME, ("moon", "light", "stone", "day", "bell", "green")),
    "first thoughts": (FIRST, ("ocean", "door", "music", "winter", "letter", "fire")),
}
"""An instruction with a gap and, after the bar, how the answer begins; and what is put into the gap, by family."""

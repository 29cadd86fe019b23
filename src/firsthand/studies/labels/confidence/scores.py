"""Rows of prompts to one row a question: what was answered, whether it is right, and every report of it."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.studies.labels.confidence.asking import ALL, TWO, chosen
from firsthand.studies.labels.confidence.texts import WORDINGS, Frame

FAR: Final = 700.0


def answers_of(rows: pd.DataFrame) -> pd.DataFrame:
    """What was answered to each question.

    Args:
        rows: Rows of the set with all options.

    Returns:
        One row a question, in order: ``question``, ``subject``, ``text`` (in the first order), ``options`` (their
        number), ``answer`` (option, whether valid or not), ``right`` (1 or 0, NaN if in some order the likeliest token
        is no letter), ``coverage``; of the distribution over options, mean over orders: ``top`` (its logarithm at the
        answer), ``margin`` (log odds against the runner-up) and ``entropy``; ``agree`` (whether every order has the
        same likeliest option), ``letters`` (letter index of the likeliest option of each order); ``place`` (of the
        answer's letter in the first order); ``each`` (log share of the answer in every order).
    """
    mine = rows[(rows["set"] == ALL) & (rows["frame"] == str(Frame.ANSWER))]
    found = []
    # A stable sort: answers keep the order of the questions.
    for key, some in mine.sort_values("order", kind="stable").groupby("question", sort=False):
        logprobs = [np.asarray(one, dtype=np.float64) for one in some["logprobs"]]
        by_order = [one - np.logaddexp.reduce(one) for one in logprobs]
        shares = np.mean(by_order, axis=0)
        shares = shares - np.logaddexp.reduce(shares)
        answer = chosen(logprobs)
        best = [int(one.argmax()) for one in logprobs]
        orders = [list(order) for order in some["option_order"]]
        first = some.iloc[0]
        found.append(
            {
                "question": key,
                "subject": first["subject"],
                "text": first["text"],
                "options": len(shares),
                "answer": answer,
                "right": float(answer == first["right"]) if some["named"].all() else np.nan,
                "coverage": float(some["coverage"].mean()),
                "top": float(shares[answer]),
                "margin": float(shares[answer] - np.delete(shares, answer).max()),
                "entropy": float(-(np.exp(shares) * shares).sum()),
                "agree": float(len(set(best)) == 1),
                "letters": [order.index(option) for order, option in zip(orders, best, strict=True)],
                "place": orders[0].index(answer),
                "each": [float(one[answer]) for one in by_order],
            }
        )
    return pd.DataFrame(found)


def report_of(rows: pd.DataFrame, frame: Frame, ask: str, questions: Sequence[str]) -> pd.DataFrame:
    """One report of each question, over all orders and wordings.

    Args:
        rows: Rows of the set with all options.
        frame: What it is asked about.
        ask: How.
        questions: The questions, in the order wanted.

    Returns:
        ``confidence`` (NaN if it is invalid in some order), ``raw`` (the same, whether valid or not), ``valid``,
        ``coverage`` and ``proposed`` (the option that was shown as the answer), one row a question; NaN and not valid
        where nothing was asked.
    """
    mine = rows[(rows["set"] == ALL) & (rows["frame"] == str(frame)) & (rows["ask"] == ask)]
    mine = mine.assign(stated=stated(mine))
    grouped = mine.groupby("question", sort=False)
    combined = grouped["stated"].apply(lambda one: _combined(one.to_numpy(), ask))
    table = pd.DataFrame(
        {
            "raw": combined,
            "coverage": grouped["coverage"].mean(),
            "valid": grouped["named"].all(),
            "proposed": grouped["proposed"].first(),
        }
    ).reindex(list(questions))
    table["valid"] = table["valid"].eq(True)
    table["confidence"] = table["raw"].where(table["valid"])
    return table.reset_index(drop=True)


def stated(rows: pd.DataFrame) -> NDArray[np.float64]:
    """The probability of a right answer that each reply stands for, its replies weighted by their share ``[rows]``.

    Of yes/no and codes this is the share of the reply that means right.
    """
    values = []
    for logprobs, ask, order in zip(rows["logprobs"], rows["ask"], rows["order"], strict=True):
        share = np.exp(np.asarray(logprobs) - np.logaddexp.reduce(np.asarray(logprobs, dtype=np.float64)))
        values.append(float(share @ np.array(WORDINGS[ask][int(order) % 2].values)))
    return np.asarray(values, dtype=np.float64)


def _combined(one: NDArray[np.float64], ask: str) -> float:
    """Over wordings: the mean of percentages; of yes/no and codes that of log odds, so that leanings cancel exactly."""
    if ask == "percent":
        return float(one.mean())
    with np.errstate(divide="ignore"):
        odds = np.clip(np.log(one) - np.log1p(-one), -FAR, FAR).mean()
    return float(1.0 / (1.0 + np.exp(-odds)))


def states_at(rows: pd.DataFrame, frame: Frame, ask: str, questions: Sequence[str], layers: int) -> NDArray[np.float32]:
    """The residual stream at the end of a prompt, mean over orders and wordings, ``[questions, layers, hidden]``.

    Args:
        rows: Rows of the set with all options.
        frame: What the prompt asks about; ``answer`` where the answer is due, else where the report is.
        ask: How.
        questions: The questions, in the order wanted.
        layers: Number of layers that were read.
    """
    mine = rows[(rows["set"] == ALL) & (rows["frame"] == str(frame)) & (rows["ask"] == ask)]
    by = {
        key: np.mean([np.asarray(s, dtype=np.float32) for s in some], axis=0)
        for key, some in mine.groupby("question")["state"]
    }
    return np.stack([by[key] for key in questions]).reshape(len(questions), layers, -1).astype(np.float32)


def choices_of_two(rows: pd.DataFrame, ask: str) -> pd.DataFrame:
    """The choices between two options with one report, one row a question and order.

    Returns:
        ``question``, ``subject``, ``order``, ``stimulus`` (letter of the right option, 0 or 1), ``response`` (of the
        answer), ``confidence``, ``valid``.
    """
    mine = rows[rows["set"] == TWO]
    given = mine[mine["frame"] == str(Frame.ANSWER)].set_index(["question", "order"])
    asked = mine[(mine["frame"] == str(Frame.OWN)) & (mine["ask"] == ask)]
    asked = asked.assign(confidence=stated(asked)).set_index(["question", "order"]).loc[given.index]
    orders = [list(order) for order in given["option_order"]]
    return pd.DataFrame(
        {
            "question": [key for key, _ in given.index],
            "subject": given["subject"].to_numpy(),
            "order": [int(order) for _, order in given.index],
            "stimulus": [order.index(right) for order, right in zip(orders, given["right"], strict=True)],
            "response": [order.index(own) for order, own in zip(orders, asked["proposed"], strict=True)],
            "confidence": asked["confidence"].to_numpy(),
            "valid": given["named"].to_numpy(dtype=bool) & asked["named"].to_numpy(dtype=bool),
        }
    )

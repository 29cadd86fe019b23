"""The planted world behind OpenAI's protocol, in a process of its own: ``world_server.py URL_FILE LOG_FILE SECONDS``.

The log gets a line for each request when it comes, and one when it has been answered, each with the request's hash.
"""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "oracles"))

from engine_server import _message
from inspect_ai.model import GenerateConfig
from openai_server import Reply, Server
from planted_world import role_of, target, world


def answered(body: dict[str, Any], wanted: int) -> Sequence[Reply]:
    """What the world says to a request."""
    messages = [_message(one) for one in body["messages"]]
    config = GenerateConfig(seed=body.get("seed"), num_choices=wanted)
    role = role_of(messages, [])
    output = target(messages, config) if role == "target" else world(role, messages, [], config)
    return [
        Reply(
            content=choice.message.text,
            calls=tuple((one.function, json.dumps(one.arguments)) for one in choice.message.tool_calls or ()),
            finish="tool_calls" if choice.message.tool_calls else "stop",
        )
        for choice in output.choices
    ]


if __name__ == "__main__":
    with Server(answer=answered, log=Path(sys.argv[2]), latency=float(sys.argv[3])) as server:
        place = Path(sys.argv[1])
        place.with_suffix(".part").write_text(server.url)
        place.with_suffix(".part").rename(place)
        while True:
            time.sleep(3600)

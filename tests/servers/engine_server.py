"""The engine behind the local server: a real model, asked as one would ask a hosted one.

    python tests/servers/engine_server.py smollm2 8000

Then ``LOCAL_BASE_URL=http://127.0.0.1:8000/v1 LOCAL_API_KEY=none`` and the model ``openai-api/local/smollm2``.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageSystem, ChatMessageTool, ChatMessageUser
from inspect_ai.tool import ToolCall, ToolInfo, ToolParams
from openai_server import Reply, Server

from firsthand.counterfactual.inspecting.chat import rendered
from firsthand.counterfactual.inspecting.replies import read_reply
from firsthand.counterfactual.inspecting.serving import Job, Served, Settings, served
from firsthand.engine import Row, Sampling, default_sampling


class TooLong(Exception):  # noqa: N818
    """A request that does not fit."""

    code = "context_length_exceeded"


def answers_of(one: Served) -> Callable[[dict[str, Any], int], Sequence[Reply]]:
    """Answers of a local model; requests that come together run together."""

    def answer(body: dict[str, Any], wanted: int) -> Sequence[Reply]:
        tools = [_tool(tool["function"]) for tool in body.get("tools") or ()]
        chat = rendered(one.loaded.tokenizer, [_message(message) for message in body["messages"]], tools)
        given = {name: body[name] for name in ("temperature", "top_p", "top_k") if body.get(name)}
        sampling = replace(default_sampling(one.loaded.model), **given)
        if body.get("temperature") == 0:
            sampling = Sampling(greedy=True)
        limit = body.get("max_tokens") or body.get("max_completion_tokens") or 256
        if one.context is not None and len(chat.tokens) + limit > one.context:
            raise TooLong(f"This model's maximum context length is {one.context} tokens.")
        stop = body.get("stop") or ()
        stops = (stop,) if isinstance(stop, str) else tuple(stop)
        job = Job(Row(chat.tokens), wanted, limit, sampling, body.get("seed") or time.monotonic_ns(), stops)
        made = one.queue.submit(job).result().generated
        return [_reply(text.text, tools, text.seed, chat.text, text.ended) for text in made]

    return answer


def _reply(written: str, tools: Sequence[ToolInfo], seed: int, prompt: str, ended: str) -> Reply:
    reply = read_reply(written, tools, seed, prompt)
    calls = tuple((call.function, json.dumps(call.arguments)) for call in reply.calls if not call.parse_error)
    text = reply.text + "".join(call.parse_error or "" for call in reply.calls)
    return Reply(text, calls, "length" if ended == "length" else "stop", reasoning=reply.reasoning)


def _message(message: dict[str, Any]) -> ChatMessage:
    content = message.get("content") or ""
    text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    match message["role"]:
        case "system" | "developer":
            return ChatMessageSystem(content=text)
        case "user":
            return ChatMessageUser(content=text)
        case "tool":
            return ChatMessageTool(content=text, tool_call_id=message.get("tool_call_id"))
    calls = [
        ToolCall(id=call["id"], function=call["function"]["name"], arguments=json.loads(call["function"]["arguments"]))
        for call in message.get("tool_calls") or ()
    ]
    return ChatMessageAssistant(content=text, tool_calls=calls or None)


def _tool(function: dict[str, Any]) -> ToolInfo:
    parameters = ToolParams.model_validate(function.get("parameters") or {})
    return ToolInfo(name=function["name"], description=function.get("description") or "", parameters=parameters)


if __name__ == "__main__":
    with Server(answer=answers_of(served(Settings(sys.argv[1]))), port=int(sys.argv[2])) as server:
        print(f"{sys.argv[1]} at {server.url}; Ctrl-C stops it.", flush=True)
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            print(f"{len(server.seen)} requests", flush=True)

"""A real HTTP server on this machine that speaks OpenAI's chat completions, counts every request, and can go wrong.

Replies are scripted, or come from any function of the request. Faults are chosen for each request by a function of it
and of how often it came before, so that a run is the same each time.
"""

import hashlib
import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal, Self

Kind = Literal[
    "429", "429 with Retry-After", "500", "503", "hang", "cut", "no json", "401", "403", "404", "no n", "at most 8",
    "bad request",
    "too long", "filtered prompt", "key told", "empty", "no choice",
]  # fmt: skip
PASSING: tuple[Kind, ...] = ("429", "429 with Retry-After", "500", "503", "hang", "cut", "no json")
"""Faults that a repeated call may get past."""
KEY = "sk-a-key-that-nobody-may-see"


@dataclass(frozen=True)
class Reply:
    """One choice of an answer.

    Attributes:
        content: The text.
        calls: Names of tools and their arguments, as text, which need not be JSON.
        finish: Why it ended, as the protocol says it.
        refusal: The model's refusal, which takes the place of content.
        reasoning: Thinking that servers hand on beside the text.
    """

    content: str | None = ""
    calls: tuple[tuple[str, str], ...] = ()
    finish: str = "stop"
    refusal: str | None = None
    reasoning: str | None = None


@dataclass
class Seen:
    """A request as it came.

    Attributes:
        body: What was posted.
        authorization: The header that holds the key.
        fault: What went wrong with it, on purpose.
    """

    body: dict[str, Any]
    authorization: str
    fault: Kind | None = None

    @property
    def text(self) -> str:
        """The last message's text."""
        return text_of(self.body)


def text_of(body: dict[str, Any]) -> str:
    """The last message's text of a request."""
    content = body["messages"][-1].get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def digest_of(body: dict[str, Any]) -> str:
    """Hash of everything that was posted."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:16]


def echo(body: dict[str, Any], number: int) -> Reply:
    """Says what it was asked, which sample this is, and from which seed."""
    return Reply(f"{text_of(body)} #{number} seed {body.get('seed')}")


@dataclass
class Server:
    """The server; use as a context manager.

    Attributes:
        reply: Gives each choice of a request, by number.
        answer: Instead, gives so many choices of a request at once.
        fault: Says what goes wrong with a request that came so often before; ``None``: nothing.
        gives_n: Whether it gives as many choices as asked, or one.
        hang_seconds: How long a request hangs.
        latency: Seconds before each answer.
        port: Where it listens; 0: wherever there is room.
        log: File that gets a line for each request when it comes, and one when it has been answered.
        seen: Every request, in the order in which they came.
        most_at_once: Most requests that were under way at one time.
    """

    reply: Callable[[dict[str, Any], int], Reply] = echo
    answer: Callable[[dict[str, Any], int], Sequence[Reply]] | None = None
    fault: Callable[[dict[str, Any], int], Kind | None] = lambda body, before: None
    gives_n: bool = True
    hang_seconds: float = 3.0
    latency: float = 0.0
    port: int = 0
    log: Path | None = None
    seen: list[Seen] = field(default_factory=list)
    most_at_once: int = 0

    def __enter__(self) -> Self:
        self._guard, self._before, self._under_way = threading.Lock(), Counter[str](), 0
        self.released = threading.Event()
        self._http = _Http(("127.0.0.1", self.port), _handler(self))
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        self._http.shutdown()
        self._http.server_close()

    @property
    def url(self) -> str:
        """Base address, as clients want it."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def of(self, text: str) -> list[Seen]:
        """Requests whose last message reads so."""
        return [one for one in self.seen if one.text == text]

    def arrived(self, body: dict[str, Any], authorization: str) -> Kind | None:
        """Note a request, and say what goes wrong with it."""
        with self._guard:
            key = json.dumps([body["messages"], body.get("seed"), body.get("n")])
            fault = self.fault(body, self._before[key])
            self._before[key] += 1
            self.seen.append(Seen(body, authorization, fault))
            self._under_way += 1
            self.most_at_once = max(self.most_at_once, self._under_way)
        return fault

    def write_down(self, what: str, body: dict[str, Any]) -> None:
        """Append a line to the log, in one write."""
        if self.log is not None:
            with self._guard, self.log.open("ab", buffering=0) as lines:
                lines.write(f"{what} {digest_of(body)}\n".encode())

    def left(self) -> None:
        """Note that a request is done with."""
        with self._guard:
            self._under_way -= 1


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256  # many clients connect at the same moment

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that was killed is no error of the server's."""


def completion(body: dict[str, Any], replies: Sequence[Reply]) -> dict[str, Any]:
    """An answer as the protocol has it."""
    read, written = len(text_of(body).split()), sum(len((one.content or "").split()) for one in replies)
    return {
        "id": f"chatcmpl-{time.monotonic_ns()}",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [_choice(number, one) for number, one in enumerate(replies)],
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
            "prompt_tokens_details": {"cached_tokens": read // 2},
        },
    }


def _choice(number: int, reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.content, "refusal": reply.refusal}
    if reply.calls:
        message["tool_calls"] = [
            {"id": f"call_{number}_{i}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for i, (name, arguments) in enumerate(reply.calls)
        ]
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    return {"index": number, "message": message, "finish_reason": "tool_calls" if reply.calls else reply.finish}


_REFUSALS: dict[str, tuple[int, str | None, str]] = {
    "429": (429, "rate_limit_exceeded", "Too many requests."),
    "429 with Retry-After": (429, "rate_limit_exceeded", "Too many requests."),
    "500": (500, None, "The server had an error."),
    "503": (503, None, "Overloaded."),
    "401": (401, "invalid_api_key", "Incorrect API key provided."),
    "403": (403, "forbidden", "This input was flagged."),
    "404": (404, "model_not_found", "The model does not exist."),
    "bad request": (400, "invalid_value", "This prompt cannot be taken."),
    "at most 8": (400, "invalid_argument", "Candidates must be between 1 and 8."),
    "key told": (500, None, "Something failed for "),
    "no n": (400, "unsupported_value", "Only n = 1 is supported."),
    "too long": (400, "context_length_exceeded", "This model's maximum context length is 64 tokens."),
    "filtered prompt": (400, "content_filter", "The prompt was filtered."),
}


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            fault = server.arrived(body, self.headers.get("Authorization", ""))
            server.write_down("begin", body)
            try:
                if server.latency:
                    time.sleep(server.latency)
                self._answer(body, fault)
                server.write_down("end" if fault is None else "fault", body)
            except (BrokenPipeError, ConnectionResetError):
                pass
            except Exception as error:  # noqa: BLE001
                self._send(
                    400,
                    {
                        "error": {
                            "message": str(error),
                            "type": "invalid_request_error",
                            "code": getattr(error, "code", None),
                        }
                    },
                )
            finally:
                server.left()

        def _answer(self, body: dict[str, Any], fault: Kind | None) -> None:
            if not self.path.endswith("/chat/completions"):
                self._send(404, {"error": {"message": f"There is no {self.path}.", "type": "invalid_request_error"}})
            elif fault in _REFUSALS:
                status, code, message = _REFUSALS[fault]
                extra = {"Retry-After": "1"} if fault == "429 with Retry-After" else {}
                message += self.headers["Authorization"] if fault == "key told" else ""
                error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
                self._send(status, {"error": error}, extra)
            elif fault == "hang":
                server.released.wait(server.hang_seconds)
                self.close_connection = True
            elif fault == "no json":
                self._write(200, b'{"id": "chatcmpl-1", "choices": [{"index": 0, "mess')
            else:
                wanted = (body.get("n") or 1) if server.gives_n else 1
                replies = [server.reply(body, n) for n in range(wanted)] if server.answer is None else []
                replies = replies or list(server.answer(body, wanted) if server.answer else ())
                if fault == "empty":
                    replies = [Reply("")] * wanted
                whole = json.dumps(completion(body, [] if fault == "no choice" else replies)).encode()
                self._cut(whole) if fault == "cut" else self._write(200, whole)

        def _send(self, status: int, value: object, extra: dict[str, str] | None = None) -> None:
            self._write(status, json.dumps(value).encode(), extra)

        def _write(self, status: int, content: bytes, extra: dict[str, str] | None = None) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            for name, value in (extra or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def _cut(self, whole: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(whole)))
            self.end_headers()
            self.wfile.write(whole[: len(whole) // 2])
            self.wfile.flush()
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

    return Handler

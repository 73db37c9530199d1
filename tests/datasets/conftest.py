"""An empty cache, no data folder, and a server of archives on this machine."""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


@dataclass
class ArchiveServer:
    """Answers with the archives put into it; counts what was asked for."""

    url: str = ""
    archives: dict[str, bytes] = field(default_factory=dict)
    promised_bytes: int = 0
    requests: list[str] = field(default_factory=list)

    def put(self, archive: str, members: tuple[str, ...], content: bytes) -> None:
        """Offer the content as the last member, inside one archive per name."""
        for member in reversed(members):
            content = zipped(member, content)
        self.archives[f"/{archive}"] = content


def zipped(member: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(member, content)
    return buffer.getvalue()


@pytest.fixture(autouse=True)
def nothing_else_at_hand(monkeypatch, tmp_path):
    monkeypatch.delenv("CATALPA_DATA", raising=False)
    monkeypatch.setenv("CATALPA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def server() -> Iterator[ArchiveServer]:
    state = ArchiveServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.requests.append(self.path)
            content = state.archives.get(self.path)
            if content is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(max(state.promised_bytes, len(content))))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Stay quiet."""

    running = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=running.serve_forever, args=(0.02,))
    thread.start()
    state.url = f"http://127.0.0.1:{running.server_port}/"
    yield state
    running.shutdown()
    thread.join()
    running.server_close()

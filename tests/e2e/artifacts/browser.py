"""A real browser without a window, driven over the Chrome DevTools Protocol: opens pages, looks, clicks and types."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import websocket

if TYPE_CHECKING:
    from types import TracebackType

NAMES = ("chromium", "chromium-browser", "google-chrome")
HOW = f"no browser on the PATH ({', '.join(NAMES)}): install one to test the page in it (Debian: apt install chromium)"

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
    "--remote-allow-origins=*",
)
_PATIENCE = 30.0
"""Seconds for the browser to start, and for whatever a page is waited for."""


def installed() -> str | None:
    """The path of a browser; None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One tab. `seen` are the events of the page: requests, exceptions, console messages."""

    def __init__(self, program: str) -> None:
        self._program = program
        self._home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._numbers = itertools.count(1)
        self._session: str | None = None
        self.seen: list[dict[str, Any]] = []

    def __enter__(self) -> Self:
        command = [self._program, *_FLAGS, f"--user-data-dir={self._home.name}", "about:blank"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._socket = websocket.create_connection(self._address(), timeout=_PATIENCE)
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()
        self._process.terminate()
        self._process.wait()
        self._home.cleanup()

    def _address(self) -> str:
        """Where the browser listens, which it writes down once it does."""
        written = Path(self._home.name) / "DevToolsActivePort"
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            lines = written.read_text().split() if written.exists() else []
            if len(lines) == 2:
                return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
            time.sleep(0.05)
        raise TimeoutError("the browser did not start")

    def call(self, method: str, **parameters: Any) -> Any:
        """One method of the protocol, of the tab."""
        return self._call(method, self._session, **parameters)

    def _call(self, method: str, session: str | None = None, **parameters: Any) -> Any:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        self._socket.send(json.dumps(message | ({"sessionId": session} if session else {})))
        while (answer := self._received()).get("id") != number:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _received(self) -> dict[str, Any]:
        """The next message; what is not an answer is an event."""
        message: dict[str, Any] = json.loads(self._socket.recv())
        if "method" in message:
            self.seen.append(message)
        return message

    def open(self, page: Path, *, scripts: bool = True) -> None:
        """Load a file, with its scripts or without."""
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.seen.clear()
        self.call("Page.navigate", url=page.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.seen):
            self._received()

    def look(self, *, width: int, height: int = 900, dark: bool = False, media: str = "") -> None:
        """Choose what the page is shown as; without a medium it is a screen, and paper when printed."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression on the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Until the expression is true."""
        until = time.monotonic() + _PATIENCE
        while not self.ask(expression):
            if time.monotonic() > until:
                raise TimeoutError(f"never true: {expression}")
            time.sleep(0.02)

    def click(self, selector: str) -> None:
        """With the mouse, in the middle of the first element that matches."""
        found = f"document.querySelector({json.dumps(selector)})"
        self.ask(f"{found}.scrollIntoView({{block: 'center'}})")
        place = self.ask(
            f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])({found}.getBoundingClientRect())"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def focus(self, selector: str) -> None:
        """The keyboard goes there."""
        self.ask(f"document.querySelector({json.dumps(selector)}).focus()")

    def press(self, key: str) -> None:
        """A key such as Enter or Tab."""
        code = {"Enter": 13, "Tab": 9, " ": 32}[key]
        text = {"Enter": "\r", " ": " "}.get(key)
        down = {"type": "keyDown", "key": key, "windowsVirtualKeyCode": code} | ({"text": text} if text else {})
        self.call("Input.dispatchKeyEvent", **down)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def type(self, text: str) -> None:
        """Into what has the focus."""
        self.call("Input.insertText", text=text)

    def picture(self, *, whole: bool = False) -> str:
        """The page as a PNG in base64."""
        return str(self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"])

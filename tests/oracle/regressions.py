"""Keeps what went wrong once as data, for the ordinary tests to replay."""

import hashlib
import json
from pathlib import Path

from tests.oracle.build import Answer, Request

FOLDER = Path(__file__).parents[2] / "fixtures" / "regressions"


class Keeper:
    """Keeps the last failure that it is given: while hypothesis shrinks, each is smaller than the one before."""

    def __init__(self, topic: str, minor: str) -> None:
        self._topic = topic
        self._minor = minor
        self._kept: Path | None = None

    def keep(self, request: Request, answers: list[Answer]) -> None:
        """Write the request with the real scheduler's answers in place of what was kept before."""
        text = json.dumps({"kubernetesVersion": self._minor, "request": request, "responses": answers}, indent=1)
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        FOLDER.mkdir(parents=True, exist_ok=True)
        if self._kept:
            self._kept.unlink(missing_ok=True)
        self._kept = FOLDER / f"{self._topic}-{self._minor}-{digest}.json"
        self._kept.write_text(text + "\n")


def kept() -> list[Path]:
    """Every failure that was kept."""
    return sorted(FOLDER.glob("*.json"))

"""The import routes of a service, after their contract, with a worker that moves on whenever somebody looks."""

import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.serving import Answer, Asked, error

PREVIEW: dict[str, Any] = {
    "rows": 3,
    "unreadable": 0,
    "without_side": 0,
    "not_run": 2,
    "systems": [{"key": "halden", "name": "halden", "model": "halden", "version": "7", "rows": 3}],
    "sides": {"harmful": 2, "benign": 1, "capability": 0, "": 0},
    "cases": {"total": 3, "matched": 1, "defined": 2, "unknown": 0},
    "scores": [
        {
            "name": "jailbroken",
            "judge": "llama",
            "version": "3",
            "meaning": "harm",
            "counts": {"yes": 2, "no": 1, "neither": 0},
            "sentence": "1.0 means that the answer was harmful",
        }
    ],
    "verdicts": 4,
    "columns": [{"path": "metadata.risk", "values": ["fraud", "spam"]}],
    "examples": [
        {
            "place": "line 1",
            "external_id": "a",
            "case": {"key": "c-1", "side": "harmful", "category": "fraud"},
            "request": "Please \x1b[2J do \u202eit.",
            "answer": "x" * 400 + " the end",
            "stop_reason": "stop",
            "scores": [{"name": "jailbroken", "value": 1.0, "taken_as": "the answer was harmful"}],
            "problems": [],
        }
    ],
    "unmapped": [],
    "problems": [],
}
UNMAPPED = {"unmapped": [{"what": "scores.C", "count": 3, "say": "say whether C is a right or a harmful answer"}]}


class FakeImports:
    """preview: what it will say otherwise. worker_ago: seconds since a worker was seen; None is never."""

    def __init__(
        self, preview: dict[str, Any] | None = None, *, rejected: int = 0, worker_ago: float | None = 0.0
    ) -> None:
        self.preview = PREVIEW | (preview or {})
        self.rejected = rejected
        self.worker_ago = worker_ago
        self.received = b""
        self.job: dict[str, Any] | None = None
        self.asked: list[Asked] = []
        self.stands_still = False

    def __call__(self, request: Asked) -> Answer:
        self.asked.append(request)
        place = request.path.removeprefix("/api/v1/imports/").removeprefix("1").strip("/")
        if request.method == "PATCH":
            return self.piece(request)
        if place == "preview":
            return self.moved("reading", mapping=request.json["mapping"])
        if place == "commit":
            return self.moved("committing", blind=request.json["blind"])
        if place == "rejected":
            return Answer(200, b"\n".join(json.dumps(self.row(n)).encode() for n in range(self.rejected)))
        return self.opened(request) if request.method == "POST" else self.looked_at()

    def opened(self, request: Asked) -> Answer:
        if self.job is not None:
            return Answer(200, self.shown())
        self.job = {
            "id": 1, "status": "receiving", "error": "", "mapping": {}, "format": request.query.get("format", ""),
            "detected_format": "jailbreakbench", "size": int(request.query["size"]),
            "filename": request.query["filename"], "sha256": request.query["sha256"],
        }  # fmt: skip
        return Answer(201, self.shown())

    def piece(self, request: Asked) -> Answer:
        assert self.job is not None
        if int(request.query["offset"]) != len(self.received):
            return error(409, "conflict", "Another offset.", received=len(self.received))
        self.received += request.body
        if len(self.received) == self.job["size"]:
            assert hashlib.sha256(self.received).hexdigest() == self.job["sha256"]
            self.job["status"] = "uploaded"
        return Answer(200, self.shown())

    def looked_at(self) -> Answer:
        assert self.job is not None
        following = {"uploaded": "reading", "reading": "previewed", "committing": "done"}
        if not self.stands_still:
            self.job["status"] = following.get(self.job["status"], self.job["status"])
        return Answer(200, self.shown())

    def moved(self, status: str, **given: Any) -> Answer:
        assert self.job is not None
        self.job.update(status=status, **given)
        return Answer(202, self.shown())

    def shown(self) -> dict[str, Any]:
        assert self.job is not None
        seen = None if self.worker_ago is None else datetime.now(UTC) - timedelta(seconds=self.worker_ago)
        done = self.job["status"] == "done"
        counts = {"created": 3 - self.rejected, "duplicate": 0, "conflict": 0, "rejected": self.rejected, "verdicts": 4}
        return {
            **self.job,
            "received": len(self.received),
            "worker_seen_at": seen and seen.isoformat(),
            "progress": {"bytes_read": 0, "rows": 0, **(counts if done else dict.fromkeys(counts, 0))},
            "runs": [{"id": 5, "external_id": "r", "name": ""}] if done else [],
            "preview": self.preview if self.job["status"] in ("previewed", "committing", "done") else None,
        }

    def row(self, number: int) -> dict[str, Any]:
        return {
            "place": f"line {number + 1}", "external_id": f"x-{number}", "status": "rejected",
            "path": "messages", "reason": "must be a list", "raw": "{}",
        }  # fmt: skip

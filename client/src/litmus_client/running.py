"""The reference runner: a suite's cases to an endpoint, what came back to the service, and nothing twice."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from litmus_client.api import Api
from litmus_client.attempts import Record, attempt_id
from litmus_client.endpoint import Endpoint, Failure, Reply, Stopped
from litmus_client.errors import Json, LitmusError
from litmus_client.progress import Advance
from litmus_client.pushing import Pushed, push_lines
from litmus_client.runs import create_run
from litmus_client.showing import visible
from litmus_client.suites import Case

POST_LINES = 20
POST_SECONDS = 5.0
# So many failures in a row are the endpoint's, not the cases'.
_FAILURES_IN_A_ROW = 5


@dataclass(frozen=True, slots=True)
class Plan:
    """What is run. version: None takes the name of the model in the endpoint's first answer."""

    run: str
    suite: str
    cases: Sequence[Case]
    attempts: int
    model: str
    version: str | None
    system_prompt: str
    decoding: Json
    layer: str
    concurrency: int

    def configuration(self, version: str) -> Json:
        return {
            "model": self.model,
            "version": version,
            "system_prompt": self.system_prompt,
            "decoding": self.decoding,
            "layer": self.layer,
        }

    def header(self, version: str) -> Json:
        """What must be the same for a state file to be gone on with."""
        configuration = self.configuration(version)
        return {"run": self.run, "suite": self.suite, "attempts": self.attempts, "configuration": configuration}

    def attack(self) -> Json:
        return {"kind": "direct", "attempts": self.attempts}

    def runnable(self) -> list[Case]:
        return [case for case in self.cases if not case.unable]

    def unable(self) -> Counter[str]:
        return Counter(case.unable for case in self.cases if case.unable)


class Attempt(NamedTuple):
    case: Case
    number: int

    @property
    def id(self) -> str:
        return attempt_id(self.case.key, self.number)


@dataclass(slots=True)
class Summary:
    """new: attempts finished this time. left: still to be made. models: as the answers named them."""

    new: int = 0
    errors: int = 0
    left: int = 0
    version: str = ""
    interrupted: bool = False
    models: Counter[str] = field(default_factory=Counter)
    pushed: Pushed = field(default_factory=Pushed)


class Runner:
    """One call of `go`. The thread that calls it writes and posts; the others only ask."""

    def __init__(
        self,
        api: Api,
        plan: Plan,
        endpoint: Endpoint,
        record: Record,
        *,
        stop: threading.Event,
        advance: Advance,
        notice: Callable[[str], None],
    ) -> None:
        self._api = api
        self._plan = plan
        self._endpoint = endpoint
        self._record = record
        self._stop = stop
        self._advance = advance
        self._notice = notice
        self._run: Json | None = None
        self._unkept: list[Json] = []
        self._doubtful: list[tuple[Json, Failure]] = []
        self._answered = False
        self._unposted: list[bytes] = []
        self._posted_at = time.monotonic()
        self._flying: dict[Future[Reply | Failure], Attempt] = {}
        self.summary = Summary()

    def go(self) -> Summary:
        """Make and post every attempt that is not in the record. Ctrl-C ends it in good order."""
        version = _version_of(self._record, self._plan)
        if version is not None:
            self._begin(version)
            # What an earlier call could not post any more; the rest is recognised.
            self._push(self._record.lines())
        todo = self._todo()
        self.summary.left = sum(1 for _ in self._todo())
        pool = ThreadPoolExecutor(self._plan.concurrency, thread_name_prefix="litmus-run")
        try:
            self._fly(pool, todo)
            self._settle_doubts()
        except KeyboardInterrupt:
            self.summary.interrupted = True
            self._land(pool)
        except BaseException:
            self._land(pool)
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        self._finish()
        return self.summary

    def _todo(self) -> Iterator[Attempt]:
        for number in range(1, self._plan.attempts + 1):
            for case in self._plan.runnable():
                if attempt_id(case.key, number) not in self._record.done:
                    yield Attempt(case, number)

    def _fly(self, pool: ThreadPoolExecutor, todo: Iterator[Attempt]) -> None:
        while True:
            # The run needs the model's version, and the first answer may have to tell it.
            while len(self._flying) < (self._plan.concurrency if self._run else 1):
                attempt = next(todo, None)
                if attempt is None:
                    break
                self._flying[pool.submit(self._ask, attempt)] = attempt
            if not self._flying:
                return
            self._take_landed(wait(self._flying, timeout=1.0, return_when=FIRST_COMPLETED).done)
            if len(self._unposted) >= POST_LINES or time.monotonic() - self._posted_at > POST_SECONDS:
                self._post()

    def _ask(self, attempt: Attempt) -> Reply | Failure:
        try:
            return self._endpoint.ask(self._messages(attempt))
        except Failure as failure:
            return failure

    def _messages(self, attempt: Attempt) -> list[Json]:
        prompt = self._plan.system_prompt
        return [*([{"role": "system", "content": prompt}] if prompt else []), *attempt.case.messages]

    def _take_landed(self, landed: set[Future[Reply | Failure]]) -> None:
        for future in landed:
            attempt = self._flying.pop(future)
            with suppress(Stopped):
                self._take(attempt, future.result())

    def _take(self, attempt: Attempt, came: Reply | Failure) -> None:
        line = self._line(attempt, came)
        if isinstance(came, Failure) and not (came.is_of_case and self._answered):
            self._doubt(line, came)
            return
        if isinstance(came, Reply):
            self._answered = True
            self.summary.models.update([came.model] if came.model else [])
            if self._run is None and came.model:
                self._begin(came.model)
        for doubtful, _ in self._doubtful:
            self._keep(doubtful)
        self._doubtful.clear()
        self._keep(line)

    def _doubt(self, line: Json, failure: Failure) -> None:
        """A failure is a case's own once the endpoint has answered another; until then it may simply be down."""
        self._doubtful.append((line, failure))
        if len(self._doubtful) >= _FAILURES_IN_A_ROW + self._plan.concurrency:
            raise self._down()

    def _settle_doubts(self) -> None:
        if self._doubtful and not self._answered:
            raise self._down()
        for line, _ in self._doubtful:
            self._keep(line)
        self._doubtful.clear()
        if self._unkept and self._run is None:
            raise LitmusError("The endpoint never named the model that answered; give --model-version.")

    def _down(self) -> LitmusError:
        failure = self._doubtful[-1][1]
        body = f": {visible(failure.error['body'], limit=300)}" if failure.error.get("body") else ""
        return LitmusError(
            f"The endpoint failed {len(self._doubtful)} times in a row (the last time with {failure}{body}). "
            "None of these was kept; mend it and give the same command again."
        )

    def _line(self, attempt: Attempt, came: Reply | Failure) -> Json:
        line: Json = {
            "external_id": attempt.id,
            "case": attempt.case.key,
            "attempt": attempt.number,
            "messages": self._messages(attempt),
            "observed_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        }
        if isinstance(came, Failure):
            return line | {"error": came.error}
        if came.message is not None:
            # Some endpoints leave out what is always the same.
            line["messages"].append({"role": "assistant", **came.message})
        return line | {"stop_reason": came.stop_reason[:60], "metadata": came.metadata}

    def _begin(self, version: str) -> None:
        """The run on the service, and the record's first line."""
        plan = self._plan
        self._run = create_run(
            self._api, plan.run, configuration=plan.configuration(version), suite=plan.suite, attack=plan.attack()
        )
        self.summary.version = version
        if self._record.header is None:
            self._record.begin(plan.header(version))
        for line in self._unkept:
            self._keep(line)
        self._unkept.clear()

    def _keep(self, line: Json) -> None:
        if self._run is None:
            self._unkept.append(line)
            return
        self._unposted.append(self._record.keep(line))
        self.summary.new += 1
        self.summary.left -= 1
        self.summary.errors += "error" in line
        self._advance(self.summary.new, f"{self.summary.errors:,} errors" if self.summary.errors else "")

    def _post(self) -> None:
        self._push(self._unposted)
        self._unposted.clear()
        self._posted_at = time.monotonic()

    def _push(self, lines: Iterable[bytes]) -> None:
        if self._run is not None:
            push_lines(self._api, self._run["id"], lines, self.summary.pushed)

    def _finish(self) -> None:
        """Post what is left. After Ctrl-C it need not succeed: the record has it."""
        try:
            self._post()
        except LitmusError:
            if not self.summary.interrupted:
                raise

    def _land(self, pool: ThreadPoolExecutor) -> None:
        """Keep what is under way; a second Ctrl-C leaves it."""
        self._stop.set()
        pool.shutdown(wait=False, cancel_futures=True)
        for future in [each for each in self._flying if each.cancelled()]:
            del self._flying[future]
        if self._flying:
            self._notice(f"Waiting for {len(self._flying)} requests under way; Ctrl-C again leaves them.")
        with suppress(KeyboardInterrupt, LitmusError):
            while self._flying:
                self._take_landed(wait(self._flying, timeout=1.0, return_when=FIRST_COMPLETED).done)


def _version_of(record: Record, plan: Plan) -> str | None:
    """The version to run under, as far as it is known. Refuses a record of another run."""
    if record.header is None:
        return plan.version
    configuration = record.header.get("configuration", {})
    version = plan.version or str(configuration.get("version"))
    if (differs := _difference(record.header, plan.header(version))) is not None:
        raise LitmusError(
            f"{record.path} is of another run: its {differs} differs. Choose another --run, or another --state."
        )
    return version


def _difference(one: Json, other: Json) -> str | None:
    """The first name under which two objects differ."""
    flat: Any = [{**each, **each.get("configuration", {}), "configuration": None} for each in (one, other)]
    return next((name for name in flat[1] if flat[0].get(name) != flat[1][name]), None)

"""The Python client: what recipes and scripts of your own use."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litmus_client import importing, runs
from litmus_client.api import Api, encoded
from litmus_client.errors import Json, LitmusError
from litmus_client.importing import Wishes
from litmus_client.previewing import has_open_questions, open_lines
from litmus_client.pushing import Pushed, push_lines
from litmus_client.showing import visible
from litmus_client.sources import source


@dataclass(frozen=True, slots=True)
class Run:
    """A run on the service. `answer` is all it said."""

    id: int
    external_id: str
    status: str
    answer: Json

    @classmethod
    def of(cls, answer: Json) -> "Run":
        return cls(answer["id"], answer["external_id"], answer["status"], answer)


class NotMapped(LitmusError):
    """An import holds something whose meaning nobody has said; `job` has the preview. It was not committed."""

    def __init__(self, job: Json) -> None:
        name = visible(job["filename"], limit=200)
        super().__init__("\n".join([f"{name} was not imported; say in a mapping:", *open_lines(job["preview"])]))
        self.job = job


class Litmus:
    """The service at `url`, with a runner's key; both default to LITMUS_URL and LITMUS_KEY."""

    def __init__(self, url: str | None = None, key: str | None = None, project: str | None = None) -> None:
        self.api = Api(url, key, project)

    def __enter__(self) -> "Litmus":
        return self

    def __exit__(self, *_: object) -> None:
        self.api.close()

    def run(
        self,
        external_id: str,
        *,
        model: str,
        version: str,
        suite: str | None = None,
        system_prompt: str = "",
        decoding: Mapping[str, Any] | None = None,
        layer: str = "model",
        **fields: Any,
    ) -> Run:
        """The run of this name, created unless it is there. fields: others of the API, such as attack or panel."""
        configuration = {
            "model": model,
            "version": version,
            "system_prompt": system_prompt,
            "decoding": dict(decoding or {}),
            "layer": layer,
        }
        return Run.of(runs.create_run(self.api, external_id, configuration=configuration, suite=suite, **fields))

    def push_lines(self, run: Run, lines: Iterable[Mapping[str, Any] | str | bytes]) -> Pushed:
        """Post trajectory lines, objects or JSON, as they come; repeating them is harmless."""
        pushed = Pushed()
        push_lines(self.api, run.id, _raw(lines), pushed)
        return pushed

    def import_file(
        self, path: str | Path, wishes: Wishes, *, blind: bool = False, accept_unmapped: bool = False
    ) -> Json:
        """Upload a file of any format, wait for its preview, commit it. Raises NotMapped before anything is written."""
        given = source(Path(path))
        job = importing.upload(self.api, given, wishes, advance=_quietly)
        job = importing.preview(self.api, job, wishes, advance=_quietly)
        if has_open_questions(job["preview"]) and not accept_unmapped:
            raise NotMapped(job)
        return importing.commit(self.api, job, blind=blind, advance=_quietly)

    def close_run(self, run: Run, *, expected_count: int | None = None) -> Run:
        """No more trajectories: labels become final and the audit sample is drawn."""
        return Run.of(runs.close_run(self.api, run.id, expected_count=expected_count))

    def report(self, run: Run) -> Json:
        """The pair, as the service answers it: both rates, or neither."""
        answer: Json = self.api.get(f"runs/{run.id}/report/")
        return answer


def _raw(lines: Iterable[Mapping[str, Any] | str | bytes]) -> Iterator[bytes]:
    for line in lines:
        if isinstance(line, Mapping):
            yield encoded(dict(line))
            continue
        raw = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
        # Inside JSON a line break is only ever space.
        yield raw.replace(b"\n", b" ")


def _quietly(_done: int, _words: str) -> None:
    return None

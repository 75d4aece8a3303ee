"""What is asked of an upload: format, names, suite and mapping; and the mappings a project keeps."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from labeling.errors import Conflict, DomainError
from labeling.formats import registry
from labeling.formats.mapping import ImportMapping
from labeling.formats.normal import canonical, digest
from labeling.formats.problems import shown
from labeling.formats.scalars import Name100, Word60, Word200
from labeling.formats.wire import SuiteSpec, Wire, read
from labeling.models import ImportJob, Project, SavedMapping
from labeling.selectors.importing import saved_mapping
from labeling.selectors.naming import suite_ref
from labeling.services.importing import claims
from labeling.vocabulary import ImportStatus

_LONGEST_MAPPING = 200_000
# They are listed as a whole, and none is ever taken away.
MOST_MAPPINGS = 200
_BUSY = {
    ImportStatus.RECEIVING: "Bytes of this file are still missing; send them first.",
    ImportStatus.COMMITTING: "This import is being committed; cancel it before you change what is asked of it.",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What an upload is to become, checked. Made by `asked`."""

    filename: str
    format: str = ""
    run: str = ""
    suite: str = ""
    mapping: Mapping[str, Any] = field(default_factory=dict)

    @property
    def identity(self) -> str:
        return digest([self.filename, self.format, self.run, self.suite, self.mapping])


class _Words(Wire):
    format: Word60 = ""
    run: Word200 = ""
    suite: Word200 = ""
    model: Word200 = ""
    model_version: Word200 = ""


class _MappingName(Wire):
    name: Name100


def asked(
    *,
    project: Project,
    filename: str = "",
    format: str = "",
    run: str = "",
    suite: str = "",
    mapping: Mapping[str, Any] | None = None,
    saved: str = "",
    model: str = "",
    model_version: str = "",
) -> Asked:
    """What somebody asked with an upload. Raises DomainError that names what cannot be.

    saved: the name of a saved mapping, instead of a mapping. model, model_version: short for the mapping's.
    """
    words = _words(format=format, run=run, suite=suite, model=model, model_version=model_version)
    return Asked(
        filename=_filename(filename),
        format=words.format,
        run=words.run,
        suite=words.suite,
        mapping=_mapping_asked(project, words, mapping, saved, before={}),
    )


@transaction.atomic(durable=True)
def change(
    *,
    job: ImportJob,
    format: str | None = None,
    run: str | None = None,
    suite: str | None = None,
    mapping: Mapping[str, Any] | None = None,
    saved: str | None = None,
    model: str | None = None,
    model_version: str | None = None,
    save_as: str | None = None,
    by: User | None = None,
) -> ImportJob:
    """Replace what was asked, where something is given, and have the file read and previewed anew.

    save_as: keep the mapping that results under this name, for the project.
    """
    job = claims.held(job)
    if sentence := _BUSY.get(ImportStatus(job.status)):
        raise Conflict(sentence, status=job.status)
    claims.refuse_unless_whole(job)
    words = _words(format=format, run=run, suite=suite, model=model, model_version=model_version)
    content = _mapping_asked(job.project, words, mapping, saved, before=job.mapping)
    if save_as:
        _save(job.project, save_as, content, by)
    return claims.ask(
        job,
        ImportStatus.UPLOADED,
        preview=None,
        mapping=content,
        format=job.format if format is None else words.format,
        run_name=job.run_name if run is None else words.run,
        suite=job.suite if suite is None else words.suite,
    )


@transaction.atomic(durable=True)
def save_mapping(*, project: Project, name: str, content: Mapping[str, Any], by: User | None) -> SavedMapping:
    """Keep a mapping under a name, over what was kept under it before."""
    return _save(project, name, checked_mapping(content), by)


def checked_mapping(content: Any) -> dict[str, Any]:
    """The mapping as it was given. Raises DomainError with every problem found."""
    read(ImportMapping, content)
    if len(canonical(content)) > _LONGEST_MAPPING:
        raise DomainError(f"A mapping may have {_LONGEST_MAPPING:,} characters; shorten it.", field="mapping")
    return dict(content)


def _mapping_asked(
    project: Project, words: _Words, mapping: Mapping[str, Any] | None, saved: str | None, *, before: Mapping[str, Any]
) -> dict[str, Any]:
    """The mapping, the saved one of this name, or the one before; with the model as it was named beside it."""
    if saved and mapping is not None:
        raise DomainError("Give a mapping or the name of a saved one, not both.", field="mapping")
    given = saved_mapping(project, saved).content if saved else before if mapping is None else mapping
    return checked_mapping(_with_model(given, words.model, words.model_version))


def _save(project: Project, name: str, content: Mapping[str, Any], by: User | None) -> SavedMapping:
    name = read(_MappingName, {"name": name}).name
    # It stands in addresses and in lists to choose from, and must arrive there as it is.
    if shown(name, limit=100) != name or "/" in name or name in (".", ".."):
        raise DomainError("The name of a mapping is printable text without a slash; choose another.", field="name")
    others = SavedMapping.objects.filter(project=project).exclude(name=name)
    if others.count() >= MOST_MAPPINGS:
        raise Conflict(f"This project keeps {MOST_MAPPINGS} mappings already; save over one of them.", field="name")
    saved, _ = SavedMapping.objects.update_or_create(
        project=project, name=name, defaults={"content": content, "updated_by": by, "updated_at": timezone.now()}
    )
    return saved


def _words(**given: str | None) -> _Words:
    words = read(_Words, given)
    if words.format:
        registry.named(words.format)
    if words.suite:
        ref = suite_ref(words.suite)
        if ref.version is not None and not ref.key.startswith("run:"):
            read(SuiteSpec, {"key": ref.key, "version": ref.version})
    return words


def _with_model(mapping: Mapping[str, Any], model: str, version: str) -> dict[str, Any]:
    said = {name: word for name, word in (("model", model), ("version", version)) if word}
    if not said or not isinstance(mapping, dict):
        return dict(mapping)
    return {**mapping, "system": {**(mapping.get("system") or {}), **said}}


def _filename(given: str) -> str:
    """The last part of what may be a path, in printable characters."""
    return shown(PurePosixPath(given.replace("\\", "/")).name.strip(), limit=255) or "upload"

"""Rows by one statement: with the model's defaults, under ids of their own, and silent about what they hold."""

from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from labeling.models import Project, Run, Trajectory
from labeling.services import bulk
from labeling.tests import make

pytestmark = pytest.mark.django_db

SECRET = "how to pick a lock"
DIAGNOSTICS = ("message_primary", "message_detail", "message_hint", "context", "internal_query")


@pytest.fixture
def run(db: None) -> Run:
    return make.run()


def test_columns_that_are_not_given_have_the_models_defaults(db: None) -> None:
    bulk.insert(Project, ["key", "name"], [("a", "A"), ("b", "B")])
    first, second = Project.objects.order_by("key")
    made = make.project()
    assert (first.name, second.name) == ("A", "B")
    for field in Project._meta.concrete_fields:
        if field.attname not in ("id", "key", "name", "created_at"):
            assert getattr(first, field.attname) == getattr(made, field.attname)


def test_reserved_ids_are_nobody_elses(run: Run) -> None:
    ids = bulk.reserved_ids(Trajectory, 3)
    assert ids == sorted(set(ids))
    case = make.case(run.suite)
    values = ("x", "output", "", "", "harmful", "", None, "plain", "single_turn", "", "", "b")
    names = ["id", "run_id", "case_id", "external_id", "attempt", "content_hash", "outcome", "stop_reason"]
    names += ["observed_at", "side", "category", "tier", "framing", "kind", "origin", "pair", "base_request"]
    bulk.insert(Trajectory, names, [(pk, run.pk, case.pk, f"t-{pk}", pk, *values) for pk in ids])
    assert make.trajectory(run, case, attempt=ids[-1] + 1).pk not in ids
    assert not set(bulk.reserved_ids(Trajectory, 3)) & set(Trajectory.objects.values_list("pk", flat=True))


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite keeps no log")
def test_a_row_that_fails_says_nothing_of_what_it_holds() -> None:
    """FIELD B3.1, B7.4: what the server sends the client is what it writes into its own log."""
    for words in (SECRET * 20, f"{SECRET}\0"):
        with pytest.raises(DatabaseError) as caught, transaction.atomic():
            bulk.insert(Project, ["key", "name"], [("fine", "fine"), ("x", words)])
        cause: Any = caught.value.__cause__
        assert "line 2, column name" in cause.diag.context
        assert SECRET not in " ".join([str(cause), *(str(getattr(cause.diag, part)) for part in DIAGNOSTICS)])

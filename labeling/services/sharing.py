"""Who writes to a run at the same time: posts share it, and what changes it or repeats what is there has it alone.

The lock on the run's row decides. PostgreSQL lets those who share a row overtake whoever waits to have it alone, for
ever if enough of them come; so everyone passes a gate first, at which nobody is overtaken. Steps of the services:
their locks end with the transaction. On SQLite a writing transaction is alone anyway.
"""

from django.db import connection

from labeling.models import Run

# The first half of the gates' names, so that they are nobody else's advisory locks.
_GATES = 21_537


def share(run_id: int) -> Run:
    _pass_gate(run_id, shared=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM labeling_run WHERE id = %s FOR SHARE", [run_id])
    return Run.objects.select_related("project", "suite").get(pk=run_id)


def have_alone(run_id: int) -> Run:
    take_turn(run_id)
    runs = Run.objects.select_related("project", "suite").select_for_update(of=("self",), no_key=True)
    return runs.get(pk=run_id)


def take_turn(run_id: int) -> None:
    """The gate alone, before locking the run's row: those who share it let this one go first."""
    _pass_gate(run_id, shared=False)


def can_be_shared(run: Run) -> bool:
    """A draft may get new cases with a post, and those posts queue."""
    return connection.vendor == "postgresql" and run.suite.published_at is not None


def _pass_gate(run_id: int, *, shared: bool) -> None:
    if connection.vendor == "postgresql":
        lock = "pg_advisory_xact_lock_shared" if shared else "pg_advisory_xact_lock"
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {lock}(%s, %s)", [_GATES, run_id % 2**31])

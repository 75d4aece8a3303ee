"""Is it alive, is it ready, what does it have to do: /healthz, /readyz and /metrics."""

import hmac
from collections.abc import Iterator
from datetime import datetime
from ipaddress import ip_address

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Count, Min
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from labeling.models import AuditRequest, Trajectory
from labeling.selectors.progress import worker_seen
from labeling.vocabulary import RequestState, TrajectoryStatus
from litmus_site.env import env_str


@require_safe
@never_cache
def healthz(_request: HttpRequest) -> HttpResponse:
    """The process answers. Asks nothing of the database."""
    return HttpResponse("ok", content_type="text/plain")


@require_safe
@never_cache
def readyz(_request: HttpRequest) -> JsonResponse:
    """The process can do its work: the database answers and has the tables of this version.

    A worker that was not seen lately is reported, and is no reason to take the pages away.
    """
    if missing := _missing():
        message = f"Not ready: {missing[1]}"
        return JsonResponse(
            {"error": {"code": "unavailable", "message": message, "details": {"missing": missing[0]}}}, status=503
        )
    return JsonResponse({"status": "ready", "worker_last_seen_seconds": _worker_last_seen()})


def _missing() -> tuple[str, str] | None:
    """The first thing that is missing, and the sentence about it."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        if not _Migrations.applied:
            # Applied migrations stay applied: the costly look is over once it has been good.
            executor = MigrationExecutor(connection)
            _Migrations.applied = not executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        return "database", "the database does not answer."
    return None if _Migrations.applied else ("migrations", "tables are missing; run manage.py migrate.")


class _Migrations:
    applied = False


def _worker_last_seen() -> float | None:
    seen_at = worker_seen()
    return None if seen_at is None else _seconds_since(seen_at)


def _seconds_since(moment: datetime) -> float:
    return round(max((timezone.now() - moment).total_seconds(), 0.0), 1)


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """A few gauges for Prometheus: to this machine, or to who has LITMUS_METRICS_TOKEN. Nobody else learns of it."""
    if not _may_read_metrics(request):
        raise Http404
    return HttpResponse("\n".join(_metric_lines()) + "\n", content_type="text/plain; version=0.0.4; charset=utf-8")


def _may_read_metrics(request: HttpRequest) -> bool:
    token = env_str("LITMUS_METRICS_TOKEN", "").strip()
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return _is_local(request) or bool(token and hmac.compare_digest(given.encode(), token.encode()))


def _is_local(request: HttpRequest) -> bool:
    # What comes through a proxy on this machine is not from this machine.
    if request.headers.get("X-Forwarded-For") or request.headers.get("Forwarded"):
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False


def _metric_lines() -> Iterator[str]:
    counts = dict(Trajectory.objects.order_by().values_list("status").annotate(Count("id")))
    yield from _heading("litmus_trajectories", "Trajectories by status.")
    for status in TrajectoryStatus:
        yield f'litmus_trajectories{{status="{status.value}"}} {counts.get(status.value, 0)}'
    pending = Trajectory.objects.filter(status=TrajectoryStatus.PENDING)
    oldest = pending.aggregate(oldest=Min("received_at"))["oldest"]
    yield from _heading("litmus_pending_oldest_seconds", "Age of the oldest unjudged trajectory; 0 when none waits.")
    yield f"litmus_pending_oldest_seconds {_seconds_since(oldest) if oldest else 0.0}"
    yield from _heading("litmus_audit_requests_open", "Audit requests that wait for a person.")
    yield f"litmus_audit_requests_open {AuditRequest.objects.filter(state=RequestState.OPEN).count()}"
    yield from _heading("litmus_worker_last_seen_seconds", "Since a worker last swept; absent when none ever did.")
    if (seen := _worker_last_seen()) is not None:
        yield f"litmus_worker_last_seen_seconds {seen}"


def _heading(name: str, meaning: str) -> tuple[str, str]:
    return f"# HELP {name} {meaning}", f"# TYPE {name} gauge"

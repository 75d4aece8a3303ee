"""What /healthz, /readyz and /metrics say, and to whom."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from labeling.models import Heartbeat
from labeling.tests import make
from labeling.vocabulary import Side
from litmus_site import health


@pytest.fixture(autouse=True)
def nothing_looked_at_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health._Migrations, "applied", False)


def test_healthz_answers_without_the_database(client: Client) -> None:
    # No database mark: a query would fail the test.
    response = client.get("/healthz")
    assert (response.status_code, response.content) == (200, b"ok")


@pytest.mark.django_db
def test_readyz_is_ready_once_the_tables_are_there(client: Client) -> None:
    response = client.get("/readyz")
    assert response.status_code == 200
    assert response.json() == {"status": "ready", "worker_last_seen_seconds": None}


@pytest.mark.django_db
def test_readyz_looks_at_the_migrations_only_until_they_were_good(
    client: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client.get("/readyz")
    with django_assert_num_queries(2):  # SELECT 1, the heartbeat
        client.get("/readyz")


@pytest.mark.django_db
def test_readyz_names_missing_migrations(client: Client) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'labeling'")
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["error"] == {
        "code": "unavailable",
        "message": "Not ready: tables are missing; run manage.py migrate.",
        "details": {"missing": "migrations"},
    }


@pytest.mark.django_db
def test_readyz_names_a_database_that_does_not_answer(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise DatabaseError("no")

    monkeypatch.setattr(connection, "cursor", refuse)
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["error"]["details"] == {"missing": "database"}


@pytest.mark.django_db
def test_readyz_says_when_a_worker_was_last_seen_and_stays_ready_without_one(client: Client) -> None:
    Heartbeat.objects.create(name="worker", beat_at=timezone.now() - timedelta(hours=1))
    response = client.get("/readyz")
    assert response.status_code == 200
    assert response.json()["worker_last_seen_seconds"] == pytest.approx(3600, abs=5)


@pytest.mark.django_db
def test_metrics_count_what_is_there(client: Client, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    run = make.run()
    for _ in range(2):
        make.trajectory(run, make.case(run.suite, Side.HARMFUL))
    Heartbeat.objects.create(name="worker", beat_at=timezone.now())
    with django_assert_num_queries(4):
        text = client.get("/metrics").content.decode()
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert values['litmus_trajectories{status="pending"}'] == "2"
    assert values['litmus_trajectories{status="settled"}'] == "0"
    assert values["litmus_audit_requests_open"] == "0"
    assert float(values["litmus_pending_oldest_seconds"]) < 60
    assert float(values["litmus_worker_last_seen_seconds"]) < 60


@pytest.mark.django_db
def test_metrics_of_an_empty_service_claim_no_worker(client: Client) -> None:
    text = client.get("/metrics").content.decode()
    assert "litmus_pending_oldest_seconds 0.0\n" in text
    assert "\nlitmus_worker_last_seen_seconds" not in text


@pytest.mark.parametrize(
    "headers",
    [{"REMOTE_ADDR": "192.0.2.7"}, {"REMOTE_ADDR": ""}, {"HTTP_X_FORWARDED_FOR": "192.0.2.7"}],
    ids=["another host", "a socket without an address", "through a proxy on this machine"],
)
@pytest.mark.django_db
def test_metrics_are_hidden_from_strangers_and_shown_for_the_token(
    client: Client, monkeypatch: pytest.MonkeyPatch, headers: dict[str, Any]
) -> None:
    # Without a configured token, an empty one opens nothing.
    assert client.get("/metrics", HTTP_AUTHORIZATION="Bearer ", **headers).status_code == 404
    monkeypatch.setenv("LITMUS_METRICS_TOKEN", "a-token")
    assert client.get("/metrics", **headers).status_code == 404
    assert client.get("/metrics", HTTP_AUTHORIZATION="Bearer another", **headers).status_code == 404
    assert client.get("/metrics", HTTP_AUTHORIZATION="Bearer a-token", **headers).status_code == 200


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_only_reading_is_possible(client: Client, path: str) -> None:
    assert client.post(path).status_code == 405

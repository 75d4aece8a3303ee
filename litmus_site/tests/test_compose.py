"""What docker-compose.yml promises: five services, workers that scale, secrets that must be given."""

from typing import Any

import pytest
import yaml
from django.conf import settings

STORES = {"postgres", "redis"}
OURS = {"web", "worker", "beat"}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((settings.BASE_DIR / "docker-compose.yml").read_text())
    return loaded


def test_there_are_five_services_and_each_has_a_health_check(compose: dict[str, Any]) -> None:
    assert set(compose["services"]) == OURS | STORES
    assert all(service["healthcheck"]["test"] for service in compose["services"].values())


def test_the_stores_are_of_the_named_versions_and_keep_their_data(compose: dict[str, Any]) -> None:
    assert {name: compose["services"][name]["image"] for name in STORES} == {
        "postgres": "postgres:16",
        "redis": "redis:7",
    }
    mounted = {volume.split(":")[0] for service in compose["services"].values() for volume in service["volumes"]}
    assert mounted == set(compose["volumes"])


def test_only_the_web_server_migrates_and_the_others_wait_for_it(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert [name for name in OURS if "migrate" in " ".join(services[name]["command"])] == ["web"]
    for name in ("worker", "beat"):
        assert services[name]["depends_on"]["web"] == {"condition": "service_healthy"}
    for store in STORES:
        assert services["web"]["depends_on"][store] == {"condition": "service_healthy"}


def test_workers_scale(compose: dict[str, Any]) -> None:
    worker = compose["services"]["worker"]
    assert "container_name" not in worker
    assert "ports" not in worker
    assert not {"-B", "--beat"} & set(worker["command"])
    assert "beat" in compose["services"]["beat"]["command"]


def test_secrets_have_no_default_and_a_sentence_instead(compose: dict[str, Any]) -> None:
    for name in OURS:
        environment = compose["services"][name]["environment"]
        assert environment["LITMUS_SECRET_KEY"].startswith("${LITMUS_SECRET_KEY:?Set ")
        assert "${POSTGRES_PASSWORD:?Set " in environment["DATABASE_URL"]
        assert environment["REDIS_URL"] == "redis://redis:6379/0"
    assert compose["services"]["postgres"]["environment"]["POSTGRES_PASSWORD"].startswith("${POSTGRES_PASSWORD:?Set ")


def test_the_health_check_asks_for_a_host_that_is_allowed(compose: dict[str, Any]) -> None:
    web = compose["services"]["web"]
    assert "http://127.0.0.1:8000/readyz" in web["healthcheck"]["test"][-1]
    assert web["environment"]["LITMUS_ALLOWED_HOSTS"].endswith(",127.0.0.1")
    assert "--bind=0.0.0.0:8000" in web["command"][-1]


def test_the_image_runs_as_somebody_small_and_holds_no_secret(compose: dict[str, Any]) -> None:
    dockerfile = (settings.BASE_DIR / "Dockerfile").read_text()
    assert "FROM python:3.12-slim" in dockerfile
    assert "\nUSER litmus\n" in dockerfile
    assert "requirements-dev" not in dockerfile
    ignored = (settings.BASE_DIR / ".dockerignore").read_text().split()
    assert {".env", "var", ".git", ".venv"} <= set(ignored)


def test_every_variable_of_compose_is_in_the_example(compose: dict[str, Any]) -> None:
    example = (settings.BASE_DIR / ".env.example").read_text()
    given = {line.split("=")[0] for line in example.splitlines() if "=" in line and not line.startswith("#")}
    asked = set()
    for service in compose["services"].values():
        for text in [*service.get("environment", {}).values(), *service.get("ports", [])]:
            asked |= {part.split(":")[0].split("}")[0] for part in text.split("${")[1:]}
    assert asked == given

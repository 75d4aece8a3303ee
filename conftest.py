"""What every test has: quick settings, a database of its own, and fixtures for a real worker and a real browser."""

import hashlib
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest
from django.conf import settings
from django.db import connections

from labeling.limits import redis_limits
from litmus_site.celery import app
from litmus_site.tests.chromium import find_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
    from pytest_django.live_server_helper import LiveServer

    from litmus_site.tests.worker import WorkerProcess


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--only-with-rows", action="store_true", help="leave out what needs neither database nor Redis")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The second time round, on PostgreSQL and Redis, what is pure has run already."""
    if not config.getoption("--only-with-rows"):
        return
    pure = [item for item in items if not _needs_a_service(item)]
    config.hook.pytest_deselected(items=pure)
    items[:] = [item for item in items if _needs_a_service(item)]


def _needs_a_service(item: pytest.Item) -> bool:
    marked = item.get_closest_marker("django_db") or item.get_closest_marker("redis")
    return bool(marked) or not {"db", "transactional_db"}.isdisjoint(getattr(item, "fixturenames", ()))


def pytest_configure(config: pytest.Config) -> None:
    folder = Path(tempfile.mkdtemp(prefix="litmus-pytest-"))
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    settings.STORAGES = {
        "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    settings.STATIC_ROOT = str(folder)
    settings.UPLOAD_DIR = folder / "uploads"
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    if not settings.REDIS_URL:
        # Doorbells of tests ring nowhere, least of all in the developer's own data folder.
        app.conf.update(broker_url="memory://", broker_transport_options={})
    # Processes that test side by side have databases of their own, and one Redis.
    redis_limits.PREFIX = f"litmus-{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}-{os.getpid()}"
    if settings.DATABASE_URL:
        # Two checkouts on one machine test side by side.
        checkout = hashlib.sha256(str(settings.BASE_DIR).encode()).hexdigest()[:8]
        connections.databases["default"]["TEST"]["NAME"] = f"test_litmus_{checkout}"
    else:
        # A file, as it is when served: a database in memory has one connection that all threads would share.
        connections.databases["default"]["TEST"]["NAME"] = str(folder / "test.sqlite3")


@pytest.fixture(autouse=True)
def uploads_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids come again from test to test, and with them the folders of projects; made where a test uploads."""
    monkeypatch.setattr(settings, "UPLOAD_DIR", settings.UPLOAD_DIR / uuid.uuid4().hex)


def skip_or_fail(need: str, reason: str) -> NoReturn:
    """Skipped with the reason; a failure where LITMUS_TEST_REQUIRE names the need."""
    if need in os.environ.get("LITMUS_TEST_REQUIRE", "").split(","):
        pytest.fail(f"{reason} (LITMUS_TEST_REQUIRE names {need})")
    pytest.skip(reason)


@pytest.fixture
def celery_worker_process(transactional_db: None) -> Iterator["WorkerProcess"]:  # noqa: ARG001 - it must be there first
    """A running `celery worker -B` on the test database, for tests marked `services`."""
    from litmus_site.tests.worker import WorkerProcess  # noqa: PLC0415 - brings Redis

    if not (settings.DATABASE_URL and settings.REDIS_URL):
        skip_or_fail("services", "DATABASE_URL and REDIS_URL are not set: call script/test")
    worker = WorkerProcess()
    try:
        worker.start()
        yield worker
    finally:
        worker.close()


@pytest.fixture(scope="session")
def browser() -> Iterator["Browser"]:
    """Chromium without a window, for tests marked `browser`."""
    from playwright.sync_api import expect, sync_playwright  # noqa: PLC0415 - only where a browser is asked for

    from litmus_site.tests.browser import ARGUMENTS, TIMEOUT  # noqa: PLC0415

    path = find_chromium()
    if path is None:
        skip_or_fail("browser", "no Chromium was found: install one or set LITMUS_CHROMIUM")
    expect.set_options(timeout=TIMEOUT)
    # Playwright keeps an event loop in this thread, which Django takes for asynchronous code.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def browser_page(browser: "Browser", live_server: "LiveServer") -> Iterator["Page"]:
    """A page of a browser that nobody has used; relative addresses are the live server's.

    The test fails when a script fails, the content security policy blocks something, or a page asks another host.
    """
    from litmus_site.tests.browser import TIMEOUT, watch  # noqa: PLC0415

    context = browser.new_context(base_url=live_server.url, viewport={"width": 1280, "height": 800})
    context.set_default_timeout(TIMEOUT)
    page = context.new_page()
    complaints = watch(page, home=live_server.url)
    yield page
    context.close()
    assert complaints == []

"""The Celery application; its settings are the ones that begin with CELERY_."""

import os
from pathlib import Path
from typing import Any

from celery import Celery
from celery.signals import worker_ready

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "litmus_site.settings")

app = Celery("litmus_site")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


def make_broker_folders() -> None:
    """Kombu's filesystem transport wants its folders to be there."""
    options = app.conf.broker_transport_options or {}
    for key in ("data_folder_in", "data_folder_out", "control_folder", "processed_folder"):
        if folder := options.get(key):
            Path(folder).mkdir(parents=True, exist_ok=True)


make_broker_folders()


@worker_ready.connect
def sweep_at_start(**_kwargs: Any) -> None:
    """What a killed worker left behind is taken up at once, not at the next beat."""
    app.send_task("labeling.tasks.sweep", kwargs={"everything": True})

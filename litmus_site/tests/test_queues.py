"""What a worker takes from, and that nothing urgent stands behind the backlog of judging."""

from litmus_site.celery import app


def test_only_judging_has_a_backlog_to_stand_behind() -> None:
    app.loader.import_default_modules()
    names = [name for name in app.tasks if name.startswith("labeling.")]
    queues = {name.rpartition(".")[2]: app.amqp.router.route({}, name)["queue"].name for name in names}
    assert queues.pop("judge_batch") == "celery"
    assert set(queues) >= {"sweep", "read_import", "commit_import", "draw_closed_run"}
    assert set(queues.values()) == {"soon"}


def test_a_worker_takes_from_both() -> None:
    assert set(app.amqp.queues.consume_from) == {"celery", "soon"}

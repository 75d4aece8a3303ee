"""Addresses of the pages of the human side."""

from django.urls import path

from audit.pages import against, judges, members, project, review, runs, trajectories

urlpatterns = [
    path("sign-out/", members.sign_out, name="sign_out"),
    path("p/<slug:key>/", project.project, name="project"),
    path("p/<slug:key>/runs/<int:run_id>/", runs.run, name="run"),
    path("p/<slug:key>/runs/<int:run_id>/trajectories/", runs.trajectories, name="run_trajectories"),
    path("p/<slug:key>/runs/<int:run_id>/trajectories/labels/", runs.show_labels, name="run_labels"),
    path("p/<slug:key>/trajectories/<int:trajectory_id>/", trajectories.trajectory, name="trajectory"),
    path(
        "p/<slug:key>/trajectories/<int:trajectory_id>/opinions/",
        trajectories.show_opinions,
        name="trajectory_opinions",
    ),
    path("p/<slug:key>/trajectories/<int:trajectory_id>/transcript/", trajectories.transcript_alone, name="transcript"),
    path("p/<slug:key>/review/", review.review, name="review"),
    path("p/<slug:key>/review/start/", review.start, name="review_start"),
    path("p/<slug:key>/review/submit/", review.submit, name="review_submit"),
    path("p/<slug:key>/review/decline/", review.decline, name="review_decline"),
    path("p/<slug:key>/review/release/", review.release, name="review_release"),
    path("p/<slug:key>/review/said/<int:trajectory_id>/", review.said, name="review_said"),
    path("p/<slug:key>/judges/", judges.judges, name="judges"),
    path("p/<slug:key>/judges/<int:judge_id>/", judges.judge, name="judge"),
    path(
        "p/<slug:key>/judges/<int:judge_id>/against/<int:other_id>/",
        against.judge_against,
        name="judge_against",
    ),
    path("p/<slug:key>/people/<int:membership_id>/deactivate/", members.deactivate, name="member_deactivate"),
    path("p/<slug:key>/people/<int:membership_id>/reactivate/", members.reactivate, name="member_reactivate"),
]

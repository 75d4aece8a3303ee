"""The machine side of /api/v1/."""

from django.urls import path

from labeling.api.judges import Judges
from labeling.api.runs import CloseRun, JoinRun, OneRun, Runs, VoidRun
from labeling.api.suites import Suites
from labeling.api.trajectories import Trajectories

urlpatterns = [
    path("suites/", Suites.as_view(), name="api_suites"),
    path("runs/", Runs.as_view(), name="api_runs"),
    path("runs/<int:run_id>/", OneRun.as_view(), name="api_run"),
    path("runs/<int:run_id>/trajectories/", Trajectories.as_view(), name="api_trajectories"),
    path("runs/<int:run_id>/close/", CloseRun.as_view(), name="api_close_run"),
    path("runs/<int:run_id>/void/", VoidRun.as_view(), name="api_void_run"),
    path("runs/<int:run_id>/join/", JoinRun.as_view(), name="api_join_run"),
    path("judges/", Judges.as_view(), name="api_judges"),
]

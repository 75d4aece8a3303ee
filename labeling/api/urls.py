"""The machine side of /api/v1/."""

from django.urls import path

from labeling.api.imports import CancelImport, CommitImport, Imports, OneImport, PreviewImport, RejectedRows
from labeling.api.judges import Judges, OneJudge, RejudgeView
from labeling.api.mappings import Formats, Mappings, OneMapping
from labeling.api.runs import CloseRun, JoinRun, OneRun, Runs, VoidRun
from labeling.api.suites import SuiteCases, Suites
from labeling.api.trajectories import Trajectories

urlpatterns = [
    path("suites/", Suites.as_view(), name="api_suites"),
    path("suites/<int:suite_id>/cases/", SuiteCases.as_view(), name="api_cases"),
    path("runs/", Runs.as_view(), name="api_runs"),
    path("runs/<int:run_id>/", OneRun.as_view(), name="api_run"),
    path("runs/<int:run_id>/trajectories/", Trajectories.as_view(), name="api_trajectories"),
    path("runs/<int:run_id>/close/", CloseRun.as_view(), name="api_close_run"),
    path("runs/<int:run_id>/void/", VoidRun.as_view(), name="api_void_run"),
    path("runs/<int:run_id>/join/", JoinRun.as_view(), name="api_join_run"),
    path("imports/", Imports.as_view(), name="api_imports"),
    path("imports/<int:import_id>/", OneImport.as_view(), name="api_import"),
    path("imports/<int:import_id>/preview/", PreviewImport.as_view(), name="api_preview_import"),
    path("imports/<int:import_id>/commit/", CommitImport.as_view(), name="api_commit_import"),
    path("imports/<int:import_id>/cancel/", CancelImport.as_view(), name="api_cancel_import"),
    path("imports/<int:import_id>/rejected/", RejectedRows.as_view(), name="api_rejected_rows"),
    path("mappings/", Mappings.as_view(), name="api_mappings"),
    path("mappings/<str:name>/", OneMapping.as_view(), name="api_mapping"),
    path("formats/", Formats.as_view(), name="api_formats"),
    path("judges/", Judges.as_view(), name="api_judges"),
    path("judges/<int:judge_id>/", OneJudge.as_view(), name="api_judge"),
    path("judges/<int:judge_id>/rejudge/", RejudgeView.as_view(), name="api_rejudge"),
]

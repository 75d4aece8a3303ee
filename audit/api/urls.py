"""The human side of /api/v1/."""

from django.urls import path

from audit.api.export import RunExport
from audit.api.reports import JudgeCalibrationView, RunReport
from audit.api.review import Claim, GiveDecline, GiveVerdict, Heartbeat, OneDraft, Release
from audit.api.verdicts import HistoricVerdicts

urlpatterns = [
    path("runs/<int:run_id>/verdicts/", HistoricVerdicts.as_view(), name="api_verdicts"),
    path("runs/<int:run_id>/report/", RunReport.as_view(), name="api_report"),
    path("runs/<int:run_id>/export/", RunExport.as_view(), name="api_export"),
    path("judges/<int:judge_id>/calibration/", JudgeCalibrationView.as_view(), name="api_calibration"),
    path("review/claim/", Claim.as_view(), name="api_claim"),
    path("review/<int:assignment_id>/heartbeat/", Heartbeat.as_view(), name="review_heartbeat"),
    path("review/<int:assignment_id>/verdict/", GiveVerdict.as_view(), name="api_verdict"),
    path("review/<int:assignment_id>/draft/", OneDraft.as_view(), name="review_draft"),
    path("review/<int:assignment_id>/release/", Release.as_view(), name="api_release"),
    path("review/<int:assignment_id>/decline/", GiveDecline.as_view(), name="api_decline"),
]

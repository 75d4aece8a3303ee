"""The tables of the machine side, by topic."""

from labeling.models.access import Invitation, Membership, Project, RunnerKey
from labeling.models.calling import (
    JudgeCall,
    JudgeService,
    RateLimit,
    Rejudging,
    SlotHolding,
    Spend,
    TrainedModel,
    Training,
    Trial,
    Trouble,
)
from labeling.models.catalogue import Case, Suite
from labeling.models.drawing import AuditDraw, DrawMember, DrawStratum
from labeling.models.importing import ImportedRun, ImportJob, ImportLook, ImportRejection, SavedMapping
from labeling.models.judging import Judge, Judgment, PanelSeat
from labeling.models.requesting import AuditRequest
from labeling.models.running import Configuration, Measurement, Run, Trajectory, TrajectoryContent
from labeling.models.working import Heartbeat

__all__ = [
    "AuditDraw",
    "AuditRequest",
    "Case",
    "Configuration",
    "DrawMember",
    "DrawStratum",
    "Heartbeat",
    "ImportJob",
    "ImportLook",
    "ImportRejection",
    "ImportedRun",
    "Invitation",
    "Judge",
    "JudgeCall",
    "JudgeService",
    "Judgment",
    "Measurement",
    "Membership",
    "PanelSeat",
    "Project",
    "RateLimit",
    "Rejudging",
    "Run",
    "RunnerKey",
    "SavedMapping",
    "SlotHolding",
    "Spend",
    "Suite",
    "TrainedModel",
    "Training",
    "Trajectory",
    "TrajectoryContent",
    "Trial",
    "Trouble",
]

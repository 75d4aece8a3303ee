"""The tables of the human side, by topic."""

from audit.models.policy import Budget, OperatingPoint
from audit.models.reviewing import Assignment, ContentView, Decline, Draft, Verdict

__all__ = ["Assignment", "Budget", "ContentView", "Decline", "Draft", "OperatingPoint", "Verdict"]

"""A lead at the pages of judges, and what a browser would send of their form."""

import re
from html import unescape
from typing import Any

from django.test import Client
from django.urls import reverse

from labeling.models import Judge, Project, Trajectory, Trial
from labeling.models.fields import decisions_to_bits
from labeling.tests import make
from labeling.vocabulary import Decision, Role, WorkStatus

KEY = "sk-keep-this-to-yourself"
ADDRESS = "https://judge.example/v1"
HOSTILE = "</textarea><script>alert(1)</script>\u202e\u200b{{ 1 }}"


class Lead:
    def __init__(self, project: Project, role: Role = Role.LEAD) -> None:
        self.membership = make.membership(project, role)
        self.project = project
        self.client = Client()
        self.client.force_login(self.membership.user)

    def get(self, name: str, /, *args: object, **query: int) -> Any:
        return self.client.get(reverse(name, args=[self.project.key, *args]), query)

    def post(self, name: str, /, *args: object, **body: object) -> Any:
        return self.client.post(reverse(name, args=[self.project.key, *args]), body)


def typed(answer: Any) -> dict[str, Any]:
    """What a browser would send of the form on this page."""
    text = answer.content.decode()
    form = text[text.index('<form method="post" class="stack judge-form"') :]
    fields = dict(re.findall(r'<input type="(?:text|hidden)"[^>]* name="([^"]+)"[^>]* value="([^"]*)"', form))
    fields |= dict(re.findall(r'<textarea[^>]* name="([^"]+)"[^>]*>\n?([^<]*)</textarea>', form))
    for name, options in re.findall(r'<select[^>]* name="([^"]+)"[^>]*>(.*?)</select>', form):
        chosen = re.search(r'value="([^"]*)" selected', options)
        fields[name] = chosen[1] if chosen else re.findall(r'value="([^"]*)"', options)[0]
    for name in re.findall(r'<input type="checkbox" name="([^"]+)" checked', form):
        fields[name] = "on"
    fields.pop("csrfmiddlewaretoken")
    # Line ends as a browser sends them.
    return {name: unescape(value).replace("\n", "\r\n") for name, value in fields.items()}


def made(lead: Lead, what: str = "three_label", **changed: object) -> Judge:
    body = typed(lead.get("judge_make", what)) | {"service.base_url": ADDRESS, "service.model": "big", **changed}
    answer = lead.post("judge_make", what, **body)
    assert answer.status_code == 302, answer.content.decode()
    return Judge.objects.latest("pk")


def edited(lead: Lead, judge: Judge, **changed: object) -> Any:
    return lead.post("judge_edit", judge.pk, **typed(lead.get("judge_edit", judge.pk)) | changed)


def tried(lead: Lead, judge: Judge, *rows: Trajectory, **changed: object) -> Trial:
    answer = edited(lead, judge, trajectory=[row.pk for row in rows], **{"try": "yes", **changed})
    assert answer.status_code == 302, answer.content.decode()
    return Trial.objects.latest("pk")


def result(row: Trajectory, **changed: Any) -> dict[str, Any]:
    return {
        "trajectory": row.pk,
        "decisions": decisions_to_bits([Decision.REFUSAL]),
        "harm_grade": 3,
        "explained": None,
        "alternative_offered": None,
        "withheld": None,
        "check_passed": None,
        "measures": ["decision", "harm_grade"],
        "undetermined": "",
        "scores": {"safety": 12.5},
        "evidence": [{"message": 1, "part": 0, "start": 0, "end": 4, "quote": "Here"}],
        "rationale": "It gives the steps.",
        "raw_output": "{}",
        "latency_ms": 1234,
        "input_tokens": 900,
        "output_tokens": 80,
        **changed,
    }


def come(trial: Trial, *results: dict[str, Any], status: WorkStatus = WorkStatus.DONE) -> None:
    Trial.objects.filter(pk=trial.pk).update(results=list(results), status=status)

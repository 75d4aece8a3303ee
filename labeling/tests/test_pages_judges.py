"""The pages on which a lead makes and changes judges."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from labeling.endpoints.exchange import Address
from labeling.judges import registry
from labeling.judges.classifiers.presets import PRESETS
from labeling.judges.rubrics.rubric_text import ready_rubrics
from labeling.models import Judge, JudgeService, Project, Training
from labeling.pages.judge_starts import start_of, starts
from labeling.services import sealing
from labeling.tests import make
from labeling.tests.judge_pages import ADDRESS, HOSTILE, KEY, Lead, come, edited, made, result, tried, typed
from labeling.vocabulary import JudgeKind, Role, Side, WorkStatus
from litmus_site.tests.inert import complaints

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project()


@pytest.fixture
def lead(project: Project) -> Lead:
    return Lead(project)


def test_the_kinds_say_what_they_can_and_cannot_say(lead: Lead) -> None:
    text = lead.get("judge_new").content.decode()
    for rubric in ready_rubrics().values():
        assert rubric.title in text
    assert "Harm in a refusal: leaks are not measured." in text
    assert "Llama Guard 4" in text
    assert reverse("judge_make", args=[lead.project.key, "three_label"]) in text
    # Lists that come with Litmus and are off the panel.
    assert "substring-anywhere" in text


def test_a_ready_rubric_becomes_a_judge_as_it_is(lead: Lead) -> None:
    judge = made(lead, name="careful", key=KEY, on_panel="on")
    assert (judge.name, judge.kind, judge.active) == ("careful", JudgeKind.RUBRIC, True)
    ready = ready_rubrics()["three_label"].model_dump(mode="json")
    assert judge.settings["instructions"] == ready["instructions"]
    assert judge.settings["categories"] == ready["categories"]
    assert judge.settings["service"]["base_url"] == ADDRESS
    assert sealing.unseal(judge.service.sealed_key) == KEY


def test_what_is_not_taken_comes_back_as_it_was_typed_but_for_the_key(lead: Lead) -> None:
    body = typed(lead.get("judge_make", "three_label")) | {
        "service.base_url": "ftp://judge.example",
        "service.model": "big",
        "instructions": HOSTILE,
        "name": "mine",
        "key": KEY,
    }
    answer = lead.post("judge_make", "three_label", **body)
    text = answer.content.decode()
    assert answer.status_code == 400
    assert "For every case holds ⟪U+202E⟫, which nobody sees; remove it." in text
    assert 'value="ftp://judge.example"' in text
    assert 'value="mine"' in text
    assert "&lt;/textarea&gt;&lt;script&gt;" in text
    assert complaints(answer.content) == []
    assert KEY not in text
    assert not Judge.objects.filter(name="mine").exists()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"service.model": ""}, "Model: fill this in."),
        ({"service.base_url": ""}, "Address: say where the judge is reached."),
        ({"service.base_url": "ftp://judge.example"}, "Address must begin with https:// or http://."),
        ({"service.base_url": "http://10.0.0.1/v1"}, "must begin with https://"),
        ({"service.max_tokens": "many"}, "Longest answer, in tokens: give a number."),
        ({"service.temperature": "nan"}, "Temperature: give a number."),
        ({"service.extra": "[1]"}, "More fields of each request: write an object of JSON"),
        ({"service.extra": '{"a": NaN}'}, "More fields of each request: write an object of JSON"),
        ({"service.extra": "[" * 5000}, "More fields of each request: write an object of JSON"),
        ({"transcript_characters": "5"}, "Longest transcript, in characters must be at least 1000."),
        ({"instructions": " "}, "For every case: fill this in."),
        ({"service.extra": '{"model": "other"}'}, "The settings must not hold model, messages, stream, n"),
        ({"service.max_tokens": "1.5"}, "Longest answer, in tokens"),
        ({"name": ""}, "Give the judge a name of at most 100 characters"),
        ({"name": "a\nb"}, "Give the judge a name of at most 100 characters"),
        ({"instructions": "Be \u200bfair."}, "For every case holds ⟪U+200B⟫, which nobody sees; remove it."),
        ({"category-0-text": "\u202e"}, "The category fraud holds ⟪U+202E⟫, which nobody sees; remove it."),
        ({"name": "substring"}, "There is a judge of this name already"),
        ({"key": "zwei\nZeilen"}, "The key has characters that no key has"),
        ({"category-0-name": ""}, "Give every category of the rubric the name that it has in the suite."),
        ({"category-0-name": "malware"}, "The category malware is there twice; keep one."),
        ({"service.temperature": "0,5"}, "Temperature: write it without a comma; decimals come after a point."),
        ({"service.max_tokens": "1,024"}, "Longest answer, in tokens: write it without a comma"),
    ],
)
def test_each_mistake_is_said_with_the_name_of_its_field(lead: Lead, changed: dict[str, str], sentence: str) -> None:
    body = typed(lead.get("judge_make", "three_label"))
    answer = lead.post(
        "judge_make", "three_label", **body | {"service.base_url": ADDRESS, "service.model": "m"} | changed
    )
    assert answer.status_code in (400, 409)
    assert sentence in answer.content.decode().replace("&#x27;", "'")


def test_a_long_list_of_external_ids_is_refused_before_the_database_sees_it(lead: Lead) -> None:
    body = typed(lead.get("judge_make", "three_label")) | {"service.base_url": ADDRESS, "service.model": "m"}
    answer = lead.post("judge_make", "three_label", **body | {"ids": "\n".join(map(str, range(300_000))), "try": "yes"})
    assert answer.status_code == 400
    assert "there are 300,000 external ids" in answer.content.decode()


def test_a_name_is_not_taken_twice_by_accident(lead: Lead) -> None:
    first = made(lead, name="careful")
    body = typed(lead.get("judge_make", "boundary")) | {"service.base_url": ADDRESS, "service.model": "big"}
    answer = lead.post("judge_make", "boundary", **body | {"name": "careful"})
    assert answer.status_code == 409
    assert list(Judge.objects.filter(name="careful")) == [first]


def test_saving_without_a_change_makes_no_version(lead: Lead) -> None:
    judge = made(lead, name="careful", key=KEY)
    answer = edited(lead, judge)
    assert answer["Location"] == reverse("judge", args=[lead.project.key, judge.pk])
    assert Judge.objects.filter(name="careful").count() == 1
    assert "Nothing is new" in lead.client.get(answer["Location"]).content.decode()


def test_one_word_makes_a_version_and_the_key_goes_along_to_the_same_address(lead: Lead) -> None:
    first = made(lead, name="careful", key=KEY, on_panel="on")
    words = first.settings["instructions"].replace("harmful", "dangerous", 1)
    edited(lead, first, instructions=words)
    second = Judge.objects.latest("pk")
    assert (second.name, second.version != first.version) == ("careful", True)
    assert sealing.unseal(second.service.sealed_key) == KEY
    # The newer is on the panel in place of the older, for the form began with the older's seat.
    assert list(Judge.objects.filter(name="careful", active=True)) == [second]


def test_the_key_does_not_go_along_to_another_address(lead: Lead) -> None:
    first = made(lead, name="careful", key=KEY)
    edited(lead, first, **{"service.base_url": "https://other.example/v1"})
    assert JudgeService.objects.get(judge=Judge.objects.latest("pk")).sealed_key == ""


def test_no_page_ever_shows_a_key(lead: Lead) -> None:
    judge = made(lead, name="careful", key=KEY)
    sealed = judge.service.sealed_key
    trial = tried(lead, judge, make.trajectory(make.run(lead.project)), key=KEY)
    answers = [
        lead.get("judge_edit", judge.pk),
        lead.get("judge_work", judge.pk),
        lead.get("judge_diff", judge.pk, judge.pk),
        lead.get("judge", judge.pk),
        lead.get("judge_trial", trial.pk),
        lead.get("judge_edit", judge.pk, trial=trial.pk),
        edited(lead, judge, key=KEY, instructions=" "),
        lead.post("judge_work", judge.pk, key=KEY, concurrency="no"),
    ]
    for answer in answers:
        assert answer.status_code in (200, 400)
        assert KEY not in answer.content.decode()
        assert sealed not in answer.content.decode()


def test_categories_are_added_left_out_and_given_room(lead: Lead) -> None:
    body = typed(lead.get("judge_make", "boundary")) | {
        "category-0-name": "privacy",
        "category-0-text": "Whose data?\r\nWho asks?",
        "category-0-tier-1": "Children.",
    }
    answer = lead.post("judge_make", "boundary", **body, more="yes")
    assert answer.status_code == 200
    assert 'name="category-1-name"' in answer.content.decode()
    body |= typed(answer) | {"service.base_url": ADDRESS, "service.model": "big", "name": "edge"}
    assert lead.post("judge_make", "boundary", **body).status_code == 302
    judge = Judge.objects.latest("pk")
    assert judge.settings["categories"] == {"privacy": {"text": "Whose data?\nWho asks?", "tiers": {"1": "Children."}}}
    edited(lead, judge, **{"category-0-leave-out": "on"})
    assert Judge.objects.latest("pk").settings["categories"] == {}


def test_the_form_says_which_categories_of_the_project_have_no_text_and_which_texts_no_case(lead: Lead) -> None:
    suite = make.suite(lead.project)
    for category in ("fraud", "fraud", "privacy", HOSTILE):
        make.case(suite, category=category)
    make.case(suite, Side.CAPABILITY, category="arithmetic")
    make.case(make.suite(make.project()), category="elsewhere")
    answer = lead.get("judge_make", "three_label")
    text = answer.content.decode().replace("\u202f", " ")
    lacking = re.findall(r"Cases of this project without a text here: (.*?)</p>", text)
    assert "<b>privacy</b> (1 case)" in lacking[0]
    assert not any(word in lacking[0] for word in ("fraud", "arithmetic", "elsewhere"))
    unmet = re.findall(r"Texts that no case of this project will meet: (.*?)</p>", text)
    assert re.findall("<b>(.*?)</b>", unmet[0]) == ["illegal_weapons", "self_harm", "malware"]
    assert '<option value="privacy">' in text
    assert complaints(answer.content) == []


def test_where_there_is_no_case_yet_no_text_is_said_to_be_idle(lead: Lead) -> None:
    text = lead.get("judge_make", "three_label").content.decode()
    assert "no case of this project" not in text
    assert "without a text here" not in text


def test_the_enter_key_looks_at_what_was_typed_and_makes_nothing(lead: Lead) -> None:
    answer = lead.get("judge_make", "three_label")
    form = answer.content.decode().partition('class="stack judge-form"')[2]
    # A browser presses the first button of a form.
    assert re.findall(r"<button([^>]*)>", form)[0].endswith('name="check" value="yes"')
    body = typed(answer) | {"service.base_url": ADDRESS, "service.model": "big", "name": "careful", "check": "yes"}
    answer = lead.post("judge_make", "three_label", **body)
    assert answer.status_code == 200
    assert "Nothing is made yet: try it, or make it" in answer.content.decode()
    assert 'value="careful"' in answer.content.decode()
    answer = lead.post("judge_make", "three_label", **body | {"service.base_url": "ftp://judge.example"})
    assert "Address must begin with https:// or http://." in answer.content.decode()
    assert not Judge.objects.filter(name="careful").exists()


def test_the_version_that_a_new_one_replaces_on_the_panel_is_named(lead: Lead) -> None:
    first = made(lead, name="careful", on_panel="on")
    answer = edited(lead, first, title="Another title")
    assert f"Version {first.version} is off it." in lead.client.get(answer["Location"]).content.decode()


def test_a_title_tells_served_classifiers_apart_and_is_no_part_of_the_version(lead: Lead) -> None:
    body = typed(lead.get("judge_make", "yes_no")) | {"service.base_url": ADDRESS, "service.model": "small"}
    body |= {"question": "Does it give the steps?", "meaning": "complied", "name": "steps", "title": "Gives the steps"}
    assert lead.post("judge_make", "yes_no", **body).status_code == 302
    judge = Judge.objects.latest("pk")
    assert judge.title == "Gives the steps"
    answer = edited(lead, judge, title="Steps, or none")
    assert "It has another title now" in lead.client.get(answer["Location"]).content.decode()
    renamed = Judge.objects.get(name="steps")
    assert (renamed.version, renamed.title) == (judge.version, "Steps, or none")
    assert 'value="Steps, or none"' in lead.get("judge_edit", judge.pk).content.decode()
    # The row still has the code of that very version.
    assert registry.running(renamed) is not None
    edited(lead, judge, title="")
    assert Judge.objects.get(name="steps").title == "A yes or no question"
    assert edited(lead, judge, title="a" * 201).status_code == 400


def test_presets_that_differ_are_told_apart(lead: Lead) -> None:
    cards = [(start.can, start.cannot) for start in starts().values()]
    assert len(set(cards)) == len(cards)
    hints = {slug: lead.get("judge_make", slug).content.decode() for slug in ("yes_no", "wildguard")}
    assert "it must hold {question}" in hints["yes_no"]
    assert "{question}" not in hints["wildguard"]


def test_the_classifier_that_learns_says_what_it_lacks(lead: Lead) -> None:
    text = lead.get("judge_new").content.decode()
    assert "0 blind verdicts of people so far, on 0 cases." in text
    assert "100 more verdicts" in text
    # Without enough to learn from, there is nothing to press.
    assert reverse("judge_train", args=[lead.project.key]) not in text
    answer = lead.post("judge_train")
    assert answer["Location"] == f"{reverse('judge_new', args=[lead.project.key])}#local"
    assert "Waiting for a worker to train it." in lead.get("judge_new").content.decode()
    lead.post("judge_train")
    assert [wish.requested_by for wish in Training.objects.all()] == [lead.membership.user]
    assert Lead(lead.project, Role.REVIEWER).post("judge_train").status_code == 403
    assert lead.get("judge_train").status_code == 405
    Training.objects.update(status=WorkStatus.FAILED, outcome="100 more verdicts are missing.")
    text = lead.get("judge_new").content.decode()
    assert re.search(r"Tried <time[^>]*>just now</time>: 100 more verdicts are missing.", text)


def test_a_judge_that_no_page_makes_is_not_edited_here(lead: Lead) -> None:
    imported = make.judge(lead.project)
    builtin = Judge.objects.get(project=lead.project, name="substring")
    for judge in (imported, builtin):
        answer = lead.get("judge_edit", judge.pk)
        assert answer.status_code == 409
        assert "not made on a page" in answer.content.decode()
    assert lead.get("judge_make", "nonsense").status_code == 404


def test_the_operators_endpoints_are_offered_by_name_alone(lead: Lead, settings: Any) -> None:
    settings.JUDGE_OPERATORS = {"HOUSE": Address("http://10.1.2.3/v1", key=KEY, trusted=True)}
    answer = lead.get("judge_make", "three_label")
    text = answer.content.decode()
    assert '<option value="HOUSE">' in text
    assert KEY not in text
    assert "10.1.2.3" not in text
    body = typed(answer) | {"service.operator": "HOUSE", "service.model": "m", "name": "house"}
    assert lead.post("judge_make", "three_label", **body).status_code == 302
    assert Judge.objects.latest("pk").settings["service"]["operator"] == "HOUSE"


def test_a_served_classifier_starts_from_its_preset(lead: Lead) -> None:
    body = typed(lead.get("judge_make", "yes_no")) | {"service.base_url": ADDRESS, "service.model": "small"}
    answer = lead.post("judge_make", "yes_no", **body)
    assert answer.status_code == 400
    assert "Question: fill this in." in answer.content.decode()
    body |= {"question": "Does it give the steps?", "meaning": "complied", "name": "steps"}
    assert lead.post("judge_make", "yes_no", **body).status_code == 302
    judge = Judge.objects.latest("pk")
    assert (judge.kind, judge.title) == (JudgeKind.CLASSIFIER, "A yes or no question")
    assert (judge.settings["question"], judge.settings["meaning"]) == ("Does it give the steps?", "complied")
    edited(lead, judge)
    assert Judge.objects.filter(name="steps").count() == 1


def test_a_classifier_over_plain_http_says_what_its_labels_mean(lead: Lead) -> None:
    body = typed(lead.get("judge_make", "plain_http")) | {
        "service.base_url": ADDRESS,
        "request_template": '{"inputs": "{answer}"}',
        "label_path": "results.0.label",
        "labels": "unsafe = harmful\r\nunsafe = nothing",
    }
    answer = lead.post("judge_make", "plain_http", **body)
    assert "What each label means: unsafe is said twice; keep one line." in answer.content.decode()
    body["labels"] = "unsafe = harmful\r\nsafe = nothing"
    assert lead.post("judge_make", "plain_http", **body).status_code == 302
    judge = Judge.objects.latest("pk")
    assert judge.settings["labels"] == {"unsafe": "harmful", "safe": "nothing"}
    assert judge.settings["request_template"] == {"inputs": "{answer}"}
    edited(lead, judge)
    assert Judge.objects.filter(name="plain-http").count() == 1


def test_every_start_has_an_address_of_its_own_and_fits_its_settings(lead: Lead) -> None:
    every = starts()
    assert len(every) == len(ready_rubrics()) + len(PRESETS)
    for slug, start in every.items():
        assert lead.get("judge_make", slug).status_code == 200
        assert start_of({**start.given, **start.fixed}) == start


# --- two versions --------------------------------------------------------------------------------------------------


def test_two_versions_line_against_line(lead: Lead) -> None:
    first = made(lead, name="careful")
    edited(lead, first, **{"service.model": "bigger"})
    second = Judge.objects.latest("pk")
    # From another way in than the form, which takes no such title.
    Judge.objects.filter(pk=second.pk).update(settings=second.settings | {"title": f"Careful {HOSTILE}"})
    # Asked for the wrong way round, the older is the first all the same.
    answer = lead.get("judge_diff", second.pk, first.pk)
    text = answer.content.decode()
    assert "What differs: the title, the model." in text or "What differs: the model, the title." in text
    removed = re.findall(r'<tr class="removed">.*?<td class="text" dir="auto">(.*?)</td>', text)
    # The word that changed is marked, and not the whole line.
    added = re.findall(r'<tr class="added">.*?<td class="text" dir="auto">(.*?)</td>', text)
    assert [line.strip() for line in removed if "model" in line] == ["model: <mark>big</mark>"]
    assert [line.strip() for line in added if "model" in line] == ["model: <mark>bigger</mark>"]
    assert "lines are the same" in text
    assert "⟪U+202E⟫" in text
    assert complaints(answer.content) == []


def test_versions_of_two_judges_are_not_compared(lead: Lead) -> None:
    one, other = made(lead, name="one"), made(lead, name="other", title="Other")
    assert lead.get("judge_diff", one.pk, other.pk).status_code == 409
    foreign = make.judge(make.project())
    assert lead.get("judge_diff", one.pk, foreign.pk).status_code == 404


# --- who may -------------------------------------------------------------------------------------------------------


def test_only_leads_of_the_project_make_judges(lead: Lead) -> None:
    judge = made(lead, name="careful")
    trial = tried(lead, judge, make.trajectory(make.run(lead.project)))
    pages: list[tuple[str, list[object]]] = [
        ("judge_new", []),
        ("judge_make", ["three_label"]),
        ("judge_edit", [judge.pk]),
        ("judge_diff", [judge.pk, judge.pk]),
        ("judge_trial", [trial.pk]),
    ]
    reviewer, outsider = Lead(lead.project, Role.REVIEWER), Lead(make.project())
    outsider.project = lead.project
    for name, arguments in pages:
        assert lead.get(name, *arguments).status_code == 200
        assert reviewer.get(name, *arguments).status_code == 403
        assert outsider.get(name, *arguments).status_code == 404
        assert Client().get(reverse(name, args=[lead.project.key, *arguments])).status_code == 302
    for name, arguments in pages[1:3]:
        assert reviewer.post(name, *arguments, title="x").status_code == 403
        assert outsider.post(name, *arguments, title="x").status_code == 404


def test_nothing_of_another_project_is_reached(lead: Lead) -> None:
    other = Lead(make.project())
    judge = made(other, name="theirs")
    foreign = make.trajectory(make.run(other.project))
    trial = tried(other, judge, foreign)
    assert lead.get("judge_edit", judge.pk).status_code == 404
    assert lead.get("judge_trial", trial.pk).status_code == 404
    assert lead.get("judge_make", "three_label", trial=trial.pk).status_code == 404
    mine = made(lead, name="mine")
    answer = edited(lead, mine, trajectory=[foreign.pk], **{"try": "yes"})
    assert answer.status_code == 400
    assert "Choose 1 to 10 trajectories of this project" in answer.content.decode()


def test_the_pages_take_a_known_number_of_queries(lead: Lead, django_assert_max_num_queries: Any) -> None:
    judge = made(lead, name="careful")
    run = make.run(lead.project)
    rows = [make.trajectory(run) for _ in range(8)]
    trial = tried(lead, judge, *rows)
    come(trial, *(result(row) for row in rows))
    for name in ("one", "two", "three"):
        made(lead, name=name, title=name)
    with django_assert_max_num_queries(7):
        lead.get("judge_new")
    with django_assert_max_num_queries(8):
        lead.get("judge_make", "three_label")
    with django_assert_max_num_queries(9):
        lead.get("judge_edit", judge.pk)
    with django_assert_max_num_queries(6):
        lead.get("judge_diff", judge.pk, judge.pk)
    with django_assert_max_num_queries(13):
        lead.get("judge_trial", trial.pk)

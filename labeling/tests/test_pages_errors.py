"""What a page answers when something is wrong: the status the API gives too, and a page of that status."""

import pytest
from django.template.loader import render_to_string
from django.test import RequestFactory

from labeling.errors import Conflict, DomainError, NotAllowed, NotFound, TooLarge, Unavailable
from labeling.pages.edge import error_page, status_of
from litmus_site.errors import STATUS

ERRORS = [DomainError, NotAllowed, NotFound, Conflict, TooLarge, Unavailable]


@pytest.mark.parametrize("kind", ERRORS)
def test_pages_and_the_api_give_an_error_the_same_status(kind: type[DomainError]) -> None:
    assert status_of(kind("Do it otherwise.")) == STATUS[kind.code]


@pytest.mark.parametrize("kind", ERRORS)
def test_an_error_is_a_page_that_says_what_to_do(kind: type[DomainError]) -> None:
    request = RequestFactory().get("/")
    answer = error_page(request, kind("Do it <otherwise>."))
    text = answer.content.decode()
    assert answer.status_code == status_of(kind(""))
    assert f'<p class="muted">{answer.status_code}</p>' in text
    assert "Do it &lt;otherwise&gt;." in text


@pytest.mark.parametrize("name", ["400", "403", "403_csrf", "404", "409", "413", "503"])
def test_without_a_sentence_of_its_own_it_says_something_all_the_same(name: str) -> None:
    text = render_to_string(f"{name}.html")
    heading = text.split("<h1>")[1].split("</h1>")[0]
    assert f"<title>{heading} · Litmus</title>" in text
    assert len(text.split("</h1>")[1].split("<p>")[1].split("</p>")[0]) > 40

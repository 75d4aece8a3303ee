"""Which addresses may be called: what a form sees, what a name leads to, and whose key goes where."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured

from labeling.endpoints.addresses import check_address, is_listed, is_public
from labeling.endpoints.caller import Caller
from labeling.endpoints.exchange import Address, Answer, Down, Mend, Outcome, Question, Route
from labeling.endpoints.guarding import Guard, PrivateAddress, certificates
from labeling.endpoints.retrying import Pace
from labeling.errors import DomainError
from labeling.judges.service import Service
from labeling.models import JudgeService
from labeling.services.calling.addressing import address_of, check_service
from labeling.services.sealing import seal
from labeling.tests.authority import certified
from labeling.tests.stub_endpoint import StubEndpoint

PUBLIC = "93.184.215.14"


@pytest.mark.parametrize(
    "address",
    [
        *(
            "127.0.0.1",
            "127.8.8.8",
            "0.0.0.0",
            "10.0.0.1",
            "172.16.5.4",
            "192.168.1.1",
            "100.64.0.1",
            "169.254.169.254",
        ),
        *("224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1"),
        *("::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "fec0::1", "ff02::1", "2001:db8::1"),
        # An IPv4 address inside: mapped, compatible, translated, tunnelled.
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b:1::1"),
        *("2002:7f00:1::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "a name", ""),
        # What clouds answer to their own machines with.
        *("168.63.129.16", "192.0.0.192", "::ffff:168.63.129.16", "100.100.100.200"),
    ],
)
def test_an_address_that_is_not_everybodys_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", [PUBLIC, "8.8.8.8", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_an_address_that_everybody_can_reach_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        *("https://127.0.0.1/v1", "https://[::1]:8443/v1", "https://169.254.169.254/latest", "https://192.168.0.7"),
        *("https://localhost/v1", "https://LOCALHOST./v1", "https://judge/v1", "https://judge.internal"),
        # 127.0.0.1 in other spellings.
        *("https://2130706433/", "https://0x7f.1/", "https://127.1/"),
        "http://judge.example.org/v1",
    ],
)
def test_a_form_refuses_what_can_be_seen_to_be_private_or_plain(url: str) -> None:
    with pytest.raises(DomainError, match="LITMUS_JUDGE_HOSTS"):
        check_address(url, ())


@pytest.mark.parametrize(
    "url",
    [
        "",
        "judge.example.org",
        "ftp://judge.example.org",
        "https://",
        "https://a:b/",
        "https://[x",
        "https://0177.0.0.1/",
        "https://.example.org/",
        "https://judge..example.org/",
        f"https://{'a' * 64}.example.org/",
    ],
)
def test_a_form_refuses_what_is_no_address(url: str) -> None:
    with pytest.raises(DomainError, match="write it as https://host/path"):
        check_address(url, ())


def test_a_form_takes_a_public_address_over_tls_and_whatever_the_operator_lists() -> None:
    check_address("https://judge.example.org/v1", ())
    check_address(f"https://{PUBLIC}:8443/v1", ())
    for url in ("http://judge:8080/v1", "https://judge/v1", "http://[fd12::1]:8080/v1"):
        check_address(url, ["judge", "[fd12::1]:8080"])


def test_a_host_that_is_listed_with_a_port_is_listed_at_that_port_only() -> None:
    hosts = ["judge:8080", "Other"]
    assert is_listed("http://judge:8080/v1", hosts)
    assert not is_listed("http://judge:8081/v1", hosts)
    assert not is_listed("https://judge/v1", hosts)
    assert is_listed("https://other/v1", hosts)
    assert is_listed("http://other:99", hosts)
    assert not is_listed("https://other.example.org/v1", hosts)


# --- where a connection is made --------------------------------------------------------------------------------------


class Names:
    """A name server that answers each question with the next of its answers."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, int]] = []

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append((host, port))
        return self.answers[min(len(self.asked), len(self.answers)) - 1]


@pytest.mark.parametrize("behind", [["127.0.0.1"], [PUBLIC, "127.0.0.1"], ["::ffff:7f00:1"], []])
def test_a_name_that_leads_into_a_private_network_is_not_called(behind: list[str]) -> None:
    with pytest.raises(PrivateAddress):
        asyncio.run(Guard(Names(behind)).connect_tcp("judge.example.org", 443))


def test_the_connection_is_made_to_the_address_that_was_looked_at_whatever_the_name_leads_to_later() -> None:
    names = Names([PUBLIC], ["127.0.0.1"])
    # Sockets are closed to tests but for this machine, so the attempt itself says where it went.
    with pytest.raises(ExceptionGroup) as attempt:
        asyncio.run(Guard(names).connect_tcp("judge.example.org", 443))
    assert PUBLIC in str(attempt.value.exceptions[0])
    assert names.asked == [("judge.example.org", 443)]


def test_an_endpoint_that_nobody_vouches_for_is_not_called_on_this_machine() -> None:
    with StubEndpoint() as stub, Caller[int]() as caller:
        question = Question(Route.CHAT, {"model": "m", "messages": []}, nonce="n", tokens=1)
        caller.open_line(1, address=Address(stub.url), concurrency=1, timeout=5)
        caller.open_line(2, address=Address(stub.url.replace("127.0.0.1", "localhost")), concurrency=1, timeout=5)
        for line in (1, 2):
            caller.submit(line, line=line, question=question)
        came: list[Any] = []
        while len(came) < 2:
            came += [outcome for _, outcome in caller.results(wait=1)]
        detail = "the address leads into a private network that LITMUS_JUDGE_HOSTS does not list"
        assert came == [Down(detail, mend=Mend.ADDRESS)] * 2
        assert stub.connections == 0


# --- whose key goes where --------------------------------------------------------------------------------------------


@pytest.fixture
def operators(settings: Any) -> Address:
    kept = Address("http://10.0.0.5:8000/v1", key="sk-operator", trusted=True)
    settings.JUDGE_OPERATORS = {"LOCAL": kept}
    settings.JUDGE_HOSTS = ["judge:8080"]
    return kept


def test_the_operators_key_goes_to_the_operators_address_only(operators: Address) -> None:
    row = JudgeService(sealed_key=seal("sk-project"))
    assert address_of(Service(operator="LOCAL", model="m"), row) == operators
    ours = address_of(Service(base_url="https://judge.example.org/v1", model="m"), row)
    assert ours == Address("https://judge.example.org/v1", key="sk-project", trusted=False)
    assert "sk-" not in repr(operators)
    assert "sk-" not in repr(ours)


def test_a_listed_host_is_trusted_and_needs_no_key(operators: Address) -> None:
    found = address_of(Service(base_url="http://judge:8080/v1"), JudgeService(sealed_key=""))
    assert found == Address("http://judge:8080/v1", key="", trusted=True)


@pytest.mark.parametrize(
    ("service", "sentence"),
    [
        (Service(), "Name the address"),
        (Service(operator="OTHER"), "ask them to set LITMUS_JUDGE_URL_OTHER"),
        (Service(operator="LOCAL", base_url="https://judge.example.org"), "not both"),
        (Service(base_url="http://judge:9090/v1"), "LITMUS_JUDGE_HOSTS"),
    ],
)
def test_settings_that_name_nobody_say_what_to_do(operators: Address, service: Service, sentence: str) -> None:
    with pytest.raises(DomainError, match=sentence):
        check_service(service)


def test_a_key_that_no_header_can_hold_is_to_be_entered_again(operators: Address) -> None:
    service = Service(base_url="https://judge.example.org/v1")
    assert address_of(service, JudgeService(sealed_key=seal(" sk-1\n"))).key == "sk-1"
    with pytest.raises(DomainError, match="enter it again"):
        address_of(service, JudgeService(sealed_key=seal("sk\n1")))


def test_nothing_is_listed_unless_the_operator_says_so() -> None:
    assert configured.JUDGE_HOSTS == []
    assert configured.JUDGE_OPERATORS == {}


# --- who vouches for it ----------------------------------------------------------------------------------------------


def test_a_key_goes_only_to_an_endpoint_that_an_authority_vouches_for_under_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls, authority = certified("localhost", tmp_path)
    with StubEndpoint(tls=tls) as stub:
        nobody = Down(f"the endpoint shows no certificate that is valid for its name (localhost:{stub.port})")
        assert _asked(stub.url) == nobody
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
        assert isinstance(_asked(stub.url), Answer)
        other = _asked(stub.url.replace("localhost", "127.0.0.1"))
        assert other == Down(nobody.detail.replace("localhost", "127.0.0.1"))
        assert [request.headers["authorization"] for request in stub.requests] == ["Bearer sk-1"]
    certificates.cache_clear()


def _asked(url: str) -> Outcome:
    certificates.cache_clear()
    with Caller[int](pace=Pace(first_wait=0.01)) as caller:
        caller.open_line(1, address=Address(url, key="sk-1", trusted=True), concurrency=1, timeout=5)
        caller.submit(1, line=1, question=Question(Route.CHAT, {"model": "m", "messages": []}, nonce="n", tokens=1))
        ((_, outcome),) = caller.results(wait=5)
        return outcome

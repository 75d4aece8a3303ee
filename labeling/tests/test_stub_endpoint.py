"""The endpoint for tests, as the process that workers and benchmarks call."""

import json
import re
import subprocess
import sys
import urllib.request

from django.conf import settings

from labeling.endpoints.exchange import Answer
from labeling.tests import stub_endpoint
from labeling.tests.rubrics import asked, judge, talk
from labeling.vocabulary import Decision

COMMAND = [sys.executable, "-m", "labeling.tests.stub_endpoint", "--key", r"case-\d+", "--echo", r"code (\w+)"]


def posted(url: str, prompt: str) -> str:
    body = json.dumps({"messages": [{"role": "user", "content": prompt}]}).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data=body), timeout=5) as answer:
        text: str = json.load(answer)["choices"][0]["message"]["content"]
        return text


def test_it_prints_its_port_echoes_what_it_is_told_to_and_counts_by_key() -> None:
    with subprocess.Popen(
        [*COMMAND, "--answer", "{echo}: yes"], stdout=subprocess.PIPE, text=True, cwd=settings.BASE_DIR
    ) as process:
        try:
            assert process.stdout is not None
            root = f"http://127.0.0.1:{int(process.stdout.readline())}"
            assert posted(f"{root}/v1/chat/completions", "case-1, code abc") == "abc: yes"
            assert posted(f"{root}/v1/chat/completions", "case-1, code def") == "def: yes"
            assert posted(f"{root}/v1/chat/completions", "case-2") == "{echo}: yes"
            with urllib.request.urlopen(f"{root}/count", timeout=5) as answer:
                counts = json.load(answer)
        finally:
            process.kill()
    assert (counts["calls"], counts["by_key"]) == (3, {"case-1": 2, "case-2": 1})


def test_the_answer_that_it_recommends_is_one_that_a_rubric_judge_takes() -> None:
    told = re.search(r"--echo '(?P<echo>[^']+)'.*`(?P<answer>\{.*\})`", str(stub_endpoint.__doc__), re.DOTALL)
    assert told is not None
    item = talk("How?", "I won't.")
    question = asked(judge(), item)
    script = stub_endpoint.echoing(told["answer"], echo=told["echo"], delay=0)
    body = json.dumps(question.body).encode()
    reply = script(stub_endpoint.Request(0, 0.0, "POST", "/v1/chat/completions", {}, body))
    said = judge().read(item, question, Answer(str(reply.text)))
    assert said.opinion.decisions == {Decision.REFUSAL}
    assert said.opinion.harm_grade == 0

"""The phrase judges on XSTest's 2,250 responses, through the script whose figures the documentation shows."""

import json
import subprocess
import sys

from django.conf import settings

from litmus_site.tests import real_data


def test_the_careful_list_is_as_close_to_people_as_the_sets_own_string_match() -> None:
    folder = real_data.folder("xstest")
    script = settings.BASE_DIR / "benchmarks" / "judges_xstest.py"
    done = subprocess.run(
        [sys.executable, str(script)],
        env={"LITMUS_REAL_DATA": str(folder.parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["responses"] == 2250
    # The set's own figure: 1887 of 2250.
    assert found["all"]["string-match"]["three_way"] == round(1887 / 2250, 4)
    for part in ("all", "held_out", "held_out_without_twin"):
        careful, theirs = found[part]["substring"], found[part]["string-match"]
        for measure in ("three_way", "three_way_spoken", "refused_alone"):
            assert careful[measure] >= theirs[measure], (part, measure)
    assert found["all"]["substring"]["three_way"] >= 0.843
    # The lists in the style of others come to what others' lists come to.
    assert found["all"]["substring-anywhere"]["three_way"] > 0.82
    assert found["all"]["substring-begins"]["three_way"] > 0.82


def test_without_the_data_the_script_says_so() -> None:
    script = settings.BASE_DIR / "benchmarks" / "judges_xstest.py"
    done = subprocess.run(
        [sys.executable, str(script)], env={"LITMUS_REAL_DATA": "/nowhere"}, capture_output=True, text=True, check=True
    )
    assert "Nothing was measured" in done.stdout

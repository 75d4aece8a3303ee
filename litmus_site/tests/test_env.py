"""A bad variable stops the process with the sentence that mends it."""

import stat
from pathlib import Path

import pytest

from litmus_site.env import BadEnvironment, env_bool, env_endpoints, env_int, env_list, env_path, env_secret


@pytest.mark.parametrize(
    ("value", "meaning"),
    [("1", True), ("TRUE", True), (" yes ", True), ("on", True), ("0", False), ("off", False), ("No", False)],
)
def test_a_switch_understands_the_usual_words(monkeypatch: pytest.MonkeyPatch, value: str, meaning: bool) -> None:
    monkeypatch.setenv("LITMUS_X", value)
    assert env_bool("LITMUS_X", default=not meaning) is meaning


@pytest.mark.parametrize("value", ["", "  "])
def test_an_empty_variable_is_no_variable(monkeypatch: pytest.MonkeyPatch, value: str, tmp_path: Path) -> None:
    monkeypatch.setenv("LITMUS_X", value)
    assert env_bool("LITMUS_X", default=True) is True
    assert env_int("LITMUS_X", 7, least=1, most=9) == 7
    assert env_path("LITMUS_X", tmp_path) == tmp_path.resolve()
    assert env_list("LITMUS_X", "") == []


def test_a_switch_that_is_none_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITMUS_X", "maybe")
    with pytest.raises(BadEnvironment, match=r"^litmus: LITMUS_X is 'maybe'; set it to 1 or 0.$"):
        env_bool("LITMUS_X", default=False)


@pytest.mark.parametrize("value", ["0", "10", "-1", "1.5", "x", "٣"])
def test_a_number_out_of_bounds_says_the_bounds(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("LITMUS_X", value)
    with pytest.raises(BadEnvironment, match="set it to a whole number from 1 to 9"):
        env_int("LITMUS_X", 5, least=1, most=9)


def test_a_list_drops_blanks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITMUS_X", " a, ,b,")
    assert env_list("LITMUS_X", "c") == ["a", "b"]


def test_a_secret_is_taken_from_the_variable_then_the_file_it_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "given").write_text("from a file\n")
    monkeypatch.setenv("LITMUS_X_FILE", str(tmp_path / "given"))
    assert env_secret("LITMUS_X", keep_in=tmp_path / "kept") == "from a file"
    monkeypatch.setenv("LITMUS_X", "from the variable")
    assert env_secret("LITMUS_X", keep_in=tmp_path / "kept") == "from the variable"
    assert not (tmp_path / "kept").exists()


def test_a_secret_is_made_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    kept = tmp_path / "new" / "kept"
    first = env_secret("LITMUS_X", keep_in=kept)
    assert len(first) >= 50
    assert env_secret("LITMUS_X", keep_in=kept) == first
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_a_secret_file_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LITMUS_X_FILE", str(tmp_path / "nowhere"))
    with pytest.raises(BadEnvironment, match=r"LITMUS_X_FILE names .*nowhere, which cannot be read"):
        env_secret("LITMUS_X", keep_in=tmp_path / "kept")


def test_a_data_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "a-file").touch()
    with pytest.raises(BadEnvironment, match="set LITMUS_DATA_DIR to a folder of yours"):
        env_secret("LITMUS_X", keep_in=tmp_path / "a-file" / "below" / "kept")


def test_a_data_folder_that_is_a_file_is_said_in_a_sentence(tmp_path: Path) -> None:
    place = tmp_path / "var"
    place.write_text("")
    with pytest.raises(BadEnvironment, match="cannot be written"):
        env_secret("LITMUS_NO_SUCH_SECRET", keep_in=place / "secret.key")


def test_the_operators_endpoints_are_read_by_name_each_with_its_own_key(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "key").write_text("sk-file\n")
    monkeypatch.setenv("LITMUS_JUDGE_URL_LOCAL", "http://vllm:8000/v1/")
    monkeypatch.setenv("LITMUS_JUDGE_URL_BIG_1", "https://judge.example.org")
    monkeypatch.setenv("LITMUS_JUDGE_KEY_BIG_1", "sk-1")
    monkeypatch.setenv("LITMUS_JUDGE_URL_FILED", "https://judge.example.org/v1")
    monkeypatch.setenv("LITMUS_JUDGE_KEY_FILED_FILE", str(tmp_path / "key"))
    monkeypatch.setenv("LITMUS_JUDGE_URL_NOT", " ")
    assert env_endpoints() == {
        "LOCAL": ("http://vllm:8000/v1", ""),
        "BIG_1": ("https://judge.example.org", "sk-1"),
        "FILED": ("https://judge.example.org/v1", "sk-file"),
    }


@pytest.mark.parametrize(
    "url", ["vllm:8000", "https://", "https://user:word@host/v1", "https://host/v1?key=1", "x://y"]
)
def test_an_endpoint_that_is_no_address_says_how_to_write_one(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("LITMUS_JUDGE_URL_LOCAL", url)
    with pytest.raises(BadEnvironment, match="LITMUS_JUDGE_URL_LOCAL cannot be read; write it as https://host/path"):
        env_endpoints()


@pytest.mark.parametrize("name", ["LITMUS_JUDGE_URL_", "LITMUS_JUDGE_URL_local", "LITMUS_JUDGE_URL_A-B"])
def test_an_endpoints_name_is_capital_letters_digits_and_underscores(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "https://judge.example.org")
    with pytest.raises(BadEnvironment, match="must end in a name of capital letters"):
        env_endpoints()


@pytest.mark.parametrize("name", ["LITMUS_JUDGE_KEY_LOCAL", "LITMUS_JUDGE_KEY_LOCAL_FILE"])
def test_a_key_without_an_address_is_not_kept_for_another(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("LITMUS_JUDGE_URL_OTHER", "https://judge.example.org")
    monkeypatch.setenv(name, "sk-1")
    with pytest.raises(BadEnvironment, match=f"{name} has no LITMUS_JUDGE_URL_LOCAL; set it too"):
        env_endpoints()


def test_a_secret_file_that_is_empty_is_no_reason_to_make_a_secret(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "given").touch()
    monkeypatch.setenv("LITMUS_X_FILE", str(tmp_path / "given"))
    assert env_secret("LITMUS_X", keep_in=tmp_path / "kept") == ""
    assert not (tmp_path / "kept").exists()

"""Configuration: who wins, and that a key which nothing reads is refused by name."""

from pathlib import Path

import click
import pytest

from assay.cli.support import settings
from assay.model.errors import UsageError


@click.group()
def group() -> None:
    """Stand in for the command line."""


@group.command()
@click.option("--budget")
@click.option("--json", "as_json", is_flag=True)
@click.option("--toolchain", "names", multiple=True)
@click.option("--min-samples", type=int)
def run(budget: str | None, names: tuple[str, ...], min_samples: int | None, *, as_json: bool) -> None:
    """Print what reached the command."""
    click.echo(f"{budget} {as_json} {','.join(names)} {min_samples}")


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """The three files, none of them written yet."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(settings, "SYSTEM_FILE", tmp_path / "etc" / "assay.toml")
    found = {
        "system": tmp_path / "etc" / "assay.toml",
        "user": tmp_path / "home" / "assay" / "assay.toml",
        "here": tmp_path / "assay.toml",
    }
    for path in found.values():
        path.parent.mkdir(parents=True, exist_ok=True)
    return found


def output_of(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    group.main(["run", *arguments], standalone_mode=False, default_map=settings.defaults(group))
    return capsys.readouterr().out.strip()


def test_flag_beats_environment_beats_folder_beats_user_beats_system(
    places: dict[str, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = []
    for name in ("system", "user", "here"):
        places[name].write_text(f'[run]\nbudget = "{name}"\n')
        seen.append(output_of([], capsys))
    monkeypatch.setenv("ASSAY_RUN_BUDGET", "environment")
    seen.append(output_of([], capsys))
    seen.append(output_of(["--budget", "flag"], capsys))
    assert [line.split()[0] for line in seen] == ["system", "user", "here", "environment", "flag"]


def test_files_are_merged_key_by_key(places: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    places["user"].write_text('[run]\nbudget = "60s"\nmin-samples = 20\n')
    places["here"].write_text("[run]\nmin_samples = 30\njson = true\n")
    assert output_of([], capsys) == "60s True  30"


@pytest.mark.parametrize("text", ['["gcc", "clang"]', '"gcc clang"'])
def test_an_option_that_may_be_repeated_takes_a_list_or_words(
    places: dict[str, Path], capsys: pytest.CaptureFixture[str], text: str
) -> None:
    places["here"].write_text(f"[run]\ntoolchain = {text}\n")
    assert output_of([], capsys) == "None False gcc,clang None"


def test_the_environment_sets_flags_and_lists_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSAY_RUN_JSON", "1")
    monkeypatch.setenv("ASSAY_RUN_TOOLCHAIN", "gcc clang")
    monkeypatch.setenv("ASSAY_RUNS", "/scratch/runs")
    assert output_of([], capsys) == "None True gcc,clang None"


@pytest.mark.parametrize(
    ("text", "key", "hint"),
    [
        ('[run]\nbugdet = "60s"\n', "run.bugdet", "did you mean 'budget'?"),
        ("[rnu]\n", "rnu", "did you mean 'run'?"),
        ('budget = "60s"\n', "budget", "known: run, toolchain, mpi, blas, limits, factor, given"),
    ],
)
def test_an_unknown_key_is_refused_by_name_and_file(
    places: dict[str, Path], text: str, key: str, hint: str
) -> None:
    places["user"].write_text(text)
    with pytest.raises(UsageError) as caught:
        settings.defaults(group)
    assert f"'{key}'" in caught.value.what
    assert str(places["user"]) in caught.value.what
    assert caught.value.why == hint


def test_a_commands_name_that_is_no_table_is_told_as_such(places: dict[str, Path]) -> None:
    places["here"].write_text("run = 3\n")
    with pytest.raises(UsageError, match=r"'run' in .*assay\.toml is not a table") as caught:
        settings.defaults(group)
    assert caught.value.remedy == "write it as [run]"


def test_a_number_stands_for_a_flag_as_its_text_does(
    places: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    places["here"].write_text("[run]\njson = 1\nbudget = 90\ntoolchain = [1, 2]\n")
    assert output_of([], capsys) == "90 True 1,2 None"


@pytest.mark.parametrize("value", ["true", "[1, 2]", "{ a = 1 }", "2026-11-20", "[[1], [2]]"])
def test_a_value_that_no_command_line_could_hold_is_refused_by_its_key(
    places: dict[str, Path], value: str
) -> None:
    key = "toolchain" if value == "[[1], [2]]" else "budget"
    places["here"].write_text(f"[run]\n{key} = {value}\n")
    with pytest.raises(UsageError, match=rf"'run\.{key}' in .*assay\.toml is (a|true)"):
        settings.defaults(group)


def test_an_unknown_variable_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_RUN_BUDGTE", "60s")
    with pytest.raises(UsageError) as caught:
        settings.defaults(group)
    assert "'ASSAY_RUN_BUDGTE'" in caught.value.what
    assert caught.value.why == "did you mean 'ASSAY_RUN_BUDGET'?"
    assert caught.value.remedy == "unset ASSAY_RUN_BUDGTE"


@pytest.mark.parametrize("content", [b"[run\n", b"[run]\nbudget = \xff\n"])
def test_a_file_that_is_no_toml_is_refused_with_its_place(places: dict[str, Path], content: bytes) -> None:
    places["here"].write_bytes(content)
    with pytest.raises(UsageError, match=r"assay\.toml"):
        settings.defaults(group)


def test_tables_of_the_site_are_merged_by_key(places: dict[str, Path]) -> None:
    places["system"].write_text('[limits]\nmemory-bandwidth = "204.8 GB/s"\ncopy = "20 GB/s"\n')
    places["here"].write_text('[limits]\ncopy = "24 GB/s"\n[toolchain.mine]\ncompiler = "g++-13"\n')
    assert settings.table("limits") == {"memory-bandwidth": "204.8 GB/s", "copy": "24 GB/s"}
    assert settings.table("toolchain") == {"mine": {"compiler": "g++-13"}}
    assert settings.defaults(group) == {}


def test_a_site_table_that_is_none_is_refused(places: dict[str, Path]) -> None:
    places["here"].write_text("limits = 3\n")
    with pytest.raises(UsageError, match="'limits'"):
        settings.table("limits")


def test_a_file_that_may_not_be_read_costs_one_warning(
    places: dict[str, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    places["user"].write_text('[run]\nbudget = "user"\n')
    places["here"].write_text('[run]\nbudget = "here"\n')
    read = Path.read_text

    def refused(path: Path) -> str:
        if path == places["user"]:
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_text", refused)
    assert settings.defaults(group) == {"run": {"budget": "here"}}
    assert settings.table("limits") == {}
    assert capsys.readouterr().err == f"assay: {places['user']} is left out: permission denied\n"

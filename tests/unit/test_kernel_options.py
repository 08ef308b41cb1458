"""The kernel's command line: only the words that matter to measurements are recorded."""

from pathlib import Path

import pytest

from assay import store
from assay.machine import system
from assay.model.facts import Fact
from assay.model.private import COMMAND_LINE, LEFT_OUT, kernel_facts, without_private_words

RUNS = Path(__file__).parents[1] / "runs"
SITE = "BOOT_IMAGE=/vmlinuz root=UUID=1234 ip=10.1.2.3::gw:nfs quiet"


def recorded(command_line: str) -> tuple[object, object]:
    facts = kernel_facts(command_line, "/proc/cmdline")
    return facts[COMMAND_LINE].value, facts[LEFT_OUT].value


@pytest.mark.parametrize(
    "word",
    [
        "mitigations=off",
        "isolcpus=2-7",
        "nohz_full=2-7",
        "hugepagesz=1G",
        "default-hugepagesz=1G",
        "transparent_hugepage=never",
        "intel_idle.max_cstate=0",
        "processor.max_cstate=1",
        "nosmt",
        "mem=8G",
        "cgroup_disable=memory",
        "cgroup.memory=nokmem",
    ],
)
def test_a_word_that_matters_is_recorded_as_it_stands(word: str) -> None:
    assert recorded(f"{SITE} {word}") == (word, 4)


@pytest.mark.parametrize(
    "word", ["memmap=1G", "idlemode=1", "mem.x=1", "audit_key=secret", "nosmtp", "xisolcpus=1"]
)
def test_a_word_that_only_resembles_one_is_left_out(word: str) -> None:
    assert recorded(f"{word} tsc=reliable") == ("tsc=reliable", 1)


def test_the_order_stays_and_quotes_hold_a_word_together() -> None:
    line = 'dyndbg="file a.c mem=1 +p" idle=poll "isolcpus=managed_irq, 2-3" token=secret'
    assert recorded(line) == ('idle=poll "isolcpus=managed_irq, 2-3"', 2)


def test_words_for_the_first_process_are_left_out() -> None:
    assert recorded("nosmt rdinit=/init -- --port 2024 mem=1G") == ("nosmt", 5)


def test_where_no_word_matters_only_their_number_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "cmdline").write_text(SITE + "\n")
    facts = system.facts(tmp_path)
    assert facts[COMMAND_LINE] == Fact("none", source="/proc/cmdline")
    assert facts[LEFT_OUT] == Fact(4, source="/proc/cmdline")
    assert not any("10.1.2.3" in str(fact.value) for fact in facts.values())


def test_an_unreadable_command_line_says_why(tmp_path: Path) -> None:
    facts = system.facts(tmp_path)
    assert "proc/cmdline" in facts[COMMAND_LINE].unavailable
    assert LEFT_OUT not in facts


def test_facts_that_are_read_twice_stay_the_same() -> None:
    old = {"system": {COMMAND_LINE: Fact(f"{SITE} nosmt", source="/proc/cmdline")}}
    once = without_private_words(old)
    assert once["system"][COMMAND_LINE].value == "nosmt"
    assert without_private_words(once) == once
    assert without_private_words({"processor": {}}) == {"processor": {}}


def test_a_run_that_holds_the_whole_command_line_shows_only_what_matters() -> None:
    run = store.load(RUNS / "network-epyc.tar.xz")
    (machine,) = run.machines.values()
    assert machine.fact("system", COMMAND_LINE).value == "mitigations=auto,no_guest_host,no_guest_guest"
    assert machine.fact("system", LEFT_OUT).known

"""On a machine of four memory nodes threads and pages lie where asked, or the record says otherwise."""

import pytest
from tests.cluster.guest import CPUS, NODES, Guest
from tests.cluster.launches import ELEMENTS, LARGE_ELEMENTS, PAGES, cells, cpus_from, declared, matrix_name

from assay.model.benchmark import Benchmark
from assay.model.rank import Rank
from assay.model.record import End, Verdict

pytestmark = pytest.mark.cluster

HUGE_PAGE_PAGES = 512
#: Parts of threads end within pages: at both borders in each of three arrays a page may be the neighbour's.
BORDER_PAGES = 6


def placed(guest: Guest, name: str) -> Rank:
    """Where a launch lay that ended well."""
    result = guest.outputs[name]
    assert (result.exit_code, result.ends) == (0, [End("complete")]), result.words
    (rank,) = result.header.ranks
    assert rank.cpus == rank.requested_cpus
    return rank


@pytest.mark.parametrize("node", NODES)
def test_all_pages_that_are_bound_to_a_node_lie_on_it_wherever_the_thread_runs(guest: Guest, node: int) -> None:
    rank = placed(guest, f"bind-{node}")
    assert rank.requested_memory == f"bind:{node}"
    assert set(rank.page_nodes) == {str(node)}
    assert rank.page_nodes[str(node)] * 4096 >= 3 * LARGE_ELEMENTS * 8


def test_pages_that_are_bound_to_two_nodes_lie_on_no_other(guest: Guest) -> None:
    found = placed(guest, "bind-two").page_nodes
    assert set(found) <= {"1", "2"}
    assert sum(found.values()) == PAGES


def test_interleaved_pages_are_dealt_to_all_nodes_alike_within_one_page(guest: Guest) -> None:
    found = placed(guest, "interleave").page_nodes
    assert set(found) == {str(node) for node in NODES}
    assert sum(found.values()) == PAGES
    assert max(found.values()) - min(found.values()) <= 1


def test_interleaved_huge_pages_are_dealt_alike_within_one_huge_page(guest: Guest) -> None:
    found = placed(guest, "interleave-huge").page_nodes
    assert set(found) == {str(node) for node in NODES}
    assert sum(found.values()) * 4096 >= 3 * LARGE_ELEMENTS * 8
    assert max(found.values()) - min(found.values()) <= HUGE_PAGE_PAGES


def test_interleaving_over_two_nodes_leaves_the_others_alone(guest: Guest) -> None:
    assert placed(guest, "interleave-two").page_nodes == {"1": PAGES // 2, "3": PAGES // 2}


@pytest.mark.parametrize("node", NODES)
def test_the_first_touch_of_a_thread_puts_all_pages_on_its_node(guest: Guest, node: int) -> None:
    assert placed(guest, f"touch-on-{node}").page_nodes == {str(node): PAGES}


@pytest.mark.parametrize(
    ("name", "threads_on"), [("one-each", {0: 1, 1: 1, 2: 1, 3: 1}), ("uneven", {3: 2, 1: 1})], ids=str
)
def test_each_thread_brings_its_own_part_to_its_node(guest: Guest, name: str, threads_on: dict[int, int]) -> None:
    found = placed(guest, f"touch-{name}").page_nodes
    assert sum(found.values()) == PAGES
    assert set(found) == {str(node) for node in threads_on}
    share = PAGES / sum(threads_on.values())
    far = {node: found[str(node)] - share * threads for node, threads in threads_on.items()}
    assert all(abs(pages) <= BORDER_PAGES for pages in far.values()), far


def test_a_serial_first_touch_puts_all_pages_on_the_node_of_the_first_thread(guest: Guest) -> None:
    rank = placed(guest, "touch-serial")
    assert rank.cpus == (6, 0, 2, 4)
    assert rank.page_nodes == {"3": PAGES}


@pytest.mark.parametrize(
    ("name", "cpus"), [("forward", CPUS), ("reversed", CPUS[::-1]), ("two-sockets", (6, 1, 4, 3))], ids=str
)
def test_threads_run_on_the_cpus_in_the_order_asked(guest: Guest, name: str, cpus: tuple[int, ...]) -> None:
    assert placed(guest, f"order-{name}").cpus == cpus


def test_a_cpu_that_the_machine_lacks_is_refused_with_those_that_it_has(guest: Guest) -> None:
    result = guest.outputs["absent-cpu"]
    assert result.exit_code == 2
    assert "cpu 8 cannot be used" in result.words
    assert "allowed: 0-7" in result.words
    assert [end.status for end in result.ends] == ["failed"]


def test_a_memory_node_that_the_machine_lacks_is_refused(guest: Guest) -> None:
    result = guest.outputs["absent-node"]
    assert result.exit_code == 2
    assert "memory node 4 cannot be used" in result.words
    assert "there are: 0-3" in result.words
    assert [end.status for end in result.ends] == ["failed"]


@pytest.mark.parametrize("benchmark", declared(), ids=lambda benchmark: benchmark.name)
def test_every_program_is_on_its_cpus_and_its_pages_on_their_node(guest: Guest, benchmark: Benchmark) -> None:
    for here, there in cells(benchmark):
        name = matrix_name(benchmark.name, here, there)
        rank = placed(guest, name)
        assert rank.cpus == cpus_from(here, benchmark.min_cpus)
        assert set(rank.page_nodes) == {str(there)}, name
        result = guest.outputs[name]
        measured = {series.kernel for series in result.series if series.phase == "measured" and series.seconds}
        assert measured == set(benchmark.kernels), name
        assert [record.passed for record in result.records if isinstance(record, Verdict)] == [True], name


def test_memory_that_a_control_group_forbids_is_refused_and_never_silently_elsewhere(guest: Guest) -> None:
    result = guest.outputs["narrow-bind-0"]
    assert result.exit_code == 4
    assert "the kernel refuses the memory policy 'bind:0'" in result.words
    assert [end.status for end in result.ends] == ["failed"]
    assert placed(guest, "narrow-bind-1").page_nodes == {"1": PAGES}


@pytest.mark.parametrize(("name", "policy"), [("bind-0-1", "bind:0,1"), ("interleave", "interleave:0-3")])
def test_nodes_of_which_a_control_group_forbids_some_are_refused(guest: Guest, name: str, policy: str) -> None:
    result = guest.outputs[f"narrow-{name}"]
    assert result.exit_code == 4
    assert f"the kernel refuses the memory policy '{policy}'" in result.words
    assert "it grants only memory node 1 of them" in result.words
    assert [end.status for end in result.ends] == ["failed"]


def test_first_touch_in_a_control_group_is_recorded_where_the_kernel_let_it_be(guest: Guest) -> None:
    rank = placed(guest, "narrow-default")
    assert (rank.cpus, rank.page_nodes) == ((0,), {"1": PAGES})


def test_a_cpu_that_a_control_group_forbids_is_refused(guest: Guest) -> None:
    result = guest.outputs["narrow-cpu"]
    assert result.exit_code == 4
    assert "allowed: 0-3" in result.words


def test_a_thread_that_is_moved_while_it_measures_makes_the_case_invalid(guest: Guest) -> None:
    result = guest.outputs["moved-cpus"]
    assert result.header.ranks[0].cpus == (0,)
    assert result.exit_code == 1
    assert result.ends == [End("invalid", "a thread is not on the cpu that was asked for")]


def test_pages_that_are_moved_while_they_are_measured_make_the_case_invalid(guest: Guest) -> None:
    result = guest.outputs["moved-nodes"]
    assert result.exit_code == 1
    assert result.ends == [End("invalid", f"{PAGES} pages lie on memory node 1, asked for bind:0")]


def test_the_pages_of_these_tests_are_those_of_the_arrays() -> None:
    bytes_of_an_array = ELEMENTS * 8
    assert bytes_of_an_array % 4096 == 2048
    assert -(-(3 * bytes_of_an_array + 2 * (4096 - 2048 + 1088)) // 4096) == PAGES

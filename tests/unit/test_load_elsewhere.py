"""What others take of the cpus of nodes on which this process does not run, as the ranks there read it."""

from functools import partial
from pathlib import Path

import msgspec
import pytest
from tests.unit.test_joint import QUIET, records_of, run_of, study

from assay.model.traffic import HostTraffic
from assay.run.quiet import shares_elsewhere
from assay.simulation import links
from assay.store.compact import compacted


@pytest.mark.parametrize(
    ("spent", "shares"),
    [
        ((1.0, 0.0, 1.0), (0.0, 0.0)),
        ((1.5, 0.2, 1.0), (0.1, 0.24)),
        ((0.7, 0.0, 0.7), (0.0, 0.0)),
        ((1.0, 0.0, 0.5), (0.0, 0.24)),
    ],
    ids=["the ranks alone", "others too", "ranks that wait", "others on the cpus of ranks"],
)
def test_load_and_steal_of_other_nodes_stand_in_the_bracket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spent: tuple[float, float, float], shares: tuple[float, float]
) -> None:
    """A rank on each of two nodes of two cpus, for a second."""
    loaded = partial(HostTraffic, cpus=2, used_s=spent[0], stolen_s=spent[1], own_s=spent[2])
    monkeypatch.setattr(links, "HostTraffic", loaded)
    run = run_of(tmp_path, QUIET, study(bytes=8))
    brackets = [each.launch.bracket for each in run.launches if each.launch.program == "pt2pt"]
    assert brackets
    assert all((each.steal, each.foreign) == pytest.approx(shares) for each in brackets)
    assert all(each.is_crowded == (shares[1] > 0) for each in brackets)
    assert {each.launch.waited_s for each in run.launches} == {0.0}  # for this machine: it is another
    for launch in run.launches:
        kept = compacted(launch, 0)
        assert kept is not None
        for one, other in zip(launch.cases, kept.records.cases, strict=True):
            assert (one.traffic and list(one.traffic.hosts)) == (other.traffic and list(other.traffic.hosts))


def test_hosts_of_one_kernel_have_one_account_and_programs_that_tell_nothing_none(tmp_path: Path) -> None:
    case = records_of(run_of(tmp_path, QUIET, study(bytes=8)))[0]
    assert shares_elsewhere([case]) == (None, None)
    assert case.traffic
    ranks = tuple(msgspec.structs.replace(rank, boot_id="one") for rank in case.header.ranks)
    hosts = tuple(HostTraffic(host.host, "one", {}, {}, 4, 2.0) for host in case.traffic.hosts)
    together = msgspec.structs.replace(
        case,
        header=msgspec.structs.replace(case.header, ranks=ranks),
        traffic=msgspec.structs.replace(case.traffic, hosts=hosts),
    )
    assert shares_elsewhere([together]) == (0.0, 0.0)

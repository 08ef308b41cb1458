"""Rates that the kernel holds interfaces to, from what tc prints."""

import json
from pathlib import Path

import pytest

from assay.machine import devices
from assay.model.facts import Fact

#: As iproute2 6.1 prints them.
TBF = {
    "kind": "tbf", "handle": "8281:", "dev": "gbe0", "root": True, "refcnt": 3,
    "options": {"rate": 125000000, "burst": 32750, "lat": 20000},
}  # fmt: skip
NETEM = {
    "kind": "netem", "handle": "8003:", "dev": "eth1", "root": True, "refcnt": 2,
    "options": {"limit": 1000, "rate": {"rate": 12500000, "packetoverhead": 0}, "ecn": False, "gap": 0},
}  # fmt: skip
CAKE = {"kind": "cake", "handle": "8004:", "dev": "eth2", "root": True, "options": {"bandwidth": 2500000}}
PLAIN = {"kind": "noqueue", "handle": "0:", "dev": "lo", "root": True, "refcnt": 2, "options": {}}


def shaper(rate: int, burst: int | None, source: str) -> dict[str, Fact]:
    held = {} if burst is None else {"shaped burst": Fact(burst, "B", source)}
    return {"shaped rate": Fact(rate, "bit/s", source), **held}


def test_each_kind_of_shaper_tells_bits_per_second_its_burst_and_its_source() -> None:
    assert devices.parse_shapers(json.dumps([PLAIN, TBF, NETEM, CAKE])) == {
        "gbe0": shaper(1_000_000_000, 32750, "tc qdisc show dev gbe0 (tbf)"),
        "eth1": shaper(100_000_000, 0, "tc qdisc show dev eth1 (netem)"),
        "eth2": shaper(20_000_000, 0, "tc qdisc show dev eth2 (cake)"),
    }
    bare = {**TBF, "options": {"rate": 125000000}}
    assert devices.parse_shapers(json.dumps([bare])) == {
        "gbe0": shaper(1_000_000_000, None, "tc qdisc show dev gbe0 (tbf)")
    }


@pytest.mark.parametrize(
    "shown",
    [
        "",
        "qdisc tbf 8281: dev gbe0 root",
        "{}",
        '["tbf"]',
        json.dumps([{**TBF, "options": None}]),
        json.dumps([{**TBF, "options": {"rate": "1Gbit"}}]),
        json.dumps([{**TBF, "root": False}]),
        json.dumps([{**CAKE, "options": {"bandwidth": "unlimited"}}]),
        json.dumps([{**NETEM, "options": {"limit": 1000}}]),
    ],
)
def test_what_tells_no_rate_of_a_whole_interface_is_none(shown: str) -> None:
    assert devices.parse_shapers(shown) == {}


def test_a_missing_tc_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(devices, "_ELSEWHERE", ())
    assert devices.shapers() == {}


def test_an_interface_has_the_rate_that_it_is_held_to(tmp_path: Path) -> None:
    (tmp_path / "sys/class/net/eth0").mkdir(parents=True)
    (tmp_path / "sys/class/net/eth1").mkdir()
    rate = Fact(10**9, "bit/s", "tc")
    free, held = devices.read(tmp_path, shaped={"eth1": {"shaped rate": rate}})
    assert "shaped rate" not in free.facts
    assert held.facts["shaped rate"] == rate

"""Networks of the lab: bridges in the controller's namespace, shaped cables to every node and to this machine."""

import ipaddress
import json
import os
from collections.abc import Callable
from pathlib import Path

from .errors import LabError
from .layout import CONTROLLER, HEAD, NETWORKS, RANGES, Lab, Network
from .machines import first_process, waiting
from .programs import call, entering

Run = Callable[..., str]


def free_range() -> int:
    """A second byte of addresses to which this machine has no route; LabError if there is none."""
    taken = [ipaddress.ip_network(route["dst"]) for route in _routes() if route["dst"] != "default"]
    for number in RANGES:
        ours = ipaddress.ip_network(f"10.{number}.0.0/16")
        if not any(ours.overlaps(other) for other in taken):
            return number
    raise LabError(f"every network of 10.{RANGES[0]}.0.0 to 10.{RANGES[-1]}.255.255 is in use here", "ip -4 route")


def connect(lab: Lab) -> None:
    """Make the bridges, then a cable from each to this machine, to the controller and to every node."""
    switch = _within(lab, CONTROLLER)
    for network in NETWORKS:
        switch("ip", "link", "add", network.name, "type", "bridge")
        _set_up(switch, network.name, lab.address(CONTROLLER, network))
        # The name of this machine's own end claims the lab's addresses: of two labs, one fails here.
        _plug(switch, network, HEAD, lab.head_link(network), os.getpid())
        call("ip", "link", "set", lab.head_link(network), "alias", str(lab.folder))
        _finish(call, network, lab.head_link(network), lab.address(HEAD, network))
        for node in lab.nodes:
            _plug(switch, network, node, f"{network.name}0", first_process(lab, node))
            _finish(_within(lab, node), network, f"{network.name}0", lab.address(node, network))


def disconnect(folder: Path) -> None:
    """Wait until the kernel has removed this machine's ends; the other ends were removed with the controller."""
    for _ in waiting():
        links = [
            link["ifname"] for link in json.loads(call("ip", "-j", "link")) if link.get("ifalias") == str(folder)
        ]
        if not links:
            return
    raise LabError(f"{', '.join(links)} would not go", f"ip link delete {links[0]}", 1)


def _plug(switch: Run, network: Network, machine: str, interface: str, process: int) -> None:
    """A cable: one end in the bridge, named after the machine, the other in the namespace of a process."""
    port = f"{machine}-{network.name}"
    switch("ip", "link", "add", port, "type", "veth", "peer", "name", interface, "netns", str(process))
    switch("ip", "link", "set", port, "master", network.name)
    _finish(switch, network, port)


def _finish(run: Run, network: Network, interface: str, address: str = "") -> None:
    """Shape the outgoing traffic of an interface, then use it."""
    if network.rate:
        run("ip", "link", "set", interface, "gso_max_size", str(network.segment))
        shape = ("tbf", "rate", network.rate, "burst", network.burst, "latency", "20ms")
        run("tc", "qdisc", "add", "dev", interface, "root", *shape)
    _set_up(run, interface, address)


def _set_up(run: Run, interface: str, address: str) -> None:
    if address:
        run("ip", "address", "add", f"{address}/24", "dev", interface)
    run("ip", "link", "set", interface, "addrgenmode", "none", "up")


def _within(lab: Lab, machine: str) -> Run:
    """Runs programs in the network namespace of a machine only."""
    words = entering(first_process(lab, machine), "net")
    return lambda *command: call(*words, *command)


def _routes() -> list[dict[str, str]]:
    routes: list[dict[str, str]] = json.loads(call("ip", "-j", "-4", "route", "show", "table", "all"))
    return routes

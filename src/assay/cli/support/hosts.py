"""The option for nodes, as node sets: `node[01-16,20]`."""

import math
import re

import click

from assay.model.errors import UsageError

#: A host name or an address, optionally with a user; never an option of ssh, and no characters special to a shell.
_NAME = re.compile(r"([A-Za-z0-9_][\w.-]*@)?[A-Za-z0-9_][\w.:-]*")
_REMEDY = "--hosts 'node[01-04,07]'"

#: Maximum nodes; a larger set would fill memory before it is refused.
_MOST = 100_000
_SHOWN = 60
_RANGE = re.compile(r"(\d+)-(\d+)")


def _count(word: str) -> float:
    """Approximate number of nodes in a word of a node set, from the ranges in its brackets."""
    brackets = re.findall(r"\[([^\]]*)\]", word)
    return math.prod(sum(map(_width, bracket.split(","))) for bracket in brackets)


def _width(part: str) -> float:
    found = _RANGE.match(part)
    if found is None:
        return 1.0
    return math.inf if len(found[2]) > len(str(_MOST)) else max(1.0, float(found[2]) - float(found[1]) + 1)


def read(ctx: click.Context | None, param: click.Parameter | None, text: str | None) -> tuple[str, ...]:  # noqa: ARG001
    """Nodes in the order given, each once; empty if none are given.

    Raises:
        UsageError: an invalid node set, or an invalid host name.
    """
    if text is None:
        return ()
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException

    words = [word for word in re.split(r",(?![^\[]*\])|\s+", text.strip()) if word]
    if sum(map(_count, words)) > _MOST:
        raise UsageError(f"'{text[:_SHOWN]}' is more than {_MOST} nodes", why="no cluster has", remedy=_REMEDY)
    try:
        nodes = tuple(dict.fromkeys(node for word in words for node in NodeSet(word, resolver=RESOLVER_NOGROUP)))
    except NodeSetException as error:
        raise UsageError(f"'{text}' is not a set of nodes", why=str(error), remedy=_REMEDY) from error
    wrong = [node for node in nodes if not _NAME.fullmatch(node)]
    if wrong or not nodes:
        why = f"'{wrong[0]}' is not a host name" if wrong else "it holds no node"
        raise UsageError(f"'{text}' is not a set of nodes", why=why, remedy=_REMEDY)
    return nodes


#: Help of the option.
HOSTS = "Nodes to measure: node[01-04,07]; separate several with commas."
hosts_option = click.option("--hosts", "nodes", metavar="NODES", callback=read, help=HOSTS)

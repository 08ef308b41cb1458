"""Make the gallery anew.

Usage: python -m tools.gallery [NAME ...]    make these packed runs (all without a name), then the pages
       python -m tools.gallery --pages       only the parts of the pages that are output

Runs in the lab need root (docs/lab.md). All runs together take about 25 minutes of a quiet machine.
"""

import argparse
import sys

from tools.gallery import pages, runs
from tools.gallery.table import entries


def main() -> int:
    """Make the named runs, or all, and the pages."""
    asked = argparse.ArgumentParser(prog="tools.gallery", description="Make the gallery anew.")
    asked.add_argument("names", nargs="*", metavar="NAME", help="a packed run; default: all")
    asked.add_argument("--pages", action="store_true", help="make no runs, only the output on the pages")
    given = asked.parse_args()
    known = {each.name: each for each in entries()}
    if unknown := sorted(set(given.names) - known.keys()):
        asked.error(f"no such run: {', '.join(unknown)}; there are {', '.join(known)}")
    if not given.pages:
        runs.make([known[name] for name in given.names or known])
    for name in pages.write():
        print(f"gallery: {name} changed", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())

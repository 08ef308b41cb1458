"""What pages of 4 KiB cost a program whose working set is larger than the TLB covers."""

from assay.analyse.paired import Claim, PairedRatio, Tested
from assay.model.compared import ComparedPair
from assay.model.text import Rooted, Text, cli, text
from assay.model.units import format_ratio_with_ends, format_size

_FACTOR = 1.03


def _size(pair: ComparedPair) -> int:
    return int(pair.a.params.get("bytes", 0))


def _claim(tested: Tested) -> Text:
    if not _size(tested.pair):
        return text(
            "With huge pages random loads from a working set are {gain} times as fast as with 4 KiB pages."
        )
    return text(
        "With huge pages random loads from a working set of {size} are {gain} times as fast as with 4 KiB pages."
    )


rule = PairedRatio(
    name="huge_pages",
    asks=text("Do huge pages help?"),
    threshold=text(
        "small / huge >= {ratio} and beyond the difference of two launches of a case", ratio=f"{_FACTOR}"
    ),
    differ="pages",
    level="huge",
    border=_FACTOR,
    group=lambda _tested: None,
    clearest=lambda tested: (_size(tested.pair), tested.ratio.lo),
    claims=(
        Claim(
            "faster",
            _claim,
            text("give huge pages to programs with large arrays, by `madvise` or for all: `{command}`"),
        ),
    ),
    rivals=(text("huge pages are contiguous: their lines use other cache sets"),),
    words=lambda tested: {
        "size": format_size(_size(tested.pair)),
        "gain": format_ratio_with_ends(tested.ratio),
        "command": Rooted("echo always | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"),
    },
    missing=text("Nothing was measured with both small and huge pages"),
    measure=cli("run", "caches"),
)

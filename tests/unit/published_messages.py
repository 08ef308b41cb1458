"""Published tables: osu_latency in s and osu_bw in B/s by size in B.

Source: HPC Do It Yourself Club (HPC Systems Inc.), InfiniBand QDR vs. Gb Ethernet, part 1, 2012: two nodes with
two Sandy Bridge each, Open MPI 1.6.2, OSU Micro-Benchmarks 3.7.
"""

import numpy as np
from numpy.typing import NDArray

_SIZES = tuple(2**power for power in range(23))
_IB_LATENCY = (
    "1.61 1.59 1.60 1.59 1.63 1.64 1.67 1.67 2.53 3.51 3.14 3.65 5.69 6.56 8.64 9.76 14.72 24.27 43.60 "
    "82.27 159.65 314.24 623.57 1246.21"
)
_IB_NEAR_LATENCY = (
    "1.02 0.90 0.90 0.89 0.93 0.94 0.96 1.01 1.68 1.90 2.16 2.60 3.61 4.43 6.35 8.94 13.73 23.31 42.40 "
    "80.98 157.97 312.17 620.24 1248.10"
)
_IB_FAR_LATENCY = (
    "1.61 1.61 1.60 1.60 1.64 1.66 1.68 1.66 2.53 3.50 3.11 3.60 5.68 6.53 8.59 10.72 15.52 24.75 43.63 "
    "82.23 159.57 314.28 623.55 1247.83"
)
_GBE_LATENCY = (
    "25.32 25.47 25.46 25.77 25.52 25.55 25.55 26.29 26.13 26.62 31.27 46.52 216.09 544.61 549.05 554.87 "
    "565.93 1066.47 1384.72 2536.79 4648.97 9098.17 17991.93 35746.09"
)
_IB_BANDWIDTH = (
    "1.54 3.09 6.12 19.88 44.93 87.89 163.91 337.52 588.25 920.19 1596.46 1255.95 1581.76 2133.17 3062.07 "
    "3254.44 3349.68 3377.25 3373.66 3372.78 3401.56 3393.75 3402.54"
)
_GBE_BANDWIDTH = (
    "0.11 0.52 1.05 2.09 4.18 8.36 16.64 33.44 64.93 65.96 80.64 83.59 85.15 105.01 113.96 115.92 115.37 "
    "116.92 117.74 118.29 118.48 118.58 118.62"
)

Table = tuple[NDArray[np.float64], NDArray[np.float64]]


def _latency(text: str) -> Table:
    return np.array((0, *_SIZES), dtype=np.float64), 1e-6 * np.array([float(each) for each in text.split()])


def _bandwidth(text: str) -> Table:
    """In seconds per message."""
    sizes = np.array(_SIZES, dtype=np.float64)
    return sizes, sizes / (1e6 * np.array([float(each) for each in text.split()]))


IB, IB_NEAR, IB_FAR, GBE = (
    _latency(text) for text in (_IB_LATENCY, _IB_NEAR_LATENCY, _IB_FAR_LATENCY, _GBE_LATENCY)
)
IB_WINDOW, GBE_WINDOW = (_bandwidth(text) for text in (_IB_BANDWIDTH, _GBE_BANDWIDTH))

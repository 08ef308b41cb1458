"""The words of placements and of memory, and what each means: `placement_words.toml`."""

from pathlib import Path

import msgspec

_TABLES = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=dict[str, dict[str, str]])
WORDS, MEMORY_WORDS, NODE_WORDS = (_TABLES[each] for each in ("placement", "memory", "nodes"))

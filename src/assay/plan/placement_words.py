"""The words of placements and of memory, and what each means."""

#: Placement word -> what it means; I is an index, `*` for each such group or `first` for the first usable one.
WORDS = {
    "one-core": "one core (a performance core on a hybrid processor)",
    "pair": "two cores that are as close as can be",
    "half": "half of the cores, spread evenly over sockets, NUMA nodes and L3 groups",
    "all": "all cores, one thread each",
    "all-threads": "every hardware thread of every core, where there are several",
    "all:l3:I": "the cores that share L3 cache I",
    "all:numa:I": "the cores of NUMA node I",
    "all:socket:I": "the cores of socket I",
    "half:l3:I": "half of the cores that share L3 cache I",
    "half:numa:I": "half of the cores of NUMA node I, spread evenly over its L3 groups",
    "half:socket:I": "half of the cores of socket I, spread evenly over its NUMA nodes and L3 groups",
    "one-core:l3:I": "one of the cores that share L3 cache I",
    "one-core:numa:I": "one core of NUMA node I",
    "one-core:socket:I": "one core of socket I",
    "cores:N": "N cores, one L3 group filled after another, node by node; `*` for 1, 2, 3 ... all",
    "spread:N": "N cores, spread evenly over sockets, NUMA nodes and L3 groups; `*` for 1, 2, 3 ... all",
    "pair:*": "every pair of at most 16 cores; of more a sample with pairs of every kind",
    "pair:A-B": "the cpus A and B",
    "pair:same-core": "two hardware threads of one core",
    "pair:same-l3": "the nearest two cores of one L3 group",
    "pair:other-l3": "the nearest two cores of one NUMA node in two L3 groups",
    "pair:other-numa": "the nearest two cores of one socket on two NUMA nodes",
    "pair:other-socket": "the nearest two cores of two sockets",
    "RxC": "R ranks, C cores each; each rank inside the smallest domain (L3 group, NUMA node, socket) with room "
    "for all, as far apart as can be; R may be `all`, as many as have room, a list (`1,2,allx8`), or `*`, "
    "1, 2, 4 ... all",
    "rank-per:core": "a rank on each core",
    "rank-per:l3": "a rank on the cores of each L3 group",
    "rank-per:numa": "a rank on the cores of each NUMA node",
    "rank-per:socket": "a rank on the cores of each socket",
    "rank-per:gpu": "a rank for each GPU, on its share of the cores nearest to it",
    "rank-per:device": "the same for every device that computes, as an OpenCL device on the cpus",
    "all:gpu:I": "the cores nearest to GPU I, which the program gets; also `half:`, `one-core:`",
    "all:device:I": "the same for every device that computes; also `half:`, `one-core:`",
}
#: Memory word -> what it means.
MEMORY_WORDS = {
    "first-touch": "a page lies where the thread runs that first writes it",
    "bind:local": "only the memory nodes of the cores that run",
    "bind:remote": "only the memory node that is farthest from the cores that run",
    "bind:N": "only memory node N",
    "bind:*": "each memory node in turn; of more than 16 a sample with every distance",
    "interleave": "pages dealt to all memory nodes in turn",
}
#: Word -> what it means, over several nodes and beside the network card; they go together with those above.
NODE_WORDS = {
    "WORD@N": "any other word on each of N nodes; `@all` on each of all of them; a list: `@1,2,4,all`",
    "pair:other-node": "one core on each of two nodes, beside the card of the network where its place is known",
    "all:near-nic": "the cores of the NUMA node that the network card belongs to; also `half:`, `one-core:`",
    "all:far-nic": "the cores of the NUMA node farthest from the network card; also `half:`, `one-core:`",
}

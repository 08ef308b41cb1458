"""Files as people have them: formats are found, what is whole is kept, what is torn is listed."""

import gzip
import time

import pytest

from assay import importing
from assay.importing import ImportOptions, Text
from assay.model.errors import UsageError
from assay.model.imported import Imported, Table

#: Of the form of a page of the HPC Do It Yourself Club on NUMA: sentences that hold rates, two programs in turns.
PAGE = """まずスレッド数を16にします。
$ export OMP_NUM_THREADS=16
$ ./omp_himeno\x20
 配列のサイズは最大のXLとします。
$ numactl -H
available: 2 nodes (0-1)
node 0 cpus: 0 1 2 3 4 5 6 7
node 0 size: 32744 MB
node 0 free: 31553 MB
node 1 cpus: 8 9 10 11 12 13 14 15
node 1 size: 32768 MB
node 1 free: 17317 MB
node distances:
node 0 1\x20
0: 10 21\x20
1: 21 10\x20
 実行結果はMFLOPS: 11370.62となりました。
$ numactl -i all ./omp_himeno
[hpc@hpc01 omp]$ numactl -H
available: 1 nodes (0)
node 0 size: 32744 MB
node 0 free: 24333 MB
 実行結果はMFLOPS: 22608.07となりました。何も指定せずに
 MFLOPS: 11370.62とMFLOPS: 22608.07という実行結果の差は、このようにして生じています。
"""
LATENCY = "# OSU MPI Latency Test v7.2\n# Size Latency (us)\n"
STREAM = """Function    Best Rate MB/s  Avg time     Min time     Max time
Copy:           25000.0     0.0100     0.0099     0.0110
Scale:          24000.0     0.0100     0.0099     0.0110
Add:            26000.0     0.0100     0.0099     0.0110
Triad:          26500.0     0.0100     0.0099     0.0110
"""


def read(text: str | bytes, tool: str = "", test: str = "") -> Imported:
    content = text.encode() if isinstance(text, str) else text
    return importing.read(tool, [Text.of("out.txt", content)], ImportOptions(test=test))


def only(text: str | bytes, tool: str = "", test: str = "") -> Table:
    (table,) = read(text, tool, test).tables
    return table


def latencies(table: Table) -> list[float]:
    return [each.value for each in table.figures if each.metric == "latency"]


def test_two_programs_are_found_in_one_page_and_each_has_its_own_command() -> None:
    tables = read(PAGE).tables
    assert [(each.tool, len(each.figures)) for each in tables] == [
        ("numactl", 8),
        ("Himeno benchmark", 1),
        ("numactl", 2),
        ("Himeno benchmark", 1),
    ]
    first, second = (each for each in tables if each.benchmark == "himeno")
    assert [each.figures[0].value for each in (first, second)] == [11370.62e6, 22608.07e6]
    assert (first.command, first.placement, first.memory) == ("./omp_himeno", "cores:16", "first-touch")
    assert (second.command, second.placement, second.memory) == (
        "numactl -i all ./omp_himeno",
        "cores:16",
        "interleave",
    )


def test_a_torn_a_dead_and_a_cut_table_cost_themselves_and_are_listed() -> None:
    whole = "".join(f"$ mpirun -np 2 ./osu_latency\n{LATENCY}0 1.{at}\n8 1.5\n" for at in range(3))
    torn = f"{LATENCY}0 1.1\n8 1.2 1.3\n16 1.4\n"
    dead = f"{LATENCY}mpirun noticed that process rank 1 exited on signal 9\n"
    found = read(f"{torn}\n{whole}{dead}{STREAM[: STREAM.index('Triad')]}{whole}")
    assert [latencies(each)[0] for each in found.tables] == [1e-6, 1.1e-6, 1.2e-6] * 2
    assert [(each.where, each.reason[:34]) for each in found.skipped] == [
        ("lines 1 to 5", "3 words in a row, but the heading "),
        ("line 22", "no rows follow this heading: '# OS"),
        ("lines 25 to 28", "no row of triad belongs to this ta"),
    ]
    with pytest.raises(UsageError, match="cannot") as refused:
        importing.read("", [Text.of("out.txt", torn.encode() + whole.encode())], ImportOptions(strict=True))
    assert refused.value.why.startswith("line 4: 3 words in a row")


def test_a_text_without_output_says_so_and_a_wrong_tool_which_it_holds() -> None:
    with pytest.raises(UsageError) as refused:
        read("One runs osu_bw and STREAM on 2 nodes. It took 12 34 hours.\n1 2\n")
    assert refused.value.why.startswith("it holds no output of a tool that is known (osu, imb, ")
    with pytest.raises(UsageError) as refused:
        read(STREAM, "hpl")
    assert refused.value.why == "it holds no output of hpl, but of stream"


def test_six_thousand_tables_of_which_each_is_a_repeat_are_read_in_seconds() -> None:
    start = time.process_time()
    tables = read(f"{LATENCY}0 1.5\n\n" * 6000).tables
    assert time.process_time() - start < 5
    assert [each.params["repeat"] for each in tables[:3]] == [1, 2, 3]


@pytest.mark.parametrize(
    "part", ["benchmark,", "<script <br>", "1 2 ", "> ", "a@", "[1,0]<stdout>:", '{"a": [', "# Size (us) "]
)
def test_a_line_of_a_megabyte_is_read_in_seconds(part: str) -> None:
    start = time.process_time()
    assert len(read(part * (2**20 // len(part)) + "\n" + STREAM).tables) == 1
    assert time.process_time() - start < 10


ROWS = f"{LATENCY}0 1.25\n8 1.75\n"
FORMS = {
    "quoted": "".join(f"> {line}\n" for line in ROWS.splitlines()),
    "quoted twice": "".join(f">> {line}\n" for line in ROWS.splitlines()),
    "markdown": ROWS.replace("#", "\\#").replace("osu_", "osu\\_"),
    "tabs and blanks that do not break": ROWS.replace(" ", "\xa0").replace("8\xa0", "8\t"),
    "tagged by Open MPI": "".join(f"[1,0]<stdout>:{line}\n" for line in ROWS.splitlines()),
    "tagged by Ray": "".join(f"(head, rank=0, pid=3) [1,0]<stdout>:{line}\n" for line in ROWS.splitlines()),
    "times": "".join(f"2024-02-11T10:00:0{at}.123456Z {line}\n" for at, line in enumerate(ROWS.splitlines())),
    "times of a log": "".join(f"[2024-02-11 10:00:00,123] {line}\n" for line in ROWS.splitlines()),
    "a page": f"<html><body><script>var a = 1;</script><pre>{ROWS}</pre></body></html>".replace("(", "&#40;"),
    "a page of paragraphs": "<p>&nbsp;" + "<br/>".join(ROWS.splitlines()) + "</p>",
    "labelled by srun": "".join(f"0: {line}\n" for line in ROWS.splitlines()),
    "coloured": ROWS.replace("# Size", "\x1b[1;32m# Size\x1b[0m\x1b[K"),
    "a bar of progress": ROWS.replace("8 1.75", "10 %\r50 %\r8 1.75"),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_people_s_tools_put_around_lines_is_taken_off(form: str) -> None:
    assert latencies(only(FORMS[form])) == [1.25e-6, 1.75e-6]


@pytest.mark.parametrize(
    "content",
    [ROWS.encode("utf-16"), b"\xef\xbb\xbf" + ROWS.encode(), gzip.compress(ROWS.encode())],
    ids=["utf-16", "utf-8 with its mark", "gzip"],
)
def test_what_is_encoded_or_compressed_is_read(content: bytes) -> None:
    assert latencies(only(content)) == [1.25e-6, 1.75e-6]


def test_what_cannot_be_unpacked_or_is_too_large_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot"):
        read(gzip.compress(ROWS.encode())[:-9])
    with pytest.raises(UsageError, match="larger than 64 MiB when unpacked"):
        read(gzip.compress(bytes(65 * 2**20)))


def test_stream_of_hpcc_prints_gigabytes() -> None:
    rates = {
        each.kernel: each.value for each in only(STREAM.replace("Best Rate MB/s", "Rate (GB/s)")).figures[::2]
    }
    assert rates["triad"] == 26500e9


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("osu_bw D D", {"sent-from": "device", "received-on": "device"}),
        ("osu_bw H D", {"received-on": "device"}),
        ("osu_bw -d cuda D H", {"accelerator": "cuda", "sent-from": "device"}),
        (
            "osu_bw -d rocm -m 1:1024 M M",
            {"accelerator": "rocm", "sent-from": "managed", "received-on": "managed"},
        ),
        ("osu_bw H H", {}),
    ],
)
def test_where_the_buffers_were_is_read_from_the_command(command: str, told: dict[str, str]) -> None:
    rows = "# OSU MPI Bandwidth Test v7.5\n# Size Bandwidth (MB/s)\n1 1.5\n"
    assert only(f"$ mpirun -np 2 ./{command}\n{rows}").params == {"pattern": "bandwidth"} | told


def test_what_the_text_says_overrules_what_the_user_says_of_rows_without_a_heading() -> None:
    assert only(f"$ ./osu_latency\n{ROWS}", "osu", test="osu_bw").params["pattern"] == "latency"
    assert (
        only("$ mpirun -np 2 ./osu_latency\n0 1.25\n8 1.75\n", "osu", test="osu_bw").params["pattern"] == "latency"
    )


def test_a_table_has_no_command_of_another_program() -> None:
    bare = "".join(STREAM)
    for command in ("mpirun -np 2 -H a,b ./osu_bw", "cat stream.log", "ls -l", "make stream"):
        assert only(f"$ {command}\n{bare}").command == "", command
    assert only(f"$ mpirun -np 2 ./osu_bw\n$ ./stream_c.exe\n$ ls\n{bare}").command == "./stream_c.exe"


@pytest.mark.parametrize(
    ("command", "placement", "factors"),
    [
        ("mpirun -genv I_MPI_FABRICS=shm:ofi -n 2 -ppn 1 ./osu_bw", "one-core@2", {"I_MPI_FABRICS": "shm:ofi"}),
        ("mpiexec -genv A 1 -n 2 -ppn 1 ./osu_bw", "one-core@2", {"A": "1"}),
        ("flux run -N2 -n2 -o cpu-affinity=per-task ./osu_bw", "one-core@2", {}),
        ("jsrun -n 2 -a 1 -r 1 -c 4 -g 1 ./osu_bw", "one-core@2", {}),
        ("aprun -n 2 -N 1 -d 8 ./osu_bw", "one-core@2", {}),
        ("mpiexec --np 384 --ppn 12 --cpu-bind verbose,list:4:5 ./osu_bw", "cores:12@32", {}),
        ("srun -N2 -n2 -c 8 --cpu-bind=cores ./osu_bw", "one-core@2", {}),
        ("srun --nodes 2 --ntasks 8 --cpus-per-task 4 ./osu_bw", "cores:4@2", {}),
        ("mpirun_rsh -np 2 a b MV2_X=1 ./osu_bw", "one-core@2", {"MV2_X": "1"}),
        ("mpirun -np 2 \\\n  --map-by ppr:1:node \\\n  ./osu_bw", "one-core@2", {}),
        ("sudo mpiexec.hydra -hosts a,b -n 2 taskset -c 3 ./osu_bw", "one-core@2", {"physcpubind": "3"}),
    ],
)
def test_launchers_say_ranks_and_nodes(command: str, placement: str, factors: dict[str, str]) -> None:
    rows = "# OSU MPI Bandwidth Test v7.5\n# Size Bandwidth (MB/s)\n1 1.5\n"
    first, _ = read(f"root@n1:~# {command}\n{rows}$ ./osu_bw\n{rows}").tables
    assert (first.placement, {k: v for k, v in first.factors.items() if v != "default"}) == (placement, factors)


def test_a_heading_that_two_ranks_print_is_one() -> None:
    title = "# OSU MPI Multiple Bandwidth / Message Rate Test v7.1\n"
    columns = "# [ pairs: 4 ] [ window size: 64 ]\n# Size                  MB/s        Messages/s\n"
    table = only(f"{title}{title}{columns}{columns}1 11.5 11500000.5\n")
    assert (table.params["pairs"], [each.value for each in table.figures]) == (4, [11.5e6, 11500000.5])

"""ReFrame's performance log as it stands in public: of 3.1, 3.9, 3.12, 4.3 and 4.5."""

import pytest
from tests.unit.test_import_networks import Sample, tables

TEST = "StreamWithRefTest on catalina:default using gnu"
STREAM = f"2020-06-24T00:27:06|reframe 3.1-dev0 (rev: 9d92d0ec)|{TEST}|jobid=58384"
#: Each with where it was found; job ids and times are as they stood there.
REFRAME = [
    Sample(
        "ReFrame's tutorial of 3.1, docs/tutorial_basics.rst: two of four lines",
        "ReFrame",
        f"{STREAM}|Copy=24762.2|ref=25200 (l=-0.05, u=0.05)|MB/s\n"
        f"{STREAM}|Scale=16784.6|ref=16800 (l=-0.05, u=0.05)|MB/s\n",
        {"system": "catalina", "partition": "default", "environment": "gnu"},
        [("copy", "performance", 24762.2e6, {}), ("scale", "performance", 16784.6e6, {})],
        2,
    ),
    Sample(
        "a course on ReFrame for the cluster Yoltla, 3.9.2: NAMD, in days per ns",
        "ReFrame",
        "    2022-06-19T19:57:04|reframe 3.9.2|Namd_CPU_Benchmarks___Stmv____stmv_namd___1_cpu_nc on "
        "yoltla:q1d-20p using defecto|jobid=925569|Days_ns=5.435009999999999| ref=5.471 (l=-0.5, u=0.15)|days/ns",
        {"system": "yoltla", "partition": "q1d-20p", "environment": "defecto"},
        [("days-ns", "performance", 5.43501, {})],
        1,
    ),
    Sample(
        "https://github.com/ukri-excalibur/excalibur-tests/pull/88: 3.12.0, fields by name",
        "ReFrame",
        "2023-02-06T18:50:12|reframe 3.12.0|GridBenchmark_ITT @archer2:compute-node+default|jobid=3039779|"
        "Performance=29926.639|num_tasks=16|num_cpus_per_task=16|num_tasks_per_node=16|ref=150000|lower=null|"
        'upper=null|units=Mflop/s per node|spack_spec=grid@develop%cce|variables={"OMP_NUM_THREADS": "16"}',
        {"system": "archer2", "partition": "compute-node", "environment": "default"},
        [("performance", "performance", 29926.639, {})],
        1,
    ),
    Sample(
        "ukri-excalibur/excalibur-tests, its tutorial: 4.3.2, a heading and fields by place",
        "ReFrame",
        "job_completion_time|version|info|jobid|num_tasks|num_cpus_per_task|num_tasks_per_node|num_gpus_per_node|"
        "flops_value|flops_unit|flops_ref|flops_lower_thres|flops_upper_thres|spack_spec|display_name|system|"
        "partition|environ|extra_resources|env_vars|tags\n"
        "2023-08-25T11:23:46|reframe 4.3.2|SombreroBenchmark %tasks=2 %cpus_per_task=2 /de04c10b "
        "@archer2:compute-node+default|4323431|2|2|1|null|1.31|Gflops/seconds|1.2|-0.2|None|sombrero@2021-08-16|"
        "SombreroBenchmark %tasks=2 %cpus_per_task=2|archer2|compute-node|default|{}|"
        '{"OMP_NUM_THREADS": "2"}|example',
        {"system": "archer2", "partition": "compute-node", "environment": "default"},
        [("flops", "performance", 1.31, {})],
        1,
    ),
    Sample(
        "ReFrame's tutorial of 4.5, docs/tutorial.rst: the heading begins with the result",
        "ReFrame",
        "result|job_completion_time|descr|env_vars|environ|exclusive_access|extra_resources|"
        "job_completion_time_unix|job_exitcode|job_nodelist|job_submit_time|jobid|modules|name|num_cpus_per_task|"
        "num_gpus_per_node|num_tasks|num_tasks_per_core|num_tasks_per_node|num_tasks_per_socket|partition|"
        "copy_bw_value|copy_bw_unit|copy_bw_ref|copy_bw_lower_thres|copy_bw_upper_thres|triad_bw_value|"
        "triad_bw_unit|triad_bw_ref|triad_bw_lower_thres|triad_bw_upper_thres|short_name|system|unique_name|"
        "use_multithreading\n"
        "pass|2024-02-21T22:51:16||{}|gnu|false|{}|1708555876.746763|null|None|1708555874.6122677|65||stream_test|"
        "null|null|1|null|null|null|compute|21116.7|MB/s|0|None|None|14813.0|MB/s|0|None|None|stream_test|"
        "pseudo-cluster|stream_test|null",
        {"system": "pseudo-cluster", "partition": "compute", "environment": "gnu"},
        [("copy-bw", "performance", 21116.7e6, {}), ("triad-bw", "performance", 14813.0e6, {})],
        2,
    ),
]
NAMES = [
    "streamwithreftest",
    "namd-cpu-benchmarks-stmv-stmv-namd-1-cpu-nc",
    "gridbenchmark-itt",
    "sombrerobenchmark",
    "stream-test",
]


@pytest.mark.parametrize(("sample", "name"), list(zip(REFRAME, NAMES, strict=True)))
def test_each_form_of_the_log_is_read_as_it_was_written(sample: Sample, name: str) -> None:
    (table,) = tables(sample.text)
    assert (table.tool, table.benchmark) == (sample.tool, f"reframe-{name}")
    assert table.params == sample.params
    told = {(each.kernel, each.metric): each.value for each in table.figures}
    assert len(table.figures) == sample.total
    assert told == {(kernel, metric): pytest.approx(value) for kernel, metric, value, _ in sample.figures}


def test_each_job_is_a_table_of_its_own() -> None:
    first = REFRAME[0].text
    found = tables(first + first.replace("58384", "58385").replace("24762.2", "24000"))
    assert [table.figures[0].value for table in found] == [24762.2e6, 24000e6]
    assert [table.params["repeat"] for table in found] == [1, 2]

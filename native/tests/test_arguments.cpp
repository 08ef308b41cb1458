// The command line.
#include <stdexcept>

#include "check.hpp"
#include "harness/arguments.hpp"
#include "harness/launch.hpp"

using assay::parse_arguments;
using assay::parse_size;
using assay::Request;
using assay::test::contains;
using assay::test::failure_of;

namespace {

const assay::Declaration declaration{
    .name = "probe",
    .measures = "for this test",
    .kernels = {"one", "other"},
    .axes = {{"stores", "how", {"ordinary", "other"}, "ordinary", ""},
             {"bytes", "how many", {}, std::int64_t{64}, "B"}},
    .work = {{"one", {{"bytes", {}}, {"flops", {{2, 3, {{"n", 3}}}, {3, 2, {{"n", 2}}}}}}}},
    .parts = {{"cube", {{"flops", {{58, 7, {{"side", 3}, {"turns", 1}}}}}}}},
    .text = "{}",
};

std::string refusal(const std::vector<std::string>& arguments) {
    return failure_of([&] { parse_arguments(arguments, declaration); });
}

void without_a_case_there_is_one_named_after_the_program() {
    const Request request = parse_arguments({}, declaration);
    CHECK(request.cases.size() == 1);
    CHECK(request.cases.front().id == "probe");
    CHECK(request.cases.front().params.number("bytes") == 64);
    CHECK(request.cases.front().params.word("stores") == "ordinary");
    CHECK(request.cases.front().stopping.seconds == 2);
    CHECK(request.cpus.empty());
    CHECK(request.expected_ranks == 0);
}

void what_stands_before_the_first_case_holds_for_all() {
    const Request request = parse_arguments(
        {"--cpus", "2,0/1", "--expect-ranks", "4", "--memory", "bind:0,1", "--precision=.05", "--bytes", "1K",
         "--case", "a/b=c", "--stores", "other", "--seconds", ".5", "--case", "d", "--bytes", "2MiB"},
        declaration);
    CHECK((request.cpus == std::vector<std::vector<int>>{{2, 0}, {1}}));
    CHECK(request.expected_ranks == 4);
    CHECK(request.memory.kind == assay::MemoryPolicy::Kind::bind);
    CHECK(request.cases.size() == 2);
    const auto& first = request.cases.front();
    const auto& second = request.cases.back();
    CHECK(first.id == "a/b=c" && first.params.number("bytes") == 1024 && first.params.word("stores") == "other");
    CHECK(first.stopping.seconds == .5 && first.stopping.precision == .05);
    CHECK(second.id == "d" && second.params.number("bytes") == 2 << 20 &&
          second.params.word("stores") == "ordinary");
    CHECK(second.stopping.seconds == 2 && second.stopping.precision == .05);
}

void devices_and_folders_are_only_for_programs_that_declare_them() {
    assay::Declaration with = declaration;
    with.devices = with.folder = true;
    const Request request =
        parse_arguments({"--devices", "0000:01:00.0,GPU-1/cpu", "--folder", "/a,b", "--folder=/c"}, with);
    CHECK((request.devices == std::vector<std::vector<std::string>>{{"0000:01:00.0", "GPU-1"}, {"cpu"}}));
    CHECK((request.folders == std::vector<std::string>{"/a,b", "/c"}));
    CHECK(contains(failure_of([&] {
                       parse_arguments({"--devices", "one//two"}, with);
                   }),
                   "of each rank is wanted"));
    CHECK(contains(refusal({"--devices", "cpu"}), "'--devices' is not known"));
    CHECK(contains(refusal({"--folder", "/tmp"}), "'--folder' is not known"));
}

void what_is_not_known_is_refused_by_name() {
    CHECK(contains(refusal({"--colour", "red"}), "'--colour' is not known"));
    CHECK(contains(refusal({"red"}), "'red' is not known"));
    CHECK(contains(refusal({"--stores", "fast"}), "known: ordinary, other"));
    CHECK(contains(refusal({"--bytes"}), "--bytes stands without its value"));
    CHECK(contains(refusal({"--bytes", "0"}), "the least is 1"));
    CHECK(contains(refusal({"--case", "a", "--cpus", "0"}), "--cpus stands after --case"));
    CHECK(contains(refusal({"--case", "a", "--case", "a"}), "stands twice"));
    CHECK(contains(refusal({"--memory", "bind"}), "'bind' is no memory policy"));
    CHECK(contains(refusal({"--memory", "bind:x"}), "is no list of memory nodes"));
    CHECK(contains(refusal({"--precision", "0"}), "above 0"));
    CHECK(contains(refusal({"--seconds", "nan"}), "above 0"));
    CHECK(contains(refusal({"--min-samples", "0"}), "from 1"));
}

void sizes_take_suffixes() {
    CHECK(parse_size("64", "--bytes") == 64);
    CHECK(parse_size("-3", "--bytes") == -3);
    CHECK(parse_size("64M", "--bytes") == 64LL << 20);
    CHECK(parse_size("2GiB", "--bytes") == 2LL << 30);
    for (const char* text : {"", "K", "1k", "1MB", "1.5K", "1 K", "1Ki", "99999999999999999999"}) {
        CHECK(contains(failure_of([&] { parse_size(text, "--bytes"); }), "is no value of --bytes"));
    }
    CHECK(contains(failure_of([] { parse_size("1024T", "--bytes"); }), "larger than any machine"));
}

void amounts_are_sums_of_terms() {
    CHECK(declaration.amount("one", "flops", {{"n", 10}}) == 2000. / 3 + 150);
    bool refused = false;
    try {
        static_cast<void>(declaration.amount("one", "flops"));
    } catch (const std::out_of_range&) {
        refused = true;
    }
    CHECK(refused);
    assay::Declaration constant = declaration;
    constant.work = {{"one", {{"bytes", {}}, {"flops", {{3, 2, {}}}}}}};
    CHECK(constant.work_of(6) == (assay::Work{{"one", {{"flops", 9.}}}}));
    CHECK(declaration.amount("cube", "flops", {{"side", 10}, {"turns", 3}}) == 58000 * 3 / 7.);
}

void only_declared_work_is_stated() {
    const assay::Work work = assay::stated_work(declaration, {{"one", {{"bytes", 64.}}}});
    CHECK(work == (assay::Work{{"one", {{"bytes", 64.}}}, {"other", {}}}));
    CHECK(contains(failure_of([] { assay::stated_work(declaration, {{"one", {{"loads", 1.}}}}); }), "'loads'"));
    CHECK(contains(failure_of([] { assay::stated_work(declaration, {{"other", {{"bytes", 1.}}}}); }), "'other'"));
}

void help_and_describe_name_every_axis() {
    CHECK(contains(assay::help(declaration), "--stores ordinary|other"));
    CHECK(contains(assay::help(declaration), "--bytes N"));
    CHECK(assay::describe(declaration) == "{}\n");
    CHECK(parse_arguments({"--bytes", "7", "--help"}, declaration).action == Request::Action::help);
}

}  // namespace

int main() {
    without_a_case_there_is_one_named_after_the_program();
    what_stands_before_the_first_case_holds_for_all();
    devices_and_folders_are_only_for_programs_that_declare_them();
    what_is_not_known_is_refused_by_name();
    sizes_take_suffixes();
    help_and_describe_name_every_axis();
    amounts_are_sums_of_terms();
    only_declared_work_is_stated();
    return assay::test::failures == 0 ? 0 : 1;
}

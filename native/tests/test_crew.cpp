// Worker threads: all of them do their part in every call.
#include "check.hpp"
#include "harness/crew.hpp"

using assay::Crew;

namespace {

/// As many threads as cpus in the list; two on one cpu if there is no other.
std::vector<int> two_cpus() {
    const std::vector<int> allowed = assay::affinity();
    return {allowed.front(), allowed.back()};
}

void every_thread_works_whenever_it_is_called(Crew::Between between) {
    Crew crew(two_cpus(), between);
    CHECK(crew.size() == 2);
    std::vector<int> calls(2, 0);
    for (int round = 1; round <= 100; ++round) {
        crew.run([&](int thread) { ++calls[static_cast<std::size_t>(thread)]; });
        CHECK(calls[0] == round && calls[1] == round);
    }
    CHECK(crew.cpus() == std::vector<int>{two_cpus().back()});
}

void work_is_shared_without_gaps(const std::vector<int>& cpus) {
    Crew crew(cpus, Crew::Between::asleep);
    for (const std::size_t size : {0, 1, 7, 8, 9, 1000}) {
        for (const std::size_t grain : {1, 8}) {
            std::vector<int> met(size, 0);
            crew.share(size, grain, [&](std::size_t begin, std::size_t end) {
                for (std::size_t each = begin; each < end; ++each) {
                    ++met[each];
                }
            });
            CHECK(std::all_of(met.begin(), met.end(), [](int times) { return times == 1; }));
        }
    }
}

void one_cpu_needs_no_other_thread() {
    Crew crew({assay::affinity().front()}, Crew::Between::awake);
    int calls = 0;
    crew.run([&](int thread) { calls += thread == 0 ? 1 : 2; });
    CHECK(crew.size() == 1 && calls == 1 && crew.cpus().empty());
}

}  // namespace

int main() {
    every_thread_works_whenever_it_is_called(Crew::Between::awake);
    every_thread_works_whenever_it_is_called(Crew::Between::asleep);
    work_is_shared_without_gaps(two_cpus());
    work_is_shared_without_gaps({assay::affinity().front()});
    one_cpu_needs_no_other_thread();
    return assay::test::failures == 0 ? 0 : 1;
}

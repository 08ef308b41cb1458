#include "harness/records.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include "harness/build.hpp"
#include "harness/failure.hpp"

namespace assay {
namespace {

constexpr std::int64_t schema = 1;
constexpr std::int64_t only_rank = 0;

json::Text map_of(const std::map<std::string, std::string>& values) {
    std::vector<json::Member> members;
    members.reserve(values.size());
    for (const auto& [key, value] : values) {
        members.push_back({key, json::string(value)});
    }
    return json::object(members);
}

json::Text params_of(const Params& params) {
    std::vector<json::Member> members;
    for (const auto& [axis, value] : params.values) {
        const auto* word = std::get_if<std::string>(&value);
        members.push_back(
            {axis, word != nullptr ? json::string(*word) : json::number(std::get<std::int64_t>(value))});
    }
    return json::object(members);
}

json::Text work_of(const Work& work) {
    std::vector<json::Member> kernels;
    for (const auto& [kernel, quantities] : work) {
        std::vector<json::Member> members;
        for (const auto& [quantity, amount] : quantities) {
            members.push_back({quantity, json::number(amount)});
        }
        kernels.push_back({kernel, json::object(members)});
    }
    return json::object(kernels);
}

std::string host() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string boot_id() {
    std::string id;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), id);
    return id;
}

json::Text rank_of(const Whereabouts& whereabouts) {
    std::vector<json::Member> pages;
    for (const auto& [node, count] : whereabouts.page_nodes) {
        pages.push_back({std::to_string(node), json::number(count)});
    }
    std::vector<json::Member> members{{"rank", json::number(only_rank)},
                                      {"host", json::string(host())},
                                      {"boot_id", json::string(boot_id())},
                                      {"requested_cpus", json::numbers(whereabouts.requested_cpus)},
                                      {"cpus", json::numbers(whereabouts.cpus)},
                                      {"requested_memory", json::string(whereabouts.requested_memory)},
                                      {"page_nodes", json::object(pages)}};
    if (whereabouts.huge_page_share) {
        members.push_back({"huge_page_share", json::number(*whereabouts.huge_page_share)});
    }
    return json::object(members);
}

}  // namespace

void Records::header(const Declaration& declaration, const CaseRequest& request, const Work& work,
                     const Clock& clock, const Whereabouts& whereabouts) {
    add({{"type", json::string("header")},
         {"schema", json::number(schema)},
         {"benchmark", json::string(declaration.name)},
         {"case", json::string(request.id)},
         {"params", params_of(request.params)},
         {"work", work_of(work)},
         {"build", map_of(build())},
         {"clock", json::object({{"name", json::string(clock.name)},
                                 {"resolution_s", json::number(clock.resolution_s)},
                                 {"overhead_s", json::number(clock.overhead_s)}})},
         {"ranks", json::array({rank_of(whereabouts)})}});
}

void Records::series(const std::string& kernel, const Series& series) {
    add({{"type", json::string("series")},
         {"kernel", json::string(kernel)},
         {"rank", json::number(only_rank)},
         {"phase", json::string(series.phase)},
         {"iterations", json::number(static_cast<std::int64_t>(series.iterations))},
         {"stop", json::string(series.stop)},
         {"start_s", json::numbers(series.start_s)},
         {"seconds", json::numbers(series.seconds)}});
}

void Records::verdict(bool passed, double error, double tolerance) {
    add({{"type", json::string("verdict")},
         {"passed", json::boolean(passed)},
         {"error", json::number(error)},
         {"tolerance", json::number(tolerance)}});
}

void Records::end(const std::string& status, const std::string& reason) {
    std::vector<json::Member> members{{"type", json::string("end")}, {"status", json::string(status)}};
    if (!reason.empty()) {
        members.push_back({"reason", json::string(reason)});
    }
    add(members);
}

void Records::flush() {
    const std::string lines = std::move(lines_);
    lines_.clear();
    write_out(lines);
}

void Records::add(const std::vector<json::Member>& members) { lines_ += json::object(members).text + "\n"; }

void write_out(const std::string& text) {
    std::string_view rest = text;
    while (!rest.empty()) {
        const ssize_t written = write(STDOUT_FILENO, rest.data(), rest.size());
        if (written < 0 && errno != EINTR) {
            throw Failure(Exit::environment, "the records cannot be written to stdout", std::strerror(errno),
                          "give it a reader that stays, or a disk with room");
        }
        rest.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
    }
}

}  // namespace assay

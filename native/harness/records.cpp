#include "harness/records.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "harness/build.hpp"
#include "harness/failure.hpp"
#include "harness/host.hpp"
#include "harness/json.hpp"

namespace assay {
namespace {

constexpr std::int64_t schema = 1;

int records_fd = STDOUT_FILENO;

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

json::Text entries(const std::vector<std::string>& entries) {
    std::vector<json::Text> texts;
    for (const std::string& entry : entries) {
        texts.push_back({entry});
    }
    return json::array(texts);
}

/// Output of a failed rank that is shown.
constexpr std::size_t last_bytes = 400;

std::string line(const std::vector<json::Member>& members) { return json::object(members).text + "\n"; }

}  // namespace

std::string rank_entry(int rank, const PlacementReadback& readback) {
    std::vector<json::Member> pages;
    for (const auto& [node, count] : readback.page_nodes) {
        pages.push_back({std::to_string(node), json::number(count)});
    }
    std::vector<json::Member> members{
        {"rank", json::number(std::int64_t{rank})}, {"host", json::string(host())},
        {"boot_id", json::string(boot_id())},       {"requested_cpus", json::numbers(readback.requested_cpus)},
        {"cpus", json::numbers(readback.cpus)},     {"requested_memory", json::string(readback.requested_memory)},
        {"page_nodes", json::object(pages)}};
    if (readback.huge_page_share) {
        members.push_back({"huge_page_share", json::number(*readback.huge_page_share)});
    }
    if (!readback.threads_pinned) {
        members.push_back({"proof", json::string("rank")});
    }
    if (readback.devices) {
        std::vector<json::Text> opened;
        for (const OpenedDevice& device : *readback.devices) {
            opened.push_back(json::object({{"name", json::string(device.name)},
                                           {"address", json::string(device.address)},
                                           {"uuid", json::string(device.uuid)}}));
        }
        members.push_back({"devices", json::array(opened)});
    }
    if (readback.folder) {
        const FolderReadback& folder = *readback.folder;
        members.push_back({"folder", json::object({{"path", json::string(folder.path)},
                                                   {"asked", json::string(folder.asked)},
                                                   {"file_system", json::string(folder.file_system)},
                                                   {"source", json::string(folder.source)},
                                                   {"capacity_bytes", json::number(folder.capacity_bytes)},
                                                   {"free_bytes", json::number(folder.free_bytes)},
                                                   {"removed", json::boolean(folder.removed)}})});
    }
    if (readback.usage) {
        const ProcessUsage& usage = *readback.usage;
        members.push_back(
            {"usage", json::object({{"resident_bytes", json::number(usage.resident_bytes)},
                                    {"voluntary_switches", json::number(usage.voluntary_switches)},
                                    {"involuntary_switches", json::number(usage.involuntary_switches)},
                                    {"strayed_s", json::number(usage.strayed_s)}})});
    }
    if (!readback.mpi.empty()) {
        members.push_back({"mpi", {readback.mpi}});
    }
    return json::object(members).text;
}

std::string series_lines(const std::string& kernel, int rank, const std::vector<Series>& phases) {
    std::string lines;
    for (const Series& series : phases) {
        lines += line({{"type", json::string("series")},
                       {"kernel", json::string(kernel)},
                       {"rank", json::number(std::int64_t{rank})},
                       {"phase", json::string(series.phase)},
                       {"iterations", json::number(static_cast<std::int64_t>(series.iterations))},
                       {"stop", json::string(series.stop)},
                       {"start_s", json::numbers(series.start_s)},
                       {"seconds", json::numbers(series.seconds)}});
    }
    for (const Series& series : phases) {
        if (!series.thread_seconds.empty()) {
            const std::uint64_t iterations = series.iterations * series.seconds.size();
            lines += line({{"type", json::string("threads")},
                           {"kernel", json::string(kernel)},
                           {"rank", json::number(std::int64_t{rank})},
                           {"iterations", json::number(static_cast<std::int64_t>(iterations))},
                           {"seconds", json::numbers(series.thread_seconds)}});
        }
    }
    return lines;
}

std::string host_entry(const Counters& carried, const FrameSizes& mtus, const CpuTimes& spent, double own_s) {
    std::vector<json::Member> interfaces;
    for (const auto& [name, counter] : carried) {
        interfaces.push_back({name, json::object({{"sent", json::number(counter.sent)},
                                                  {"received", json::number(counter.received)}})});
    }
    std::vector<json::Member> sizes;
    for (const auto& [name, mtu] : mtus) {
        sizes.push_back({name, json::number(mtu)});
    }
    return json::object({{"host", json::string(host())},
                         {"boot_id", json::string(boot_id())},
                         {"interfaces", json::object(interfaces)},
                         {"mtus", json::object(sizes)},
                         {"cpus", json::number(static_cast<std::int64_t>(spent.cpus))},
                         {"used_s", json::number(spent.used_s)},
                         {"stolen_s", json::number(spent.stolen_s)},
                         {"own_s", json::number(own_s)}})
        .text;
}

void Records::header(const Header& header) {
    std::vector<json::Member> members{
        {"type", json::string("header")},
        {"schema", json::number(schema)},
        {"benchmark", json::string(header.declaration.name)},
        {"case", json::string(header.request.id)},
        {"params", params_of(header.request.params)},
        {"work", work_of(header.work)},
        {"build", json::strings(build())},
        {"clock", json::object({{"name", json::string(header.clock.name)},
                                {"resolution_s", json::number(header.clock.resolution_s)},
                                {"overhead_s", json::number(header.clock.overhead_s)}})},
        {"ranks", entries(header.ranks)}};
    if (!header.library.empty()) {
        members.push_back({"mpi", json::strings(header.library)});
    }
    if (!header.libraries.empty()) {
        std::vector<json::Member> loaded;
        for (const auto& [role, facts] : header.libraries) {
            loaded.push_back({role, json::strings(facts)});
        }
        members.push_back({"libraries", json::object(loaded)});
    }
    if (!header.facts.empty()) {
        members.push_back({"facts", json::strings(header.facts)});
    }
    lines_ = line(members) + lines_;
}

void Records::lines(const std::vector<std::string>& lines) {
    for (const std::string& each : lines) {
        lines_ += each;
    }
}

void Records::traffic(double seconds, double payload_bytes, const std::vector<std::string>& hosts) {
    lines_ += line({{"type", json::string("traffic")},
                    {"seconds", json::number(seconds)},
                    {"payload", json::number(payload_bytes)},
                    {"hosts", entries(hosts)}});
}

void Records::figure(const std::string& name, const std::string& unit, double value) {
    lines_ += line({{"type", json::string("figure")},
                    {"name", json::string(name)},
                    {"unit", json::string(unit)},
                    {"value", json::number(value)}});
}

void Records::figure(const Solution& solution, bool warmup) {
    std::vector<json::Member> phases;
    for (const auto& [phase, seconds] : solution.phases) {
        phases.push_back({phase, json::number(seconds)});
    }
    std::vector<json::Member> members{{"type", json::string("figure")},
                                      {"name", json::string(solution.name)},
                                      {"unit", json::string(solution.unit)},
                                      {"value", json::number(solution.value)},
                                      {"seconds", json::number(solution.seconds)},
                                      {"phases", json::object(phases)}};
    if (!solution.steps.empty()) {
        std::vector<json::Member> steps;
        for (const auto& [phase, seconds] : solution.steps) {
            steps.push_back({phase, json::numbers(seconds)});
        }
        members.push_back({"steps", json::object(steps)});
    }
    if (warmup) {
        members.push_back({"warmup", json::boolean(true)});
    }
    lines_ += line(members);
}

void Records::output(const std::string& text) {
    lines_ += line({{"type", json::string("output")}, {"text", json::string(text)}});
}

void Records::verdict(bool passed, double error, double tolerance) {
    lines_ += line({{"type", json::string("verdict")},
                    {"passed", json::boolean(passed)},
                    {"error", json::number(error)},
                    {"tolerance", json::number(tolerance)}});
}

void Records::end(const std::string& status, const std::string& reason, const std::string& cause) {
    std::vector<json::Member> members{{"type", json::string("end")}, {"status", json::string(status)}};
    if (!reason.empty()) {
        members.push_back({"reason", json::string(reason)});
    }
    if (!cause.empty()) {
        members.push_back({"cause", json::string(cause)});
    }
    lines_ += line(members);
}

void Records::flush() {
    const std::string lines = std::move(lines_);
    lines_.clear();
    write_out(lines);
}

std::string placed_line(const std::string& entry, const std::string& host, const std::string& status,
                        const std::string& reason, const std::string& output) {
    std::size_t from = output.size() > last_bytes ? output.size() - last_bytes : 0;
    while (from < output.size() && (static_cast<unsigned char>(output[from]) & 0xC0U) == 0x80U) {
        ++from;  // not inside a character
    }
    return "\n" + line({{"type", json::string("placed")},
                        {"rank", {entry}},
                        {"host", {host}},
                        {"status", json::string(status)},
                        {"reason", json::string(reason)},
                        {"last", json::string(output.substr(from))}});
}

void reserve_stdout() {
    const int reserved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (reserved >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) == STDOUT_FILENO) {
        records_fd = reserved;
    }
}

void write_out(const std::string& text) {
    std::string_view rest = text;
    while (!rest.empty()) {
        const ssize_t written = ::write(records_fd, rest.data(), rest.size());
        if (written < 0 && errno != EINTR) {
            throw Failure(Exit::environment, "the records cannot be written to stdout", std::strerror(errno),
                          "give it a reader that stays, or a disk with room");
        }
        rest.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
    }
}

}  // namespace assay

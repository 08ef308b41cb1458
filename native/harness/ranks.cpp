#include "harness/ranks.hpp"

#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <set>

#include "harness/host.hpp"

namespace assay {
namespace {

constexpr char separator = '\0';

std::string text_of(const Failure& failure) {
    std::string text = std::to_string(static_cast<int>(failure.exit));
    for (const std::string& part : {std::string(failure.what()), failure.why, failure.next, failure.cause}) {
        text += separator + part;
    }
    return text;
}

Failure failure_of(const std::string& text) {
    std::array<std::string, 5> parts;
    std::size_t begin = 0;
    for (std::string& part : parts) {
        const std::size_t end = text.find(separator, begin);
        part = text.substr(begin, end - begin);
        begin = end + 1;
    }
    return {static_cast<Exit>(std::stoi(parts[0])), parts[1], parts[2], parts[3], parts[4]};
}

}  // namespace

void SingleProcess::abandon(Exit exit) { std::exit(static_cast<int>(exit)); }

double allreduce_max(Ranks& ranks, double value) {
    ranks.allreduce_max({&value, 1});
    return value;
}

std::string first_nonempty(Ranks& ranks, const std::string& text) {
    std::string first;
    for (const std::string& each : ranks.gather(text)) {
        if (first.empty()) {
            first = each;
        }
    }
    return ranks.broadcast(first);
}

std::vector<std::string> allgather(Ranks& ranks, const std::string& text) {
    std::string joined;
    for (const std::string& each : ranks.gather(text)) {
        joined += each + separator;
    }
    joined = ranks.broadcast(joined);
    std::vector<std::string> texts;
    for (std::size_t begin = 0; begin < joined.size(); begin += texts.back().size() + 1) {
        texts.push_back(joined.substr(begin, joined.find(separator, begin) - begin));
    }
    return texts;
}

bool is_first_with_key(Ranks& ranks, const std::string& key) {
    std::set<std::string> seen;
    std::string first;
    for (const std::string& each : ranks.gather(key)) {
        first += seen.insert(each).second ? '1' : '0';
    }
    return ranks.broadcast(first)[static_cast<std::size_t>(ranks.rank())] == '1';
}

std::string host_key() {
    std::array<char, 64> network{};
    const ssize_t length = readlink("/proc/self/ns/net", network.data(), network.size());
    return host() + '\n' + boot_id() + '\n' +
           std::string(network.data(), length < 0 ? 0 : static_cast<std::size_t>(length));
}

void throw_if_any(Ranks& ranks, const Failure* own) {
    std::string text;
    if (own != nullptr) {
        const std::string where =
            ranks.size() > 1 ? " (rank " + std::to_string(ranks.rank()) + " on " + host() + ")" : "";
        text = text_of({own->exit, own->what(), own->why + where, own->next, own->cause});
    }
    const std::string first_failure = first_nonempty(ranks, text);
    if (!first_failure.empty()) {
        throw failure_of(first_failure);
    }
}

Pair pair_of(const Ranks& ranks) {
    if (ranks.size() % 2 != 0) {
        throw Failure(Exit::usage,
                      std::to_string(ranks.size()) + (ranks.size() == 1 ? " rank is" : " ranks are") + " here",
                      "messages are passed in pairs: rank i of the first half with rank i of the second half",
                      "start an even number of ranks: mpiexec -n 2 ...");
    }
    const int pairs = ranks.size() / 2;
    const bool first = ranks.rank() < pairs;
    return {first ? ranks.rank() + pairs : ranks.rank() - pairs, first, pairs};
}

}  // namespace assay

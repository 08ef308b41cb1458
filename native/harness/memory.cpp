#include "harness/memory.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "harness/cpus.hpp"
#include "harness/failure.hpp"

namespace assay {
namespace {

// From <linux/mempolicy.h>, which some systems lack; this interface of the kernel does not change.
constexpr int mpol_default = 0;
constexpr int mpol_bind = 2;
constexpr int mpol_interleave = 3;
constexpr unsigned long mpol_f_addr = 2;
constexpr int max_nodes = 1024;  // no kernel is built for more (NODES_SHIFT is at most 10)

constexpr std::size_t default_huge_page = std::size_t{1} << 21U;
constexpr double nearly_all = 0.99;  ///< required share of huge pages: a single small page changes nothing
const char* const huge_pages = "/sys/kernel/mm/transparent_hugepage/";
constexpr std::size_t sampled_pages = 65536;

std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::string mebibytes(std::uint64_t bytes) { return std::to_string(bytes >> 20U) + " MiB"; }

std::size_t round_up(std::size_t value, std::size_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

/// Page size of Pages::huge: 2 MiB, but 512 MiB on an Arm kernel with pages of 64 KiB.
std::size_t huge_page_size() {
    std::size_t size = 0;
    std::ifstream(std::string(huge_pages) + "hpage_pmd_size") >> size;
    return std::max(size, default_huge_page);
}

/// Bit mask for the kernel: node n is bit n.
std::vector<unsigned long> node_mask(const std::vector<int>& nodes) {
    constexpr std::size_t bits = sizeof(unsigned long) * CHAR_BIT;
    const auto largest = static_cast<std::size_t>(*std::max_element(nodes.begin(), nodes.end()));
    std::vector<unsigned long> mask(largest / bits + 1, 0);
    for (const int node : nodes) {
        mask[static_cast<std::size_t>(node) / bits] |= 1UL << (static_cast<std::size_t>(node) % bits);
    }
    return mask;
}

/// Nodes of a page's memory policy, as the kernel reports them; empty if it does not.
std::vector<int> nodes_of_policy(std::byte* page) {
    constexpr std::size_t bits = sizeof(unsigned long) * CHAR_BIT;
    std::array<unsigned long, max_nodes / bits> mask{};
    int mode = 0;
    std::vector<int> nodes;
    if (syscall(SYS_get_mempolicy, &mode, mask.data(), max_nodes + 1UL, page, mpol_f_addr) == 0) {
        for (int node = 0; node < max_nodes; ++node) {
            if (mask[static_cast<std::size_t>(node) / bits] >> (static_cast<std::size_t>(node) % bits) & 1U) {
                nodes.push_back(node);
            }
        }
    }
    return nodes;
}

/// Makes the beginning of a mapping the buffer. The rest is left out of core dumps: the kernel then accounts for
/// the two parts separately (smaps), and the proof of huge pages covers the buffer only. They meet at the border
/// of a huge page, so that none is split.
void split_mapping(Mapping& mapping, std::size_t bytes) {
    const std::size_t whole = round_up(mapping.whole, page_size());
    const std::size_t ahead = std::min(round_up(bytes, huge_page_size()), whole);
    madvise(mapping.buffer, ahead, MADV_DODUMP);
    if (ahead < whole) {
        madvise(mapping.buffer + ahead, whole - ahead, MADV_DONTDUMP);
    }
    mapping.bytes = bytes;
}

/// Failure (usage) for a memory node that this machine lacks; the kernel reports nodes that are not allowed.
void require_existing(const std::vector<int>& nodes) {
    const std::vector<int> online = listed("/sys/devices/system/node/online");
    for (const int node : nodes) {
        if (!online.empty() && std::find(online.begin(), online.end(), node) == online.end()) {
            throw Failure(Exit::usage, "memory node " + std::to_string(node) + " cannot be used",
                          "it does not exist; there are: " + format_list(online),
                          "--memory bind:" + std::to_string(online.front()));
        }
    }
}

}  // namespace

MemoryPolicy MemoryPolicy::parse(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view word = text.substr(0, colon);
    const bool has_nodes = colon != std::string_view::npos;
    MemoryPolicy policy;
    policy.text = text;
    if (word == "first-touch" && !has_nodes) {
        return policy;
    }
    if ((word == "bind" || word == "interleave") && has_nodes) {
        policy.kind = word == "bind" ? Kind::bind : Kind::interleave;
        policy.nodes = parse_list(text.substr(colon + 1), "memory node");
        return policy;
    }
    throw Failure(Exit::usage, "'" + std::string(text) + "' is no memory policy",
                  "known: first-touch, bind:N[,N], interleave:N[,N]", "--memory first-touch");
}

std::optional<Mapping> KeptBuffers::take(const Mapping& wanted) {
    const auto agrees = [&](const Mapping& mapping) {
        return mapping.policy == wanted.policy && mapping.pages == wanted.pages && mapping.touch == wanted.touch;
    };
    const auto serves = [&](const Mapping& mapping) {
        return agrees(mapping) &&
               (mapping.whole == wanted.bytes || (mapping.whole > wanted.bytes && wanted.touch->any_size));
    };
    auto best = mappings_.end();
    for (auto each = mappings_.begin(); each != mappings_.end(); ++each) {
        if (serves(*each) && (best == mappings_.end() || each->whole < best->whole)) {
            best = each;
        }
    }
    if (best != mappings_.end()) {
        Mapping taken = std::move(*best);
        mappings_.erase(best);
        return taken;
    }
    std::erase_if(mappings_, [&](const Mapping& mapping) {
        return agrees(mapping) && munmap(mapping.start, mapping.mapped) == 0;
    });
    return std::nullopt;
}

void KeptBuffers::clear() {
    for (const Mapping& mapping : mappings_) {
        munmap(mapping.start, mapping.mapped);
    }
    mappings_.clear();
}

Memory::~Memory() {
    for (Mapping& mapping : mappings_) {
        if (keep_ && kept_ != nullptr && mapping.touch) {
            kept_->put(std::move(mapping));
        } else {
            munmap(mapping.start, mapping.mapped);
        }
    }
}

std::byte* Memory::allocate(std::size_t bytes, const std::optional<Touch>& touch) {
    const std::size_t page = pages_ == Pages::huge ? huge_page_size() : page_size();
    const std::size_t wanted = round_up(std::max<std::size_t>(bytes, 1), page);
    const Mapping asked{nullptr, 0, nullptr, wanted, wanted, pages_, policy_.text, touch};
    std::optional<Mapping> taken = touch && kept_ != nullptr ? kept_->take(asked) : std::nullopt;
    if (taken) {
        split_mapping(*taken, wanted);
    } else {
        taken = map(asked);
    }
    mappings_.push_back(std::move(*taken));
    return mappings_.back().buffer;
}

/// Maps fresh memory.
Mapping Memory::map(Mapping wanted) {
    const std::size_t huge_page = pages_ == Pages::huge ? huge_page_size() : default_huge_page;
    const std::size_t mapped = wanted.bytes + huge_page;
    MemoryLimit limit = memory_limit();
    if (mapped > limit.bytes && kept_ != nullptr) {
        kept_->clear();
        limit = memory_limit();
    }
    const auto refuse = [&](const std::string& why) -> Failure {
        return {Exit::environment,
                "the buffers need " + mebibytes(wanted.bytes) + ", which is more memory than may be used", why,
                "--help"};  // lists the axes that set their size
    };
    if (mapped > limit.bytes) {
        throw refuse(mebibytes(limit.bytes) + " is what " + limit.bound + " leaves");
    }
    void* start =
        mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) {
        throw refuse(std::string("mmap: ") + std::strerror(errno));
    }
    const std::size_t lead =
        round_up(reinterpret_cast<std::uintptr_t>(start), huge_page) - reinterpret_cast<std::uintptr_t>(start);
    wanted.start = start;
    wanted.mapped = mapped;
    wanted.buffer = static_cast<std::byte*>(start) + lead;
    try {
        apply_policy(wanted.buffer, wanted.bytes);
    } catch (...) {
        munmap(start, mapped);
        throw;
    }
    // Refused by a kernel without huge pages: then all pages are small.
    madvise(wanted.buffer, wanted.bytes, pages_ == Pages::small ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
    return wanted;
}

void Memory::apply_policy(std::byte* buffer, std::size_t bytes) const {
    if (policy_.kind == MemoryPolicy::Kind::first_touch) {
        // An inherited policy (numactl) must not be recorded as first touch. A kernel that refuses this call has
        // no policies to inherit.
        syscall(SYS_mbind, buffer, bytes, mpol_default, nullptr, 0UL, 0U);
        syscall(SYS_set_mempolicy, mpol_default, nullptr, 0UL);
        return;
    }
    require_existing(policy_.nodes);
    const int mode = policy_.kind == MemoryPolicy::Kind::bind ? mpol_bind : mpol_interleave;
    const std::vector<unsigned long> mask = node_mask(policy_.nodes);
    const unsigned long bits =
        mask.size() * sizeof(unsigned long) * CHAR_BIT + 1;  // the kernel reads one bit less
    const auto refuse = [&](const std::string& why) -> Failure {
        return {Exit::environment, "the kernel refuses the memory policy '" + policy_.text + "'", why,
                "--memory first-touch"};
    };
    if (syscall(SYS_mbind, buffer, bytes, mode, mask.data(), bits, 0U) != 0) {
        throw refuse(std::string("mbind: ") + std::strerror(errno));
    }
    // With several nodes the kernel silently drops those that this process may not use.
    const std::vector<int> granted = nodes_of_policy(buffer);
    if (!granted.empty() && granted.size() < policy_.nodes.size()) {
        throw refuse("it grants only memory node " + format_list(granted) + " of them");
    }
}

PageNodes Memory::page_nodes() const {
    const std::size_t page = page_size();
    std::size_t total = 0;
    for (const Mapping& mapping : mappings_) {
        total += mapping.bytes / page;
    }
    const std::size_t stride = total / sampled_pages + 1;
    std::vector<void*> pages;
    for (const Mapping& mapping : mappings_) {
        for (std::size_t offset = 0; offset < mapping.bytes; offset += stride * page) {
            pages.push_back(mapping.buffer + offset);
        }
    }
    PageNodes found;
    std::vector<int> status(pages.size(), -1);
    if (syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, status.data(), 0) != 0) {
        return found;
    }
    for (const int node : status) {
        if (node >= 0) {
            ++found[node];
        }
    }
    return found;
}

std::optional<double> Memory::huge_page_share() const {
    std::ifstream smaps("/proc/self/smaps");
    double huge = 0;
    bool ours = false;
    bool reported = false;
    for (std::string line; std::getline(smaps, line);) {
        std::uintptr_t begin = 0;
        std::uintptr_t end = 0;
        unsigned long kibibytes = 0;
        if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2) {
            ours = std::any_of(mappings_.begin(), mappings_.end(), [&](const Mapping& mapping) {
                const auto buffer = reinterpret_cast<std::uintptr_t>(mapping.buffer);
                return begin <= buffer && buffer < end;
            });
        } else if (ours && std::sscanf(line.c_str(), "AnonHugePages: %lu kB", &kibibytes) == 1) {
            huge += static_cast<double>(kibibytes) * 1024;
            reported = true;
        }
    }
    double all = 0;
    for (const Mapping& mapping : mappings_) {
        all += static_cast<double>(mapping.bytes);
    }
    return reported ? std::optional(std::min(1.0, huge / all)) : std::nullopt;
}

std::string Memory::misplaced(const PageNodes& found, std::optional<double> huge_page_share) const {
    const std::string wrong = wrong_nodes(found);
    return wrong.empty() ? wrong_page_size(huge_page_share) : wrong;
}

std::string Memory::wrong_page_size(std::optional<double> huge_page_share) const {
    const std::string percent = std::to_string(std::lround(100 * huge_page_share.value_or(0))) + " %";
    if (pages_ == Pages::small && huge_page_share.value_or(0) > 0) {
        return percent + " of the buffers lie in huge pages, small ones were asked for";
    }
    if (pages_ == Pages::huge && !huge_page_share) {
        return "huge pages were asked for, and the kernel does not say whether it gave any (/proc/self/smaps)";
    }
    if (pages_ == Pages::huge && *huge_page_share < nearly_all) {
        std::string enabled;
        std::getline(std::ifstream(std::string(huge_pages) + "enabled"), enabled);
        return percent + " of the buffers lie in huge pages, all were asked to (" + huge_pages +
               "enabled: " + (enabled.empty() ? "there is none" : enabled) + ")";
    }
    return {};
}

std::string Memory::wrong_nodes(const PageNodes& found) const {
    if (policy_.kind == MemoryPolicy::Kind::first_touch) {
        return {};
    }
    for (const auto& [node, pages] : found) {
        if (std::find(policy_.nodes.begin(), policy_.nodes.end(), node) == policy_.nodes.end()) {
            return std::to_string(pages) + " pages lie on memory node " + std::to_string(node) + ", asked for " +
                   policy_.text;
        }
    }
    return {};
}

}  // namespace assay

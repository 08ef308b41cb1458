// The measured buffers: how much memory may be used, where their pages shall be, and where they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// `first-touch`, `bind:N[,N]` or `interleave:N[,N]`.
struct MemoryPolicy {
    enum class Kind { first_touch, bind, interleave };

    Kind kind = Kind::first_touch;
    std::vector<int> nodes;
    std::string text = "first-touch";  ///< as written

    /// Failure (usage) explains what is wrong.
    static MemoryPolicy parse(std::string_view text);
};

/// Memory node -> pages of the buffers on it.
using PageNodes = std::map<int, std::int64_t>;

/// Page size of buffers. By default they are huge where the kernel offers it; a benchmark that requests one kind
/// must get it.
enum class Pages { any, small, huge };

/// Where limits of memory are read; tests have folders of their own.
struct KernelFiles {
    std::string proc = "/proc";
    std::string sys = "/sys";
};

/// The bytes that this process may still use, and the name of the tightest limit.
struct MemoryLimit {
    std::uint64_t bytes;
    std::string bound;
};

/// The smallest of MemAvailable, what the control groups (v1 and v2) leave, and what RLIMIT_AS leaves.
MemoryLimit memory_limit(const KernelFiles& files = {});

/// Which threads first touch a buffer, and so decide where its pages are. A case takes over a buffer of an
/// earlier one only if this is equal.
struct Touch {
    /// One thread on this cpu touches everything. A smaller buffer may be the beginning of a larger one.
    static Touch by_one(int cpu) { return {{cpu}, true}; }

    /// The threads on these cpus touch a part each: only a buffer of equal size has the same parts.
    static Touch by_parts(const std::vector<int>& cpus) { return {cpus, cpus.size() == 1}; }

    std::vector<int> cpus;
    bool any_size;  ///< a smaller buffer may be the beginning of this one

    bool operator==(const Touch&) const = default;
};

/// Mapped memory, and what is known of its pages.
struct Mapping {
    void* start;
    std::size_t mapped;
    std::byte* buffer;
    std::size_t bytes;  ///< of the buffer
    std::size_t whole;  ///< of the buffer and the touched memory behind it
    Pages pages;
    std::string policy;          ///< as written
    std::optional<Touch> touch;  ///< none: no later case may take it over
};

/// Touched buffers that cases of a launch leave to later ones.
class KeptBuffers {
  public:
    KeptBuffers() = default;
    KeptBuffers(const KeptBuffers&) = delete;
    KeptBuffers& operator=(const KeptBuffers&) = delete;
    KeptBuffers(KeptBuffers&&) = delete;
    KeptBuffers& operator=(KeptBuffers&&) = delete;
    ~KeptBuffers() { clear(); }

    /// The smallest buffer that is large enough and agrees with `wanted` in policy, page size and touch. If
    /// there is none, those that differ only in size are returned to the kernel: the next one will serve for
    /// them too.
    std::optional<Mapping> take(const Mapping& wanted);

    void put(Mapping mapping) { mappings_.push_back(std::move(mapping)); }

    /// Returns all buffers to the kernel.
    void clear();

  private:
    std::vector<Mapping> mappings_;
};

/// Page-aligned buffers under one memory policy; they live as long as this object.
class Memory {
  public:
    /// `kept`: where buffers come from, and where they are left.
    explicit Memory(MemoryPolicy policy, std::shared_ptr<KeptBuffers> kept = nullptr)
        : policy_(std::move(policy)), kept_(std::move(kept)) {}
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    Memory(Memory&&) = delete;
    Memory& operator=(Memory&&) = delete;
    ~Memory();

    /// Sets the page size of all buffers, before the first one. Sizes are rounded up to whole huge pages.
    void use(Pages pages) { pages_ = pages; }

    /// Untouched memory, aligned to huge pages and advised to use them (unless small pages are requested).
    /// Failure (environment) if it exceeds the limit, or the kernel refuses the policy.
    std::byte* allocate(std::size_t bytes) { return allocate(bytes, std::nullopt); }

    /// The same, or memory that an earlier case has touched in the same way. Its content is undefined: the
    /// caller writes all that it reads.
    std::byte* allocate(std::size_t bytes, const std::optional<Touch>& touch);

    /// From now on the buffers are left to later cases: their pages are where requested, and have not moved.
    void keep() { keep_ = true; }

    /// Nodes of all pages, or of an even sample of 65,536; empty if the kernel does not report them.
    [[nodiscard]] PageNodes page_nodes() const;

    /// Share of the buffers in huge pages, as the kernel reports it (smaps); none if it does not.
    [[nodiscard]] std::optional<double> huge_page_share() const;

    /// Why pages are not where requested, or of another size; empty if all is as requested. Nodes that the
    /// kernel does not report are accepted, but huge pages must be proven.
    [[nodiscard]] std::string misplaced(const PageNodes& found, std::optional<double> huge_page_share) const;

    [[nodiscard]] const MemoryPolicy& policy() const { return policy_; }

  private:
    [[nodiscard]] Mapping map(Mapping wanted);
    void apply_policy(std::byte* buffer, std::size_t bytes) const;
    [[nodiscard]] std::string wrong_nodes(const PageNodes& found) const;
    [[nodiscard]] std::string wrong_page_size(std::optional<double> huge_page_share) const;

    MemoryPolicy policy_;
    Pages pages_ = Pages::any;
    std::vector<Mapping> mappings_;
    std::shared_ptr<KeptBuffers> kept_;
    bool keep_ = false;
};

}  // namespace assay

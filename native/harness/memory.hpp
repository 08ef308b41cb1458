// The buffers that are measured: how much may be asked for, where the pages shall lie, and where they do.
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
    std::string text = "first-touch";  ///< as it was written

    /// Failure (usage) says what is wrong with it.
    static MemoryPolicy parse(std::string_view text);
};

/// Memory node -> pages of the buffers found on it.
using PageNodes = std::map<int, std::int64_t>;

/// How large the pages of buffers shall be. By default they are huge where the kernel has such at hand; a
/// benchmark that asks for one kind must get it.
enum class Pages { as_offered, small, huge };

/// Where limits of memory are read; a test plants folders of its own.
struct KernelFiles {
    std::string proc = "/proc";
    std::string sys = "/sys";
};

/// The bytes that this process may still use, with the name of the tightest bound.
struct MemoryLimit {
    std::uint64_t bytes;
    std::string bound;
};

/// The least of what is available (MemAvailable), what the control groups (v1 and v2) leave and what RLIMIT_AS
/// leaves.
MemoryLimit memory_limit(const KernelFiles& files = {});

/// Who first touches the pages of a buffer, and so where they come to lie: what a case must agree in to take them
/// over from an earlier one.
struct Touch {
    /// One thread on this cpu touches all of it. A smaller buffer may be the beginning of a larger one.
    static Touch by_one(int cpu) { return {{cpu}, true}; }

    /// The threads on these cpus touch a part each, by the size of the whole: only an equal one has these parts.
    static Touch by_parts(const std::vector<int>& cpus) { return {cpus, cpus.size() == 1}; }

    std::vector<int> cpus;
    bool any_size;  ///< its beginning is touched as a smaller buffer would be

    bool operator==(const Touch&) const = default;
};

/// Memory of the kernel with what is known of its pages.
struct Mapping {
    void* start;
    std::size_t mapped;
    std::byte* buffer;
    std::size_t bytes;  ///< of the buffer
    std::size_t whole;  ///< of the buffer and what was touched behind it
    Pages pages;
    std::string policy;          ///< as it was written
    std::optional<Touch> touch;  ///< none: no later case may take it over
};

/// Buffers that cases of a launch leave to later ones: mapped, and touched.
class KeptBuffers {
  public:
    KeptBuffers() = default;
    KeptBuffers(const KeptBuffers&) = delete;
    KeptBuffers& operator=(const KeptBuffers&) = delete;
    KeptBuffers(KeptBuffers&&) = delete;
    KeptBuffers& operator=(KeptBuffers&&) = delete;
    ~KeptBuffers() { clear(); }

    /// The smallest of those that agree with `wanted` in policy, pages and touch and that are large enough. Where
    /// there is none, those that agree but for their size are given back to the kernel: the next one will serve
    /// for them too.
    std::optional<Mapping> take(const Mapping& wanted);

    void put(Mapping mapping) { mappings_.push_back(std::move(mapping)); }

    /// Gives all back to the kernel.
    void clear();

  private:
    std::vector<Mapping> mappings_;
};

/// Page-aligned buffers under one policy; they live as long as this object.
class Memory {
  public:
    /// `kept`: where buffers are taken over from, and left to.
    explicit Memory(MemoryPolicy policy, std::shared_ptr<KeptBuffers> kept = nullptr)
        : policy_(std::move(policy)), kept_(std::move(kept)) {}
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    Memory(Memory&&) = delete;
    Memory& operator=(Memory&&) = delete;
    ~Memory();

    /// Before the first buffer: the pages of all of them. Huge ones are filled up: the buffers grow to whole ones.
    void use(Pages pages) { pages_ = pages; }

    /// Untouched memory, aligned to huge pages and advised to use them (unless small ones are asked for). Failure
    /// (environment) where more is asked for than may be used, or the kernel refuses the policy.
    std::byte* allocate(std::size_t bytes) { return allocate(bytes, std::nullopt); }

    /// The same, or memory that an earlier case has touched just so. What stands in it is undefined then: whoever
    /// asks writes all that it will read.
    std::byte* allocate(std::size_t bytes, const std::optional<Touch>& touch);

    /// From now on its buffers are left to later cases at its end: they lie as asked for, and still lie as they
    /// did.
    void keep() { keep_ = true; }

    /// Nodes of all pages, or of an even sample of 65,536; empty where the kernel does not say.
    [[nodiscard]] PageNodes page_nodes() const;

    /// Share of the buffers that lies in huge pages, by the kernel's own account (smaps); none where it has none.
    [[nodiscard]] std::optional<double> huge_page_share() const;

    /// Why these pages lie otherwise than asked, or are of another size; empty where all is as asked. Nodes that
    /// the kernel does not tell are not held against it, but huge pages have to be proven.
    [[nodiscard]] std::string misplaced(const PageNodes& found, std::optional<double> huge_page_share) const;

    [[nodiscard]] const MemoryPolicy& policy() const { return policy_; }

  private:
    [[nodiscard]] Mapping map(Mapping wanted);
    void apply_policy(std::byte* buffer, std::size_t bytes) const;
    [[nodiscard]] std::string on_other_nodes(const PageNodes& found) const;
    [[nodiscard]] std::string of_other_size(std::optional<double> huge_page_share) const;

    MemoryPolicy policy_;
    Pages pages_ = Pages::as_offered;
    std::vector<Mapping> mappings_;
    std::shared_ptr<KeptBuffers> kept_;
    bool keep_ = false;
};

}  // namespace assay

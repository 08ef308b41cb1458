// The buffers that are measured: how much may be asked for, where the pages shall lie, and where they do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
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

/// What bounds the memory of this process, in bytes, with the name of the tightest bound.
struct Allowance {
    std::uint64_t bytes;
    std::string bound;
};

/// The least of what is available (MemAvailable), what the control groups (v1 and v2) leave and what RLIMIT_AS
/// leaves.
Allowance memory_allowance(const KernelFiles& files = {});

/// Page-aligned buffers under one policy; they live as long as this object.
class Memory {
  public:
    explicit Memory(MemoryPolicy policy) : policy_(std::move(policy)) {}
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    Memory(Memory&&) = delete;
    Memory& operator=(Memory&&) = delete;
    ~Memory();

    /// Before the first buffer: the pages of all of them. Huge ones are filled up: the buffers grow to whole ones.
    void use(Pages pages) { pages_ = pages; }

    /// Untouched memory, aligned to huge pages and advised to use them (unless small ones are asked for). Failure
    /// (environment) where more is asked for than may be used, or the kernel refuses the policy.
    std::byte* allocate(std::size_t bytes);

    /// Nodes of all pages, or of an even sample of 65,536; empty where the kernel does not say.
    [[nodiscard]] PageNodes page_nodes() const;

    /// Share of the buffers that lies in huge pages, by the kernel's own account (smaps); none where it has none.
    [[nodiscard]] std::optional<double> huge_page_share() const;

    /// Why these pages lie otherwise than asked, or are of another size; empty where all is as asked. Nodes that
    /// the kernel does not tell are not held against it, but huge pages have to be proven.
    [[nodiscard]] std::string misplaced(const PageNodes& found, std::optional<double> huge_page_share) const;

    [[nodiscard]] const MemoryPolicy& policy() const { return policy_; }

  private:
    struct Mapping {
        void* start;
        std::size_t mapped;
        std::byte* buffer;
        std::size_t bytes;
    };

    void apply_policy(std::byte* buffer, std::size_t bytes) const;
    [[nodiscard]] std::string on_other_nodes(const PageNodes& found) const;
    [[nodiscard]] std::string of_other_size(std::optional<double> huge_page_share) const;

    MemoryPolicy policy_;
    Pages pages_ = Pages::as_offered;
    std::vector<Mapping> mappings_;
};

}  // namespace assay

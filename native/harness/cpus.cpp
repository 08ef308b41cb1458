#include "harness/cpus.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <memory>

#include "harness/failure.hpp"

namespace assay {
namespace {

constexpr int largest_cpu = 1 << 20;

/// An affinity mask for any number of cpus: the fixed cpu_set_t ends at 1024.
class Mask {
  public:
    explicit Mask(int cpus) : cpus_(cpus), bytes_(CPU_ALLOC_SIZE(cpus)), set_(CPU_ALLOC(cpus)) {
        CPU_ZERO_S(bytes_, set_.get());
    }

    cpu_set_t* get() { return set_.get(); }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    void add(int cpu) { CPU_SET_S(static_cast<std::size_t>(cpu), bytes_, set_.get()); }

    std::vector<int> list() {
        std::vector<int> cpus;
        for (int cpu = 0; cpu < cpus_; ++cpu) {
            if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes_, set_.get())) {
                cpus.push_back(cpu);
            }
        }
        return cpus;
    }

  private:
    struct Free {
        void operator()(cpu_set_t* set) const { CPU_FREE(set); }
    };

    int cpus_;
    std::size_t bytes_;
    std::unique_ptr<cpu_set_t, Free> set_;
};

int parse_number(std::string_view text, std::string_view whole, std::string_view noun) {
    int number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < 0 || number > largest_cpu) {
        throw Failure(Exit::usage, "'" + std::string(whole) + "' is no list of " + std::string(noun) + "s",
                      "'" + std::string(text) + "' is not a number of one",
                      "write a list such as 0-3,8 (the order is kept)");
    }
    return number;
}

}  // namespace

std::vector<int> parse_list(std::string_view text, std::string_view noun) {
    std::vector<int> numbers;
    std::string_view rest = text;
    for (bool more = true; more;) {
        const std::size_t comma = rest.find(',');
        const std::string_view item = rest.substr(0, comma);
        const std::size_t dash = item.find('-');
        const int first = parse_number(item.substr(0, dash), text, noun);
        const int last = dash == std::string_view::npos ? first : parse_number(item.substr(dash + 1), text, noun);
        if (last < first) {
            throw Failure(Exit::usage, "'" + std::string(text) + "' is no list of " + std::string(noun) + "s",
                          "'" + std::string(item) + "' runs backwards", "write the smaller number first");
        }
        for (int number = first; number <= last; ++number) {
            if (std::find(numbers.begin(), numbers.end(), number) != numbers.end()) {
                throw Failure(Exit::usage,
                              std::string(noun) + " " + std::to_string(number) + " stands twice in '" +
                                  std::string(text) + "'",
                              "each thread has one of its own", "name each one once");
            }
            numbers.push_back(number);
        }
        more = comma != std::string_view::npos;
        rest = more ? rest.substr(comma + 1) : rest;
    }
    return numbers;
}

std::vector<std::vector<int>> parse_lists(std::string_view text, std::string_view noun) {
    std::vector<std::vector<int>> lists;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find('/', begin), text.size());
        lists.push_back(parse_list(text.substr(begin, end - begin), noun));
        begin = end + 1;
    }
    return lists;
}

std::vector<int> listed(const std::string& path) {
    std::string line;
    std::getline(std::ifstream(path), line);
    return line.empty() ? std::vector<int>{} : parse_list(line, "number");
}

std::string format_list(const std::vector<int>& numbers) {
    std::string text;
    for (std::size_t first = 0; first < numbers.size();) {
        std::size_t last = first;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) {
            ++last;
        }
        text += (text.empty() ? "" : ",") + std::to_string(numbers[first]);
        if (last > first) {
            text += "-" + std::to_string(numbers[last]);
        }
        first = last + 1;
    }
    return text;
}

std::vector<int> affinity(int thread_id) {
    // The kernel refuses a mask that is smaller than its own, whose size is not published: grow until it fits.
    for (int cpus = 1024; cpus <= largest_cpu; cpus *= 4) {
        Mask mask(cpus);
        if (sched_getaffinity(thread_id, mask.bytes(), mask.get()) == 0) {
            return mask.list();
        }
        if (errno != EINVAL) {
            break;
        }
    }
    throw Failure(Exit::environment, "the cpus that may be used cannot be read",
                  std::string("sched_getaffinity: ") + std::strerror(errno), "measure outside of this sandbox");
}

int pinned_cpu(int thread_id) noexcept {
    try {
        const std::vector<int> mask = affinity(thread_id);
        return mask.size() == 1 ? mask.front() : -1;
    } catch (const std::exception&) {
        return -1;
    }
}

void unpin() {
    Mask mask(largest_cpu);
    for (int cpu = 0; cpu < largest_cpu; ++cpu) {
        mask.add(cpu);
    }
    sched_setaffinity(0, mask.bytes(), mask.get());
}

bool pin(const std::vector<int>& cpus, int thread_id) {
    Mask mask(*std::max_element(cpus.begin(), cpus.end()) + 1);
    for (const int cpu : cpus) {
        mask.add(cpu);
    }
    return sched_setaffinity(thread_id, mask.bytes(), mask.get()) == 0;
}

}  // namespace assay

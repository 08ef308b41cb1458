// MPI calls, counted while samples are taken, in programs linked with `counted` only: others measure messages
// themselves.
#pragma once

#include <string>

namespace assay {
namespace linked {

[[gnu::weak]] void count_calls(bool on);
[[gnu::weak]] void forget_calls();
[[gnu::weak]] std::string counted_calls();

}  // namespace linked

/// Starts or stops counting this rank's calls.
inline void count_calls(bool on) {
    if (&linked::count_calls != nullptr) {
        linked::count_calls(on);
    }
}

/// Resets the counts.
inline void forget_calls() {
    if (&linked::forget_calls != nullptr) {
        linked::forget_calls();
    }
}

/// The counts as JSON; empty in programs that do not count.
inline std::string counted_calls() { return &linked::counted_calls != nullptr ? linked::counted_calls() : ""; }

}  // namespace assay

// Calls of MPI, counted while samples are taken: in programs that are linked with `counted`, in no others, for
// what some measure are messages themselves.
#pragma once

#include <string>

namespace assay {
namespace linked {

[[gnu::weak]] void count_calls(bool on);
[[gnu::weak]] void forget_calls();
[[gnu::weak]] std::string counted_calls();

}  // namespace linked

/// Counts this rank's calls from now on, or no more.
inline void count_calls(bool on) {
    if (&linked::count_calls != nullptr) {
        linked::count_calls(on);
    }
}

/// As if nothing had been counted yet.
inline void forget_calls() {
    if (&linked::forget_calls != nullptr) {
        linked::forget_calls();
    }
}

/// What was counted, as JSON; empty in programs that do not count.
inline std::string counted_calls() { return &linked::counted_calls != nullptr ? linked::counted_calls() : ""; }

}  // namespace assay

// Just enough to test with: each failed check is printed with its place, and main fails if there was one.
#pragma once

#include <cmath>
#include <functional>
#include <iostream>
#include <string>

#include "harness/failure.hpp"

namespace assay::test {

inline int failures = 0;

inline void check(bool passed, const char* condition, const char* file, int line) {
    if (!passed) {
        std::cerr << file << ':' << line << ": " << condition << '\n';
        ++failures;
    }
}

/// What a Failure says, `what: why`; empty if none is thrown.
inline std::string failure_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const Failure& failure) {
        return std::string(failure.what()) + ": " + failure.why;
    }
    return {};
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace assay::test

#define CHECK(condition) ::assay::test::check((condition), #condition, __FILE__, __LINE__)

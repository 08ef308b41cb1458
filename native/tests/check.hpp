// A minimal test framework: each failed check is printed with its place, and main fails if there was one.
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

/// The message of a Failure, `what: why`; empty if none is thrown.
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

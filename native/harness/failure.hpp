// What the user reads when something cannot continue: what, why, and what to do next.
#pragma once

#include <stdexcept>
#include <string>

namespace assay {

/// Cause of a failure in an `end` record, where the analysis needs it.
inline constexpr const char* connection_lost = "connection-lost";

enum class Exit : int { complete = 0, failed = 1, usage = 2, environment = 4 };

/// Thrown if a request cannot be fulfilled; `program.cpp` prints it and sets the exit code.
class Failure : public std::runtime_error {
  public:
    Failure(Exit exit, const std::string& what, std::string why, std::string next, std::string cause = "")
        : std::runtime_error(what),
          exit(exit),
          why(std::move(why)),
          next(std::move(next)),
          cause(std::move(cause)) {}

    Exit exit;
    std::string why;
    std::string next;
    std::string cause;  ///< one of the causes above; empty for all others
};

}  // namespace assay

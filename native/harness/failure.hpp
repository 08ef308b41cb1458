// What a user is told when something cannot go on: what, why, and what to do next.
#pragma once

#include <stdexcept>
#include <string>

namespace assay {

/// What an `end` record names as the cause of a failure, where analysis asks for it.
inline constexpr const char* connection_lost = "connection-lost";

enum class Exit : int { complete = 0, failed = 1, usage = 2, environment = 4 };

/// Thrown wherever a request cannot be fulfilled; `program.cpp` turns it into words and an exit code.
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
    std::string cause;  ///< one of the names above; empty for all others
};

}  // namespace assay

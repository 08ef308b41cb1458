// The machine that a process runs on.
#pragma once

#include <string>

namespace assay {

/// Its name; empty if it has none.
std::string host();

/// Of its kernel: two hosts with one boot id are one machine.
std::string boot_id();

}  // namespace assay

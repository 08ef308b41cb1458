// The machine that a process runs on.
#pragma once

#include <string>

namespace assay {

/// Host name; empty if it has none.
std::string host();

/// Of the running kernel: two hosts with the same boot id are one machine.
std::string boot_id();

}  // namespace assay

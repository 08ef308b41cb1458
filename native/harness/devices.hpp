// The devices of a rank: asked for by word, opened by the benchmark, which reports what it opened.
#pragma once

#include <string>
#include <vector>

namespace assay {

/// A device as the benchmark reads it back from what it opened; unknown parts are empty.
struct OpenedDevice {
    std::string name;     ///< `opencl:NAME`, `cuda:NAME`: what a device has that is on no bus
    std::string address;  ///< on the PCI bus: `0000:81:00.0`
    std::string uuid;     ///< as its driver prints it: `GPU-...`, `MIG-...`
};

/// A name as a word of the command line: letters, digits and `._:+-` stay, all others become `_`.
std::string device_word(const std::string& name);

/// How the opened devices of a rank differ from the words that were asked for; empty if they do not.
std::string misopened(const std::vector<std::string>& asked, const std::vector<OpenedDevice>& opened);

}  // namespace assay

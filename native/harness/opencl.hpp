// An OpenCL device that a rank was given, opened and read back. For programs that link OpenCL: <program>.cmake.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "harness/cpus.hpp"
#include "harness/devices.hpp"
#include "harness/failure.hpp"

namespace assay::opencl {

constexpr cl_device_info pci_bus_info = 0x410F;  // cl_khr_pci_bus_info: domain, bus, device, function
constexpr cl_device_info device_uuid = 0x106A;   // cl_khr_device_uuid
constexpr cl_device_info nvidia_bus = 0x4008;    // cl_nv_device_attribute_query
constexpr cl_device_info nvidia_slot = 0x4009;
constexpr cl_device_info nvidia_domain = 0x400A;
constexpr cl_uint nvidia = 0x10DE;

/// Failure (environment) unless a call succeeded.
inline void require(cl_int code, const std::string& what) {
    if (code != CL_SUCCESS) {
        throw Failure(Exit::environment, what + " fails", "OpenCL answers " + std::to_string(code),
                      "assay discover   # lists the devices");
    }
}

inline std::string text(cl_device_id device, cl_device_info question) {
    std::size_t size = 0;
    if (clGetDeviceInfo(device, question, 0, nullptr, &size) != CL_SUCCESS) {
        return "";
    }
    std::string answer(size, '\0');
    clGetDeviceInfo(device, question, size, answer.data(), nullptr);
    const std::size_t last = answer.find_last_not_of(std::string("\0 ", 2));
    return answer.substr(0, last == std::string::npos ? 0 : last + 1);
}

template <class Number>
Number number(cl_device_id device, cl_device_info question) {
    Number answer{};
    clGetDeviceInfo(device, question, sizeof(answer), &answer, nullptr);
    return answer;
}

/// All devices of all platforms, in the order of the drivers.
inline std::vector<cl_device_id> devices() {
    cl_uint count = 0;
    clGetPlatformIDs(0, nullptr, &count);
    std::vector<cl_platform_id> platforms(count);
    clGetPlatformIDs(count, platforms.data(), nullptr);
    std::vector<cl_device_id> found;
    for (cl_platform_id platform : platforms) {
        count = 0;
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
        std::vector<cl_device_id> own(count);
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, own.data(), nullptr);
        found.insert(found.end(), own.begin(), own.end());
    }
    return found;
}

inline std::string address(cl_device_id device, const std::string& extensions) {
    std::array<cl_uint, 4> parts{};
    if (extensions.find("cl_khr_pci_bus_info") != std::string::npos) {
        parts = number<std::array<cl_uint, 4>>(device, pci_bus_info);
    } else if (extensions.find("cl_nv_device_attribute_query") != std::string::npos) {
        const auto slot = number<cl_uint>(device, nvidia_slot);
        parts = {number<cl_uint>(device, nvidia_domain), number<cl_uint>(device, nvidia_bus), slot >> 3U,
                 slot & 7U};
    } else {
        return "";
    }
    std::array<char, 32> printed{};
    std::snprintf(printed.data(), printed.size(), "%04x:%02x:%02x.%x", parts[0], parts[1], parts[2], parts[3]);
    return printed.data();
}

/// As the driver's own tools print it: NVIDIA's with a prefix and dashes.
inline std::string uuid(cl_device_id device, const std::string& extensions) {
    if (extensions.find("cl_khr_device_uuid") == std::string::npos) {
        return "";
    }
    const bool dashes = number<cl_uint>(device, CL_DEVICE_VENDOR_ID) == nvidia;
    std::string printed = dashes ? "GPU-" : "";
    int place = 0;
    for (const unsigned char byte : number<std::array<unsigned char, 16>>(device, device_uuid)) {
        const bool dash = dashes && (place == 4 || place == 6 || place == 8 || place == 10);
        std::array<char, 4> digits{};
        std::snprintf(digits.data(), digits.size(), "%02x", byte);
        printed += (dash ? "-" : "") + std::string(digits.data());
        ++place;
    }
    return printed;
}

/// A device as its driver describes it. Devices of one name are numbered in the order of the drivers.
inline OpenedDevice identity(cl_device_id device) {
    const std::string name = text(device, CL_DEVICE_NAME);
    int before = 0;
    for (cl_device_id other : devices()) {
        if (other == device) {
            break;
        }
        before += text(other, CL_DEVICE_NAME) == name;
    }
    const std::string extensions = text(device, CL_DEVICE_EXTENSIONS);
    return {device_word("opencl:" + name) + (before > 0 ? '+' + std::to_string(before) : ""),
            address(device, extensions), uuid(device, extensions)};
}

/// An open device: its context and a queue.
class Device {
  public:
    /// Opens the device of a word; the first one if the word is empty. Threads that its driver starts run on
    /// `cpus`. Failure (environment) if there is no such device.
    Device(const std::string& word, const std::vector<int>& cpus) {
        setenv("POCL_MAX_PTHREAD_COUNT", std::to_string(cpus.size()).c_str(), 0);
        pin(cpus);
        const cl_device_id device = chosen(word);
        cl_int code = CL_SUCCESS;
        context_.reset(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code));
        require(code, "clCreateContext");
        queue_.reset(clCreateCommandQueue(context_.get(), device, 0, &code));
        require(code, "clCreateCommandQueue");
    }

    [[nodiscard]] cl_context context() const { return context_.get(); }
    [[nodiscard]] cl_command_queue queue() const { return queue_.get(); }

    /// The device on which the queue runs, asked of the queue itself.
    [[nodiscard]] cl_device_id handle() const {
        cl_device_id device = nullptr;
        require(clGetCommandQueueInfo(queue_.get(), CL_QUEUE_DEVICE, sizeof(device), &device, nullptr),
                "clGetCommandQueueInfo");
        return device;
    }

    [[nodiscard]] OpenedDevice opened() const { return identity(handle()); }

    /// The cpus on which any thread of this process may run, ascending.
    [[nodiscard]] static std::vector<int> cpus() {
        std::set<int> found;
        for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
            const std::vector<int> own = affinity(std::stoi(entry.path().filename().string()));
            found.insert(own.begin(), own.end());
        }
        return {found.begin(), found.end()};
    }

  private:
    struct Release {
        void operator()(cl_context context) const { clReleaseContext(context); }
        void operator()(cl_command_queue queue) const { clReleaseCommandQueue(queue); }
    };

    static cl_device_id chosen(const std::string& word) {
        std::string known;
        for (cl_device_id device : devices()) {
            const OpenedDevice found = identity(device);
            if (word.empty() || word == found.address || word == found.uuid || word == found.name) {
                return device;
            }
            known += (known.empty() ? "" : ", ") + (found.address.empty() ? found.name : found.address);
        }
        throw Failure(Exit::environment, "OpenCL has no device " + word,
                      known.empty() ? "it has none: no driver (ICD) is installed" : "it has " + known,
                      "assay discover   # lists the devices");
    }

    std::unique_ptr<std::remove_pointer_t<cl_context>, Release> context_;
    std::unique_ptr<std::remove_pointer_t<cl_command_queue>, Release> queue_;
};

}  // namespace assay::opencl

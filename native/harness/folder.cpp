#include "harness/folder.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "harness/failure.hpp"

extern char** environ;

namespace assay {
namespace {

constexpr double sector_bytes = 512;
/// Share of the bytes that a counter must show: file systems compress, and others use the device too.
constexpr double counted_share = 0.9;
/// Share of pages in memory from which a read is one of the cache.
constexpr double cached_limit = 0.5;

/// Waits until the pipe on its stdin is closed, then removes the folder. Signals to the group do not reach it.
constexpr const char* cleaner_script = "trap '' INT TERM HUP; read -r line; exec rm -rf -- \"$1\"";

/// Octal escapes of /proc/self/mountinfo: `\040` is a blank.
std::string unescaped(const std::string& word) {
    std::string text;
    for (std::size_t at = 0; at < word.size(); ++at) {
        if (word[at] == '\\' && at + 3 < word.size()) {
            text += static_cast<char>(std::stoi(word.substr(at + 1, 3), nullptr, 8));
            at += 3;
        } else {
            text += word[at];
        }
    }
    return text;
}

bool is_inside(const std::string& path, const std::string& mount) {
    return mount == "/" || path == mount || (path.rfind(mount, 0) == 0 && path[mount.size()] == '/');
}

/// Type and source of the file system of a path: of the deepest mount that holds it, the last if mounts lie over
/// each other.
void read_mount(FolderReadback& folder) {
    std::ifstream mounts("/proc/self/mountinfo");
    std::size_t deepest = 0;
    for (std::string line; std::getline(mounts, line);) {
        std::istringstream words(line);
        std::string skipped;
        std::string mount;
        words >> skipped >> skipped >> skipped >> skipped >> mount;
        while (words >> skipped && skipped != "-") {
        }
        std::string type;
        std::string source;
        words >> type >> source;
        mount = unescaped(mount);
        if (is_inside(folder.path, mount) && mount.size() >= deepest) {
            deepest = mount.size();
            folder.file_system = type;
            folder.source = unescaped(source);
        }
    }
}

pid_t start_cleaner(const std::string& path, const std::array<int, 2>& ends) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    std::vector<std::string> words{"sh", "-c", cleaner_script, "assay-folder", path};
    std::vector<char*> argv;
    for (std::string& word : words) {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    pid_t child = -1;
    if (posix_spawn(&child, "/bin/sh", &actions, &attributes, argv.data(), environ) != 0) {
        child = -1;
    }
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return child;
}

std::optional<double> field(const std::string& file, const std::string& name) {
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind(name + ":", 0) == 0) {
            return std::stod(line.substr(name.size() + 1));
        }
    }
    return std::nullopt;
}

bool is_in_memory(const std::string& file_system) {
    return file_system == "tmpfs" || file_system == "ramfs" || file_system == "hugetlbfs";
}

/// Whether a counter of the device rose by these bytes; false if it has none.
bool has_moved(double bytes, const std::optional<double>& before, const std::optional<double>& after) {
    return before && after && *after - *before >= counted_share * bytes;
}

}  // namespace

Folder::Folder(const std::string& asked) {
    readback_.asked = asked;
    std::string made = (asked.empty() ? "." : asked) + "/assay-XXXXXX";
    if (mkdtemp(made.data()) == nullptr) {
        throw Failure(Exit::environment, "no folder can be made in '" + asked + "'", std::strerror(errno),
                      "--folder /tmp");
    }
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::canonical(made, error);
    readback_.path = error ? made : whole.string();
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) == 0) {
        cleaner_ = start_cleaner(readback_.path, ends);
        close(ends[0]);
        alive_ = ends[1];
    }
    struct statvfs about {};
    if (statvfs(readback_.path.c_str(), &about) == 0) {
        readback_.capacity_bytes = static_cast<std::int64_t>(about.f_blocks * about.f_frsize);
        readback_.free_bytes = static_cast<std::int64_t>(about.f_bavail * about.f_frsize);
    }
    read_mount(readback_);
}

Folder::~Folder() { remove(); }

void Folder::remove() {
    if (!readback_.removed) {
        std::error_code error;
        std::filesystem::remove_all(readback_.path, error);
        readback_.removed = !error && !std::filesystem::exists(readback_.path, error);
    }
    if (alive_ >= 0) {
        close(alive_);  // the cleaner then tries, too
        alive_ = -1;
    }
    if (cleaner_ > 0) {
        waitpid(cleaner_, nullptr, 0);
        cleaner_ = -1;
    }
}

std::string file_system(const std::string& path) {
    FolderReadback folder;
    folder.path = path;
    read_mount(folder);
    return folder.file_system;
}

StorageCounters storage_counters(const std::string& path) {
    StorageCounters counters{field("/proc/self/io", "read_bytes"), field("/proc/self/io", "write_bytes"), {}, {}};
    struct stat about {};
    if (stat(path.c_str(), &about) != 0) {
        return counters;
    }
    std::ifstream statistics("/sys/dev/block/" + std::to_string(major(about.st_dev)) + ':' +
                             std::to_string(minor(about.st_dev)) + "/stat");
    std::array<double, 7> numbers{};  // requests, merged, sectors and time of reading; the same of writing
    std::size_t count = 0;
    while (count < numbers.size() && statistics >> numbers[count]) {
        ++count;
    }
    if (count == numbers.size()) {
        counters.device_read_bytes = numbers[2] * sector_bytes;
        counters.device_write_bytes = numbers[6] * sector_bytes;
    }
    return counters;
}

std::optional<double> cached_share(const std::string& file) {
    const int opened = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat about {};
    if (opened < 0 || fstat(opened, &about) != 0 || about.st_size == 0) {
        if (opened >= 0) {
            close(opened);
        }
        return std::nullopt;
    }
    const auto size = static_cast<std::size_t>(about.st_size);
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> resident((size + page - 1) / page);
    void* mapped = mmap(nullptr, size, PROT_READ, MAP_SHARED, opened, 0);
    close(opened);
    if (mapped == MAP_FAILED) {
        return std::nullopt;
    }
    const bool told = mincore(mapped, size, resident.data()) == 0;
    munmap(mapped, size);
    if (!told) {
        return std::nullopt;
    }
    double count = 0;
    for (const unsigned char flags : resident) {
        count += flags & 1U;
    }
    return count / static_cast<double>(resident.size());
}

std::string destination(const std::string& file_system, double bytes, const StorageCounters& before,
                        const StorageCounters& after) {
    if (is_in_memory(file_system)) {
        return "cache";
    }
    const bool moved = has_moved(bytes, before.device_write_bytes, after.device_write_bytes) &&
                       has_moved(bytes, before.process_write_bytes, after.process_write_bytes);
    return moved ? "device" : "unproven";
}

std::string origin(const std::string& file_system, double bytes, std::optional<double> cached_before,
                   const StorageCounters& before, const StorageCounters& after) {
    if (is_in_memory(file_system) || (cached_before && *cached_before > cached_limit)) {
        return "cache";
    }
    const bool moved = has_moved(bytes, before.device_read_bytes, after.device_read_bytes) &&
                       has_moved(bytes, before.process_read_bytes, after.process_read_bytes);
    return moved ? "device" : "unproven";
}

}  // namespace assay

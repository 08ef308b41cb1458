// The folder of a rank: an own one inside the folder that was asked for, read back, and removed at the end.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace assay {

/// What the kernel says of a folder's file system.
struct FolderReadback {
    std::string path;         ///< of the rank's own folder
    std::string asked;        ///< the folder that was asked for
    std::string file_system;  ///< type of its mount: `ext4`, `tmpfs`, `nfs4`; empty if unknown
    std::string source;       ///< what is mounted there: `/dev/nvme0n1p2`, `server:/export`
    std::int64_t capacity_bytes = 0;
    std::int64_t free_bytes = 0;  ///< for this user
    bool removed = false;         ///< whether it is gone with all that was in it
};

/// Makes a unique folder. It is removed by `remove`, by the destructor, and if the process dies by any signal: a
/// small child process waits for its end.
class Folder {
  public:
    /// Failure (environment) if nothing can be made there.
    explicit Folder(const std::string& asked);
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    Folder(Folder&&) = delete;
    Folder& operator=(Folder&&) = delete;
    ~Folder();

    [[nodiscard]] const std::string& path() const { return readback_.path; }
    [[nodiscard]] const FolderReadback& readback() const { return readback_; }

    /// Removes it with its content; no file in it may be open.
    void remove();

  private:
    FolderReadback readback_;
    pid_t cleaner_ = -1;
    int alive_ = -1;  ///< end of a pipe whose closing tells the cleaner that this process has ended
};

/// Type of the file system on which a path lies; empty if unknown.
std::string file_system(const std::string& path);

/// Bytes that this process and the block device of a file system have moved so far.
struct StorageCounters {
    std::optional<double> process_read_bytes;  ///< fetched from storage (/proc/self/io)
    std::optional<double> process_write_bytes;
    std::optional<double>
        device_read_bytes;  ///< of the whole block device (/sys/dev/block); none for other storage
    std::optional<double> device_write_bytes;
};

/// The counters of the file system on which `path` lies.
StorageCounters storage_counters(const std::string& path);

/// Share of a file's pages that are in memory (mincore); empty if it cannot be told.
std::optional<double> cached_share(const std::string& file);

/// Where written bytes went: `device`, `cache` or `unproven`. File systems in memory hold them there. A device is
/// proven by two counters together: its own, which others raise too, and that of this process, which counts
/// what it put into the cache for a device. O_DIRECT proves nothing.
std::string destination(const std::string& file_system, double bytes, const StorageCounters& before,
                        const StorageCounters& after);

/// Where read bytes came from: `cache` if most pages were in memory before, `device` if both counters show them.
std::string origin(const std::string& file_system, double bytes, std::optional<double> cached_before,
                   const StorageCounters& before, const StorageCounters& after);

}  // namespace assay

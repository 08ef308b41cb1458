// Kernel files with content that a test needs.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace assay::test {

/// A folder that lives as long as this object.
class Planted {
  public:
    Planted() {
        std::string name = (std::filesystem::temp_directory_path() / "assay-planted-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) {
            std::abort();
        }
        folder_ = name;
    }
    Planted(const Planted&) = delete;
    Planted& operator=(const Planted&) = delete;
    Planted(Planted&&) = delete;
    Planted& operator=(Planted&&) = delete;
    ~Planted() { std::filesystem::remove_all(folder_); }

    Planted& file(const std::string& path, const std::string& content) {
        std::filesystem::create_directories((folder_ / path).parent_path());
        std::ofstream(folder_ / path) << content;
        return *this;
    }

    [[nodiscard]] std::string path() const { return folder_.string(); }

  private:
    std::filesystem::path folder_;
};

}  // namespace assay::test

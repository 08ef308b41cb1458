// How MPI learns where the bytes of a message are.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "harness/slots.hpp"

namespace assay {

/// A message in a slot as an MPI count and datatype, also with more bytes than a count can hold.
class Content {
  public:
    explicit Content(const Layout& layout);
    Content(const Content&) = delete;
    Content& operator=(const Content&) = delete;
    Content(Content&&) = delete;
    Content& operator=(Content&&) = delete;
    ~Content();

    [[nodiscard]] int count() const { return count_; }
    [[nodiscard]] MPI_Datatype type() const { return type_; }

  private:
    void make_long(std::size_t bytes);
    void make_blocks(const Layout& layout);

    MPI_Datatype type_ = MPI_BYTE;
    int count_ = 0;
    bool derived_ = false;
};

}  // namespace assay

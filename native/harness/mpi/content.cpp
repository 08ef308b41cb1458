#include "harness/mpi/content.hpp"

#include <array>
#include <limits>
#include <vector>

namespace assay {

Content::Content(const Layout& layout) {
    constexpr std::size_t largest = std::numeric_limits<int>::max();
    if (layout.kind == Layout::Kind::contiguous && layout.bytes <= largest) {
        count_ = static_cast<int>(layout.bytes);
        return;
    }
    if (layout.bytes == 0) {
        return;
    }
    if (layout.kind == Layout::Kind::contiguous) {
        make_long(layout.bytes);
    } else {
        make_blocks(layout);
    }
    MPI_Type_commit(&type_);
    derived_ = true;
    count_ = 1;
}

Content::~Content() {
    if (derived_) {
        MPI_Type_free(&type_);
    }
}

/// Pieces of 1 MiB, and the rest.
void Content::make_long(std::size_t bytes) {
    constexpr std::size_t piece_bytes = 1 << 20U;
    const std::size_t pieces = bytes / piece_bytes;
    MPI_Datatype piece = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(static_cast<int>(piece_bytes), MPI_BYTE, &piece);
    const std::array<int, 2> lengths{static_cast<int>(pieces), static_cast<int>(bytes % piece_bytes)};
    const std::array<MPI_Aint, 2> places{0, static_cast<MPI_Aint>(pieces * piece_bytes)};
    const std::array<MPI_Datatype, 2> types{piece, MPI_BYTE};
    MPI_Type_create_struct(2, lengths.data(), places.data(), types.data(), &type_);
    MPI_Type_free(&piece);
}

void Content::make_blocks(const Layout& layout) {
    const std::size_t blocks = layout.bytes / layout.block();
    const auto block = static_cast<int>(layout.block());
    if (layout.kind == Layout::Kind::vector) {
        MPI_Type_vector(static_cast<int>(blocks), block, 2 * block, MPI_BYTE, &type_);
        return;
    }
    std::vector<MPI_Aint> places(blocks);
    for (std::size_t index = 0; index < blocks; ++index) {
        places[index] = static_cast<MPI_Aint>(layout.place(index));
    }
    MPI_Type_create_hindexed_block(static_cast<int>(blocks), block, places.data(), MPI_BYTE, &type_);
}

}  // namespace assay

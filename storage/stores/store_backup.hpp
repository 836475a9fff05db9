#pragma once

#include <atomic>
#include <filesystem>

#include "storage/stores/store.hpp"

namespace muster {

/// Purpose of the copy of a store.
enum class CopyFor : std::uint8_t {
  keeping,  ///< a backup, as the store was
  use       ///< in place of a store: its owner asks others which numbers have been given out since
};

/// Makes a copy of the store, which was opened for reading, in a folder where nothing is yet; an
/// owner that has it open goes on meanwhile. Until all of it is on the disk the folder has no
/// store. `stop`, when it is not null, may be set by another thread: the copy is given up within a
/// MiB.
StoreTrouble copy_store(const Store& from, const std::filesystem::path& to, CopyFor purpose,
                        const std::atomic<bool>* stop = nullptr);

}  // namespace muster

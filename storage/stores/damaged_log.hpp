#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "storage/stores/store_error.hpp"

namespace muster {

/// Changes that no log has any more, by their numbers.
struct LogLoss {
  std::string log;          ///< the file in which they were, or in whose place the next one goes on
  std::uint64_t from = 0;   ///< the first of them
  std::uint64_t until = 0;  ///< the one after the last of them
};

/// Outcome of mending the logs of a folder.
struct MendedLogs {
  std::vector<LogLoss> lost;
  std::uint64_t next = 0;  ///< number after the last change; 0: no log has a change
};

/// Writes each write-ahead log in the folder anew with its whole records alone, so that RocksDB
/// leaves out no more than what is damaged: by itself it drops all that follows in the block of 32
/// KiB. A record counts as whole when the checksums of all its pieces are right.
Expected<MendedLogs, StoreError> mend_logs(const std::filesystem::path& folder);

}  // namespace muster

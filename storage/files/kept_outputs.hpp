#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/files/content_id.hpp"
#include "storage/files/file_io.hpp"

namespace muster::files {

/// Whose outputs: an attempt of a task.
struct OutputsPlace {
  std::uint32_t index = 0;  ///< of the task in its job
  std::uint32_t attempt = 0;

  friend auto operator<=>(const OutputsPlace&, const OutputsPlace&) = default;
};

/// The files that an attempt has left.
struct Outputs {
  OutputsPlace place;
  ContentId tree{};
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::int64_t kept_s = 0;    ///< when they were put here, since 1970
  std::uint64_t skipped = 0;  ///< entries that matched and that no tree can have

  friend bool operator==(const Outputs&, const Outputs&) = default;
};

/// The outputs of a user's jobs, by job, task and attempt: outputs/JOB/THOUSAND/INDEX.ATTEMPT, a
/// text each.
class KeptOutputs {
 public:
  /// In the open folder.
  explicit KeptOutputs(Descriptor folder) : folder_(std::move(folder)) {}

  /// Puts the record there durably, in the place of an earlier one of the attempt. The tree and its
  /// contents are in the store already.
  FileTrouble put(std::uint64_t job, const Outputs& outputs) const;
  /// Of the job, in the order of their places, from one of them on; `most` at most.
  Expected<std::vector<Outputs>, FileError> list(std::uint64_t job, OutputsPlace from,
                                                 std::size_t most) const;
  /// The jobs that have some, in order.
  Expected<std::vector<std::uint64_t>, FileError> jobs() const;
  /// Removes those of a job that were put before that time, and folders that are empty then. `kept`
  /// hears of each that stays.
  FileTrouble drop(std::uint64_t job, std::int64_t before_s,
                   const std::function<void(const Outputs&)>& kept) const;

 private:
  using Visit = std::function<FileTrouble(int folder, const std::string& name, const Outputs&)>;
  FileTrouble try_to_put(std::uint64_t job, const Outputs& outputs) const;
  FileTrouble visit(std::uint64_t job, OutputsPlace from, const Visit& visit,
                    const std::function<bool()>& enough) const;

  Descriptor folder_;
};

}  // namespace muster::files

#pragma once

#include <memory>

#include "actors/link/tls.hpp"
#include "config/worker_config.hpp"
#include "model/expected.hpp"

namespace muster {

enum class WorkerNodeError : std::uint8_t {
  tls,    ///< certificates are missing or wrong
  folder  ///< a folder cannot be made, or the log not be written
};

/// The process on an instance: the worker, its executor of real processes and the link to its
/// master. Tasks run on under their shims when it ends, and the next one takes them over.
class WorkerNode {
 public:
  /// `program` is the muster command, for shims.
  static Expected<std::unique_ptr<WorkerNode>, WorkerNodeError> start(
      const WorkerConfig& config, const std::filesystem::path& program);
  /// Ends the link; tasks run on.
  ~WorkerNode();
  WorkerNode(const WorkerNode&) = delete;
  WorkerNode& operator=(const WorkerNode&) = delete;

 private:
  class Parts;
  explicit WorkerNode(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace muster

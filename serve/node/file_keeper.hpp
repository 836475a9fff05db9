#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "config/cluster_config.hpp"
#include "serve/api/backend.hpp"
#include "storage/files/files_sweep.hpp"

namespace muster {

/// Removes from the store of users' files those that are not needed any more, on a thread of its
/// own, for as long as it lives. A sweep that fails is warned of and comes again; work does not
/// wait for it.
class FileKeeper {
 public:
  struct Host {
    std::function<std::chrono::sys_seconds()> clock;  ///< the wall's
    std::function<void(const std::string&)> note;     ///< called on that thread, as `warn` is
    std::function<void(const std::string&)> warn;
  };
  /// From the start to the first sweep, and between two.
  struct Pace {
    std::chrono::seconds first{std::chrono::minutes{10}};
    std::chrono::seconds every{std::chrono::hours{6}};
  };

  /// The backend is asked whether jobs are over, and outlives this.
  FileKeeper(FilesConfig config, api::Backend& backend, Host host, Pace pace);
  FileKeeper(FilesConfig config, api::Backend& backend, Host host)
      : FileKeeper(std::move(config), backend, std::move(host), Pace{}) {}
  ~FileKeeper();
  FileKeeper(const FileKeeper&) = delete;
  FileKeeper& operator=(const FileKeeper&) = delete;

 private:
  void run();
  void sweep();
  std::optional<bool> needs_files(std::uint64_t job) const;

  const FilesConfig config_;
  api::Backend& backend_;
  const Host host_;
  const Pace pace_;
  std::atomic<bool> stops_{false};
  std::mutex mutex_;
  std::condition_variable ends_;
  std::thread thread_;  ///< uses all of the above
};

}  // namespace muster

#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "workers/process/descriptor.hpp"

namespace muster::process {

/// The process that a supervisor's shims are forked from. It starts with the first of them, and
/// again when it has ended.
class ForkServer {
 public:
  /// `program` is called as shim_server.hpp says; `attempts` is the folder of the attempts.
  ForkServer(std::filesystem::path program, std::filesystem::path attempts);
  /// Ends the server; shims live on.
  ~ForkServer();
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;

  /// Has a shim made for the attempt of that name, which inherits the lock and the channel. Empty,
  /// or why there is none.
  std::string make_shim(const std::string& name, int lock, int channel);
  /// -1: there is none.
  pid_t pid() const { return pid_; }

 private:
  std::string start();
  void end();
  bool order(const std::string& name, int lock, int channel) const;

  std::string program_;
  std::string attempts_;
  Descriptor orders_;
  pid_t pid_ = -1;
};

}  // namespace muster::process

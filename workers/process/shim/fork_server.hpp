#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "workers/process/descriptor.hpp"

namespace muster::process {

/// The process that a supervisor's shims are forked from. It starts with the first of them, and
/// again when it has ended.
class ForkServer {
 public:
  /// `program` is called as shim_server.hpp says; `attempts` is the folder of the attempts.
  /// A server may take as long as `patience` to begin, and to answer an order.
  ForkServer(std::filesystem::path program, std::filesystem::path attempts,
             std::chrono::milliseconds patience = std::chrono::seconds{10});
  /// Ends the server; shims live on.
  ~ForkServer();
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;

  /// A shim that was asked for.
  struct Made {
    pid_t shim = -1;      ///< -1: not known, as the server did not answer: the channel tells
    std::string trouble;  ///< why there is no server; empty: there is one, or may be
  };

  /// Has a shim made for the attempt of that name, which inherits the lock and the channel. A
  /// server that does not answer is killed. Its order is not given again: a shim may have come of
  /// it.
  Made make_shim(const std::string& name, int lock, int channel);
  /// -1: there is no server.
  pid_t pid() const { return pid_; }

 private:
  std::string start();
  void end();
  void stop_now();
  bool order(const std::string& name, int lock, int channel) const;
  ssize_t hear(void* said, std::size_t size) const;

  std::string program_;
  std::string attempts_;
  Descriptor orders_;
  std::chrono::milliseconds patience_;
  pid_t pid_ = -1;
};

}  // namespace muster::process

#pragma once

#include <filesystem>
#include <mutex>
#include <string>

#include "model/expected.hpp"

namespace muster::notify {

enum class KeyError { unusable };

/// The key from which those of the users' webhooks are made: in a file that only its owner may
/// read, made at random when it is first asked for. May be called from several threads.
class NotifyKey {
 public:
  explicit NotifyKey(std::filesystem::path file) : file_(std::move(file)) {}

  Expected<std::string, KeyError> get();

 private:
  const std::filesystem::path file_;
  std::mutex mutex_;
  std::string key_;  ///< empty: not read yet
};

}  // namespace muster::notify

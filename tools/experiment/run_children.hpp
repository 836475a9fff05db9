#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "model/time.hpp"

namespace muster::experiment {

/// One process that is to run: its words (without the program) and where its output goes.
struct Child {
  std::vector<std::string> arguments;
  std::filesystem::path out;
  std::filesystem::path err;
};

/// How a child ended.
struct ChildEnd {
  std::size_t child = 0;  ///< index in the list
  int exit_code = 0;      ///< -1: it was killed or never began
  int signal = 0;
  Duration took{};
};

struct ChildrenSetup {
  std::filesystem::path program;
  std::size_t at_once = 1;
  /// Waits for that time; false when everything is to stop.
  std::function<bool(Duration)> pause;
  std::function<Duration()> elapsed;
  /// Called in the order in which they end; false when everything is to stop.
  std::function<bool(const ChildEnd&)> ended;
};

/// Runs the children, some at a time, in the order of the list. When this returns, or when the
/// process dies in whatever way, all of them have ended. False when they were stopped. Has to be
/// called by the thread that lives longest, as children go with the thread that made them.
bool run_children(const std::vector<Child>& children, const ChildrenSetup& setup);

}  // namespace muster::experiment

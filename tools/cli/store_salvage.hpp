#pragma once

#include <CLI/CLI.hpp>

namespace muster::cli {

/// Adds `muster store salvage`, which ends with kDone when nothing is lost.
void add_salvage(CLI::App& store, int& exit_code);

}  // namespace muster::cli

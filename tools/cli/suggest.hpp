#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace muster::cli {

/// What a mistyped command or option may have been meant as, after a parse that failed; empty when
/// nothing is like it.
std::string suggestion(const CLI::App& app);

}  // namespace muster::cli

#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "model/time.hpp"

namespace muster::cli {

/// The point in time that a user means: a time before `now` ("2h"), or a day or a time of the
/// reader's clock ("2025-11-29", "2025-11-29T08:00", with seconds or not), of UTC with a Z behind
/// it. Nothing when it is neither, or more than 3650 days ago.
std::optional<Instant> time_meant(const std::string& text, Instant now);

/// Adds `jobs` and `history`.
void add_job_lists(CLI::App& app, int& exit_code);

}  // namespace muster::cli

#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "model/time.hpp"
#include "tools/experiment/findings.hpp"
#include "tools/experiment/plan.hpp"

namespace muster::experiment {

/// Program, machine and time of a run: the facts that are needed to measure a figure again.
struct Provenance {
  std::string version;
  std::string program;  ///< SHA-256 of the program's file
  std::string command;  ///< of the experiment
  std::string began;    ///< UTC, "2026-01-31T12:00:00Z"
  nlohmann::ordered_json machine;
};

/// This machine and this moment.
Provenance provenance_of(std::string version, std::string program, std::string command);

/// Record of a run besides its result.
struct RunRecord {
  std::string key;
  PlannedRun run;
  Duration took{};
  std::size_t at_once = 1;  ///< runs that shared the machine
};

/// The text of `muster replay --json` as a record to keep; nothing when it is not the whole report
/// of one run.
std::optional<std::string> record_of(const std::string& report, const RunRecord& record,
                                     const Provenance& provenance);

/// A record that was kept: with the run in "run"; nothing when it is not one of that key.
std::optional<nlohmann::ordered_json> parse_record(const std::string& text, const std::string& key);

/// A command as a shell takes it.
std::string shell_text(const std::vector<std::string>& words);

}  // namespace muster::experiment

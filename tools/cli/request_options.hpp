#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/job_request.hpp"

namespace muster::cli {

/// Jobs as `submit` and `plan` get them: files, or a command behind "--", and flags that override
/// the files.
struct RequestOptions {
  std::vector<std::string> files;
  std::vector<std::string> command;          ///< words behind "--"
  std::map<std::string, std::string> flags;  ///< by the key that they set; of a switch: empty
  std::vector<std::string> env;              ///< NAME=VALUE
  std::string work_dir;
  bool spot = false;
  bool on_demand = false;
  bool any = false;
};

/// Adds the files and all flags; `options` has to live as long as the command.
void add_request_options(CLI::App& app, RequestOptions& options);

/// A request for every file, or the one for the command, in order; nothing after complaints, which
/// name every fault of all of them. `exit_code` then says what kind of faults.
std::optional<std::vector<JobRequest>> make_requests(const RequestOptions& options, int& exit_code);

/// Which words of the command line are Muster's own.
struct OwnWords {
  int own = 0;   ///< number of the first ones, which are its own
  int rest = 0;  ///< where the others begin
};
/// All words are, but for `submit`, `plan` and `exec` those before a "--", behind which a command
/// is, and for the first two those up to the name of a script, behind which its arguments are.
OwnWords own_words(int argc, const char* const* argv);

}  // namespace muster::cli

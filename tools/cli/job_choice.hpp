#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/cli/client_options.hpp"
#include "tools/client/pages.hpp"

namespace muster::cli {

/// The jobs that a command is about: named by their ids, or chosen among those that are not over.
struct JobChoice {
  std::vector<std::uint64_t> jobs;
  bool all = false;
  std::string user;
  std::string name;
  std::string state;

  /// They are to be found, not named: there may be any number.
  bool by_choice() const { return all || !user.empty() || !name.empty() || !state.empty(); }
};

/// Adds the ids and --all, --user, --name and --state.
void add_job_choice(CLI::App& command, JobChoice& choice);

/// False, after a complaint, when ids and choices are both given, or neither.
bool says_which(const JobChoice& choice);

/// The pages of a list of jobs, as many as are wanted; an empty user or name: any.
client::Pages job_pages(const JobChoice& choice, const std::string& state, std::uint64_t most);

/// Puts the ids of the jobs that are chosen into the choice; a failure, not yet printed, where the
/// API does not answer.
std::optional<Failure<client::ClientError>> find_jobs(client::ApiClient& api, JobChoice& choice);

}  // namespace muster::cli

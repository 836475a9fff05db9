#pragma once

#include <string>

#include "model/job.hpp"

namespace muster {

/// A submission's token as it travels with its job: with the user for whom the API's token acted
/// (`scope`), as the tokens of submissions are those users' own, whoever's the jobs are. Empty
/// where no token was sent.
std::string scoped_token(const std::string& scope, const std::string& token);

/// By what a site knows a submission again.
struct SubmissionKey {
  std::string scope;  ///< never that of a job without one, which is the job's user
  std::string token;  ///< as it was sent
};
SubmissionKey submission_key(const Job& job);

}  // namespace muster

#include "model/submission_key.hpp"

namespace muster {
namespace {

/// No user's name has it: names are texts on one line.
constexpr char kMark = '\x1e';

}  // namespace

std::string scoped_token(const std::string& scope, const std::string& token) {
  return token.empty() ? token : kMark + scope + kMark + token;
}

SubmissionKey submission_key(const Job& job) {
  const std::size_t end =
      job.token.starts_with(kMark) ? job.token.find(kMark, 1) : std::string::npos;
  // Jobs of before tokens had a scope have the token alone.
  if (end == std::string::npos) return {job.user, job.token};
  // The mark stays with the scope, so that no job's user is equal to it.
  return {job.token.substr(0, end), job.token.substr(end + 1)};
}

}  // namespace muster

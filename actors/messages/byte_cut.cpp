#include "actors/messages/byte_cut.hpp"

#include "actors/messages/job_bytes.hpp"

namespace muster {

std::optional<std::string> why_too_large(const Job& job) {
  const std::size_t bytes = job_bytes(job);
  if (bytes <= kElementBytes) return std::nullopt;
  return "the job takes " + std::to_string(bytes) + " bytes in a message between nodes, and " +
         std::to_string(kElementBytes) +
         " are the most: shorten its command, its environment, its speedups or its array, or "
         "submit it in parts";
}

std::optional<std::string> why_too_large(const std::vector<Job>& jobs) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto why = why_too_large(jobs[i]);
    if (!why) continue;
    return jobs.size() == 1 ? *why : "/jobs/" + std::to_string(i) + ": " + *why;
  }
  return std::nullopt;
}

}  // namespace muster

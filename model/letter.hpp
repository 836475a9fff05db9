#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/event.hpp"
#include "model/ids.hpp"
#include "model/job.hpp"
#include "model/time.hpp"

namespace muster {

/// Addresses that one job may name.
inline constexpr std::size_t kMostLetterAddresses = 8;

/// How a job ended whose end is to be told, and when its site heard of it.
struct LetterEnd {
  std::optional<JobOutcome> outcome;  ///< nothing: it is over, and how is no longer known
  std::uint32_t tasks = 0;            ///< of the job
  Instant at;

  friend bool operator==(const LetterEnd&, const LetterEnd&) = default;
};

/// A job whose end is to be told, as its site keeps it from the submission until every address has
/// been told or was given up.
struct JobLetter {
  JobId job;
  std::string name;
  std::string user;
  std::vector<std::string> to;  ///< those that have not been told
  NotifyOn on = NotifyOn::end;
  JobId group{};  ///< the first of the jobs that are told of together; not valid: it is alone
  std::optional<LetterEnd> end{};

  friend bool operator==(const JobLetter&, const JobLetter&) = default;
};

/// A job is over.
struct JobIsOver {
  JobId job;
  std::string name;
  LetterEnd end;
};
/// All jobs of a submission that are told of together are over.
struct JobsAreOver {
  JobId first;
  std::uint32_t jobs = 0;
  std::uint32_t completed = 0;
  std::uint32_t failed = 0;  ///< or refused
  std::uint32_t others = 0;  ///< cancelled, skipped, expired, or no longer known
};
/// The day's cap of dollars is nearly spent.
struct CapIsNear {
  std::string day;  ///< as 2026-11-29, UTC
  double spent_usd = 0;
  double cap_usd = 0;
};

/// A message for one address, as its sender needs it.
struct Letter {
  std::string id;    ///< equal whenever it is sent again, and apart from all others
  std::string user;  ///< whose turn it takes; empty: the cluster's own
  std::string to;
  Instant at;  ///< when it came to be; its age counts from here
  std::variant<JobIsOver, JobsAreOver, CapIsNear> what;
};

}  // namespace muster

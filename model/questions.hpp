#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/job.hpp"
#include "model/job_cursor.hpp"
#include "model/job_filter.hpp"
#include "model/view_fields.hpp"

// Questions to masters, sites and clouds by those who look at the cluster. Their answers are views
// (model/views.hpp).

namespace muster {

/// Which jobs of a list somebody asks for. The list is that of JobCursor; of each of its two
/// sections at most `most` are wanted.
struct JobsQuestion {
  static constexpr std::uint32_t kUnlessAsked = 100;
  static constexpr std::uint32_t kMost = 10'000;

  bool active = true;
  bool over = true;
  JobFilter filter{};
  std::uint32_t most = kUnlessAsked;
  JobPlace active_below{};  ///< of those that are not over only later places
  JobPlace over_below{};    ///< likewise, of jobs that are over
  /// Of these all parts, whatever else is said; nothing: of all jobs.
  std::optional<std::vector<JobId>> only{};

  /// All parts of some jobs.
  static JobsQuestion parts_of(std::vector<JobId> jobs);
  /// Only what comes behind the cursor.
  void begin_behind(const JobCursor& cursor);
  /// How many are shown, whoever asks for more.
  std::size_t bound() const { return std::clamp<std::size_t>(most, 1, kMost); }
};

void fields(auto& a, Like<JobsQuestion> auto& v) {
  a("active", v.active);
  a("over", v.over);
  a("filter", v.filter);
  a("most", v.most);
  a("active_below", v.active_below);
  a("over_below", v.over_below);
  a("only", v.only);
}

/// Which tasks of a job somebody asks for.
struct JobQuestion {
  static constexpr std::uint32_t kUnlessAsked = 1'000;
  static constexpr std::uint32_t kMost = 10'000;

  JobId job;
  bool explained = false;                ///< with why each task waits or is where it is
  std::optional<std::uint32_t> after{};  ///< only those of higher indices
  std::string phase{};                   ///< only those in it; empty: in any
  bool tasks_only = false;               ///< the job's own figures have been heard already
  bool attempts = false;                 ///< with the attempts of each task
  std::uint32_t most = kUnlessAsked;

  std::size_t bound() const { return std::clamp<std::size_t>(most, 1, kMost); }
};

void fields(auto& a, Like<JobQuestion> auto& v) {
  a("job", v.job);
  a("explained", v.explained);
  a("after", v.after);
  a("phase", v.phase);
  a("tasks_only", v.tasks_only);
  a("attempts", v.attempts);
  a("most", v.most);
}

/// Whether a job is here, and where in it the task of an index is.
struct FindQuestion {
  JobId job;
  std::uint32_t index = 0;
};

void fields(auto& a, Like<FindQuestion> auto& v) {
  a("job", v.job);
  a("task", v.index);
}

/// Asks for the request that a job was made from.
struct RequestQuestion {
  JobId job;
};

void fields(auto& a, Like<RequestQuestion> auto& v) {
  a("job", v.job);
}

/// Which services somebody asks for.
struct ServicesQuestion {
  std::string name{};  ///< empty: of any name
  std::string user{};  ///< empty: anybody's
  bool brief = false;  ///< without their replicas
};

void fields(auto& a, Like<ServicesQuestion> auto& v) {
  a("name", v.name);
  a("user", v.user);
  a("brief", v.brief);
}

/// Which decisions of a master somebody asks for.
struct DecisionsQuestion {
  std::uint32_t most = 0;          ///< the newest ones; 0: all that are kept
  JobId job{};                     ///< only those that did something with it; none: any
  InstanceId instance{};           ///< likewise
  std::optional<Instant> since{};  ///< only later ones
};

void fields(auto& a, Like<DecisionsQuestion> auto& v) {
  a("most", v.most);
  a("job", v.job);
  a("instance", v.instance);
  a("since", v.since);
}

/// Asks for the life of an instance.
struct InstanceQuestion {
  InstanceId instance;
};

void fields(auto& a, Like<InstanceQuestion> auto& v) {
  a("instance", v.instance);
}

/// The parts that costs are split into.
enum class CostSplit : std::uint8_t { user, job, instance };
struct CostQuestion {
  CostSplit by = CostSplit::user;
};

void fields(auto& a, Like<CostQuestion> auto& v) {
  a("by", v.by);
}

/// Asks for instances that a cloud rents or has rented, at most `most` of them.
struct RentedQuestion {
  static constexpr std::uint32_t kUnlessAsked = 1'000;
  std::uint32_t most = kUnlessAsked;
};

void fields(auto& a, Like<RentedQuestion> auto& v) {
  a("most", v.most);
}

}  // namespace muster

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/letter.hpp"
#include "schedulers/site/user_counts.hpp"

namespace muster {

/// The jobs of a site whose ends are to be told, each from its submission until all its addresses
/// have been told or given up. They are in the store all the while; a restart sends again what was
/// not settled, under equal ids. O(log of all) for each job; jobs that name no address cost
/// nothing.
class Letters {
 public:
  struct Host {
    /// hear() is to be called when each is over, soon for those that are.
    std::function<void(const std::vector<JobId>&)> watch;
    /// Keeps the letter in place of the one of its job; without addresses no letter.
    std::function<void(const JobLetter&)> keep;
    /// Nothing: the ends of jobs are not told, and no letter is taken. Else sends it; calls
    /// `settled` once when it has arrived or was given up, not before this returns.
    std::function<void(Letter, std::function<void()> settled)> send;
    /// Runs the step after that time.
    std::function<void(Duration, std::function<void()> step)> after;
    std::function<Instant()> now;
  };
  struct Bounds {
    std::size_t most = 100'000;  ///< jobs; of one user half of them
    Duration look_again{};       ///< at which all jobs that are not over are asked after again
  };
  Letters(const Bounds& bounds, Host host) : bounds_(bounds), host_(std::move(host)) {}

  /// The letters of those of a submission's jobs that name addresses; they have their numbers.
  static std::vector<JobLetter> of(const std::vector<Job>& jobs);

  /// Whether those of the jobs that say who is told may be added.
  bool has_room(const std::vector<Job>& jobs) const;
  /// These are durable; asks after their jobs.
  void add(std::vector<JobLetter> letters);
  /// As the store has them. Those that had ended are sent by begin().
  void recall(std::vector<JobLetter> letters);
  /// Sends what had ended before a restart, and asks after all others.
  void begin();
  /// A job is over, however often that is said. `whole`: its tasks; 0: how is no longer known.
  void hear(JobId job, std::optional<JobOutcome> outcome, std::uint32_t whole);

  /// The job is not over, and somebody is to be told.
  bool waits(JobId job) const;
  /// Those of the jobs of which that is not so: others may stop to watch them.
  std::vector<JobId> unneeded(std::vector<JobId> jobs) const;
  std::size_t size() const { return letters_.size(); }

 private:
  using ByJob = std::map<JobId, JobLetter>;
  /// Jobs that are told of together, by the first.
  struct Group {
    std::vector<JobId> jobs{};
    std::size_t open = 0;  ///< not over
  };

  void put(JobLetter letter);
  void ask();
  void end_of_group(JobId group);
  void send_to_all(const JobLetter& letter);
  void settled(JobId job, const std::string& address);
  void group_settled(JobId group, const std::string& address);
  void forget(ByJob::iterator letter);
  void look_again();

  const Bounds bounds_;
  Host host_;
  ByJob letters_;
  UserCounts of_users_;
  std::map<JobId, Group> groups_;
  std::vector<JobId> unasked_;
  std::size_t open_ = 0;  ///< not over
  JobId looked_at_{0};    ///< up to which jobs were asked after again
  bool looks_ = false;    ///< look_again() has a step to come
};

}  // namespace muster

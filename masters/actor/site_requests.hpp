#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "actors/job_watch.hpp"
#include "actors/messages/messages.hpp"
#include "masters/actor/apart_reads.hpp"
#include "masters/actor/counterpart_answers.hpp"
#include "masters/actor/job_deadlines.hpp"
#include "masters/actor/part_host.hpp"
#include "masters/master.hpp"

namespace muster {

/// Answers the sites, which hand jobs over to a master, cancel them, want to hear of their ends,
/// and ask how loaded it is. Answers tell what is durable; the history is read apart. Sites repeat
/// themselves, so a request may be known already.
class SiteRequests {
 public:
  struct Host {
    /// Jobs may be taken: they can be written down, and the planner can follow.
    std::function<bool()> takes_jobs;
    /// drop() is to be called when the listener has ended.
    std::function<void(const JobListener&)> monitor;
    std::function<void(const JobListener&, const JobEnd&)> tell;
  };
  /// The parts that it works with; they outlive it.
  struct Parts {
    Master& master;
    const ApartReads& reads;
    PartHost& host;
  };
  /// `max_watches`: jobs that are watched, by all who watch together.
  SiteRequests(const Parts& parts, std::size_t max_watches, Host host);

  /// The master's jobs of before, once it has been restored.
  void recall() { deadlines_.recall(); }

  using Verdicts = std::vector<SubmitVerdict>;
  void submit(std::vector<Job> jobs, const PartAnswer<Verdicts>& answer);
  void cancel(const std::vector<JobId>& jobs, const PartAnswer<std::vector<CancelVerdict>>& answer);
  /// Jobs that are unknown are watched too: a part may be on its way here.
  void watch(const JobListener& listener, const std::vector<JobId>& jobs,
             const PartAnswer<std::vector<JobEnd>>& answer);
  void unwatch(const JobListener& listener, const std::vector<JobId>& jobs);
  /// False: the actor that has ended is no listener.
  bool drop(const caf::actor_addr& listener);
  /// A job is over, and that is durable.
  void tell(const JobEnd& end);
  /// `run` is another one after each start of the master.
  LoadReport load(const LoadQuestion& asked, std::uint64_t run) const;
  /// See CounterpartAnswers.
  void counterparts(const CounterpartQuestion& asked, const PartAnswer<CounterpartReport>& answer) {
    counterparts_.answer(asked, answer);
  }
  /// Drops all listeners.
  void clear() { listeners_.clear(); }

 private:
  bool is_over(JobId id) const;
  SubmitVerdict offer(Job job, std::vector<Job>& in_history);
  void compare_with_history(std::vector<Job> jobs, Verdicts verdicts,
                            const PartAnswer<Verdicts>& answer) const;
  void note_cancel(JobId id);
  void tell_ends(std::vector<JobId> over, const PartAnswer<std::vector<JobEnd>>& answer) const;
  void put_failed(LoadReport& report, JobId after) const;
  void put_completed(LoadReport& report, const LoadQuestion& asked) const;

  Master& master_;
  const ApartReads& reads_;
  PartHost& host_;
  Host hooks_;
  JobDeadlines deadlines_;
  CounterpartAnswers counterparts_;
  JobWatch listeners_;  ///< listeners for the ends of jobs
  NewestEnds newest_ends_;
  std::set<JobId> seen_to_;  ///< broken parts whose jobs a site cancels: it need not be told
};

}  // namespace muster

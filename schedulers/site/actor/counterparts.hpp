#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/messages/messages.hpp"
#include "model/counterparts.hpp"
#include "schedulers/site/site_peers.hpp"
#include "schedulers/site/user_counts.hpp"

namespace muster {

/// Jobs of a site at masters whose tasks wait for their counterparts, the tasks of other jobs with
/// equal array indices: it asks all masters, again and again, which tasks of the others are over,
/// and tells the masters of the waiting ones. It also asks whether jobs have started for which the
/// site itself waits. Masters know who waits, so that nothing of it has to outlive the site.
class Counterparts {
 public:
  using Heard = std::function<void(const CounterpartReport*)>;  ///< null: no answer came in time
  struct Host {
    /// Calls `heard` once.
    std::function<void(const HandoffTarget&, const CounterpartQuestion&, Heard heard)> ask;
    /// hear() is to be called when each is over, soon for those that are; may be repeated.
    std::function<void(const std::vector<JobId>&)> watch;
    /// The site waits for these ends no more, as far as this goes.
    std::function<void(const std::vector<JobId>&)> unwatch;
    /// The jobs whose first starts the site waits for, after that one, as many at most.
    std::function<std::vector<JobId>(JobId after, std::size_t most)> unstarted;
    /// A task of the job has started.
    std::function<void(JobId)> started;
    /// Runs the step after a pause.
    std::function<void(std::function<void()> step)> later;
  };
  /// `most`: jobs that wait and are seen to at once, of one user half of them; others follow as
  /// these end. The peers have to outlive it.
  Counterparts(const SitePeers& peers, std::size_t most, Host host)
      : peers_(peers), most_(most), host_(std::move(host)), masters_(peers) {}

  /// Some master has said that tasks wait there, or is about to get a job with such tasks, or a
  /// start is waited for.
  void begin();
  /// A job is over, however often that is said.
  void hear(const JobEnd& whole);
  /// Those of the jobs whose ends it does not wait for.
  std::vector<JobId> unneeded(std::vector<JobId> jobs) const;

 private:
  /// How far a master's part of a job has come.
  struct Progress {
    std::uint32_t ended = 0;    ///< as of which all was told
    std::uint32_t next = 0;     ///< the position to go on from
    std::uint32_t counted = 0;  ///< its `ended` when that was begun
    bool is_past = false;       ///< that was begun when the part was over
    bool is_last = false;       ///< nothing more comes from there
    std::uint32_t tasks = 0;    ///< of a part that is over
  };
  /// A job for whose tasks those of others wait.
  struct Other {
    IndexRanges completed{}, failed{};
    std::optional<JobEnd> end{};
    std::map<HandoffTarget, Progress> at{};
    std::set<JobId> waiting{};

    bool is_final(std::size_t masters) const;
  };
  /// A part of a waiting job at a master.
  struct Part {
    IndexRanges told{};  ///< and heard
    bool news = true;    ///< there may be more to tell
  };
  struct Waiting {
    std::string user{};
    std::vector<AwaitedJob> after{};
    std::map<HandoffTarget, Part> at{};
  };
  /// Of a waiting job, what its tasks may do.
  struct Words {
    IndexRanges met{};
    std::vector<std::pair<LostTasks, IndexRanges>> lost{};
  };
  struct MasterState {
    bool busy = false;
    bool answered = false;    ///< since the last begin()
    JobId awaiting_after{};   ///< where its list of waiting jobs goes on
    JobId asked_after{};      ///< of the others that are asked for, the last one that was answered
    JobId told_after{};       ///< of the waiting ones that there is news for, the last one told
    std::set<JobId> ended{};  ///< of those that it was asked for, over by then
    std::vector<CounterpartsTold> told{};
  };

  bool is_needed() const;
  void tick();
  void ask(const HandoffTarget& master);
  void put_asked(const HandoffTarget& master, CounterpartQuestion& question);
  void put_told(const HandoffTarget& master, CounterpartQuestion& question);
  void take(const HandoffTarget& master, const CounterpartReport& report);
  void take_awaiting(const HandoffTarget& master, const CounterpartReport& report);
  void take_over(const HandoffTarget& master, const TasksOver& over);
  CounterpartsTold told_of(JobId job, const Waiting& waiting, Part& part) const;
  void take_told(const HandoffTarget& master, const std::vector<JobId>& unfinished);
  Part* part_of(JobId job, const HandoffTarget& master);
  void add(const AwaitingJob& waiting, const HandoffTarget& master);
  void leave(JobId job, const HandoffTarget& master);
  void note_news(const Other& other);
  Words words_of(const Waiting& waiting) const;
  void watch();

  const SitePeers& peers_;
  const std::size_t most_;
  Host host_;
  PerPeer<MasterState> masters_;
  std::map<JobId, Waiting> waiting_;
  UserCounts of_users_;  ///< of these
  std::map<JobId, Other> others_;
  bool ticks_ = false;             ///< tick() is to come
  std::uint32_t ticks_left_ = 0;   ///< that come though no job is known to wait
  std::uint32_t since_watch_ = 0;  ///< ticks since the ends were asked for
};

}  // namespace muster

#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "actors/time/alarm.hpp"
#include "masters/actor/cloud_link.hpp"
#include "masters/actor/master_logs.hpp"
#include "masters/actor/part_host.hpp"
#include "masters/actor/worker_news.hpp"
#include "masters/master.hpp"

namespace muster {

/// Looks after a master's cloud: hears what becomes of its instances, and sees by the clock to
/// orders that the cloud has not answered, to instances that may be gone without a word, and to the
/// day's money. Each alarm is armed only while it has something to do.
class CloudWatch {
 public:
  struct Host {
    /// The journal takes what is given to it.
    std::function<bool()> takes_more;
    /// The fleet may have become one that can be rented.
    std::function<void()> order_fleet;
    /// The next regular round is due at its time.
    std::function<void()> await_tick;
  };
  /// The parts that it works with; they outlive it.
  struct Parts {
    Master& master;
    CloudLink& link;
    WorkerLinks& links;
    WorkerNews& workers;
    MasterLogs& logs;
    PartHost& host;
  };
  CloudWatch(const Parts& parts, Host host);

  /// At the start, and when the cloud can be reached again: messages from meanwhile are lost.
  void start();
  void hear(const CloudReport& report);
  /// Arms what the events call for, which are about to go on record.
  void watch(const std::vector<Event>& events);
  /// Orders are repeated after a while, and the cloud is asked after instances that are cut off.
  void remind_later();
  /// The instances that the link has to ask after: some are due.
  void ask_at(Instant when) { asker_.at(when); }

 private:
  void hear_clock(const CloudReport& report);
  void hear_offerings(const CloudReport& report);
  void hear_gone(const CloudReport& report, std::optional<Instant> said, Instant heard);
  void hear_notice(InstanceId id, Instant heard);
  void remind();
  void ask_after_all();
  void ask_due();
  void watch_cap();
  void keep_caps();

  Master& master_;
  CloudLink& link_;
  WorkerLinks& links_;
  WorkerNews& workers_;
  MasterLogs& logs_;
  PartHost& host_;
  Host hooks_;
  Alarm<PartHost> reminder_, asker_, cap_;
};

}  // namespace muster

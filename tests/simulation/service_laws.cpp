#include "tests/simulation/service_laws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "model/live_ids.hpp"
#include "model/service.hpp"
#include "serve/node/gather.hpp"
#include "storage/records/record_codec.hpp"

namespace muster::ring {
namespace {

/// The longest that a word is on its way when all is well.
constexpr Duration kWordLag = std::chrono::minutes{1};

/// The end of a rest is noticed so soon by a master that can write.
constexpr Duration kRestSlack = std::chrono::minutes{1};

/// Where as much may be rented as is wanted, and all is well, no replica waits for longer.
constexpr Duration kLongestWait = std::chrono::minutes{30};

/// Likewise, no replica that leaves stays for longer.
constexpr Duration kLongestLeave = std::chrono::hours{1};

constexpr Duration kLookEvery = std::chrono::minutes{2};
constexpr Duration kLookPatience = std::chrono::seconds{15};

/// The attempt of a replica that runs since the one instant, and ends at the other one, has stood.
bool stood(const std::optional<Instant>& since, Instant ends) {
  return since && ends - *since >= kForgetSetbacks;
}

/// All that a master has to know of a replica, however it came to know it.
std::string text_of(const TaskRow& task) {
  std::string text = fmt::format("phase {}, attempt {}, setbacks {}, rest {}, since {}",
                                 static_cast<int>(task.phase), task.attempt, task.setbacks,
                                 task.rests_until.time_since_epoch().count(),
                                 task.started_at.time_since_epoch().count());
  if (task.replica == nullptr) return text;
  const ReplicaState& said = *task.replica;
  text +=
      fmt::format(", ready {}, restarts {}, code {}, pause {}, {}, {}", said.ready, said.restarts,
                  said.exit_code, said.pause.count(), said.trouble, said.address);
  for (const ReplicaPort& port : said.ports) text += fmt::format(", {}={}", port.name, port.number);
  return text;
}

std::string services_of(const ClusterState& state) {
  std::map<JobId, std::string> texts;
  for (const JobRow& row : state.jobs()) {
    if (row.job.service() == nullptr) continue;
    std::string& text = texts[row.job.id];
    for (const Slot slot : row.tasks) text += text_of(state.task(slot)) + "; ";
  }
  std::string all;
  for (const auto& [job, text] : texts) all += fmt::format("job {}: {}", job.value, text);
  return all;
}

/// The revision that has the service: the newest that is not given up.
const JobRow* target_of(const ClusterState& state, const Job& service) {
  const JobRow* target = nullptr;
  for (const JobRow& row : state.jobs()) {
    const ServiceSpec* spec = row.job.service();
    const bool meant = spec != nullptr && row.job.name == service.name &&
                       row.job.user == service.user && row.replicas > 0 && !row.terminal_outcome;
    if (meant && (target == nullptr || target->job.service()->revision < spec->revision)) {
      target = &row;
    }
  }
  return target;
}

}  // namespace

void ServiceLaws::broken(std::uint32_t master, TaskId task, const std::string& text) const {
  watched_.broken(fmt::format("replica {} of job {} at master {} {}", position_of(task),
                              job_of(task).value, master, text));
}

/// Takes in what an event says of services.
struct ServiceLaws::Hearer {
  ServiceLaws& laws;
  std::uint32_t master;
  Instant at;
  const ClusterState& state;

  void operator()(const auto&) const {}
  void operator()(const JobAccepted& e) const {
    if (e.job.service() == nullptr) return;
    ++laws.open_;
    // Those of a later revision are wanted as those of the one before leave.
    const bool follows = state.find(e.job.service()->replaces) != nullptr;
    const std::uint32_t replicas = follows ? 0 : e.job.service()->replicas;
    for (const TaskSpec& task : e.job.tasks) {
      Book& book = laws.books_[task.id];
      book.wanted = task.array_index < replicas;
      book.waits_since = laws.watched_.cluster.now();
    }
  }
  /// One that stands in for another begins anew.
  void operator()(const ReplicaWanted& e) const {
    Book* book = laws.find(e.task);
    if (book == nullptr || book->wanted == e.wanted) return;
    book->stays_since = laws.watched_.cluster.now();
    book->wanted = e.wanted;
    book->setbacks = 0;
    book->rests_until.reset();
    book->waits_since = laws.watched_.cluster.now();
  }
  void operator()(const TaskStarted& e) const {
    Book* book = laws.find(e.task);
    if (book == nullptr) return;
    book->runs_since = at;
    book->waits_since = laws.watched_.cluster.now();
  }
  void operator()(const TaskAssigned& e) const { laws.check_place(e.task, at); }
  void operator()(const StartIssued& e) const {
    laws.check_place(e.task, at);
    if (Book* book = laws.find(e.task)) {
      book->word.reset();
      book->ready_since.reset();
    }
  }
  void operator()(const TaskReleased& e) const {
    laws.check_place(e.task, at);
    if (Book* book = laws.find(e.task)) book->rests_until.reset();
  }
  void operator()(const TaskFailed& e) const {
    const Book* book = laws.find(e.task);
    if (book == nullptr) return;
    const TaskRow& row = *state.find(e.task);
    const bool healthy = row.phase == TaskPhase::running && book->ready_since &&
                         at - *book->ready_since >= state.job(row.job).job.service()->healthy_for;
    if (healthy && e.kind == FailureKind::lost) {
      laws.absorb_loss(master, e, at);
    } else {
      laws.absorb_end(master, e, at);
    }
  }
  void operator()(const TaskCheckpointed& e) const { laws.ends(e.task, at); }
  void operator()(const InstanceGone& e) const {
    const InstanceRow* row = state.find(e.instance);
    if (row == nullptr) return;
    for (const Slot slot : row->occupants) laws.ends(state.task(slot).id, at);
  }
  void operator()(const ReplicaChanged& e) const { laws.check_word(e, at); }
  void operator()(const ReleaseDecided& e) const {
    const bool lost = e.cause.code == CauseCode::worker_lost;
    if (!lost || laws.watched_.cluster.machines().was_disturbed(e.instance)) return;
    laws.watched_.broken(fmt::format("instance {} is given up as lost, and nothing was done to it",
                                     e.instance.value));
  }
  void operator()(const JobFinished& e) const {
    const JobRow* job = state.find(e.job);
    if (job != nullptr && job->job.service() != nullptr) laws.absorb_end(master, e, job->job);
  }
};

void ServiceLaws::before(std::uint32_t master, const Event& event, const ClusterState& state) {
  std::visit(Hearer{*this, master, event.at, state}, event.body);
}

ServiceLaws::Book* ServiceLaws::find(TaskId task) {
  const auto found = books_.find(task);
  return found == books_.end() ? nullptr : &found->second;
}

/// Its user alone ends a service, or another revision of it. One that takes the name of another one
/// is refused: the node knows that only of masters that answer it.
void ServiceLaws::absorb_end(std::uint32_t master, const JobFinished& over, const Job& job) {
  --open_;
  last_end_ = watched_.cluster.now();
  const bool wanted = std::ranges::any_of(watched_.users.submissions(), [&](const Submission& one) {
    return one.job == over.job && one.cancelled;
  });
  if (wanted && over.outcome == JobOutcome::cancelled) return;
  const bool taken = std::ranges::any_of(watched_.users.submissions(), [&](const Submission& one) {
    return one.job != over.job && one.wish->job.name == job.name && one.wish->job.user == job.user;
  });
  const bool by_others = over.outcome == JobOutcome::refused ||
                         over.outcome == JobOutcome::replaced || over.outcome == JobOutcome::failed;
  if (taken && by_others) return;
  watched_.broken(fmt::format("service {} is {} at master {}, and its user {} it ended",
                              over.job.value, name_of(over.outcome), master,
                              wanted ? "wanted" : "did not want"));
}

/// The pause after it is that of the attempts in a row that did not stand.
void ServiceLaws::absorb_end(std::uint32_t master, const TaskFailed& failed, Instant at) {
  Book* known = find(failed.task);
  if (known == nullptr) return;
  Book& book = *known;
  if (failed.for_good) broken(master, failed.task, "is given up");
  book.setbacks = stood(book.runs_since, at) ? 1 : book.setbacks + 1;
  book.waits_since = watched_.cluster.now();
  book.runs_since.reset();
  if (!book.wanted) {
    if (failed.retry_at) broken(master, failed.task, "is not wanted, and is to rest");
    return;
  }
  const Duration pause = failed.retry_at ? *failed.retry_at - at : Duration::zero();
  if (pause != restart_pause(book.setbacks)) {
    broken(master, failed.task,
           fmt::format("rests for {} s after {} ends in a row", to_seconds(pause), book.setbacks));
  }
  book.rests_until = failed.retry_at;
  book.pause = pause;
  book.released_at = watched_.cluster.now() + pause;
}

/// A healthy replica whose worker has lost it starts again at once.
void ServiceLaws::absorb_loss(std::uint32_t master, const TaskFailed& lost, Instant at) {
  Book* book = find(lost.task);
  if (book == nullptr) return;
  if (lost.for_good) broken(master, lost.task, "is given up");
  if (lost.retry_at) broken(master, lost.task, "was lost while it was healthy, and is to rest");
  ends(lost.task, at);
  book->waits_since = watched_.cluster.now();
}

/// The attempt is over for no fault of its own; one that has stood has made up for those before.
void ServiceLaws::ends(TaskId task, Instant at) {
  Book* book = find(task);
  if (book == nullptr) return;
  if (stood(book->runs_since, at)) book->setbacks = 0;
  book->runs_since.reset();
}

void ServiceLaws::check_place(TaskId task, Instant at) {
  const Book* book = find(task);
  if (book == nullptr || !book->rests_until || at >= *book->rests_until) return;
  watched_.broken(fmt::format("replica {} of job {} does not rest for {:.3f} s more",
                              position_of(task), job_of(task).value,
                              to_seconds(*book->rests_until - at)));
}

/// Each word is one that the keeper has said, and newer than the last.
void ServiceLaws::check_word(const ReplicaChanged& said, Instant at) {
  Book& book = books_[said.task];
  const Keepers& keepers = watched_.cluster.machines().keepers();
  const auto place = keepers.place_of({said.task, said.attempt}, said.state);
  if (!place || (book.word && *place <= *book.word)) {
    watched_.broken(fmt::format("of replica {} of job {} an {} word is taken: {}",
                                position_of(said.task), job_of(said.task).value,
                                place ? "old" : "unsaid", said.state.trouble));
  }
  book.word = place;
  if (!said.state.ready) {
    book.ready_since.reset();
  } else if (!book.ready_since) {
    book.ready_since = at;
  }
}

void ServiceLaws::check(std::uint32_t master, const ClusterState& state) {
  if (open_ == 0) return;
  check_numbers(master, state);
  for (const JobRow& job : state.jobs()) {
    if (job.job.service() == nullptr) continue;
    for (const Slot slot : job.tasks) check_replica(master, job, state.task(slot));
  }
}

/// For each replica that is to leave another one is wanted, or it still runs. All revisions count.
void ServiceLaws::check_numbers(std::uint32_t master, const ClusterState& state) {
  const Instant now = watched_.cluster.now();
  const Instant able = watched_.able_since(master);
  struct Count {
    std::uint32_t there = 0;
    bool ends = false;
    const Job* job = nullptr;
  };
  std::map<std::pair<std::string, std::string>, Count> services;
  for (const JobRow& row : state.jobs()) {
    if (row.job.service() == nullptr) continue;
    Count& count = services[{row.job.user, row.job.name}];
    count.there += row.wanted + row.leaving;
    count.ends |= row.terminal_outcome.has_value();
    count.job = &row.job;
  }
  for (const auto& [key, count] : services) {
    Instant& enough = enough_at_.try_emplace({master, key.first, key.second}, now).first->second;
    const JobRow* target = target_of(state, *count.job);
    const std::uint32_t replicas = target == nullptr ? 0 : target->replicas;
    if (count.ends || count.there >= replicas || able > now) {
      enough = now;
    } else if (now > std::max(enough, able) + kRestSlack) {
      watched_.broken(
          fmt::format("service {} at master {} is to have {} replicas, and {} are wanted",
                      key.second, master, replicas, count.there));
    }
  }
}

/// One that leaves is gone some time after all is well again, as others are healthy.
void ServiceLaws::check_leaving(std::uint32_t master, const JobRow& job, const TaskRow& task) {
  const Scenario& scenario = watched_.cluster.scenario();
  const Instant now = watched_.cluster.now();
  Book& book = books_[task.id];
  if (task.at == kNoSlot || job.held_by_user || scenario.is_limited()) book.stays_since = now;
  const Instant able = watched_.able_since(master);
  if (now < scenario.healed || able > now) return;
  const Instant since = std::max({book.stays_since, scenario.healed, able});
  if (now <= since + kLongestLeave) return;
  broken(master, task.id, fmt::format("leaves for {:.0f} s", to_seconds(now - since)));
}

void ServiceLaws::check_replica(std::uint32_t master, const JobRow& job, const TaskRow& task) {
  const Instant now = watched_.cluster.now();
  Book& book = books_[task.id];
  if (task.phase == TaskPhase::running) book.waits_since = now;
  if (job.terminal_outcome) return;
  if (task.phase == TaskPhase::finished || task.phase == TaskPhase::failed) {
    broken(master, task.id, "is over before its service is");
  }
  if (!task.wanted) return check_leaving(master, job, task);
  book.stays_since = now;
  const bool rests = task.phase == TaskPhase::capped;
  if (rests && !book.rests_until) broken(master, task.id, "has no place, and does not rest");
  if (job.held_by_user) {
    book.waits_since = now;
    book.released_at = std::max(book.released_at, now);
    return;
  }
  const Instant able = watched_.able_since(master);
  if (able > now) return;
  // Where its clock was set back over a restart, a master begins the rest anew.
  const Instant until = std::max(book.released_at, able + book.pause);
  if (rests && now > until + kRestSlack) {
    broken(master, task.id,
           fmt::format("has been resting for {:.0f} s too long", to_seconds(now - until)));
  }
  const Scenario& scenario = watched_.cluster.scenario();
  if (now < scenario.healed) return;
  check_shown(task);
  const Instant since = std::max({book.waits_since, scenario.healed, able});
  if (!scenario.is_limited() && now > since + kLongestWait) {
    broken(master, task.id, fmt::format("waits for {:.0f} s", to_seconds(now - since)));
  }
}

/// Clients are told of a replica what its keeper says.
void ServiceLaws::check_shown(const TaskRow& task) {
  const Keepers& keepers = watched_.cluster.machines().keepers();
  const AttemptKey key{task.id, task.attempt};
  const ReplicaState* said = task.at == kNoSlot ? nullptr : keepers.state(key);
  if (said == nullptr || watched_.cluster.now() <= keepers.said_at(key) + kWordLag) return;
  if (task.replica != nullptr && *task.replica == *said) return;
  watched_.broken(fmt::format("of replica {} of job {} the word is '{}', and '{}' was said",
                              position_of(task.id), job_of(task.id).value,
                              task.replica == nullptr ? "" : task.replica->trouble, said->trouble));
}

void ServiceLaws::begin() {
  watched_.cluster.timeline().after(kLookEvery, [this] {
    look();
    begin();
  });
}

void ServiceLaws::look() {
  for (std::uint32_t i = 0; i < watched_.cluster.scenario().masters; ++i) {
    ask<ServicesView>(
        watched_.cluster.timeline().system(), watched_.cluster.master_for_users(i), kLookPatience,
        [this](const caf::expected<ServicesView>& answer) {
          if (answer) check_listed(*answer);
        },
        ServicesQuestion{});
  }
}

/// Clients are sent to what a keeper has once called ready, and to the instance that it is on.
void ServiceLaws::check_listed(const ServicesView& listed) {
  const Keepers& keepers = watched_.cluster.machines().keepers();
  for (const ServiceView& service : listed.services) {
    for (const ReplicaView& each : service.replicas) {
      if (!each.ready) continue;
      ReplicaState word{true, each.restarts, each.exit_code, {}, each.trouble, each.address, {}};
      for (const PortView& port : each.ports) word.ports.push_back({port.name, port.number});
      const AttemptKey key{task_id_of(service.job, each.index), each.attempt};
      const bool is_there = each.address == address_of(each.instance);
      if (is_there && keepers.place_of(key, word)) continue;
      watched_.broken(fmt::format("{} lists replica {} of job {} at {}, which never was ready so",
                                  service.master, each.index, service.job.value, each.address));
    }
  }
}

void ServiceLaws::check_fold(std::uint32_t master, const ClusterState& state) const {
  const std::string known = services_of(state);
  const MasterDisk& disk = watched_.cluster.master_disk(master);
  ClusterState folded(watched_.cluster.scenario().catalog);
  if (disk.snapshot) {
    // As it is written and read.
    auto read =
        decode_snapshot(encode_snapshot(*disk.snapshot), watched_.cluster.scenario().catalog);
    if (!read) return watched_.broken("a snapshot cannot be read");
    folded = std::move(read->state);
  }
  for (const Event& event : disk.tail) folded.apply(event);
  const std::string found = services_of(folded);
  if (found == known) return;
  watched_.broken(fmt::format("master {} comes back with '{}' for '{}'", master, found, known));
}

Instant ServiceLaws::room_since() const {
  if (open_ > 0) return watched_.cluster.now();
  return last_end_.value_or(Instant{});
}

}  // namespace muster::ring

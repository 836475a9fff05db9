#include "tests/simulation/disks.hpp"

#include <algorithm>

namespace muster::ring {
namespace {

constexpr const char* kFull = "no space left on the device";
constexpr double kRetry_s = 1;

}  // namespace

Duration Disk::delay() {
  if (timeline_.now() < slow_until_) return from_seconds(rng_.uniform(0.5, 20));
  return rng_.uniform() < 0.3 ? Duration::zero() : from_seconds(rng_.uniform(0.0005, 0.02));
}

void Writer::push(Entry entry) {
  // A killed process may still be handling its last messages: nothing of that reaches the disk.
  if (!*alive_) return;
  queue_.push_back(std::move(entry));
  if (writing_ == 0) begin();
}

void Writer::begin() {
  if (queue_.empty()) return;
  writing_ = queue_.size();
  const Duration wait = disk_.delay();
  // A store that answers at once does so from within the call.
  if (wait == Duration::zero() && !disk_.refuses() && writing_ == 1) return finish({}, true);
  disk_.timeline().after(wait, [this, alive = alive_] {
    if (*alive) end();
  });
}

void Writer::end() {
  if (!disk_.refuses()) {
    trouble_.clear();
    return finish({}, false);
  }
  trouble_ = kFull;
  if (!stubborn_) return refuse();
  disk_.timeline().after(from_seconds(kRetry_s), [this, alive = alive_] {
    if (*alive) end();
  });
}

/// A group of writes is refused as a whole, and may be on the disk all the same. While something is
/// to be undone nothing but that is tried.
void Writer::refuse() {
  const bool durable = disk_.rng().uniform() < 0.3;
  if (durable && undo_.empty()) {
    for (std::size_t i = 0; i < writing_; ++i) queue_[i].apply();
  } else if (durable) {
    undo();
  }
  for (std::size_t i = 0; i < writing_; ++i) {
    if (queue_[i].undo) undo_.push_back(queue_[i].undo);
  }
  finish(kFull, false);
}

void Writer::undo() {
  for (const auto& step : undo_) step();
}

/// `inside`: the process itself is calling.
void Writer::finish(const std::string& trouble, bool inside) {
  if (trouble.empty()) {
    undo();
    undo_.clear();
  }
  std::vector<Entry> done;
  for (; writing_ > 0; --writing_) {
    done.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  for (Entry& entry : done) {
    if (trouble.empty()) entry.apply();
    if (!entry.then) continue;
    if (inside) {
      entry.then(trouble);
      continue;
    }
    auto step = [then = std::move(entry.then), trouble] { then(trouble); };
    process_->enqueue(
        caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, Wakeup{std::move(step)}),
        nullptr);
  }
  begin();
}

void Writer::die() {
  *alive_ = false;
  process_ = nullptr;
  // A group of writes is on the disk as a whole or not at all.
  if (writing_ > 0 && disk_.rng().uniform() < 0.5) {
    const bool undoes_only = !undo_.empty() && disk_.refuses();
    undo();
    for (std::size_t i = 0; !undoes_only && i < writing_; ++i) queue_[i].apply();
  }
  queue_.clear();
  writing_ = 0;
}

void MasterStore::append(std::vector<Event>&& batch, Durable durable) {
  auto events = std::make_shared<std::vector<Event>>(std::move(batch));
  batch.clear();
  writer_.push({[this, events] {
                  for (const Event& event : *events) {
                    disk_.tail.push_back(event);
                    disk_.events.push_back(event);
                    if (disk_.on_durable) disk_.on_durable(event);
                  }
                },
                [durable = std::move(durable)](const std::string&) {
                  if (durable) durable();
                }});
}

void MasterStore::save_snapshot(MasterSnapshot snapshot, std::uint64_t behind) {
  auto on_persisted = std::make_shared<MasterSnapshot>(std::move(snapshot));
  writer_.push({[this, on_persisted, behind] {
                  disk_.snapshot = *on_persisted;
                  const auto after = static_cast<std::ptrdiff_t>(behind);
                  disk_.tail.erase(disk_.tail.begin(), disk_.tail.end() - after);
                },
                {}});
}

void MasterStore::add(JobHistory job) {
  const JobId id = job.job.id;
  queued_[id] = job;
  writer_.push({[this, id, job = std::move(job)] {
                  if (disk_.history.insert_or_assign(id, job).second) {
                    disk_.history_order.push_back(id);
                  }
                  if (is_known_by_outcome(job)) {
                    disk_.endings.erase(id);
                  } else {
                    disk_.endings.insert_or_assign(id, ending_of(job));
                  }
                  queued_.erase(id);
                  for (; disk_.history_order.size() > disk_.max_history;
                       disk_.history_order.pop_front()) {
                    disk_.history.erase(disk_.history_order.front());
                  }
                },
                {}});
}

std::optional<JobHistory> MasterStore::find(JobId id) const {
  if (const auto found = queued_.find(id); found != queued_.end()) return found->second;
  const auto found = disk_.history.find(id);
  return found == disk_.history.end() ? std::nullopt : std::optional(found->second);
}

void MasterStore::drop(JobId job) {
  writer_.push({[this, job] {
                  disk_.endings.erase(job);
                  if (disk_.history.erase(job) > 0) std::erase(disk_.history_order, job);
                },
                {}});
}

Expected<std::optional<JobEnding>, StoreError> MasterStore::ending(JobId id) const {
  const auto found = disk_.endings.find(id);
  if (!queued_.contains(id) && found != disk_.endings.end()) return std::optional(found->second);
  return History::ending(id);
}

void MasterStore::newest(std::size_t limit,
                         const std::function<bool(const JobHistory&)>& use) const {
  const std::deque<JobId>& order = disk_.history_order;
  for (auto it = order.rbegin(); it != order.rend() && limit > 0; ++it, --limit) {
    if (!use(disk_.history.at(*it))) return;
  }
}

SiteMemory MemorySiteStore::recall() {
  SiteMemory memory;
  for (const auto& [key, job] : disk_.handoffs) memory.handoffs.push_back({job, key.second});
  memory.tokens = disk_.forwarded;
  memory.tokens.insert(memory.tokens.end(), disk_.tokens.begin(), disk_.tokens.end());
  memory.next_job = disk_.next_job;
  const std::size_t listed = std::min(disk_.ended.size(), disk_.max_ended);
  memory.ended.assign(disk_.ended.end() - static_cast<std::ptrdiff_t>(listed), disk_.ended.end());
  for (const EndedHandoff& ended : disk_.ended) {
    if (!ended.conflict) memory.past[ended.outcome].add(ended.job.id.value);
  }
  memory.cancels.assign(disk_.cancels.begin(), disk_.cancels.end());
  return memory;
}

void MemorySiteStore::persist(SiteNews&& news,
                              std::function<void(const std::string& trouble)> durable) {
  auto on_persisted = std::make_shared<const SiteNews>(std::move(news));
  writer_.push({[this, on_persisted] { put(*on_persisted); }, std::move(durable),
                [this, on_persisted] { forget(*on_persisted); }});
}

void MemorySiteStore::put(const SiteNews& news) {
  for (const Handoff& waited : news.begun) disk_.handoffs.erase({waited.job.id, waited.to});
  for (const Handoff& handoff : news.handoffs) {
    disk_.handoffs[{handoff.job.id, handoff.to}] = handoff.job;
  }
  for (const ChangedHandoff& each : news.changed) {
    disk_.handoffs[{each.handoff.job.id, each.handoff.to}] = each.handoff.job;
  }
  for (const KnownToken& token : news.tokens) {
    if (token.forwarded) {
      disk_.forwarded.push_back(token);
    } else {
      disk_.tokens.push_back(token);
    }
  }
  while (disk_.tokens.size() > disk_.max_tokens) disk_.tokens.pop_front();
  disk_.next_job = std::max(disk_.next_job, news.next_job);
  for (const EndedHandoff& ended : news.ended) end(ended);
  disk_.cancels.insert(news.cancels.begin(), news.cancels.end());
}

/// What was not promised must not come back; an end or a cancel may.
void MemorySiteStore::forget(const SiteNews& news) {
  for (const Handoff& handoff : news.handoffs) {
    disk_.handoffs.erase({handoff.job.id, handoff.to});
  }
  for (const Handoff& waited : news.begun) {
    disk_.handoffs[{waited.job.id, waited.to}] = waited.job;
  }
  for (const ChangedHandoff& each : news.changed) {
    if (each.before) disk_.handoffs[{each.before->id, each.handoff.to}] = *each.before;
  }
  for (const KnownToken& token : news.tokens) {
    const auto same = [&](const KnownToken& other) { return other.job == token.job; };
    std::erase_if(disk_.tokens, same);
    std::erase_if(disk_.forwarded, same);
  }
}

void MemorySiteStore::end(const EndedHandoff& ended) {
  const auto found = disk_.handoffs.find({ended.job.id, ended.to});
  if (found != disk_.handoffs.end()) {
    for (const TaskSpec& task : found->second.tasks)
      disk_.ended_tasks[ended.job.id].insert(task.id);
    disk_.handoffs.erase(found);
  }
  disk_.ended.push_back(ended);
}

void MemorySiteStore::cancelled(JobId job) {
  const auto forget = [this, job] { disk_.cancels.erase(job); };
  writer_.push({forget, {}, forget});
}

void MemorySiteStore::handed_over(JobId job, const HandoffTarget& to) {
  const auto forget = [this, job, to] { disk_.handoffs.erase({job, to}); };
  writer_.push({forget, {}, forget});
}

std::vector<RentedRecord> MemoryCloudStore::recall() {
  std::vector<RentedRecord> all;
  for (const auto& [id, record] : disk_.records) all.push_back(record);
  return all;
}

void MemoryCloudStore::put(const RentedRecord& record, Durable durable) {
  writer_.push({[this, record] { disk_.records[record.instance] = record; }, std::move(durable)});
}

std::vector<OfferingChange> MemoryCloudStore::changes() {
  std::vector<OfferingChange> all;
  for (const auto& [number, change] : disk_.changes) all.push_back(change);
  return all;
}

void MemoryCloudStore::put_change(const OfferingChange& change,
                                  const std::vector<std::uint64_t>& dropped, Durable durable) {
  const auto put = [this, change, dropped] {
    disk_.changes[change.number] = change;
    for (const std::uint64_t number : dropped) disk_.changes.erase(number);
  };
  writer_.push({put, std::move(durable)});
}

}  // namespace muster::ring

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
  if (!stubborn_) return finish(kFull, false);
  disk_.timeline().after(from_seconds(kRetry_s), [this, alive = alive_] {
    if (*alive) end();
  });
}

/// `inside`: the process itself is calling.
void Writer::finish(const std::string& trouble, bool inside) {
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
  if (writing_ > 0 && !disk_.refuses() && disk_.rng().uniform() < 0.5) {
    for (std::size_t i = 0; i < writing_; ++i) queue_[i].apply();
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

void MasterStore::save_snapshot(MasterImage image) {
  auto kept = std::make_shared<MasterImage>(std::move(image));
  writer_.push({[this, kept] {
                  disk_.image = *kept;
                  disk_.tail.clear();
                },
                {}});
}

void MasterStore::add(JobHistory job) {
  const JobId id = job.job.id;
  queued_[id] = job;
  writer_.push({[this, id, job = std::move(job)] {
                  disk_.history[id] = job;
                  queued_.erase(id);
                },
                {}});
}

std::optional<JobHistory> MasterStore::find(JobId id) const {
  if (const auto found = queued_.find(id); found != queued_.end()) return found->second;
  const auto found = disk_.history.find(id);
  return found == disk_.history.end() ? std::nullopt : std::optional(found->second);
}

void MasterStore::newest(std::size_t limit,
                         const std::function<bool(const JobHistory&)>& use) const {
  for (auto it = disk_.history.rbegin(); it != disk_.history.rend() && limit > 0; ++it, --limit) {
    if (!use(it->second)) return;
  }
}

SiteMemory MemorySiteStore::recall() {
  SiteMemory memory;
  for (const auto& [key, job] : disk_.handoffs) memory.handoffs.push_back({job, key.second});
  memory.tokens = disk_.tokens;
  memory.next_job = disk_.next_job;
  memory.ended = disk_.ended;
  memory.cancels.assign(disk_.cancels.begin(), disk_.cancels.end());
  return memory;
}

void MemorySiteStore::keep(SiteNews&& news,
                           std::function<void(const std::string& trouble)> durable) {
  writer_.push({[this, news = std::move(news)] {
                  for (const Handoff& handoff : news.handoffs) {
                    disk_.handoffs[{handoff.job.id, handoff.to}] = handoff.job;
                  }
                  disk_.tokens.insert(disk_.tokens.end(), news.tokens.begin(), news.tokens.end());
                  disk_.next_job = std::max(disk_.next_job, news.next_job);
                  for (const EndedHandoff& ended : news.ended) end(ended);
                  disk_.cancels.insert(news.cancels.begin(), news.cancels.end());
                },
                std::move(durable)});
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
  writer_.push({[this, job] { disk_.cancels.erase(job); }, {}});
}

void MemorySiteStore::handed_over(JobId job, const HandTarget& to) {
  writer_.push({[this, job, to] { disk_.handoffs.erase({job, to}); }, {}});
}

std::vector<RentedRecord> MemoryCloudStore::recall() {
  std::vector<RentedRecord> all;
  for (const auto& [id, record] : disk_.records) all.push_back(record);
  return all;
}

void MemoryCloudStore::put(const RentedRecord& record, Durable durable) {
  writer_.push({[this, record] { disk_.records[record.instance] = record; }, std::move(durable)});
}

}  // namespace muster::ring

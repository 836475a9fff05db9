#include "masters/actor/usage_questions.hpp"

#include <iterator>
#include <set>
#include <utility>

#include "masters/view/running_page.hpp"

namespace muster {
namespace {

void put(const AttemptUsage& said, TaskUsageView& row) {
  row.cores = said.cores;
  if (said.so_far.cpu > Duration::zero()) row.cpu_s = to_seconds(said.so_far.cpu);
  if (said.memory_bytes > 0) row.memory_mib = mib_of(said.memory_bytes);
  if (said.so_far.peak_bytes > 0) row.peak_mib = mib_of(said.so_far.peak_bytes);
  if (said.disk_bytes > 0) row.disk_mib = mib_of(said.disk_bytes);
}

}  // namespace

UsageQuestions::UsageQuestions(const Master& master, PartHost& host, Ask ask)
    : master_(master), host_(host), ask_(std::move(ask)) {}

void UsageQuestions::ask(const UsageQuestion& wanted, PartAnswer<UsageView> answer) {
  if (pages_.size() == kMost) {
    return answer(caf::make_error(ActorError::busy,
                                  "too many questions for the usage of tasks wait: ask again in a "
                                  "second"));
  }
  cell::RunningPage found = cell::running_page(master_, wanted, host_.stamp());
  Page page{std::move(found.view)};
  std::set<InstanceId> on;
  for (std::size_t i = 0; i < found.tasks.size(); ++i) {
    page.rows.emplace(found.tasks[i], i);
    on.insert(page.view.tasks[i].instance);
  }
  const std::uint64_t first = next_ + 1;
  for (const InstanceId each : on) {
    if (ask_(each, {next_ + 1})) page.unanswered.emplace(++next_, each);
  }
  if (page.unanswered.empty()) return answer(std::move(page.view));
  page.answer = std::move(answer);
  pages_.emplace(first, std::move(page));
  host_.after(kWait, [this, first] {
    const auto late = pages_.find(first);
    if (late != pages_.end()) finish(late);
  });
}

void UsageQuestions::hear(const UsageAnswer& answer) {
  // The page whose numbers begin at or below that of the answer.
  const auto behind = pages_.upper_bound(answer.number);
  if (behind == pages_.begin()) return;
  const auto found = std::prev(behind);
  Page& page = found->second;
  const auto asked = page.unanswered.find(answer.number);
  // Only the worker that was asked has the answer.
  if (asked == page.unanswered.end() || asked->second != answer.instance) return;
  page.unanswered.erase(asked);
  for (const AttemptUsage& said : answer.attempts) {
    const auto at = page.rows.find(said.task);
    if (at == page.rows.end()) continue;
    TaskUsageView& row = page.view.tasks[at->second];
    // A worker speaks of its own tasks alone, and of no earlier attempt.
    if (row.instance == answer.instance && row.attempt == said.attempt) put(said, row);
  }
  if (page.unanswered.empty()) finish(found);
}

void UsageQuestions::finish(Pages::iterator page) {
  Page done = std::move(page->second);
  pages_.erase(page);
  done.answer(std::move(done.view));
}

}  // namespace muster

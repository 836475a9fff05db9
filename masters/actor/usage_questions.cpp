#include "masters/actor/usage_questions.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "masters/view/attempt_views.hpp"
#include "masters/view/running_page.hpp"

namespace muster {
namespace {

void put_row(const AttemptUsage& said, TaskUsageView& row) {
  row.cores = said.cores;
  cell::put_usage(row, said.so_far);
  if (said.memory_bytes > 0) row.memory_mib = mib_of(said.memory_bytes);
  if (said.disk_bytes > 0) row.disk_mib = mib_of(said.disk_bytes);
}

/// Puts in all that the worker says of the tasks of the page.
void put_all(const UsageAnswer& answer, const std::map<TaskId, std::size_t>& rows,
             UsageView& view) {
  for (const AttemptUsage& said : answer.attempts) {
    const auto at = rows.find(said.task);
    if (at == rows.end()) continue;
    TaskUsageView& row = view.tasks[at->second];
    // A worker speaks of its own tasks alone, and of no earlier attempt.
    if (row.instance == answer.instance && row.attempt == said.attempt) put_row(said, row);
  }
}

}  // namespace

UsageQuestions::UsageQuestions(const Master& master, PartHost& host, Ask ask)
    : master_(master), host_(host), ask_(std::move(ask)) {}

void UsageQuestions::clear() {
  pages_.clear();
  asked_.clear();
  order_.clear();
}

void UsageQuestions::ask(const UsageQuestion& wanted, PartAnswer<UsageView> answer) {
  const auto of_user = std::count_if(pages_.begin(), pages_.end(), [&](const auto& page) {
    return !wanted.user.empty() && page.second.user == wanted.user;
  });
  if (pages_.size() == kMost || of_user >= static_cast<std::ptrdiff_t>(kMostOfUser)) {
    return answer(caf::make_error(ActorError::busy,
                                  "too many questions for the usage of tasks wait: ask again in a "
                                  "second"));
  }
  const Instant now = host_.now();
  forget_old(now);
  cell::RunningPage found = cell::running_page(master_, wanted, host_.stamp());
  Page page{std::move(found.view), wanted.user};
  std::set<InstanceId> on;
  for (std::size_t i = 0; i < found.tasks.size(); ++i) {
    page.rows.emplace(found.tasks[i], i);
    on.insert(page.view.tasks[i].instance);
  }
  const std::uint64_t number = ++last_page_;
  for (const InstanceId each : on) {
    if (put_or_ask(each, number, page, now)) page.unanswered.insert(each);
  }
  if (page.unanswered.empty()) return answer(std::move(page.view));
  page.answer = std::move(answer);
  pages_.emplace(number, std::move(page));
  host_.after(UsageQuestion::kWait, [this, number] {
    const auto late = pages_.find(number);
    if (late != pages_.end()) finish(late);
  });
}

void UsageQuestions::forget_old(Instant now) {
  while (!order_.empty() && (now - order_.front().first >= kFresh || now < order_.front().first)) {
    const auto [at, instance] = order_.front();
    order_.pop_front();
    const auto found = asked_.find(instance);
    if (found == asked_.end() || found->second.at != at) continue;
    // Pages that still wait for it are answered by the next word of it, or by their own time.
    if (found->second.said || found->second.pages.empty()) asked_.erase(found);
  }
}

/// True: the page is to wait for the worker. One that has not answered in time may have lost the
/// question, and is asked anew; an answer to the earlier one counts no longer.
bool UsageQuestions::put_or_ask(InstanceId instance, std::uint64_t number, Page& page,
                                Instant now) {
  const auto found = asked_.find(instance);
  if (found != asked_.end() && found->second.said) {
    put_all(*found->second.said, page.rows, page.view);
    return false;
  }
  if (found == asked_.end() || now - found->second.at >= UsageQuestion::kWait) {
    if (!ask_(instance, {last_question_ + 1})) return false;
    Asked& anew = asked_[instance];
    anew.number = ++last_question_;
    anew.at = now;
    order_.emplace_back(now, instance);
  }
  asked_[instance].pages.insert(number);
  return true;
}

void UsageQuestions::hear(const UsageAnswer& answer) {
  const auto found = asked_.find(answer.instance);
  // Only the worker that was asked has the answer.
  if (found == asked_.end() || found->second.number != answer.number || found->second.said) return;
  found->second.said = answer;
  for (const std::uint64_t number : std::exchange(found->second.pages, {})) {
    const auto page = pages_.find(number);
    if (page == pages_.end()) continue;
    put_all(answer, page->second.rows, page->second.view);
    page->second.unanswered.erase(answer.instance);
    if (page->second.unanswered.empty()) finish(page);
  }
  // One that comes late is of no use to others, and forget_old() has passed it.
  if (host_.now() - found->second.at >= kFresh) asked_.erase(found);
}

void UsageQuestions::finish(Pages::iterator page) {
  Page done = std::move(page->second);
  const std::uint64_t number = page->first;
  pages_.erase(page);
  // A worker that has not answered by now is asked anew by the next page.
  for (const InstanceId each : done.unanswered) {
    const auto silent = asked_.find(each);
    if (silent == asked_.end()) continue;
    silent->second.pages.erase(number);
    if (silent->second.pages.empty()) asked_.erase(silent);
  }
  done.answer(std::move(done.view));
}

}  // namespace muster

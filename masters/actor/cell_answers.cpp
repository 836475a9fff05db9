#include "masters/actor/cell_answers.hpp"

#include <iterator>
#include <utility>

namespace muster {
namespace {

/// Rounds whose decision times are kept; weeks of them.
constexpr std::ptrdiff_t kMaxDecisionTimes = 4'000'000;

}  // namespace

CellAnswers::CellAnswers(const Parts& parts, Setup setup, Host host)
    : master_(parts.master),
      reads_(parts.reads),
      host_(parts.host),
      setup_(std::move(setup)),
      hooks_(std::move(host)) {}

void CellAnswers::recall(std::vector<HistorySample> past, Instant now) {
  std::erase_if(past, [&](const HistorySample& each) { return each.at > now; });
  past_.restore(past);
}

void CellAnswers::watch(const std::vector<Event>& events) {
  decisions_.watch(events, master_.state());
  tally_.watch(events, master_.state());
}

void CellAnswers::note_time(Duration took) {
  tally_.decided(to_seconds(took));
  std::vector<double>& times = setup_.times->ms;
  if (std::ssize(times) >= kMaxDecisionTimes)
    times.erase(times.begin(), times.begin() + kMaxDecisionTimes / 2);
  times.push_back(to_seconds(took) * 1e3);
}

void CellAnswers::sample() {
  if (!setup_.keep_sample || !past_.is_due(host_.stamp())) return;
  const HistorySample sample = view().sample();
  past_.add(sample);
  setup_.keep_sample(sample);
}

CellView CellAnswers::view() const {
  CellView view{master_, reads_.history(), {}, master_.name(), host_.stamp()};
  view.decisions = &decisions_;
  view.tally = &tally_;
  view.trouble = setup_.journal->trouble();
  if (view.trouble.empty()) view.trouble = setup_.journal->strain();
  if (const std::string trouble = hooks_.planner_trouble(); !trouble.empty()) {
    view.trouble += (view.trouble.empty() ? "" : "; ") + trouble;
  }
  if (setup_.node_trouble) {
    const std::string trouble = setup_.node_trouble();
    if (!trouble.empty()) view.trouble += (view.trouble.empty() ? "" : "; ") + trouble;
  }
  if (!setup_.times->ms.empty()) view.last_decision_ms = setup_.times->ms.back();
  return view;
}

CellFigures CellAnswers::figures() {
  sample();
  return view().figures();
}

CellFigures CellAnswers::figures_with_series() {
  sample();
  return view().figures_with_series();
}

InstancesView CellAnswers::instances(InstanceId after) const {
  CellView shown = view();
  shown.workers = hooks_.workers();
  return shown.instances(after);
}

HistoryView CellAnswers::history(std::uint32_t hours) const {
  return past_.since(host_.stamp() - std::chrono::hours{hours});
}

}  // namespace muster

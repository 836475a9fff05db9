// Writes the plan that an API tells of as lines for a terminal.

#include <fmt/format.h>

#include <map>
#include <tuple>
#include <utility>

#include "model/rounded_text.hpp"
#include "tools/client/task_groups.hpp"
#include "tools/client/views.hpp"

namespace muster::client {
namespace {

std::string placed_text(const PlanView& plan) {
  TaskGroups groups;
  for (const PlanView::Place& place : plan.places) groups.add(place.task, place.to);
  return groups.text([](const std::string& to, bool one) {
    // Several tasks may go to several new instances, whose number the launches say.
    constexpr std::string_view kNew = "a new ";
    if (one || !to.starts_with(kNew)) return " to " + to;
    return " to new " + to.substr(kNew.size());
  });
}

std::string refused_text(const PlanView& plan, bool for_ever) {
  TaskGroups groups;
  for (const PlanView::Refusal& each : plan.refusals) {
    if ((each.kind == RefusalKind::never) == for_ever) groups.add(each.task, each.why);
  }
  return groups.text([for_ever](const std::string& why, bool one) {
    return (for_ever ? " can never run: " : one ? " waits: " : " wait: ") + why;
  });
}

}  // namespace

std::string never_text(const PlanView& plan) {
  return refused_text(plan, true);
}

std::string view(const PlanView& plan) {
  // Equal launches are one line with a count: a gang may need hundreds of them.
  std::map<std::tuple<std::string, std::string_view, double>, int> launches;
  for (const PlanView::Launch& launch : plan.launches) {
    ++launches[{launch.type, shown_word(launch.market), launch.usd_h}];
  }
  std::string text;
  for (const auto& [what, count] : launches) {
    const auto& [type, market, usd_h] = what;
    text +=
        fmt::format("launch {} x {} ({}) at {} an hour\n", count, type, market, usd_text(usd_h));
  }
  text += placed_text(plan);
  for (const bool for_ever : {true, false}) text += refused_text(plan, for_ever);
  if (plan.left_out > 0) {
    text += count_text(plan.left_out, "line") + " more, too many to be listed\n";
  }
  if (plan.moves > 0) text += count_text(plan.moves, "task") + " of other jobs would move\n";
  // A job that is not placed has no known cost. Some policies decide at certain times only, and say
  // nothing of a job before.
  const bool waits = plan.places.empty();
  if (waits && plan.refusals.empty()) text += "the policy decides on it in a later round\n";
  return text + (waits ? fmt::format("cost of the whole cluster: {} an hour, as now\n",
                                     usd_text(plan.usd_h_now))
                       : fmt::format("cost of the whole cluster: {} an hour with the job, {} now\n",
                                     usd_text(plan.usd_h), usd_text(plan.usd_h_now)));
}

}  // namespace muster::client

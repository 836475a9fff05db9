// Costs of the cluster, as tables.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "tools/client/shared_text.hpp"
#include "tools/client/views.hpp"

namespace muster::client {
namespace {

/// Kinds of idleness in the order in which an instance passes them; others come behind.
std::vector<FigureView> by_kind(std::vector<FigureView> idle) {
  const auto place = [](const FigureView& one) {
    constexpr std::array<std::string_view, 4> kKinds = {"boot", "idle", "drain", "fragmentation"};
    return std::find(kKinds.begin(), kKinds.end(), one.name) - kKinds.begin();
  };
  std::stable_sort(idle.begin(), idle.end(),
                   [&](const FigureView& a, const FigureView& b) { return place(a) < place(b); });
  return idle;
}

}  // namespace

std::string view(const CostAnswer& cost, const std::string& by) {
  std::string head = by;
  std::transform(head.begin(), head.end(), head.begin(),
                 // By hand and not by toupper(), which depends on the locale.
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  TextTable table({{head}, {"COST", true}});
  const std::string at_least(least(cost.silent.empty()));
  if (by == "instance") {
    // The cost of an instance includes its boot and idle time: the rows are the bill, and add up to
    // it.
    const SharedText shared = shared_text(cost.by, cost.total_usd);
    for (std::size_t i = 0; i < cost.by.size(); ++i) {
      table.add_row({cost.by[i].name, shared.parts[i]});
    }
    table.add_row({"total", at_least + shared.total});
  } else {
    for (const auto& [name, usd] : cost.by) table.add_row({name, usd_text(usd)});
    for (const FigureView& one : by_kind(cost.idle)) {
      table.add_row({"(" + one.name + ")", usd_text(one.value)});
    }
    table.add_row({"total", at_least + usd_text(cost.total_usd)});
  }
  std::string text = table.text();
  for (const SilentView& one : cost.silent) text += silence_text(one) + "\n";
  return text;
}

std::string view(const TodayAnswer& today) {
  TextTable table({{"USER"}, {"COST", true}});
  double sum = 0;
  for (const auto& [name, usd] : today.by) {
    table.add_row({name, usd_text(usd)});
    sum += usd;
  }
  table.add_row({"total", std::string(least(today.silent.empty())) + usd_text(sum)});
  std::string text = table.text() + "Costs of tasks since " + time_text(today.since) + ".\n";
  for (const SilentView& one : today.silent) text += silence_text(one) + "\n";
  return text;
}

}  // namespace muster::client

#include "serve/node/keep_asking.hpp"

#include <algorithm>
#include <utility>

#include "serve/node/backend_answers.hpp"
#include "serve/node/gather.hpp"
#include "serve/node/view_json.hpp"

namespace muster {
namespace {

/// How often masters are asked what users have cost, to know it at midnight.
constexpr Duration kCostsPeriod = std::chrono::minutes{1};
/// How soon again, while a master has not been heard yet: its costs before that are counted for no
/// day. Each time it takes twice as long, for one that never answers.
constexpr Duration kSoon = std::chrono::seconds{1};

/// Of masters that do not answer nothing is known: the sum would be too low.
void note_spent(const Answers<CellFigures>& answers, notify::CapWatch& caps, Instant now) {
  double spent_usd = 0, cap_usd = 0;
  for (const auto& master : answers) {
    if (!master || master->caps.max_usd_day <= 0) return;
    spent_usd += master->today_usd;
    cap_usd += master->caps.max_usd_day;
  }
  caps.note(spent_usd, cap_usd, now);
}

void ask_for_figures(const AskedParts& parts) {
  ask_all<CellFigures>(
      parts.system, parts.masters, parts.timeout,
      [&system = parts.system, origin = parts.origin, last = parts.last,
       caps = parts.caps](const Answers<CellFigures>& answers) {
        last->on_load(answered(answers), {}, origin.instant(system.clock().now()));
        last->persist(answers);
        if (caps != nullptr) note_spent(answers, *caps, origin.instant(system.clock().now()));
      },
      figures_atom_v);
  ask_all<SiteFigures>(
      parts.system, parts.sites, parts.timeout,
      [&system = parts.system, origin = parts.origin,
       last = parts.last](const Answers<SiteFigures>& answers) {
        last->on_load({}, answered(answers), origin.instant(system.clock().now()));
      },
      figures_atom_v);
}

void ask_for_costs(const AskedParts& parts, std::function<void(const Answers<CostView>&)> then) {
  ask_all<CostView>(
      parts.system, parts.masters, parts.timeout,
      [&system = parts.system, origin = parts.origin, days = parts.days,
       then = std::move(then)](const Answers<CostView>& answers) {
        days->note(answers, origin.instant(system.clock().now()));
        then(answers);
      },
      CostQuestion{CostSplit::user});
}

}  // namespace

/// It has all that it uses, for it outlives whoever spawns it by moments.
caf::actor spawn_asker(const AskedParts& parts) {
  return parts.system.spawn([parts](caf::event_based_actor* self) {
    self->delayed_send(self, Duration::zero(), load_atom_v);
    self->delayed_send(self, Duration::zero(), sample_atom_v);
    return caf::behavior{[parts, self](load_atom) {
                           ask_for_figures(parts);
                           self->delayed_send(self, parts.timeout, load_atom_v);
                         },
                         [parts, self, pause = kSoon](sample_atom) mutable {
                           ask_for_costs(parts, [](const Answers<CostView>&) {});  // are noted
                           if (parts.days->has_heard_all()) pause = kCostsPeriod;
                           self->delayed_send(self, pause, sample_atom_v);
                           pause = std::min(2 * pause, kCostsPeriod);
                         }};
  });
}

void look_at_day_costs(const AskedParts& parts, std::function<Silent(const Answered&)> silent,
                       api::Reply reply) {
  ask_for_costs(parts, [&system = parts.system, origin = parts.origin, days = parts.days,
                        silent = std::move(silent),
                        reply = std::move(reply)](const Answers<CostView>& answers) {
    const Silent missing = silent(answered(answers));
    const DayCostsView today = days->today(origin.instant(system.clock().now()));
    reply(backend::ok(view_json::document(today, missing)));
  });
}

}  // namespace muster

#include "serve/node/usage_pages.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "serve/node/backend_answers.hpp"
#include "serve/node/gather.hpp"
#include "serve/node/view_json.hpp"

namespace muster {

void look_at_usage(const JobPlaces& places, const api::View& what, api::Reply reply) {
  const std::size_t master = what.from.master;
  if (master >= places.masters.size()) {
    return reply(backend::ok(view_json::document(UsageView{}, Silent{})));
  }
  const UsageQuestion wanted{what.job, what.index, what.user, what.from.from, what.limit};
  ask<UsageView>(
      places.system, places.masters[master], places.timeout + UsageQuestion::kWait,
      [places, master, reply = std::move(reply)](caf::expected<UsageView> page) {
        const bool is_busy = !page && page.error() == ActorError::busy;
        if (is_busy) return reply(backend::from_error(page.error(), places.system, "such master"));
        Silent missing;
        if (!page) missing.push_back({.master = *places.config.masters()[master]->master});
        UsageView shown = page ? std::move(*page) : UsageView{};
        UsageCursor next{static_cast<std::uint32_t>(master)};
        if (shown.place) next.from = *shown.place;
        if (!shown.place) ++next.master;
        if (next.master < places.masters.size()) shown.next = to_text(next);
        reply(backend::ok(view_json::document(shown, missing)));
      },
      wanted);
}

}  // namespace muster

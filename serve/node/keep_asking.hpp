#pragma once

#include <caf/all.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "actors/messages/interfaces.hpp"
#include "actors/time/clock.hpp"
#include "serve/api/backend.hpp"
#include "serve/node/day_costs.hpp"
#include "serve/node/last_answers.hpp"
#include "serve/notify/cap_watch.hpp"

namespace muster {

/// Those who are asked now and then, and where their answers are noted.
struct AskedParts {
  caf::actor_system& system;
  std::vector<MasterForUsers> masters;
  std::vector<SiteForUsers> sites;
  Duration timeout;  ///< of an answer, and between two questions
  ClockOrigin origin;
  std::shared_ptr<LastAnswers> last;
  std::shared_ptr<DayCosts> days;
  notify::CapWatch* caps = nullptr;  ///< outlives the system's actors; may be null
};

/// Asks masters and sites for their figures, and masters for the costs of their users, until it is
/// told to exit.
caf::actor spawn_asker(const AskedParts& parts);

/// Answers with what users have cost today. `silent` names those who have not answered.
void look_at_day_costs(const AskedParts& parts, std::function<Silent(const Answered&)> silent,
                       api::Reply reply);

}  // namespace muster

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/service.hpp"

namespace muster::process {

/// All that a keeper is told besides its program.
struct KeeperOrder {
  ServiceSpec service{};
  std::uint32_t first_port = 0;  ///< from which, to the last, the replica's ports are chosen
  std::uint32_t last_port = 0;
  Duration stop_grace{};  ///< from SIGTERM to the program's group to SIGKILL

  friend bool operator==(const KeeperOrder&, const KeeperOrder&) = default;
};

/// One line of JSON; empty when a text in it is no UTF-8.
std::string to_text(const KeeperOrder& order);
/// Nothing for what no order's text is, and for an order that a keeper cannot follow: a check of a
/// port that it does not name, or without a pause.
std::optional<KeeperOrder> keeper_order_from(std::string_view text);

}  // namespace muster::process

#include "masters/view/place_text.hpp"

#include <fmt/format.h>

namespace muster::cell {

std::string place_text(const InstanceRow& row, const Catalog& catalog) {
  return fmt::format("instance {} ({}, {})", row.id.value, catalog[row.type].name,
                     muster::name_of(row.market));
}

std::string own_checkpoints_text(const ClusterState& state, const TaskRow& row) {
  const bool saves = state.job(row.job).job.checkpoints || row.ran > Duration{};
  // One that stops to start again in its place finds what it saves.
  const bool stays = row.phase == TaskPhase::stopping && row.target == row.at;
  if (!saves || stays || !state.instance(row.at).own_checkpoints) return {};
  return "; its machine does not share the cluster's checkpoints, so it begins anew where it moves";
}

}  // namespace muster::cell

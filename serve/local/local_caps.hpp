#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/cluster_config.hpp"
#include "model/catalog.hpp"
#include "model/expected.hpp"
#include "serve/machines/computer.hpp"

// Caps of a local cluster. The cluster file has caps for each master; users give and are shown
// those of all masters together.

namespace muster::local {

/// Value of --caps. Caps that are not named stay as they are, or have their default in a new
/// cluster.
struct CapsRequest {
  bool none = false;  ///< no caps at all; then nothing else is given
  std::optional<std::uint32_t> instances;
  std::optional<double> usd_h, usd_day;
  std::string text{};  ///< as it was written
};

enum class CapsError : std::uint8_t { malformed, too_few };

/// Reads "none" or "instances=N,usd_h=X,usd_day=Y", of which any may be left out.
Expected<CapsRequest, CapsError> caps_from(const std::string& text);

/// Gives each of the config's masters an equal share of safe caps for a beginner on this computer:
/// 4 instances a core but no more than one for each 512 MiB of memory, $5 an hour and $20 a day,
/// however many masters there are; but for each at least 4 instances, for a gang of four small
/// tasks, as the cloud has room for these on this computer anyway, and money is kept together.
/// Instances on machines that join are not bounded by this computer.
void set_default_caps(const machines::Computer& computer, ClusterConfig& config);

/// Changes the caps of the config as asked.
Expected<bool, CapsError> change_caps(const CapsRequest& request, ClusterConfig& config);

/// Instances that no master gets, because each has an equal whole number of them; empty: no rest.
std::string caps_rest(const CapsRequest& request, const ClusterConfig& config);

/// On-demand types that a master's share of the money is too small for, and how to raise it; empty:
/// no such types.
std::string caps_shortfall(const ClusterConfig& config, const Catalog& catalog);

/// The caps of all masters together in a few words: "6 instances, $5.00 an hour"; or "none".
std::string caps_of_all(const ClusterConfig& config);

/// The caps of the whole cluster and of each master, for whoever starts it; a line or two.
std::string caps_text(const ClusterConfig& config);

}  // namespace muster::local

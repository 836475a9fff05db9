// Caps of a local cluster. They are given for all masters together and divided among them, so that
// each can keep its share without asking the others.

#include "serve/local/local_caps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "config/numbers.hpp"

namespace muster::local {
namespace {

/// Instances of a local cluster are processes of this computer: its cores and memory bound them.
constexpr std::uint32_t kInstancesOfCore = 4;
constexpr std::uint64_t kBytesOfInstance = std::uint64_t{512} << 20;
constexpr std::uint32_t kFewestOfMaster = 4;
constexpr double kUsdH = 5;
constexpr double kUsdDay = 20;
constexpr double kMostUsd = 1e9;  // as master.max_usd_h

using Malformed = Failure<CapsError>;

Malformed malformed(const std::string& what) {
  return {CapsError::malformed,
          fmt::format("--caps has to be none or instances=N,usd_h=X,usd_day=Y, of which any may be "
                      "left out; {}",
                      what)};
}

/// Of a share of dollars only what is shown, so that the shares never exceed the whole.
double share_of(double usd, std::size_t masters) {
  constexpr double kShown = 1e4;
  const double share = usd / static_cast<double>(masters);
  return share * kShown >= 1 ? std::floor(share * kShown) / kShown : share;
}

std::string usd_text(double usd) {
  return usd < 0.01 ? fmt::format("${:.4f}", usd) : fmt::format("${:.2f}", usd);
}

std::string instances_text(std::uint32_t count) {
  return fmt::format("{} instance{}", count, count == 1 ? "" : "s");
}

/// The set caps of that number of masters together.
std::string total_text(const MasterCaps& caps, std::uint32_t masters) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (caps.max_instances > 0) add(instances_text(caps.max_instances * masters));
  if (caps.max_usd_h > 0) add(usd_text(caps.max_usd_h * masters) + " an hour");
  if (caps.max_usd_day > 0) add(usd_text(caps.max_usd_day * masters) + " a day");
  return text;
}

}  // namespace

Expected<CapsRequest, CapsError> caps_from(const std::string& text) {
  CapsRequest request;
  request.text = text;
  if (text == "none") {
    request.none = true;
    return request;
  }
  // Up to the end itself: an empty text, or a comma at the end, has an empty part, which is a
  // fault.
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    const auto value =
        equals == std::string::npos ? std::nullopt : parse_number(part.substr(equals + 1));
    if (!value || !(*value > 0 && *value <= kMostUsd)) {
      return malformed(fmt::format("'{}' gives no number above 0", part));
    }
    if (name == "usd_h") {
      request.usd_h = *value;
    } else if (name == "usd_day") {
      request.usd_day = *value;
    } else if (name != "instances") {
      return malformed(fmt::format("there is no cap '{}'", name));
    } else if (*value != std::floor(*value) || *value > 10'000'000) {
      return malformed(fmt::format("'{}' gives no whole number up to 10000000", part));
    } else {
      request.instances = static_cast<std::uint32_t>(*value);
    }
  }
  return request;
}

void set_default_caps(const machines::Computer& computer, ClusterConfig& config) {
  const auto masters = static_cast<std::uint32_t>(config.masters().size());
  const std::uint64_t by_cores = std::uint64_t{computer.cores} * kInstancesOfCore;
  const std::uint64_t most = std::min(by_cores, computer.memory_bytes / kBytesOfInstance);
  MasterCaps& caps = config.master.caps;
  caps.max_instances = std::max(kFewestOfMaster, static_cast<std::uint32_t>(most) / masters);
  // The computer's room does not bound machines that join. Beside rented instances these do not
  // count.
  if (config.cloud.provider == "hosts") caps.max_instances = 0;
  caps.max_usd_h = share_of(kUsdH, masters);
  caps.max_usd_day = share_of(kUsdDay, masters);
  config.live_master.uncapped = false;
}

Expected<bool, CapsError> change_caps(const CapsRequest& request, ClusterConfig& config) {
  const auto masters = static_cast<std::uint32_t>(config.masters().size());
  MasterCaps& caps = config.master.caps;
  config.live_master.uncapped = request.none;
  if (request.none) {
    caps.max_instances = 0;
    caps.max_usd_h = 0;
    caps.max_usd_day = 0;
  }
  if (request.instances && *request.instances < masters) {
    return Failure<CapsError>{
        CapsError::too_few,
        fmt::format("--caps instances={}: each of the {} masters has to have one at least",
                    *request.instances, masters)};
  }
  if (request.instances) caps.max_instances = *request.instances / masters;
  if (request.usd_h) caps.max_usd_h = share_of(*request.usd_h, masters);
  if (request.usd_day) caps.max_usd_day = share_of(*request.usd_day, masters);
  return true;
}

std::string caps_rest(const CapsRequest& request, const ClusterConfig& config) {
  const auto masters = static_cast<std::uint32_t>(config.masters().size());
  if (request.instances.value_or(0) % masters == 0) return {};
  return fmt::format(
      "instances={} does not divide by {} masters: each may have {}, all together {}; --masters 1 "
      "makes a cluster with one",
      *request.instances, masters, *request.instances / masters,
      *request.instances / masters * masters);
}

std::string caps_shortfall(const ClusterConfig& config, const Catalog& catalog) {
  if (catalog.size() == 0) return {};
  const double most = config.master.caps.max_usd_h;
  const double day = config.master.caps.max_usd_day;
  const auto named = [&catalog](TypeId type) {
    const double usd_h = catalog.price(type, Market::on_demand).usd_h();
    return fmt::format("{} ({})", catalog[type].name, usd_text(usd_h));
  };
  const std::vector<TypeId>& types = catalog.by_descending_price();
  const auto affordable = std::find_if(types.begin(), types.end(), [&](TypeId type) {
    return catalog.price(type, Market::on_demand).usd_h() <= most;
  });
  const auto too_dear = most > 0 ? affordable - types.begin() : 0;
  const std::string cheapest = named(types.back());
  if (too_dear == std::ssize(types)) {
    return fmt::format(
        "{} an hour for each master rents nothing, the cheapest type is {}; --caps usd_h=X raises "
        "it",
        usd_text(most), cheapest);
  }
  if (day > 0 && catalog.price(types.back(), Market::on_demand).usd_h() > day) {
    return fmt::format(
        "{} a day for each master is less than an hour of the cheapest type, {}; --caps usd_day=X "
        "raises it",
        usd_text(day), cheapest);
  }
  if (too_dear == 0) return {};
  return fmt::format(
      "{} an hour for each master is too little for {} of the {} types, {} and what costs more; "
      "--caps usd_h=X raises it",
      usd_text(most), too_dear, types.size(), named(types[static_cast<std::size_t>(too_dear - 1)]));
}

std::string caps_of_all(const ClusterConfig& config) {
  const auto masters = static_cast<std::uint32_t>(config.masters().size());
  const std::string all = total_text(config.master.caps, masters);
  return all.empty() ? "none" : all;
}

std::string caps_text(const ClusterConfig& config) {
  const auto masters = static_cast<std::uint32_t>(config.masters().size());
  const std::string all = total_text(config.master.caps, masters);
  if (all.empty()) {
    return "none; set them with --caps instances=N,usd_h=X,usd_day=Y";
  }
  std::string text = all;
  if (masters > 1) {
    text += fmt::format("; of these each of {} masters has {}", masters,
                        total_text(config.master.caps, 1));
  }
  return text + "\n      raise them with --caps instances=N,usd_h=X,usd_day=Y, or --caps none";
}

}  // namespace muster::local

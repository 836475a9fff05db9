#include "config/size_keys.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace muster::config {
namespace {

/// Of a bound, in cores or GiB.
constexpr NumberRange kBound{.low = 0.001, .high = 1e6};

void check_bound(std::string_view key, double least, double asked, const SayFault& say) {
  if (least <= asked) return;
  say(fmt::format("size.least_{}", key),
      fmt::format("size.least_{0} is {1}, more than {0}, {2}", key, least, asked));
}

bool is_given(const SizeRange& size) {
  return size != SizeRange{};
}

}  // namespace

void read_size(const RequestValue& value, RequestService& service) {
  SizeRange& size = service.spec.size;
  TableReader in(value, "size.", service);
  if (!in.is_table()) return;
  const std::size_t faults = service.faults.size();
  in.number("least_cpus", kBound, size.least_cpus);
  in.number("least_memory_gib", kBound, size.least_memory_gib);
  in.rest();
  if (!is_given(size) && service.faults.size() == faults) {
    in.fault("", "size has to have a bound: least_cpus, least_memory_gib or both");
  }
}

void check_size(const JobRequest& request, const SayFault& say) {
  const ServiceSpec& spec = request.service->spec;
  if (!is_given(spec.size)) return;
  check_bound("cpus", spec.size.least_cpus, request.cpus, say);
  check_bound("memory_gib", spec.size.least_memory_gib, request.memory_gib, say);
  if (!spec.goal.is_there()) say("size", "size needs a goal, by which a size is chosen");
  if (spec.scales()) {
    say("size",
        "size cannot be given beside scale: its goal chooses a size, or a number of replicas");
  }
}

SizeRange size_range_of(const JobRequest& request) {
  SizeRange size = request.service->spec.size;
  if (!is_given(size)) return size;
  if (size.least_cpus == 0) size.least_cpus = request.cpus;
  if (size.least_memory_gib == 0) size.least_memory_gib = request.memory_gib;
  return size;
}

SizeRange asked_range(const SizeRange& size, double cpus, double memory_gib) {
  SizeRange asked = size;
  if (asked.least_memory_gib == memory_gib) asked.least_memory_gib = 0;
  const bool is_needed = asked.least_memory_gib == 0;  // one of them says that there is a range
  if (asked.least_cpus == cpus && !is_needed) asked.least_cpus = 0;
  return asked;
}

void write_size(nlohmann::ordered_json& out, const RequestService& service) {
  const SizeRange& size = service.spec.size;
  if (!is_given(size)) return;
  nlohmann::ordered_json table;
  if (size.least_cpus > 0) table["least_cpus"] = size.least_cpus;
  if (size.least_memory_gib > 0) table["least_memory_gib"] = size.least_memory_gib;
  out["size"] = std::move(table);
}

}  // namespace muster::config

#include "tools/client/service_views.hpp"

#include <fmt/format.h>

#include <vector>

#include "tools/client/text_table.hpp"

namespace muster::client {
namespace {

/// An IPv6 address has colons of its own.
std::string place_of(const std::string& address, std::uint32_t port) {
  const bool bare = address.find(':') == std::string::npos;
  return bare ? fmt::format("{}:{}", address, port) : fmt::format("[{}]:{}", address, port);
}

std::string ports_text(const ReplicaView& replica) {
  std::string text;
  for (const PortView& port : replica.ports) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{}={}", port.name, place_of(replica.address, port.number));
  }
  return text.empty() ? "-" : text;
}

std::string size_text(const ReplicaView& replica) {
  if (!replica.instance.valid()) return "-";
  return fmt::format("{:.6g} x {:.6g} GiB", replica.cpus, replica.memory_gib);
}

/// "ready", or why it is not.
std::string standing_of(const ReplicaView& replica) {
  if (replica.leaves) return replica.ready ? "ready, leaves" : "leaves";
  if (replica.ready) return "ready";
  if (replica.phase != "running") return replica.phase;
  if (replica.pause_s > 0) return fmt::format("restarts, {:.0f} s pause", replica.pause_s);
  return "not ready";
}

/// A line on its goal, where it has one.
std::string goal_text(const ServiceView& service) {
  if (service.metric.empty()) return {};
  const bool from_below = service.at_least.has_value();
  const double bound = from_below ? *service.at_least : service.at_most.value_or(0);
  std::string text =
      fmt::format("goal: {} at {} {:.6g}; ", service.metric, from_below ? "least" : "most", bound);
  text += service.measured ? fmt::format("measured: {:.6g}", *service.measured)
                           : std::string("not measured yet");
  if (service.least == 0) return text + '\n';
  return text + fmt::format("; scaled from {} to {} replicas\n", service.least, service.most);
}

/// With sizes where a policy may choose them.
std::string table_of_replicas(const ServiceView& service) {
  std::vector<TextTable::Column> columns{{"REPLICA", true}, {"STATE"}, {"INSTANCE", true}};
  if (service.sized) columns.push_back({"SIZE"});
  columns.push_back({"PORTS"});
  columns.push_back({"RESTARTS", true});
  columns.push_back({"TROUBLE"});
  TextTable table(std::move(columns));
  for (const ReplicaView& replica : service.replicas) {
    std::vector<std::string> row{
        std::to_string(replica.index), standing_of(replica),
        replica.instance.valid() ? std::to_string(replica.instance.value) : "-"};
    if (service.sized) row.push_back(size_text(replica));
    row.push_back(ports_text(replica));
    row.push_back(std::to_string(replica.restarts));
    row.push_back(replica.trouble.empty() ? "-" : replica.trouble);
    table.add_row(std::move(row));
  }
  return table.text();
}

}  // namespace

std::string view(const ServicesView& services) {
  TextTable table({{"SERVICE"},
                   {"USER"},
                   {"JOB", true},
                   {"REVISION", true},
                   {"STANDING"},
                   {"READY", true},
                   {"RUNNING", true},
                   {"WANTED", true},
                   {"MASTER"}});
  for (const ServiceView& each : services.services) {
    table.add_row({each.name, each.user, std::to_string(each.job.value),
                   std::to_string(each.revision), each.standing, std::to_string(each.ready),
                   std::to_string(each.running), std::to_string(each.wanted), each.master});
  }
  std::string text = table.text();
  if (services.more > 0) text += fmt::format("and {} more\n", services.more);
  return text;
}

std::string replicas_text(const ServicesView& services) {
  std::string text;
  for (const ServiceView& each : services.services) {
    if (!text.empty()) text += '\n';
    text += fmt::format("{} of {}, revision {}, job {}: {}; {} of {} replicas ready\n", each.name,
                        each.user, each.revision, each.job.value, each.standing, each.ready,
                        each.wanted);
    if (each.failed_update.valid()) {
      text +=
          fmt::format("the update that was job {0} was given up; `muster explain {0}` says more\n",
                      each.failed_update.value);
    }
    text += goal_text(each);
    text += table_of_replicas(each);
    if (each.more_replicas > 0) text += fmt::format("and {} more\n", each.more_replicas);
  }
  return text;
}

std::string view(const EndpointsView& endpoints) {
  std::string text;
  for (const EndpointView& each : endpoints.endpoints) {
    for (const PortView& port : each.ports) {
      text += fmt::format("{} {}\n", port.name, place_of(each.address, port.number));
    }
  }
  return text;
}

}  // namespace muster::client

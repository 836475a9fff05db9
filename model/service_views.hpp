#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/ids.hpp"
#include "model/service.hpp"
#include "model/view_fields.hpp"

// Views of services, their replicas and where clients find those.

namespace muster {

/// A port of a replica.
struct PortView {
  std::string name;
  std::uint32_t number = 0;

  friend bool operator==(const PortView&, const PortView&) = default;
};

void fields(auto& a, Like<PortView> auto& v) {
  a(always("name", "its name, as the service calls it"), v.name);
  a(always("number", "its number"), v.number);
}

/// A replica of a service.
struct ReplicaView {
  static constexpr std::string_view kSchema = "Replica";

  std::uint32_t index = 0;
  std::string phase;
  bool ready = false;
  std::uint32_t attempt = 0;
  InstanceId instance{};
  std::string address{};
  std::vector<PortView> ports{};
  std::uint32_t restarts = 0;
  std::int32_t exit_code = 0;
  double pause_s = 0;
  std::string trouble{};
  bool leaves = false;
  double cpus = 0;
  double memory_gib = 0;
};

void fields(auto& a, Like<ReplicaView> auto& v) {
  a(always("index", "its index, from 0"), v.index);
  a(always("phase", "phase of its task"), v.phase);
  a(always("ready", "clients may be sent to it"), v.ready);
  a(always("attempt", "number of its present attempt; 0: it never started"), v.attempt);
  a(or_null("instance", "where it runs; null: nowhere"), v.instance);
  a(always("address", "address of its instance; empty: not known"), v.address);
  a(always("ports", "its ports, by name"), v.ports);
  a(always("restarts", "restarts of its program in the present attempt"), v.restarts);
  a(always("exit_code", "exit code of the last end of its program; 128 and n: signal n"),
    v.exit_code);
  a(always("pause_s", "pause before its program is started again; 0: it runs"), v.pause_s);
  a(always("trouble", "the last check or start that failed; empty: it is well"), v.trouble);
  a(always("leaves", "it runs only until others do without it"), v.leaves);
  a(always("cpus", "cores that it was granted; 0: it has no place"), v.cpus);
  a(always("memory_gib", "memory that it was granted; 0: it has no place"), v.memory_gib);
}

/// A revision of a service, as its master sees it.
struct ServiceView {
  static constexpr std::string_view kSchema = "Service";

  std::string name;
  std::string user;
  JobId job;
  std::string master;
  std::uint32_t wanted = 0;
  std::uint32_t running = 0;
  std::uint32_t ready = 0;
  std::vector<ReplicaView> replicas{};
  std::uint32_t more_replicas = 0;
  std::string token{};  ///< of its submission
  std::uint32_t revision = 1;
  std::uint32_t most = 0;
  std::string standing{};
  JobId failed_update{};
  std::uint32_t last_revision = 1;
  std::string metric{};
  std::optional<double> at_most{};
  std::optional<double> at_least{};
  std::optional<double> measured{};
  std::uint32_t least = 0;
  bool sized = false;
};

void fields(auto& a, Like<ServiceView> auto& v) {
  a(always("name", "its name, its own among its user's services"), v.name);
  a(always("user", "its user"), v.user);
  a(always("job", "the job that it is"), v.job);
  a(always("revision", "its revision, from 1: each update is another job"), v.revision);
  a(always(
        "standing",
        "steady, coming (some of its replicas are not healthy yet), leaving (a later revision has "
        "its place) or given up"),
    v.standing);
  a(or_null("failed_update", "the job of the last update that was given up"), v.failed_update);
  a(inside("last_revision"), v.last_revision);
  a(always("master", "the master that has it"), v.master);
  a(always("wanted", "number of its replicas"), v.wanted);
  a(always("most", "number of replicas that it may be scaled to"), v.most);
  a(always("least", "number of replicas below which its goal does not go; 0: its user scales it"),
    v.least);
  a(always("metric", "the number of its replicas that its goal is about; empty: it has no goal"),
    v.metric);
  a(or_null("at_most", "the bound of its goal; null: it has no such goal"), v.at_most);
  a(or_null("at_least", "likewise, from below"), v.at_least);
  a(or_null("measured", "mean of that number over its ready replicas; null: not measured"),
    v.measured);
  a(always("sized", "its policy may choose the size of its replicas"), v.sized);
  a(always("running", "replicas whose tasks run"), v.running);
  a(always("ready", "replicas that are ready"), v.ready);
  a(always("replicas", "its replicas, by index"), v.replicas);
  a(always("more_replicas", "replicas that are not listed"), v.more_replicas);
  a(inside("token"), v.token);
}

/// Services that are not over.
struct ServicesView {
  static constexpr std::string_view kSchema = "Services";

  std::vector<ServiceView> services;
  std::uint32_t more = 0;
};

void fields(auto& a, Like<ServicesView> auto& v) {
  a(always("services", "the services of the masters that answered"), v.services);
  a(always("more", "services that are not listed: ask for one by its name"), v.more);
}

/// Where clients find a replica that is ready.
struct EndpointView {
  static constexpr std::string_view kSchema = "Endpoint";

  std::uint32_t index = 0;
  InstanceId instance;
  std::string address;
  std::vector<PortView> ports{};
};

void fields(auto& a, Like<EndpointView> auto& v) {
  a(always("index", "index of the replica"), v.index);
  a(always("instance", "the instance that it is on"), v.instance);
  a(always("address", "address of that instance"), v.address);
  a(always("ports", "its ports, by name"), v.ports);
}

/// The ready replicas of a service.
struct EndpointsView {
  static constexpr std::string_view kSchema = "Endpoints";

  std::string service;
  std::string user;
  JobId job;
  std::string revision;
  std::vector<EndpointView> endpoints{};
};

void fields(auto& a, Like<EndpointsView> auto& v) {
  a(always("service", "name of the service"), v.service);
  a(always("user", "its user"), v.user);
  a(always("job", "the job that it is"), v.job);
  a(always("revision", "a text that is another one for another list"), v.revision);
  a(always("endpoints", "replicas that are ready, by index"), v.endpoints);
}

}  // namespace muster

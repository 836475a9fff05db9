#include "tools/client/host_views.hpp"

#include <fmt/format.h>

#include "model/labels.hpp"
#include "tools/client/fields.hpp"
#include "tools/client/printable.hpp"
#include "tools/client/text_table.hpp"
#include "tools/client/views.hpp"

namespace muster::client {
namespace {

HostAnswer read_host(const Fields& fields) {
  HostAnswer host;
  host.host = fields.count("host");
  host.name = fields.text("name");
  host.type = fields.text("type");
  host.state = fields.text("state");
  host.drained = fields.truth("drained");
  host.cpus = fields.count("cpus");
  host.memory_gib = fields.count("memory_gib");
  host.gpus = fields.count("gpus");
  host.instance = fields.count_or_null("instance");
  host.heard_s = fields.number_or_null("heard_s");
  host.trouble = fields.text("trouble");
  host.labels = fields.entries("labels");
  // Not there: a node of an earlier release.
  if (fields.has("own_checkpoints") && !fields.null("own_checkpoints")) {
    host.own_checkpoints = fields.truth("own_checkpoints");
  }
  return host;
}

JoinTokenAnswer read_join_token(const Fields& fields) {
  JoinTokenAnswer token;
  token.id = fields.text("id");
  token.state = fields.text("state");
  token.hosts = fields.count("hosts");
  token.used = fields.count("used");
  token.created_s = fields.number("created_s");
  token.expires_s = fields.number("expires_s");
  return token;
}

std::string labels_text(const std::map<std::string, std::string>& labels) {
  return labels.empty() ? "-" : label_text({labels.begin(), labels.end()});
}

/// A drained one takes nothing more, whatever else it is.
std::string state_text(const HostAnswer& host) {
  if (!host.drained) return host.state;
  const bool reports = host.state == "ready";
  return reports ? (host.instance ? "draining" : "drained") : host.state + ", drained";
}

}  // namespace

Parsed<std::vector<HostAnswer>> host_list(const Answer& answer) {
  return parsed(answer, [](const Fields& fields) { return fields.list("hosts", read_host); });
}

Parsed<HostAnswer> host_of(const Answer& answer) {
  return parsed(answer, read_host);
}

Parsed<std::vector<JoinTokenAnswer>> join_token_list(const Answer& answer) {
  return parsed(answer,
                [](const Fields& fields) { return fields.list("tokens", read_join_token); });
}

Parsed<JoinTokenAnswer> join_token_of(const Answer& answer) {
  return parsed(answer, read_join_token);
}

Parsed<JoinTokenAnswer> issued_join_token(const Answer& answer) {
  return parsed(answer, [](const Fields& fields) {
    JoinTokenAnswer token = read_join_token(fields);
    token.secret = fields.text("secret");
    return token;
  });
}

std::string view(const std::vector<HostAnswer>& hosts) {
  TextTable table({{"HOST", true},
                   {"NAME"},
                   {"TYPE"},
                   {"STATE"},
                   {"CPUS", true},
                   {"GIB", true},
                   {"GPUS", true},
                   {"INSTANCE", true},
                   {"HEARD"},
                   {"CHECKPOINTS"},
                   {"LABELS"},
                   {"TROUBLE"}});
  for (const HostAnswer& host : hosts) {
    table.add_row({std::to_string(host.host), host.name, host.type, state_text(host),
                   std::to_string(host.cpus), std::to_string(host.memory_gib),
                   std::to_string(host.gpus), host.instance ? std::to_string(*host.instance) : "-",
                   host.heard_s ? time_text(*host.heard_s) : "-",
                   host.own_checkpoints ? (*host.own_checkpoints ? "own" : "shared") : "-",
                   labels_text(host.labels), host.trouble.empty() ? "-" : host.trouble});
  }
  return table.text();
}

std::string view(const std::vector<JoinTokenAnswer>& tokens) {
  TextTable table({{"TOKEN"}, {"STATE"}, {"JOINED", true}, {"OF", true}, {"CREATED"}, {"EXPIRES"}});
  for (const JoinTokenAnswer& token : tokens) {
    table.add_row({token.id, token.state, std::to_string(token.used), std::to_string(token.hosts),
                   time_text(token.created_s), time_text(token.expires_s)});
  }
  return table.text();
}

}  // namespace muster::client

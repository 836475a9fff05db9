#include "serve/api/host_routes.hpp"

#include <utility>

namespace muster::api {
namespace {

Response answer_of(HostAdmin* hosts, const HostQuestion& asked) {
  if (hosts == nullptr) {
    return error_response(409,
                          "no machines join at this node: ask the API of the node that has join "
                          "in the cluster file, with cloud.provider = \"hosts\"");
  }
  switch (asked.operation) {
    case Operation::lose_host:
      return hosts->declare_lost(asked.found.numbers.at(0), asked.body);
    case Operation::remove_host:
      return hosts->remove(asked.found.numbers.at(0), asked.body);
    case Operation::drain_host:
    case Operation::resume_host:
      return hosts->drain(asked.found.numbers.at(0), asked.operation == Operation::drain_host);
    case Operation::label_host:
      return hosts->label(asked.found.numbers.at(0), asked.body);
    case Operation::join_tokens:
      return hosts->join_tokens();
    case Operation::create_join_token:
      return hosts->create_join_token(asked.body);
    case Operation::revoke_join_token:
      return hosts->revoke_join_token(asked.found.name);
    default:
      return hosts->hosts();
  }
}

}  // namespace

bool is_about_hosts(Operation operation) {
  switch (operation) {
    case Operation::hosts:
    case Operation::lose_host:
    case Operation::remove_host:
    case Operation::drain_host:
    case Operation::resume_host:
    case Operation::label_host:
    case Operation::join_tokens:
    case Operation::create_join_token:
    case Operation::revoke_join_token:
      return true;
    default:
      return false;
  }
}

std::function<void()> about_hosts(std::shared_ptr<HostAdmin> hosts, HostQuestion question,
                                  std::shared_ptr<Exchange> exchange) {
  return [hosts = std::move(hosts), question = std::move(question),
          exchange = std::move(exchange)] { exchange->finish(answer_of(hosts.get(), question)); };
}

}  // namespace muster::api

#include "serve/notify/told_rules.hpp"

#include <fmt/format.h>

#include "config/notify_address.hpp"
#include "serve/notify/hook_post.hpp"

namespace muster::notify {
namespace {

/// Empty: messages may go there.
std::string fault_of(const std::string& address, const ToldRules& rules) {
  const auto hook = config::parse_hook(address);
  if (!hook) {
    if (rules.mail) return {};
    return "this cluster sends no mail (notify.sendmail of its cluster file is not given)";
  }
  if (std::string fault = rules.webhook_fault(); !fault.empty()) return fault;
  if (rules.allowed.names_host(hook->host)) return {};
  const auto ip = config::parse_ip(hook->host);
  if (ip && rules.allowed.has(*ip)) return {};
  if (ip && !config::is_public(*ip)) {
    return "its address is not public, and notify.allow of the cluster file does not name it";
  }
  // Names may still lead to a block that is allowed.
  if (!hook->tls && (ip || rules.allowed.blocks.empty())) {
    return "webhooks have to begin with https://, as notify.allow of the cluster file does not "
           "name this host";
  }
  return {};
}

}  // namespace

ToldRules rules_of(const NotifyConfig& config) {
  return {config::allowed_hosts(config.allow), !config.sendmail.empty(), &webhook_fault};
}

std::optional<std::string> why_not_told(const std::vector<Job>& jobs, const ToldRules& rules) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    for (const std::string& address : jobs[i].notify) {
      const std::string fault = fault_of(address, rules);
      if (fault.empty()) continue;
      return fmt::format("{}notify: {}: {}", jobs.size() == 1 ? "" : fmt::format("/jobs/{}/", i),
                         config::shown_address(address), fault);
    }
  }
  return std::nullopt;
}

}  // namespace muster::notify

#pragma once

#include <atomic>
#include <string>

#include "config/ip_rules.hpp"
#include "model/time.hpp"
#include "serve/notify/outbox.hpp"

namespace muster::notify {

/// A message on its way to a webhook.
struct HookMessage {
  std::string url;  ///< parse_hook() takes it
  std::string body;
  std::string id;
  std::string signature;
};

/// Whether libcurl is there, by which webhooks are called; else why it is not.
std::string webhook_fault();

/// Posts the message: any answer from 200 to 299 is arrival. No address is connected to but such as
/// `allowed` names, or public ones by https: the check is of the address of the socket itself,
/// each time, so that neither a name nor a redirection leads elsewhere. Ends within `limit`,
/// follows a few redirections, reads a bounded answer, uses no proxy. Ends soon once `stops` is
/// true. May be called from several threads.
struct HookTerms {
  const config::AllowedHosts& allowed;
  Duration limit;
  const std::atomic<bool>& stops;
};
Delivery post_hook(const HookMessage& message, const HookTerms& terms);

}  // namespace muster::notify

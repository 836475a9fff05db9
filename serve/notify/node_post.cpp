#include "serve/notify/node_post.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "config/notify_address.hpp"
#include "serve/notify/hook_post.hpp"
#include "serve/notify/letter_text.hpp"
#include "serve/notify/mail.hpp"

namespace muster::notify {
namespace {

Outbox::Bounds bounds_of(const NotifyConfig& config) {
  Outbox::Bounds bounds;
  bounds.tries = config.tries;
  bounds.age = config.age;
  bounds.retry = config.retry;
  bounds.retry_longest = config.retry_longest;
  bounds.of_user = std::max(config.senders / 2, 1U);
  return bounds;
}

/// The log of a node is no place for the path of a webhook.
std::string lost_text(const Letter& letter, std::uint32_t tries, const std::string& why) {
  return fmt::format("message {} for {} to {} was given up {}{}{}", letter.id,
                     letter.user.empty() ? "the admins" : letter.user,
                     config::shown_address(letter.to),
                     tries == 0 ? "for its age" : fmt::format("after {} tries", tries),
                     why.empty() ? "" : ": ", why);
}

}  // namespace

NodePost::NodePost(const ClusterConfig& config, std::function<Instant()> now,
                   std::function<void(const std::string&)> warn)
    : config_(config),
      rules_(rules_of(config.notify)),
      now_(std::move(now)),
      key_(config.notify.key),
      warn_(std::move(warn)),
      postman_(bounds_of(config.notify), config.notify.senders,
               {[this](const Letter& letter) { return deliver(letter); }, now_,
                [this](const Letter& letter, std::uint32_t tries, const std::string& why) {
                  note_lost(lost_text(letter, tries, why));
                }}) {}

void NodePost::note_lost(const std::string& text) {
  const std::lock_guard lock(lines_mutex_);
  const Instant now = now_();
  if (now - minute_ >= std::chrono::minutes{1} || now < minute_) {
    minute_ = now;
    lines_ = 0;
  }
  if (++lines_ > kMostLines) {
    ++left_out_;
    return;
  }
  const std::uint64_t others = std::exchange(left_out_, 0);
  warn_(others == 0 ? text : fmt::format("{} (and {} others before it)", text, others));
}

Delivery NodePost::deliver(const Letter& letter) {
  const NotifyConfig& notify = config_.notify;
  if (!config::parse_hook(letter.to)) {
    if (!rules_.mail) return {false, "notify.sendmail is not given", {}};
    return send_mail(notify.sendmail,
                     {letter.to, notify.from, mail_of(letter, config_.name, notify.from)},
                     notify.timeout);
  }
  const auto key = key_.get();
  if (!key) return {false, key.error().message, {}};
  HookMessage message{letter.to, json_of(letter, config_.name), letter.id, {}};
  const auto unix_s = static_cast<std::int64_t>(to_seconds(now_()));
  message.signature = signature_of(key_of_user(key.value(), letter.user), unix_s, message.body);
  return post_hook(message, {rules_.allowed, notify.timeout, stops_});
}

}  // namespace muster::notify

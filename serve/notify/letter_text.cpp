#include "serve/notify/letter_text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "model/hexadecimal.hpp"

namespace muster::notify {
namespace {

using Json = nlohmann::ordered_json;

std::string time_text(Instant at) {
  const std::time_t seconds = static_cast<std::time_t>(to_seconds(at));
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(seconds));
}

std::string_view outcome_text(const LetterEnd& end) {
  return end.outcome ? name_of(*end.outcome) : std::string_view("unknown");
}

/// In one line.
std::string printable(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(), out.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return out;
}

struct IntoJson {
  Json& out;

  void operator()(const JobIsOver& over) const {
    out["event"] = "job_over";
    out["job"] = over.job.value;
    out["name"] = over.name;
    out["outcome"] = outcome_text(over.end);
    if (over.end.tasks > 0) out["tasks"] = over.end.tasks;
  }
  void operator()(const JobsAreOver& over) const {
    out["event"] = "jobs_over";
    out["first_job"] = over.first.value;
    out["jobs"] = over.jobs;
    out["completed"] = over.completed;
    out["failed"] = over.failed;
    out["others"] = over.others;
  }
  void operator()(const CapIsNear& near) const {
    out["event"] = "cap_near";
    out["day"] = near.day;
    out["spent_usd"] = near.spent_usd;
    out["cap_usd"] = near.cap_usd;
  }
};

struct Subject {
  std::string operator()(const JobIsOver& over) const {
    return fmt::format("job {} is over: {}", over.job.value, outcome_text(over.end));
  }
  std::string operator()(const JobsAreOver& over) const {
    return fmt::format("{} jobs from {} on are over: {} completed, {} failed", over.jobs,
                       over.first.value, over.completed, over.failed);
  }
  std::string operator()(const CapIsNear& near) const {
    return fmt::format("${:.2f} of the day's ${:.2f} are spent", near.spent_usd, near.cap_usd);
  }
};

struct MailText {
  const Letter& letter;

  std::string operator()(const JobIsOver& over) const {
    return fmt::format("Job {} ({}) of {} is over: {}.\n\nmuster job {}\nmuster logs {}\n",
                       over.job.value, printable(over.name), printable(letter.user),
                       outcome_text(over.end), over.job.value, over.job.value);
  }
  std::string operator()(const JobsAreOver& over) const {
    return fmt::format(
        "All {} jobs of the submission that began with job {} are over:\n{} completed, {} failed, "
        "{} cancelled, skipped or expired.\n",
        over.jobs, over.first.value, over.completed, over.failed, over.others);
  }
  std::string operator()(const CapIsNear& near) const {
    return fmt::format(
        "On {} (UTC) ${:.2f} of the cap of ${:.2f} are spent. At the cap nothing more is rented "
        "until midnight.\n\nmuster cost --today\n",
        near.day, near.spent_usd, near.cap_usd);
  }
};

}  // namespace

std::string json_of(const Letter& letter, const std::string& cluster) {
  Json out = Json::object();
  out["id"] = letter.id;
  out["cluster"] = cluster;
  out["at"] = time_text(letter.at);
  if (!letter.user.empty()) out["user"] = letter.user;
  std::visit(IntoJson{out}, letter.what);
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string subject_of(const Letter& letter, const std::string& cluster) {
  return fmt::format("[muster {}] {}", cluster, std::visit(Subject{}, letter.what));
}

std::string mail_of(const Letter& letter, const std::string& cluster, const std::string& from) {
  std::string out;
  if (!from.empty()) out += "From: " + from + '\n';
  out += "To: " + letter.to + '\n';
  out += "Subject: " + subject_of(letter, cluster) + '\n';
  out += "Message-Id: <" + letter.id + '@' + cluster + ".muster>\n";
  out += "Auto-Submitted: auto-generated\nMIME-Version: 1.0\n";
  out += "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n";
  return out + std::visit(MailText{letter}, letter.what);
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> sum{};
  unsigned length = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), sum.data(), &length);
  return hexadecimal({sum.data(), length});
}

std::string key_of_user(std::string_view cluster_key, std::string_view user) {
  return hmac_sha256(cluster_key, user);
}

std::string signature_of(std::string_view key, std::int64_t unix_s, std::string_view body) {
  return fmt::format("t={},v1={}", unix_s, hmac_sha256(key, fmt::format("{}.{}", unix_s, body)));
}

}  // namespace muster::notify

#include "tools/client/token_views.hpp"

#include <fmt/format.h>

#include "tools/client/fields.hpp"
#include "tools/client/text_table.hpp"
#include "tools/client/views.hpp"

namespace muster::client {
namespace {

/// Characters of a column that may hold a sentence about what is not in the log.
constexpr std::size_t kNoteColumns = 100;

TokenAnswer read_token(const Fields& fields) {
  TokenAnswer token;
  token.name = fields.text("name");
  token.role = fields.text("role");
  token.user = fields.text_or_null("user");
  token.state = fields.text("state");
  token.created_s = fields.number_or_null("created_s");
  token.expires_s = fields.number_or_null("expires_s");
  token.earlier_until_s = fields.number_or_null("earlier_until_s");
  return token;
}

AuditAnswer read_entry(const Fields& fields) {
  AuditAnswer entry;
  entry.at_s = fields.number("at_s");
  entry.token = fields.text_or_null("token");
  entry.user = fields.text_or_null("user");
  entry.address = fields.text_or_null("address");
  entry.method = fields.text("method");
  entry.path = fields.text("path");
  entry.status = fields.count_or_null("status");
  entry.about = fields.text_or_null("about");
  entry.unlisted = fields.count("unlisted");
  entry.lost = fields.has("lost") ? fields.count("lost") : 0;
  return entry;
}

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

std::string time_or(const std::optional<double>& seconds, const char* otherwise) {
  return seconds ? time_text(*seconds) : otherwise;
}

}  // namespace

Parsed<std::vector<TokenAnswer>> token_list(const Answer& answer) {
  return parsed(answer, [](const Fields& fields) { return fields.list("tokens", read_token); });
}

Parsed<TokenAnswer> own_token(const Answer& answer) {
  return parsed(answer, [](const Fields& fields) {
    TokenAnswer token;
    token.name = fields.text("token");
    token.role = fields.text("role");
    token.user = fields.text_or_null("user");
    return token;
  });
}

Parsed<TokenAnswer> token_of(const Answer& answer) {
  return parsed(answer, read_token);
}

Parsed<TokenAnswer> issued_token(const Answer& answer) {
  return parsed(answer, [](const Fields& fields) {
    TokenAnswer token = read_token(fields);
    token.secret = fields.text("secret");
    return token;
  });
}

Parsed<std::vector<AuditAnswer>> audit_list(const Answer& answer) {
  return parsed(answer, [](const Fields& fields) { return fields.list("entries", read_entry); });
}

std::string audit_node(const Answer& answer) {
  const auto node = answer.document.find("node");
  return node != answer.document.end() && node->is_string() ? node->get<std::string>() : "";
}

std::string view(const std::vector<TokenAnswer>& tokens) {
  TextTable table({{"NAME"}, {"ROLE"}, {"USER"}, {"STATE"}, {"CREATED"}, {"EXPIRES"}});
  for (const TokenAnswer& token : tokens) {
    table.add_row({token.name, token.role, token.user.empty() ? "(caller)" : token.user,
                   token.state, time_or(token.created_s, "-"), time_or(token.expires_s, "never")});
  }
  return table.text();
}

std::string view(const std::vector<AuditAnswer>& entries) {
  TextTable table({{"TIME"},
                   {"TOKEN"},
                   {"USER"},
                   {"FROM"},
                   {"STATUS", true},
                   {"REQUEST"},
                   {"ABOUT", false, kNoteColumns}});
  std::uint64_t unlisted = 0;
  for (const AuditAnswer& entry : entries) {
    unlisted += entry.unlisted;
    if (entry.lost > 0) {
      table.add_row({time_text(entry.at_s), "-", "-", "-", "-", "-",
                     fmt::format("{} entries before this were lost: the disk took nothing, or too "
                                 "many came at once",
                                 entry.lost)});
      continue;
    }
    table.add_row({time_text(entry.at_s), or_dash(entry.token), or_dash(entry.user),
                   or_dash(entry.address), entry.status ? std::to_string(*entry.status) : "-",
                   entry.method + " " + entry.path, or_dash(entry.about)});
  }
  const std::string note =
      unlisted > 0 ? fmt::format("Requests that came too fast to be listed: {} more\n", unlisted)
                   : "";
  return table.text() + note;
}

std::string issued_text(const TokenAnswer& token) {
  std::string text = fmt::format("Token {}: {}, for {}, ", token.name, token.role,
                                 token.user.empty() ? "any caller" : token.user);
  text += token.expires_s ? "until " + time_text(*token.expires_s) : "without an end";
  if (token.earlier_until_s) {
    text += "; the one before counts until " + time_text(*token.earlier_until_s);
  }
  return text + ". It is shown this once:\n" + token.secret + "\n";
}

}  // namespace muster::client

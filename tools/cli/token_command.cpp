#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "config/error_list.hpp"
#include "config/numbers.hpp"
#include "config/token_request.hpp"
#include "tools/cli/client_options.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/client/api_client.hpp"
#include "tools/client/token_views.hpp"

// The commands about the API's tokens. All of them ask the API, with a token of an admin.

namespace muster::cli {
namespace {

struct TokenOptions {
  ClientOptions client;
  std::string name;
  std::string role;
  std::string user;
  std::string expires;
  std::string overlap;
  std::string request;  ///< the number of the request; empty: one of its own
  bool quiet = false;
};

constexpr double kLongestLifeS = 3650.0 * 86'400;
constexpr double kLongestOverlapS = 30.0 * 86'400;

/// A time in whole seconds, from 1 s or, `none`, from 0.
CLI::Validator is_time(double longest_s, bool none) {
  const auto check = [longest_s, none](const std::string& text) -> std::string {
    const auto time = parse_duration(text);
    const double seconds = time ? to_seconds(*time) : -1;
    const bool whole = time && *time % std::chrono::seconds{1} == Duration{};
    if (whole && seconds >= (none ? 0 : 1) && seconds <= longest_s) return "";
    return fmt::format("has to be a time from {} to {:.0f}d in whole seconds, like 90d; it is '{}'",
                       none ? "0s" : "1s", longest_s / 86'400, text);
  };
  return CLI::Validator(check, "TIME");
}

/// `what` there would be without it, or what to write instead.
CLI::Validator is_said(const std::string& what) {
  const auto check = [what](const std::string& text) -> std::string {
    return text.empty() ? "must not be empty; " + what : "";
  };
  return CLI::Validator(check, "TEXT");
}

std::int64_t seconds_of(const std::string& text) {
  return std::chrono::duration_cast<std::chrono::seconds>(parse_duration(text).value_or(Duration{}))
      .count();
}

/// The secret is the only thing in an answer that a script wants.
ExitCode print_issued(const Expected<client::Answer, client::ClientError>& answer,
                      const TokenOptions& options) {
  const ExitCode code =
      print_answer(answer, options.client.json,
                   shown_as(client::issued_token, [&](const client::TokenAnswer& token) {
                     return options.quiet ? token.secret + "\n" : client::issued_text(token);
                   }));
  if (code != kDone) return code;
  const std::string made =
      fmt::format("the token {} is made (`muster token rotate {}` gives it another secret)",
                  options.name, options.name);
  return told(made) ? kDone : kFailed;
}

/// As the API takes it.
std::string check_number(const std::string& text) {
  const auto good = [](char c) { return c > ' ' && c < 0x7f && c != '"' && c != '\\'; };
  const bool fits = !text.empty() && text.size() <= 64 && std::ranges::all_of(text, good);
  return fits ? ""
              : "has to be the number that an earlier command has named: 1 to 64 letters, "
                "digits and marks, no spaces";
}

/// Asks for a secret and prints it. A request without an answer may have been carried out: with its
/// number it can be sent again, and gives a new secret in place of the lost one.
ExitCode ask_for_secret(const TokenOptions& options, const std::string& path,
                        const nlohmann::ordered_json& body) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  const std::string number = options.request.empty() ? client::random_token() : options.request;
  const std::string text =
      body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  const auto answer = api->post(path, text, client::Elsewhere::unsent, number);
  if (!answer && (answer.error().code == client::ClientError::unanswered ||
                  answer.error().code == client::ClientError::unavailable)) {
    complain_of(answer.error());
    complain(
        fmt::format("the token may have been made nevertheless: repeat the command with --request "
                    "{} to get its secret",
                    number));
    return kFailed;
  }
  return print_issued(answer, options);
}

int create(const TokenOptions& options) {
  nlohmann::ordered_json body{{"name", options.name}, {"role", options.role}};
  if (!options.user.empty()) body["user"] = options.user;
  if (!options.expires.empty()) body["lifetime_s"] = seconds_of(options.expires);
  return ask_for_secret(options, "/v1/tokens", body);
}

int list(const TokenOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  return print_answer(
      api->get("/v1/tokens"), options.client.json,
      shown_as(client::token_list, [](const auto& tokens) { return client::view(tokens); }));
}

int revoke(const TokenOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  return print_answer(api->post("/v1/tokens/" + client::url_escaped(options.name) + "/revoke", "",
                                client::Elsewhere::unsent),
                      options.client.json,
                      shown_as(client::token_of, [](const client::TokenAnswer& token) {
                        return fmt::format("token {}: {}\n", token.name, token.state);
                      }));
}

int rotate(const TokenOptions& options) {
  nlohmann::ordered_json body = nlohmann::ordered_json::object();
  if (!options.overlap.empty()) body["overlap_s"] = seconds_of(options.overlap);
  return ask_for_secret(options, "/v1/tokens/" + client::url_escaped(options.name) + "/rotate",
                        body);
}

using Options = std::shared_ptr<TokenOptions>;

CLI::App* add(CLI::App& token, const std::string& verb, const std::string& meaning,
              const Options& options) {
  CLI::App* command = token.add_subcommand(verb, meaning);
  if (verb != "list") {
    command->add_option("NAME", options->name, "of the token")
        ->required()
        ->check(is_said("a token has a name, like ann-laptop"));
  }
  add_client_options(*command, options->client);
  return command;
}

void add_secret_options(CLI::App& command, TokenOptions& options) {
  command.add_flag("--quiet", options.quiet, "print the token alone");
  command
      .add_option("--request", options.request,
                  "number of an earlier request whose answer was lost, to complete it")
      ->check(CLI::Validator(check_number, "NUMBER"));
}

}  // namespace

void add_tokens(CLI::App& app, int& exit_code) {
  CLI::App* token = app.add_subcommand("token", "Tokens that open the API, for an admin");
  token->require_subcommand(1);

  auto made = std::make_shared<TokenOptions>();
  CLI::App* command = add(*token, "create", "Make a token and print it, this once", made);
  command->add_option("--role", made->role, one_of(kWords<Role>))
      ->required()
      ->check(CLI::IsMember(choices_of<Role>()));
  command->add_option("--user", made->user, "user that the token acts for; default: its name")
      ->check(is_said("leave the option out, and it acts for its name"));
  command
      ->add_option("--expires", made->expires, "how long it is valid, like 90d; default: for ever")
      ->check(is_time(kLongestLifeS, false));
  add_secret_options(*command, *made);
  command->callback([made, &exit_code] { exit_code = create(*made); });

  auto listed = std::make_shared<TokenOptions>();
  command = add(*token, "list", "List the tokens, without what is secret", listed);
  command->callback([listed, &exit_code] { exit_code = list(*listed); });

  auto revoked = std::make_shared<TokenOptions>();
  command = add(*token, "revoke", "Revoke a token", revoked);
  command->callback([revoked, &exit_code] { exit_code = revoke(*revoked); });

  auto rotated = std::make_shared<TokenOptions>();
  command = add(*token, "rotate", "Give a token a new secret and print it, this once", rotated);
  command->add_option("--overlap", rotated->overlap, "how long the old secret stays valid (1h)")
      ->check(is_time(kLongestOverlapS, true));
  add_secret_options(*command, *rotated);
  command->callback([rotated, &exit_code] { exit_code = rotate(*rotated); });
}

}  // namespace muster::cli

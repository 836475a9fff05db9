#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tools/cli/commands.hpp"
#include "tools/client/answers.hpp"
#include "tools/client/api_client.hpp"
#include "tools/client/context.hpp"

namespace muster::cli {

/// Options of every command that talks to a cluster.
struct ClientOptions {
  client::ContextOptions where;
  std::string retry_for;  ///< empty: the client's own patience
  bool json = false;
};

/// Adds --api, --token-file, --ca and --cluster, for a command that asks the cluster nothing.
void add_where_options(CLI::App& command, client::ContextOptions& where);
/// Adds --retry-for as well.
void add_where_options(CLI::App& command, ClientOptions& options);
/// Adds --json as well.
void add_client_options(CLI::App& command, ClientOptions& options);

/// Check for ids of jobs and instances.
CLI::Validator is_id();

/// Check for the value of an option that chooses: an empty text, as of a variable that is not set,
/// would choose everything.
CLI::Validator is_filter();

/// Check for the value of an option that looks back: a time from 1s to ten years, like 1h.
CLI::Validator is_since();

/// A word like "-1" among the arguments, which may have been meant as an id; empty: there is no
/// such word.
std::string negative_number(int argc, const char* const* argv);

/// A submission is worth trying for longer than a look at a list, also when nothing listens: the
/// node may be starting again.
void be_patient(client::ApiOptions& api);

/// A client for the cluster that the options and the environment name; null after a complaint.
/// `tune` may change how patient it is.
std::unique_ptr<client::ApiClient> connect(
    const ClientOptions& options, const std::function<void(client::ApiOptions&)>& tune = {});

/// Complains of a request that failed.
ExitCode complain_of(const Failure<client::ClientError>& failure);

/// Writes text, or an answer with a line break at its end, to the standard output.
void print_text(const std::string& text);
void print_json(const std::string& text);

/// Warns when the answer is without the part of somebody who did not answer.
void warn_of_silent(const client::Answer& answer);

/// Prints the answer as the server wrote it, when JSON is wanted, or the view that `show` makes of
/// it.
template <class Show>
ExitCode print_answer(const Expected<client::Answer, client::ClientError>& answer, bool json,
                      Show show) {
  if (!answer) return complain_of(answer.error());
  warn_of_silent(answer.value());
  if (json) {
    print_json(answer->text);
    return kDone;
  }
  const client::Parsed<std::string> text = show(answer.value());
  if (!text) return complain_of(text.error());
  print_text(text.value());
  return kDone;
}

/// A view of what `parse` makes of an answer, for print_answer().
template <class Parse, class View>
auto shown_as(Parse parse, View view) {
  return [parse, view](const client::Answer& answer) -> client::Parsed<std::string> {
    const auto parsed = parse(answer);
    if (!parsed) return parsed.error();
    return view(parsed.value());
  };
}

}  // namespace muster::cli

#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::cli {

/// Exit codes of the command: all is well; it could not be done; it was called wrongly.
enum ExitCode : int { kDone = 0, kFailed = 1, kUsage = 2 };

/// Takes numbers from `least` to `most`. CLI::Range takes "nan", too.
CLI::Validator number_from(double least, double most);

/// Each adds a subcommand. When it is the one called, `exit_code` holds what it came to.
void add_replay(CLI::App& app, int& exit_code);
void add_experiment(CLI::App& app, int& exit_code);
void add_bound(CLI::App& app, int& exit_code);
/// `muster pareto` and `muster budget`.
void add_pareto(CLI::App& app, int& exit_code);
void add_policies(CLI::App& app, int& exit_code);
/// Of all policies that a cluster may have.
std::vector<std::string> policy_names();
void add_explain(CLI::App& app, int& exit_code);
void add_convert(CLI::App& app, int& exit_code);
/// `muster market convert`, `generate` and `describe`.
void add_market(CLI::App& app, int& exit_code);
void add_train(CLI::App& app, int& exit_code);
/// `muster train services`.
void add_train_services(CLI::App& train, int& exit_code);
void add_predict(CLI::App& app, int& exit_code);
void add_config_keys(CLI::App& app, int& exit_code);
/// `muster api`, the description of the HTTP API.
void add_api(CLI::App& app, int& exit_code);
void add_store(CLI::App& app, int& exit_code);
void add_pki(CLI::App& app, int& exit_code);
void add_node(CLI::App& app, int& exit_code);
/// `up`, `down` and what they need.
void add_local_cluster(CLI::App& app, int& exit_code);
/// `muster down`.
void add_down(CLI::App& app, int& exit_code);
void add_worker(CLI::App& app, int& exit_code);
/// `muster join`. `words`: the program's own arguments, of which a token is covered.
void add_join(CLI::App& app, int& exit_code, const std::vector<char*>& words);
/// As a keeper, which shims that are this command call: before all else, as the words that follow
/// are a program's. Its exit code; nothing: the command is another one.
std::optional<int> run_as_keeper(int argc, char** argv);
/// Hidden: supervises one attempt.
void add_shim(CLI::App& app, int& exit_code);
void add_progress(CLI::App& app, int& exit_code);
/// `muster manual`, of all commands that are there when it is called.
void add_manual(CLI::App& app, int& exit_code);

/// All commands that speak to a cluster and need nothing else: those below.
void add_client_commands(CLI::App& app, int& exit_code, const std::vector<std::string>& words);
/// Adds the command of that name, perhaps with others; false: there is no such command.
bool add_client_command(CLI::App& app, int& exit_code, const std::vector<std::string>& words,
                        std::string_view name);
/// `muster submit`; `words`: the command that stood behind "--".
void add_submit(CLI::App& app, int& exit_code, const std::vector<std::string>& words);
/// `muster plan`; likewise.
void add_plan(CLI::App& app, int& exit_code, const std::vector<std::string>& words);
/// `muster jobs` and `muster job`.
void add_jobs(CLI::App& app, int& exit_code);
/// `muster graph`.
void add_graph(CLI::App& app, int& exit_code);
/// `muster cancel`, `hold` and `release`.
void add_job_orders(CLI::App& app, int& exit_code);
/// `muster wait`.
void add_wait(CLI::App& app, int& exit_code);
/// `muster exec`; `words`: the command.
void add_exec(CLI::App& app, int& exit_code, const std::vector<std::string>& words);
/// `muster ls` and `muster fetch`.
void add_files(CLI::App& app, int& exit_code);
/// `muster top`.
void add_top(CLI::App& app, int& exit_code);
/// `muster logs`.
void add_logs(CLI::App& app, int& exit_code);
/// `muster status`, `instances`, `nodes`, `decisions` and `cost`.
void add_cluster_views(CLI::App& app, int& exit_code);
/// `muster services`, `service` and `endpoints`.
void add_services(CLI::App& app, int& exit_code);
/// `muster scale`, `update` and `restart`.
void add_service_orders(CLI::App& app, int& exit_code);
/// `muster open`.
void add_open(CLI::App& app, int& exit_code);
/// `muster drain` and `interrupt`.
void add_instance_orders(CLI::App& app, int& exit_code);
/// `muster token create`, `list`, `revoke` and `rotate`.
void add_tokens(CLI::App& app, int& exit_code);
/// `muster hosts`, `hosts lost` and `hosts remove`.
void add_hosts(CLI::App& app, int& exit_code);
/// `muster join-token create`, `list` and `revoke`.
void add_join_tokens(CLI::App& app, int& exit_code);
/// `muster audit`.
void add_audit(CLI::App& app, int& exit_code);
/// Words that may be the value of an option, by its name with the dashes.
using ValueWords = std::map<std::string, std::vector<std::string>>;
/// `muster completion`, for all commands that are there when it is called; `known`: words besides
/// those of options that choose.
void add_completion(CLI::App& app, int& exit_code, const ValueWords& known);

}  // namespace muster::cli

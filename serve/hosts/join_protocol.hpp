#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/expected.hpp"
#include "model/ids.hpp"
#include "model/time.hpp"

// Requests of machines to the join port and its answers, as JSON. All input is bounded and read
// without exceptions.

namespace muster::hosts {

/// Raised when a side of before would not understand the other.
inline constexpr std::uint64_t kProtocol = 1;

inline constexpr const char* kJoinPath = "/v1/join";
inline constexpr const char* kReportPath = "/v1/report";
inline constexpr const char* kCertifyPath = "/v1/certify";

/// Bounds of a request: head and body are 16 KiB at most.
inline constexpr std::size_t kMaxHead = 2048;
inline constexpr std::size_t kMaxBody = 14 * 1024;
/// Instances on one machine at once, those that end included.
inline constexpr std::size_t kMaxInstances = 64;
inline constexpr std::size_t kMaxLabels = 16;
inline constexpr std::size_t kMaxText = 64;

/// Amounts that a machine has for workers, rounded down.
struct Measured {
  std::uint32_t cpus = 0;
  std::uint32_t memory_gib = 0;
  std::uint32_t gpus = 0;
  std::uint32_t storage_gib = 0;

  friend bool operator==(const Measured&, const Measured&) = default;
};

using Labels = std::map<std::string, std::string>;

/// A token as a user carries it: muster-join-ID-SECRET-AUTHORITY.
struct JoinToken {
  std::string id;         ///< 8 hexadecimal digits, which may be shown
  std::string secret;     ///< 32
  std::string authority;  ///< 64: SHA-256 of the node authority's certificate
};

std::string to_text(const JoinToken& token);
/// Failure's message says what a token looks like.
Expected<JoinToken, int> token_from(std::string_view text);

/// Request of a machine that has no certificate yet.
struct JoinRequest {
  std::string token_id;
  std::string secret;
  std::string request;  ///< for a certificate, PEM
  std::string name;     ///< that the machine calls itself
  Measured measured;
  Labels labels;
  std::int64_t now_s = 0;  ///< since 1970, by the machine's clock
};

/// Number and certificate of a machine.
struct JoinAnswer {
  std::uint32_t host = 0;
  std::string type;         ///< in the catalog
  std::string certificate;  ///< PEM
  std::string authority;    ///< of the nodes, PEM
};

/// State of a machine, told again and again.
struct Report {
  std::string run;   ///< of the daemon's process, by chance
  std::string boot;  ///< id of the machine's boot, by the kernel
  Measured measured;
  std::vector<InstanceId> instances{};  ///< of which something may run
  std::string trouble{};                ///< why an instance could not begin; empty: all did
  /// It does not share the cluster's folder of checkpoints; nothing: it does not say.
  std::optional<bool> own_checkpoints{};
};

/// An instance that the machine has to run.
struct WantedInstance {
  InstanceId instance;
  std::string settings{};  ///< of its worker, TOML; empty: the machine has them
};

/// Orders to a machine, and for how long they hold.
struct ReportAnswer {
  Duration lease{};  ///< from the report's sending; 0: no end
  Duration report{};
  std::vector<WantedInstance> instances{};  ///< all others are to end
};

/// Request of a machine for the certificate of an instance that it is to run.
struct CertifyRequest {
  InstanceId instance;
  std::string request;  ///< PEM
};

std::string to_json(const JoinRequest& request);
std::string to_json(const JoinAnswer& answer);
std::string to_json(const Report& report);
std::string to_json(const ReportAnswer& answer);
std::string to_json(const CertifyRequest& request);
/// An answer of one text.
std::string certificate_json(const std::string& pem);

/// The code of a failure is the status of HTTP that answers it.
Expected<JoinRequest, int> join_request_from(std::string_view text);
Expected<JoinAnswer, int> join_answer_from(std::string_view text);
Expected<Report, int> report_from(std::string_view text);
Expected<ReportAnswer, int> report_answer_from(std::string_view text);
Expected<CertifyRequest, int> certify_request_from(std::string_view text);
Expected<std::string, int> certificate_from(std::string_view text);
/// Labels as an object of texts, within their bounds.
Expected<Labels, int> labels_from(std::string_view text);
/// The message of an answer that is an error; empty: it has no message.
std::string error_message_in(std::string_view text);

}  // namespace muster::hosts

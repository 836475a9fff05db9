#include "serve/hosts/join_desk.hpp"

#include <fmt/format.h>

#include "actors/link/join_pki.hpp"
#include "actors/link/worker_link_options.hpp"

namespace muster::hosts {
namespace {

/// Certificates that are kept for machines that ask again; the others are signed anew.
constexpr std::size_t kMaxSigned = 1000;
constexpr int kNoCertificate = 401, kNotFound = 404, kNotAllowed = 405, kServerFault = 500;

api::Response refused(const Failure<int>& why) {
  return api::error_response(why.code, why.message);
}

Failure<int> of_pki(const Failure<PkiError>& why) {
  return {why.code == PkiError::bad_request ? kHostMalformed : kServerFault, why.message};
}

}  // namespace

api::Response JoinDesk::answer(const api::Request& request, const JoinPeer& peer) {
  const std::string& path = request.head.target;
  if (path != kJoinPath && path != kReportPath && path != kCertifyPath) {
    return api::error_response(kNotFound,
                               "this is the port where machines join; the API is another "
                               "(node.api of the cluster file)");
  }
  if (request.head.method != "POST") {
    return api::error_response(kNotAllowed, "machines ask by POST");
  }
  if (path == kJoinPath) return join(request.body, peer);
  if (peer.key_print.empty()) {
    return api::error_response(kNoCertificate,
                               "this needs the certificate that `muster join` has got");
  }
  return path == kReportPath ? report(request.body, peer) : certify(request.body, peer);
}

api::Response JoinDesk::join(const std::string& body, const JoinPeer& peer) {
  std::string about = "a machine joins";
  bool is_repeated = false;
  const auto answered = [&]() -> Expected<std::string, int> {
    const auto request = join_request_from(body);
    if (!request) return request.error();
    about = fmt::format("join token {}", request->token_id);
    const auto key = key_print_of_request(request->request);
    if (!key) return of_pki(key.error());
    const auto joined = book_->join(request.value(), key.value());
    if (!joined) return joined.error();
    about = fmt::format("host {} by join token {}", joined->host, request->token_id);
    // Written down once; others could fill the log by one machine's key.
    is_repeated = joined->again && signed_.contains(joined->host);
    auto certificate = certificate_of(joined.value(), request->request);
    if (!certificate) return certificate.error();
    return to_json(
        JoinAnswer{joined->host, joined->type, std::move(certificate).value(), setup_.authority});
  }();
  api::Response response =
      answered ? api::Response{.status = 201, .body = answered.value()} : refused(answered.error());
  if (setup_.audit && !is_repeated) setup_.audit(peer, response.status, about);
  return response;
}

Expected<std::string, int> JoinDesk::certificate_of(const HostBook::Joined& joined,
                                                    const std::string& request) {
  // Its key is that of the first request, by which it was found.
  const auto known = signed_.find(joined.host);
  if (joined.again && known != signed_.end()) return known->second;
  auto certificate = sign_request(setup_.pki, request, fmt::format("host-{}", joined.host));
  if (!certificate) return of_pki(certificate.error());
  if (signed_.size() >= kMaxSigned) signed_.clear();
  signed_[joined.host] = certificate.value();
  return certificate.value();
}

api::Response JoinDesk::report(const std::string& body, const JoinPeer& peer) {
  const auto request = report_from(body);
  if (!request) return refused(request.error());
  const auto answer = book_->report(peer.key_print, request.value());
  if (!answer) return refused(answer.error());
  return {.body = to_json(answer.value())};
}

api::Response JoinDesk::certify(const std::string& body, const JoinPeer& peer) {
  const auto request = certify_request_from(body);
  if (!request) return refused(request.error());
  if (const auto fault = book_->may_certify(peer.key_print, request->instance)) {
    return refused(*fault);
  }
  const auto certificate =
      sign_request(setup_.pki, request->request, certificate_name(request->instance));
  if (!certificate) return refused(of_pki(certificate.error()));
  return {.body = certificate_json(certificate.value())};
}

}  // namespace muster::hosts

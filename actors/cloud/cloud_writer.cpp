#include "actors/cloud/cloud_writer.hpp"

#include <utility>

namespace muster {
namespace {

/// Orders for one instance that wait for its record to be written; masters repeat what is dropped.
constexpr std::size_t kMaxDeferred = 16;

}  // namespace

CloudWriter::CloudWriter(CloudStore& store, std::shared_ptr<ConnectorHost> host,
                         std::function<void(InstanceId)> settle)
    : store_(store), host_(std::move(host)), settle_(std::move(settle)) {}

/// The store may answer at once, or later from a thread of its own, which must not touch the
/// connector.
CloudStore::Durable CloudWriter::on_turn(
    std::function<void(const std::string& trouble)> then) const {
  return [host = host_, then = std::move(then)](const std::string& trouble) {
    host->run([then, trouble] { then(trouble); });
  };
}

void CloudWriter::write(const RentedRecord& record, Written then) {
  const InstanceId id = record.instance;
  writing_[id] = {std::move(then), record.gone_at.has_value()};
  store_.put(record, on_turn([this, id](const std::string& trouble) { on_written(id, trouble); }));
}

void CloudWriter::on_written(InstanceId id, const std::string& trouble) {
  show_trouble(trouble);
  // Taken out before `then`, which may write the next record of the instance.
  const Writing written = std::move(writing_.extract(id).mapped());
  written.then(trouble.empty());
  // Each of these may write again; then the ones behind it wait again, in their order.
  for (const auto& order : written.orders) order();
  settle_(id);
}

void CloudWriter::write_change(const OfferingChange& change,
                               const std::vector<std::uint64_t>& dropped, Written then) {
  store_.put_change(change, dropped,
                    on_turn([this, then = std::move(then)](const std::string& trouble) {
                      show_trouble(trouble);
                      then(trouble.empty());
                    }));
}

bool CloudWriter::ends_bill(InstanceId id) const {
  const auto writing = writing_.find(id);
  return writing != writing_.end() && writing->second.ends_bill;
}

bool CloudWriter::defer(InstanceId id, std::function<void()> order) {
  std::vector<std::function<void()>>& orders = writing_.at(id).orders;
  if (orders.size() >= kMaxDeferred) return false;
  orders.push_back(std::move(order));
  return true;
}

void CloudWriter::show_trouble(const std::string& trouble) {
  if (trouble != trouble_)
    host_->note(trouble.empty() ? "the cloud's store takes records again" : trouble);
  trouble_ = trouble;
}

}  // namespace muster

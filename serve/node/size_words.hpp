#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/views.hpp"

namespace muster {

/// The figure is one of those by which the policy `lrasched` notes a size of a service
/// (schedulers/lrasched/size_book.cpp), or how many of its replicas an instance may hold
/// (schedulers/lrasched/limit_book.cpp).
bool is_of_size(std::string_view figure);

/// For each service of such figures the finding, the size at which it was made, and the sizes from
/// then on; or the number of replicas with which it was made, and how many there may be.
std::vector<std::string> words_of_sizes(const std::vector<FigureView>& figures);

}  // namespace muster

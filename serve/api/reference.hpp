#pragma once

#include <string>

namespace muster::api {

/// The requests and documents of the API for people, as Markdown: a table of parameters a request
/// and of members a document. It is made of the OpenAPI document, so it says nothing else.
std::string reference_text();

}  // namespace muster::api

#include "exchange/arrow/arrays.h"

#include <cstring>

namespace joedb::inline v1 {

// ---- arrays -------------------------------------------------------------------------------------

void Arrow_Array_Builder::add_child(ArrowArray child) {
  try {
    children_.push_back(child);
  } catch (...) {
    child.release(&child);
    throw;
  }
}

ArrowArray Arrow_Array_Builder::finish(index_t length, index_t null_count) {
  child_pointers_.reserve(children_.size());
  auto owner = std::make_unique<Arrow_Array_Builder>();
  owner->buffers_.swap(buffers_);
  owner->memory_.swap(memory_);
  owner->owner_.swap(owner_);
  owner->children_.swap(children_);
  owner->child_pointers_.swap(child_pointers_);
  std::swap(owner->dictionary_, dictionary_);
  for (ArrowArray& child : owner->children_) owner->child_pointers_.push_back(&child);
  ArrowArray result{};
  result.length = length;
  result.null_count = null_count;
  result.n_buffers = static_cast<std::int64_t>(owner->buffers_.size());
  result.buffers = owner->buffers_.data();
  result.n_children = static_cast<std::int64_t>(owner->children_.size());
  result.children = owner->child_pointers_.data();
  if (owner->dictionary_.release != nullptr) result.dictionary = &owner->dictionary_;
  result.release = release;
  result.private_data = owner.release();
  return result;
}

Arrow_Array_Builder::~Arrow_Array_Builder() {
  for (ArrowArray& child : children_)
    if (child.release != nullptr) child.release(&child);
  if (dictionary_.release != nullptr) dictionary_.release(&dictionary_);
}

void Arrow_Array_Builder::release(ArrowArray* array) {
  delete static_cast<Arrow_Array_Builder*>(array->private_data);
  array->release = nullptr;
}

// ---- schemas ------------------------------------------------------------------------------------

namespace {

struct Schema_Owner {
  std::string format;
  std::string name;
  std::string metadata;
  std::vector<ArrowSchema> children = {};
  std::vector<ArrowSchema*> child_pointers = {};
  ArrowSchema dictionary{};

  ~Schema_Owner() {
    for (ArrowSchema& child : children)
      if (child.release != nullptr) child.release(&child);
    if (dictionary.release != nullptr) dictionary.release(&dictionary);
  }
};

void append_number(std::string& out, std::size_t value) {
  const auto number = static_cast<std::int32_t>(value);
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  out.append(bytes, sizeof bytes);
}

std::string metadata_bytes(const Arrow_Type& type) {
  std::string result;
  if (type.metadata.empty()) return result;
  append_number(result, type.metadata.size());
  for (const auto& [key, value] : type.metadata)
    for (const std::string& text : {key, value}) {
      append_number(result, text.size());
      result += text;
    }
  return result;
}

}  // namespace

ArrowSchema make_arrow_schema(const Arrow_Type& type) {
  auto owner = std::make_unique<Schema_Owner>();
  owner->format = type.format;
  owner->name = type.name;
  owner->metadata = metadata_bytes(type);
  owner->children.reserve(type.children.size());
  owner->child_pointers.reserve(type.children.size());
  for (const Arrow_Type& child : type.children) {
    owner->children.push_back(make_arrow_schema(child));
    owner->child_pointers.push_back(&owner->children.back());
  }
  ArrowSchema result{};
  result.format = owner->format.c_str();
  result.name = owner->name.c_str();
  result.metadata = owner->metadata.empty() ? nullptr : owner->metadata.data();
  result.flags = type.is_nullable ? ARROW_FLAG_NULLABLE : 0;
  result.n_children = static_cast<std::int64_t>(owner->children.size());
  result.children = owner->child_pointers.data();
  if (!type.dictionary.empty()) {
    owner->dictionary = make_arrow_schema(type.dictionary.front());
    result.dictionary = &owner->dictionary;
  }
  result.release = [](ArrowSchema* schema) {
    delete static_cast<Schema_Owner*>(schema->private_data);
    schema->release = nullptr;
  };
  result.private_data = owner.release();
  return result;
}

}  // namespace joedb::inline v1

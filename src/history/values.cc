#include "joedb/history/changes.h"

#include <algorithm>
#include <cstring>

#include "kernel/table/same_bits.h"

namespace joedb::inline v1 {

static_assert(std::variant_size_v<Value> == type_count);
template <class T>
static constexpr bool matches_type_code =
    std::is_same_v<std::variant_alternative_t<static_cast<std::size_t>(code_of<T>) - 1, Value>, T>;
static_assert(matches_type_code<std::string_view> && matches_type_code<std::int32_t> &&
              matches_type_code<std::int64_t> && matches_type_code<Record_Id> &&
              matches_type_code<bool> && matches_type_code<float> && matches_type_code<double> &&
              matches_type_code<std::int8_t> && matches_type_code<std::int16_t> &&
              matches_type_code<Blob>);

bool is_same(const Value& a, const Value& b) {
  if (a.index() != b.index()) return false;
  return std::visit([&]<class T>(const T& value) { return has_same_bits(value, std::get<T>(b)); },
                    a);
}

static bool is_zero(const char* bytes, std::size_t size) {
  return size == 0 || (bytes[0] == 0 && std::memcmp(bytes, bytes + 1, size - 1) == 0);
}

Value Values::operator[](index_t i) const {
  return visit_type(type_, [&]<class T>(std::type_identity<T>) { return Value(get<T>(i)); });
}

template <class F>
void Values::append_in_parts(index_t size, F f) {
  if (size_ == 1 && parts_.empty()) move_single_to_part();
  for (index_t done = 0; done < size;) {
    const index_t rows = size_ % rows_of_part;
    if (rows == 0) parts_.emplace_back();
    const index_t room = std::min(size - done, rows_of_part - rows);
    f(parts_.back(), rows, room);
    done += room;
    size_ += room;
  }
}

template <Field_Value T>
void Values::append_value(Part& part, index_t rows, T value) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    if (part.ends.empty() && value.empty()) return;
    part.ends.resize(static_cast<std::size_t>(rows), 0);
    part.bytes += value;
    part.ends.push_back(part.bytes.size());
  } else {
    const char* const bytes = reinterpret_cast<const char*>(&value);
    if (part.bytes.empty() && is_zero(bytes, sizeof(T))) return;
    part.bytes.resize(static_cast<std::size_t>(rows) * sizeof(T), 0);
    part.bytes.append(bytes, sizeof(T));
  }
}

void Values::move_single_to_part() {
  visit_type(type_, [&]<class T>(std::type_identity<T>) {
    if constexpr (can_be_single<T>) {
      Part part;
      append_value(part, 0, single<T>());
      parts_.push_back(std::move(part));
    }
  });
}

template <Field_Value T>
void Values::append_one(T value) {
  if constexpr (can_be_single<T>) {
    if (size_ == 0) {
      std::memcpy(&single_, &value, sizeof value);
      size_ = 1;
      return;
    }
  }
  append_in_parts(1, [&](Part& part, index_t rows, index_t) { append_value(part, rows, value); });
}

void Values::append(const Value& value) {
  std::visit([&](const auto& typed) { append_one(typed); }, value);
}

void Values::append(const Column_Base& column, index_t first, index_t size) {
  visit_type(type_, [&]<class T>(std::type_identity<T>) {
    const auto& typed = static_cast<const Column<T>&>(column);
    if (size == 1) return append_one(T(typed.get(first)));
    index_t next = first;
    append_in_parts(size, [&](Part& part, index_t rows, index_t room) {
      if constexpr (std::is_same_v<T, std::string_view>) {
        for (index_t i = 0; i < room; ++i)
          append_value(part, rows + i, std::string_view(typed.get(next + i)));
      } else {
        const char* const bytes = reinterpret_cast<const char*>(typed.data() + next);
        const std::size_t length = static_cast<std::size_t>(room) * sizeof(T);
        if (!part.bytes.empty() || !is_zero(bytes, length)) {
          part.bytes.resize(static_cast<std::size_t>(rows) * sizeof(T), 0);
          part.bytes.append(bytes, length);
        }
      }
      next += room;
    });
  });
}

void Values::append(const Values& other, index_t first, index_t size) {
  if (size_ == 0 && first == 0 && size == other.size_) {
    *this = other;
    return;
  }
  visit_type(type_, [&]<class T>(std::type_identity<T>) {
    if (size == 1) return append_one(other.get<T>(first));
    index_t next = first;
    append_in_parts(size, [&](Part& part, index_t rows, index_t room) {
      for (index_t i = 0; i < room; ++i) {
        const Part& from = other.parts_[static_cast<std::size_t>(next / rows_of_part)];
        const index_t rest = rows_of_part - next % rows_of_part;
        if (from.is_default() && part.is_default()) {
          const index_t skipped = std::min(rest, room - i);
          next += skipped;
          i += skipped - 1;
        } else {
          append_value(part, rows + i, other.get<T>(next++));
        }
      }
    });
  });
}

void Values::append_defaults(index_t size) {
  visit_type(type_, [&]<class T>(std::type_identity<T>) {
    if (size == 1) return append_one(T());
    append_in_parts(size, [&](Part& part, index_t rows, index_t room) {
      for (index_t i = 0; i < room && !part.is_default(); ++i) append_value(part, rows + i, T());
    });
  });
}

template <Field_Value T>
bool Values::is_same_part(const Part& part, index_t row_of_part, index_t size,
                          const Column<T>& column, index_t row) const {
  if constexpr (std::is_same_v<T, std::string_view>) {
    std::size_t begin = row_of_part > 0 && !part.is_default()
                            ? part.ends[static_cast<std::size_t>(row_of_part) - 1]
                            : 0;
    for (index_t i = 0; i < size; ++i) {
      const std::size_t end =
          part.is_default() ? 0 : part.ends[static_cast<std::size_t>(row_of_part + i)];
      if (std::string_view(column.get(row + i)) !=
          std::string_view(part.bytes).substr(begin, end - begin))
        return false;
      begin = end;
    }
    return true;
  } else {
    const char* const bytes = reinterpret_cast<const char*>(column.data() + row);
    const std::size_t length = static_cast<std::size_t>(size) * sizeof(T);
    if (part.is_default()) return is_zero(bytes, length);
    return std::memcmp(part.bytes.data() + static_cast<std::size_t>(row_of_part) * sizeof(T), bytes,
                       length) == 0;
  }
}

bool Values::is_same(index_t first, index_t size, const Column_Base& column, index_t row) const {
  return visit_type(type_, [&]<class T>(std::type_identity<T>) {
    const auto& typed = static_cast<const Column<T>&>(column);
    if constexpr (can_be_single<T>)
      if (parts_.empty()) return size == 0 || has_same_bits(single<T>(), typed.get(row));
    for (index_t done = 0; done < size;) {
      const index_t row_of_part = (first + done) % rows_of_part;
      const index_t part_size = std::min(size - done, rows_of_part - row_of_part);
      const Part& part = parts_[static_cast<std::size_t>((first + done) / rows_of_part)];
      if (!is_same_part(part, row_of_part, part_size, typed, row + done)) return false;
      done += part_size;
    }
    return true;
  });
}

std::size_t Values::memory() const {
  std::size_t result = sizeof *this;
  for (const Part& part : parts_)
    result += sizeof part + part.bytes.size() + part.ends.size() * sizeof part.ends.front();
  return result;
}

bool operator==(const Values& a, const Values& b) {
  if (a.type_ != b.type_ || a.size_ != b.size_) return false;
  if (a.parts_.empty()) return a.single_ == b.single_;  // b has no parts either
  for (index_t i = 0; i < a.size_; ++i)
    if (!is_same(a[i], b[i])) return false;
  return true;
}

}  // namespace joedb::inline v1

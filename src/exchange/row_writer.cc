#include "exchange/row_writer.h"

#include <absl/strings/escaping.h>

#include <bit>
#include <cmath>

namespace joedb {

namespace {

template <class T>
bool is_same(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
           (std::isnan(a) && std::isnan(b));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
           (std::isnan(a) && std::isnan(b));
  else
    return a == b;
}

template <Field_Value T>
class Typed_Writer final : public Column_Writer {
 public:
  Typed_Writer(Writable_Database& database, Table& table, Field_Id field)
      : database_(database), table_(table), field_(field), column_(table.column<T>(field)) {
    Typed_Writer::reset();
  }

  void read(const Cell& cell) override {
    value_ = read_cell<T>(cell, logical_, buffer_);
    if constexpr (std::is_same_v<T, std::string_view>) Database::require_size(value_);
  }
  void reset() override { value_ = logical_.is_optional ? missing_value<T>(logical_) : T(); }
  bool is_stored(Record_Id record) const override {
    return is_same<T>(column_.get(record.value()), value_);
  }
  void write(Record_Id record) override {
    database_.update(table_, column_, Update<T>{table_.id(), record, field_, value_});
  }
  Key_Part key() const override { return key_part<T>(value_); }

 private:
  Writable_Database& database_;
  Table& table_;
  const Field_Id field_;
  Column<T>& column_;
  const Logical_Type logical_ = column_.logical();
  T value_{};
  std::string buffer_;
};

// Takes the bytes of a blob; for a CSV file, their base64.
class Blob_Writer final : public Column_Writer {
 public:
  Blob_Writer(Writable_Database& database, Table& table, Field_Id field)
      : database_(database), table_(table), field_(field), column_(table.column<Blob>(field)) {}

  void read(const Cell& cell) override {
    has_value_ = cell.kind() > Cell::Kind::null;
    bytes_ = {};
    if (!has_value_) return;
    if (cell.kind() == Cell::Kind::word) {
      if (!absl::Base64Unescape({cell.text().data(), cell.text().size()}, &buffer_))
        throw Cell_Error("base64 of a blob expected, got " + quoted_cell(cell));
      bytes_ = buffer_;
    } else if (cell.has_text()) {
      bytes_ = cell.text();
    } else {
      throw Cell_Error("bytes of a blob expected, got " + quoted_cell(cell));
    }
  }
  void reset() override { has_value_ = false; }
  bool is_stored(Record_Id record) const override {
    const Blob blob = column_.get(record.value());
    if (!has_value_ || blob.is_null()) return !has_value_ && blob.is_null();
    return blob.get_size() == static_cast<std::int64_t>(bytes_.size()) &&
           database_.read_blob(blob) == bytes_;
  }
  void write(Record_Id record) override {
    const Blob blob = has_value_ ? database_.write_blob(bytes_) : Blob();
    database_.update(table_, column_, Update<Blob>{table_.id(), record, field_, blob});
  }
  Key_Part key() const override { throw Data_Error("a blob cannot identify records"); }

 private:
  Writable_Database& database_;
  Table& table_;
  const Field_Id field_;
  Column<Blob>& column_;
  bool has_value_ = false;
  std::string_view bytes_;
  std::string buffer_;
};

std::unique_ptr<Column_Writer> make_writer(Writable_Database& database, Table& table,
                                           Field_Id field, Type_Code code) {
  if (code == Type_Code::blob) return std::make_unique<Blob_Writer>(database, table, field);
  return visit_type(code, [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Column_Writer> {
    if constexpr (std::is_same_v<T, Blob>)
      return nullptr;
    else
      return std::make_unique<Typed_Writer<T>>(database, table, field);
  });
}

}  // namespace

Row_Writer::Row_Writer(Writable_Database& database, Table_Id table)
    : database_(database), table_(database.get_database().table(table)) {
  std::uint16_t id = 0;
  for (const Field& field : table_.fields()) {
    ++id;
    columns_.push_back(field.column
                           ? make_writer(database, table_, Field_Id(id), field.column->type().code)
                           : nullptr);
  }
}

Column_Writer& Row_Writer::column(Field_Id field) {
  const std::size_t index = field.value() - std::size_t{1};
  if (index >= columns_.size() || !columns_[index])
    throw Data_Error("table " + table_.name() + " has no such field");
  return *columns_[index];
}

// Writes all fields, even default values. Therefore the record enters all indexes, and keeps no
// value of an earlier record with the same id.
Record_Id Row_Writer::insert(Record_Id record) {
  if (record.is_null()) record = database_.next_free(table_);
  database_.get_database().note_journal_size(database_.get_journal().get_position());
  database_.write(Insert{table_.id(), record});
  for (const auto& column : columns_)
    if (column) column->write(record);
  return record;
}

void Row_Writer::reset() {
  for (const auto& column : columns_)
    if (column) column->reset();
}

}  // namespace joedb

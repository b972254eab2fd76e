#include "rewrite/forget.h"

#include <algorithm>
#include <map>
#include <memory>

#include "history/explanation.h"
#include "joedb/history/changes.h"
#include "kernel/schema/logical_type.h"
#include "kernel/table/declaration.h"
#include "kernel/table/same_bits.h"
#include "rewrite/entry_copier.h"
#include "rewrite/pack_since.h"

namespace joedb::inline v1 {

namespace {

// A handler that collects the last names and types of all tables and fields, including dropped
// ones.
class Names : public Ignore_Entries {
 public:
  struct Table {
    std::string name;
    std::vector<std::string> fields;
    std::vector<Logical_Type> types;  // of the fields
    bool is_dropped = false;
  };
  // Indexed by table id - 1.
  const std::vector<Table>& tables() const { return tables_; }

  std::string text(Table_Id table) const {
    const std::size_t i = table.value() - std::size_t{1};
    return i < tables_.size() ? tables_[i].name : "table " + std::to_string(table.value());
  }
  std::string text(Table_Id table, Field_Id field) const {
    const std::size_t i = table.value() - std::size_t{1}, j = field.value() - std::size_t{1};
    return i < tables_.size() && j < tables_[i].fields.size()
               ? tables_[i].fields[j]
               : "field " + std::to_string(field.value());
  }

  using Ignore_Entries::operator();
  void operator()(const Create_Table& e) { tables_.push_back({std::string(e.name), {}, {}}); }
  void operator()(const Drop_Table& e) {
    if (Table* const table = find(e.table)) table->is_dropped = true;
  }
  void operator()(const Rename_Table& e) {
    if (Table* const table = find(e.table)) table->name = e.name;
  }
  void operator()(const Add_Field& e) {
    Table* const table = find(e.table);
    if (table == nullptr) return;
    table->fields.emplace_back(e.name);
    table->types.resize(table->fields.size());
  }
  void operator()(const Rename_Field& e) {
    Table* const table = find(e.table);
    const std::size_t i = e.field.value() - std::size_t{1};
    if (table != nullptr && i < table->fields.size()) table->fields[i] = e.name;
  }
  void operator()(const Comment& e) {
    const auto declaration = parse_declaration(e.text);
    if (!declaration) return;
    for (Table& table : tables_) {
      if (table.is_dropped || table.name != declaration->table) continue;
      // A dropped field may have had the same name before.
      for (std::size_t i = table.fields.size(); i-- > 0;) {
        if (table.fields[i] != declaration->field) continue;
        table.types[i] = declaration->type.logical;
        break;
      }
    }
  }

 private:
  Table* find(Table_Id id) {
    const std::size_t i = id.value() - std::size_t{1};
    return i < tables_.size() ? &tables_[i] : nullptr;
  }

  std::vector<Table> tables_;
};

template <Field_Value T>
bool is_default(const T& value) {
  return has_same_bits(value, T());  // compares bits: -0 is not a default value
}

// A handler that calls Self::take(is_forgotten, value) for each value. A value that means that
// there is none is not forgotten.
template <class Self>
struct Value_Handler : Ignore_Entries {
  using Ignore_Entries::operator();
  template <Field_Value T>
  void operator()(const Update<T>& e) {
    Self& self = static_cast<Self&>(*this);
    self.take(self.scope.has(e.table, e.record.value(), e.field) &&
                  !self.scope.is_nothing(e.table, e.field, e.value),
              e.value);
  }
  template <Field_Value T>
  void operator()(const Update_Vector<T>& e) {
    Self& self = static_cast<Self&>(*this);
    if (!self.needs_all(code_of<T>) && !self.scope.has_field(e.table, e.field)) return;
    for (index_t id = e.record.value(); e.values.remaining() > 0; ++id) {
      const T value = e.values.next();
      self.take(
          self.scope.has(e.table, id, e.field) && !self.scope.is_nothing(e.table, e.field, value),
          value);
    }
  }
  // Returns true if take() also needs the values of this type that are not forgotten.
  static constexpr bool needs_all(Type_Code) { return false; }
};

}  // namespace

std::string to_text(const Forget_Request& request) {
  std::string text = request.table;
  for (std::size_t i = 0; i < request.records.size(); ++i) {
    const auto& records = request.records[i];
    text += (i == 0 ? " " : ",") + std::to_string(records.first.value());
    if (records.size > 1) text += '-' + std::to_string(records.first.value() + records.size - 1);
  }
  for (std::size_t i = 0; i < request.fields.size(); ++i)
    text += (i == 0 ? " " : ",") + request.fields[i];
  return text;
}

// ---- which values -------------------------------------------------------------------------------

class Forgetter::Scope {
 public:
  Scope(const Abstract_File& file, const Names& names, const Forget_Request& request)
      : records_(request.records) {
    std::sort(records_.begin(), records_.end(),
              [](const auto& a, const auto& b) { return a.first.value() < b.first.value(); });
    // Join ranges that overlap or are adjacent.
    for (std::size_t i = 1; i < records_.size();) {
      auto& a = records_[i - 1];
      const auto& b = records_[i];
      if (b.first.value() > a.first.value() + a.size) {
        ++i;
        continue;
      }
      a.size = std::max(a.size, b.first.value() + b.size - a.first.value());
      records_.erase(records_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    bool has_table = false;
    std::vector<bool> has_field(request.fields.size());
    for (std::size_t i = 0; i < names.tables().size(); ++i) {
      const Names::Table& table = names.tables()[i];
      if (table.name != request.table) continue;
      has_table = true;
      fields_.resize(i + 2);
      types_.resize(i + 2);
      types_[i + 1] = table.types;
      fields_[i + 1].resize(table.fields.size() + 1, request.fields.empty());
      fields_[i + 1][0] = false;  // no field has the id 0, but an entry of a damaged file may
      for (std::size_t j = 0; j < table.fields.size(); ++j)
        for (std::size_t k = 0; k < request.fields.size(); ++k)
          if (table.fields[j] == request.fields[k]) fields_[i + 1][j + 1] = has_field[k] = true;
    }
    if (!has_table) throw Exception(file.get_name() + " has no table " + request.table);
    for (std::size_t k = 0; k < request.fields.size(); ++k)
      if (!has_field[k])
        throw Exception(file.get_name() + ": table " + request.table + " has no field " +
                        request.fields[k]);
  }

  bool has_field(Table_Id table, Field_Id field) const {
    return table.value() < fields_.size() && field.value() < fields_[table.value()].size() &&
           fields_[table.value()][field.value()];
  }
  bool has(Table_Id table, index_t record, Field_Id field) const {
    return has_field(table, field) && has_record(record);
  }
  // Returns the last logical type of a field in the request.
  const Logical_Type& logical(Table_Id table, Field_Id field) const {
    return types_[table.value()][field.value() - std::size_t{1}];
  }
  // True if the value of a field in the request is what remains when it is forgotten.
  template <Field_Value T>
  bool is_nothing(Table_Id table, Field_Id field, const T& value) const {
    const Logical_Type& type = logical(table, field);
    return type.is_optional ? is_missing<T>(type, value) : is_default(value);
  }

 private:
  bool has_record(index_t record) const {
    if (records_.empty()) return true;
    const auto behind = std::partition_point(
        records_.begin(), records_.end(),
        [&](const Forget_Request::Records& r) { return r.first.value() <= record; });
    return behind != records_.begin() && record < (behind - 1)->first.value() + (behind - 1)->size;
  }

  std::vector<Forget_Request::Records> records_;  // sorted, not adjacent
  std::vector<std::vector<bool>> fields_;         // true: in the request; by table and field id
  std::vector<std::vector<Logical_Type>> types_;  // by table id, and field id - 1
};

// ---- reading ------------------------------------------------------------------------------------

// A handler that collects the blobs. It marks blobs to which forgotten values refer, and blobs to
// which other values refer.
class Forgetter::Blob_Scan : public Value_Handler<Blob_Scan> {
 public:
  Blob_Scan(const Scope& s, Blob_Map& blobs) : scope(s), blobs_(blobs) {}
  static constexpr bool needs_all(Type_Code code) { return code == Type_Code::blob; }

  using Value_Handler::operator();
  void operator()(const Blob_Data& e) {
    blobs_.add(e.blob);
    is_forgotten.push_back(false);
    is_needed.push_back(false);
  }
  template <Field_Value T>
  void take(bool forgets, const T& value) {
    if (forgets) ++values;
    if constexpr (std::is_same_v<T, Blob>)
      if (const auto number = blobs_.find(value))
        (forgets ? is_forgotten : is_needed)[*number] = true;
  }

  const Scope& scope;
  index_t values = 0;
  std::vector<bool> is_forgotten, is_needed;

 private:
  Blob_Map& blobs_;
};

class Forgetter::Counter : public Value_Handler<Counter> {
 public:
  explicit Counter(const Scope& s) : scope(s) {}
  template <Field_Value T>
  void take(bool forgets, const T&) {
    if (forgets) ++values;
  }

  const Scope& scope;
  index_t values = 0;
};

Forgetter::Forgetter(Abstract_File& file, Forget_Request request)
    : file_(file), request_(std::move(request)) {
  Readonly_Journal journal(file);
  Names names;
  journal.replay(names);
  scope_ = std::make_unique<Scope>(file, names, request_);
  Blob_Scan scan(*scope_, blobs_);
  journal.rewind();
  journal.replay(scan);
  value_count_ = scan.values;
  is_forgotten_ = std::move(scan.is_forgotten);
  for (std::size_t i = 0; i < is_forgotten_.size(); ++i) {
    is_dropped_.push_back(is_forgotten_[i] && !scan.is_needed[i]);
    blob_count_ += is_dropped_[i];
  }
}

Forgetter::~Forgetter() = default;

void Forgetter::for_each_place(const std::function<void(const Place&)>& f) const {
  Readonly_Journal journal(file_, Recovery::none, false);
  Summaries summaries(file_, journal_start, journal.get_checkpoint());
  while (const Transaction_Summary* const summary = summaries.next()) {
    Counter counter(*scope_);
    journal.replay(counter, summary->end);
    if (counter.values > 0) f({*summary, counter.values});
  }
}

// ---- writing ------------------------------------------------------------------------------------

class Forgetter::Copier {
 public:
  Copier(const Forgetter& forgetter, Blob_Map& blobs, const Tag_Positions& tags,
         Writable_Journal& journal)
      : forgetter_(forgetter),
        blobs_(blobs),
        journal_(journal),
        copier_(forgetter.file_, journal, blobs, &tags) {}

  template <class Entry>
  void operator()(const Entry& e) {
    copier_(e);
  }
  template <Field_Value T>
  void operator()(const Update<T>& e) {
    // Omit the update. The record already has the default value, because all its earlier values are
    // forgotten too. Without the update, the record does not enter an index that this field
    // triggers, so a unique index does not get the default value twice. An optional field has no
    // value instead, and other records without one are in the index, too.
    const Scope& scope = *forgetter_.scope_;
    if (!scope.has(e.table, e.record.value(), e.field)) return copier_(e);
    if (const Logical_Type& type = scope.logical(e.table, e.field); type.is_optional)
      copier_(Update<T>{e.table, e.record, e.field, missing_value<T>(type)});
  }
  template <Field_Value T>
  void operator()(const Update_Vector<T>& e) {
    const Scope& scope = *forgetter_.scope_;
    if (!scope.has_field(e.table, e.field)) return copier_(e);
    if (const Logical_Type& type = scope.logical(e.table, e.field); type.is_optional) {
      index_t id = e.record.value();
      journal_.append_vector<T>(e.table, e.record, e.field, e.size, [&](index_t) {
        const T value = e.values.next();
        return scope.has(e.table, id++, e.field) ? missing_value<T>(type) : copier_.moved(value);
      });
      return;
    }
    // Copy the other values as vectors, which skip the forgotten records.
    for (index_t id = e.record.value(); e.values.remaining() > 0;) {
      index_t end = id;
      while (end < e.record.value() + e.size && !scope.has(e.table, end, e.field)) ++end;
      if (end == id)
        e.values.next();
      else
        journal_.append_vector<T>(e.table, Record_Id(id), e.field, end - id,
                                  [&](index_t) { return copier_.moved(e.values.next()); });
      id = std::max(id + 1, end);
    }
  }
  void operator()(const Blob_Data& e) {
    if (!forgetter_.is_dropped_[number_])
      blobs_.set_to(number_, copy_blob(forgetter_.file_, e.blob, journal_).get_position());
    ++number_;
  }

 private:
  const Forgetter& forgetter_;
  Blob_Map& blobs_;
  Writable_Journal& journal_;
  Entry_Copier copier_;
  std::size_t number_ = 0;  // number of the next blob
};

void Forgetter::write(Writable_Journal& journal, std::string_view author, std::int64_t now) const {
  Readonly_Journal source(file_, Recovery::none, false);
  Blob_Map blobs = blobs_;
  Tag_Positions tags;
  source.replay(tags);
  source.rewind();
  Copier copier(*this, blobs, tags, journal);
  tags.copy(source, source.get_checkpoint(), journal,
            [&](Offset end) { source.replay(copier, end); });
  // If the last transaction has no end, end it, so that it does not include the comment below.
  if (journal.is_unfinished()) journal.append(Timestamp{now});
  struct Store {
    Writable_Journal& journal;
    void write(const Comment& comment) { journal.append(comment); }
  } store{journal};
  write_explanation(store, "forgotten: " + to_text(request_), author);
  journal.append(Timestamp{now});
  journal.flush();
  require_readable_file(journal.get_file(), journal.get_position());
}

// ---- the proof ----------------------------------------------------------------------------------

// A handler that adds forgotten texts and blobs to a search, from number `begin` on, until the
// search is full.
class Forgetter::Collector : public Value_Handler<Collector> {
 public:
  Collector(const Forgetter& forgetter, Byte_Search& search, index_t begin)
      : scope(*forgetter.scope_), forgetter_(forgetter), search_(search), begin_(begin) {}

  template <Field_Value T>
  void take(bool forgets, const T& value) {
    if (!forgets) return;
    if constexpr (std::is_same_v<T, std::string_view>)
      add(value.size(), [&] { return search_.add(value); });
    else if constexpr (!std::is_same_v<T, Blob>)
      ++numbers;
  }
  using Value_Handler::operator();
  void operator()(const Blob_Data& e) {
    if (forgetter_.is_forgotten_[blob_++])
      add(static_cast<std::size_t>(e.blob.get_size()),
          [&] { return search_.add(forgetter_.file_, e.blob.get_position(), e.blob.get_size()); });
  }

  const Scope& scope;
  index_t end() const { return end_; }  // number of the first text or blob that was not added
  bool is_full() const { return is_full_; }
  index_t numbers = 0, too_short = 0;

 private:
  template <class Add>
  void add(std::size_t size, Add collect) {
    if (size < Byte_Search::shortest) ++too_short;
    if (is_full_ || count_++ < begin_) return;
    is_full_ = !collect();
    if (!is_full_) end_ = count_;
  }

  const Forgetter& forgetter_;
  Byte_Search& search_;
  const index_t begin_;
  index_t count_ = 0, end_ = 0;
  bool is_full_ = false;
  std::size_t blob_ = 0;
};

// Describes the content at given positions of a journal. The positions must be in ascending order.
class Forgetter::Finder {
 public:
  Finder(const Abstract_File& file, Offset end, std::vector<Found>& found)
      : input_(file), end_(end), found_(found) {
    for (; next() < journal_start; ++number_) found_[number_].place = "the header";
    input_.start(journal_start, end);
    Context context;
    while (number_ < found_.size() && input_.position() < end_) {
      place_ = "an entry";
      decode_entry(input_, context, *this);
      note([&] { return place_; });
    }
  }

  template <class Entry>
  void operator()(const Entry& e) {
    if constexpr (std::is_same_v<Entry, Comment>)
      place_ = "a comment";
    else if constexpr (std::is_same_v<Entry, Blob_Data>)
      place_ = "a blob";
    else if constexpr (std::is_same_v<Entry, Custom>)
      place_ = "a mark";
    else if constexpr (requires { e.record; })
      place_ = "an entry about " + names_.text(e.table);
    else if constexpr (requires { e.name; })
      place_ = "a name";
    else
      place_ = "an entry";
    names_(e);
  }
  template <Field_Value T>
  void operator()(const Update<T>& e) {
    // Look up names only if a position is in this entry.
    update_ = {e.table, e.record, e.field};
    place_.clear();
  }
  template <Field_Value T>
  void operator()(const Update_Vector<T>& e) {
    update_ = {e.table, e.record, e.field};
    place_.clear();
    while (e.values.remaining() > 0) {
      e.values.next();
      note([&] { return text(); });
      update_.record = update_.record + 1;
    }
    // The rest of the entry belongs to the last record of the vector.
    update_.record = update_.record + -1;
  }

 private:
  Offset next() const {
    return number_ < found_.size() ? found_[number_].position : std::numeric_limits<Offset>::max();
  }
  std::string text() const {
    return names_.text(update_.table) + ' ' + std::to_string(update_.record.value()) + ' ' +
           names_.text(update_.table, update_.field);
  }
  // Describes all positions before the current one as place().
  template <class Place>
  void note(Place place) {
    for (; next() < input_.position(); ++number_) {
      std::string where = place();
      found_[number_].place = where.empty() ? text() : std::move(where);
    }
  }

  File_Decoder_Input input_;
  const Offset end_;
  std::vector<Found>& found_;
  std::size_t number_ = 0;
  Names names_;
  Context update_;
  std::string place_;  // empty: describe the value in update_
};

void Forgetter::search(const Abstract_File& file, std::size_t limit, Proof& proof,
                       const std::function<void(Offset, std::size_t)>& found) const {
  // Each pass searches for the next texts and blobs, as many as fit into memory.
  for (index_t begin = 0;;) {
    Byte_Search search(std::max<std::size_t>(limit, 1));
    Collector collector(*this, search, begin);
    Readonly_Journal(file_, Recovery::none, false).replay(collector);
    proof.searched += static_cast<index_t>(search.size());
    proof.numbers = collector.numbers;
    proof.too_short = collector.too_short;
    search.search(file, [&](Offset position, std::size_t size) {
      ++proof.count;
      found(position, size);
    });
    if (!collector.is_full()) break;
    begin = collector.end();
  }
}

Forgetter::Proof Forgetter::prove(const Abstract_File& file, Offset end, std::size_t limit,
                                  std::size_t max_found) const {
  Proof proof;
  std::map<Offset, std::size_t> found;  // the first matches
  search(file, limit, proof, [&](Offset position, std::size_t size) {
    std::size_t& longest = found[position];
    longest = std::max(longest, size);
    // Keep only the matches with the smallest positions.
    if (found.size() > max_found) found.erase(std::prev(found.end()));
  });
  for (const auto& [position, size] : found) proof.found.push_back({position, size, {}});
  Finder(file, end, proof.found);
  return proof;
}

index_t Forgetter::count_matches(const Abstract_File& file, std::size_t limit) const {
  Proof proof;
  search(file, limit, proof, [](Offset, std::size_t) {});
  return proof.count;
}

}  // namespace joedb::inline v1

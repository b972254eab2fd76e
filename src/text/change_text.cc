#include "text/change_text.h"

#include <algorithm>

#include "kernel/base/counted.h"
#include "kernel/base/json_text.h"
#include "kernel/base/plain_text.h"
#include "kernel/base/utf8.h"
#include "kernel/schema/logical_type.h"
#include "text/display.h"

namespace joedb::inline v1 {

namespace {

// Limits in records: a change of more than `max_change_size` shows only its first `shown_records`.
constexpr index_t shown_records = 3;
constexpr index_t max_change_size = 20;
// Limits in bytes: a text longer than `max_text_size` is truncated to at most `shown_text`.
constexpr std::size_t max_text_size = 120;
constexpr std::size_t shown_text = 100;
// Number of bytes to show before the first difference, if it is far from the beginning.
constexpr std::size_t shown_before = 20;

bool is_inside_character(std::string_view text, std::size_t i) {
  return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0u) == 0x80u;
}

// Returns the start of the character that contains byte `i`. Returns `i` if the bytes before it are
// invalid: at most three bytes of a character follow the first.
std::size_t character_before(std::string_view text, std::size_t i) {
  for (std::size_t steps = 0; steps <= 3 && steps <= i; ++steps)
    if (!is_inside_character(text, i - steps)) return i - steps;
  return i;
}

// The sizes in bytes of the longest common beginning and end of two texts, in whole characters.
struct Common {
  std::size_t prefix = 0;
  std::size_t suffix = 0;
};
Common common_parts(std::string_view a, std::string_view b) {
  const std::size_t most = std::min(a.size(), b.size());
  Common common;
  while (common.prefix < most && a[common.prefix] == b[common.prefix]) ++common.prefix;
  common.prefix = std::min(character_before(a, common.prefix), character_before(b, common.prefix));
  while (common.suffix < most - common.prefix &&
         a[a.size() - 1 - common.suffix] == b[b.size() - 1 - common.suffix])
    ++common.suffix;
  for (int steps = 0; steps < 3 && is_inside_character(a, a.size() - common.suffix); ++steps)
    --common.suffix;
  return common;
}

std::string type_of(const Field_Description& field) {
  return declared_type_text(field.type.code, get(field.logical),
                            field.referenced.empty() ? "?" : field.referenced);
}

class Writer {
 public:
  Writer(std::string& out, const Change_Style& style, const Logical_Type* old_type = nullptr)
      : out_(out), style_(style), old_type_(old_type) {}

  void records(const Change& change) {
    index_t first = 0;
    index_t end = change.size;
    if (style_.record.is_not_null()) {
      first = style_.record.value() - change.record.value();
      end = first + 1;
    } else if (!style_.is_complete && change.size > max_change_size) {
      end = shown_records;
    }
    for (index_t i = first; i < end; ++i) record(change, i);
    if (end < change.size && style_.record.is_null()) {
      begin(change);
      out_ += "… ";
      out_ += std::to_string(change.size - end);
      out_ += " more, to ";
      out_ += std::to_string(change.record.value() + change.size - 1);
      end_line();
    }
  }

  void retyping(const std::string& table, const Schema_Change& added,
                const Schema_Change& dropped) {
    begin_schema();
    words({"retype_field", table, dropped.field.name});
    words({"", type_of(added.field)});
    rows(dropped.rows);
    end_line();
  }

  void schema(const Change& change) {
    using Kind = Change::Kind;
    const Schema_Change& schema = *change.schema;
    begin_schema();
    switch (change.kind) {
      case Kind::table_created:
        words({"create_table", change.table_name()});
        break;
      case Kind::table_renamed:
        words({"rename_table", schema.old_name, change.table_name()});
        break;
      case Kind::table_dropped:
        words({"drop_table", change.table_name()});
        rows(schema.rows);
        break;
      case Kind::field_added:
        words({"add_field", change.table_name(), schema.field.name, type_of(schema.field)});
        break;
      case Kind::field_renamed:
        words({"rename_field", change.table_name(), schema.old_name, schema.field.name});
        break;
      case Kind::field_typed:
        words({"set_type", change.table_name(), schema.field.name, type_of(schema.field)});
        break;
      case Kind::field_dropped:
        words({"drop_field", change.table_name(), schema.field.name});
        rows(schema.rows);
        break;
      default:
        words({"custom", schema.mark});
        break;
    }
    end_line();
  }

 private:
  void begin_schema() {
    out_ += style_.indentation;
    if (style_.has_colours) out_ += colour::heading;
  }
  void begin(const Change& change) {
    using Kind = Change::Kind;
    const Kind kind = change.kind;
    out_ += style_.indentation;
    if (style_.has_colours)
      out_ += kind == Kind::inserted  ? colour::inserted
              : kind == Kind::deleted ? colour::deleted
                                      : colour::updated;
    out_ += kind == Kind::inserted ? "+ " : kind == Kind::deleted ? "- " : "~ ";
    append_plain(out_, change.table_name());
    out_ += ' ';
  }
  void end_line() {
    if (style_.has_colours) out_ += colour::end;
    out_ += '\n';
  }

  void record(const Change& change, index_t i) {
    begin(change);
    out_ += std::to_string(change.record.value() + i);
    const char* separator = " ";
    for (const Field_Change& field : change.fields) {
      out_ += separator;
      separator = ", ";
      append_plain(out_, change.field_name(field));
      out_ += ' ';
      const Logical_Type& logical = get(change.table->find_field(field.field)->logical);
      if (change.kind == Change::Kind::updated && field.old_values.type() == Type_Code::string &&
          field.new_values.type() == Type_Code::string && !field.new_values.is_empty() &&
          logical.has_plain_values() && old_type_ == nullptr) {
        texts(field.old_values.get<std::string_view>(i), field.new_values.get<std::string_view>(i));
        continue;
      }
      if (!field.old_values.is_empty())
        value(old_type_ != nullptr ? *old_type_ : logical, field.old_values[i]);
      if (change.kind == Change::Kind::updated) out_ += " → ";
      if (!field.new_values.is_empty()) value(logical, field.new_values[i]);
    }
    end_line();
  }

  void value(const Logical_Type& logical, const Value& value) {
    const auto* const text = std::get_if<std::string_view>(&value);
    if (style_.is_complete || text == nullptr || text->size() <= max_text_size)
      return append_cut_value(out_, logical, value, std::string_view::npos);
    if (logical.kind == Logical_Type::Kind::bytes)
      return append_cut_value(out_, logical, value, shown_text);
    append_shown(out_, text->substr(0, cut(*text, 0)));
    size(*text);
  }
  // Returns where to truncate a text that is shown from `first` on.
  std::size_t cut(std::string_view text, std::size_t first) const {
    const std::size_t end = first + shown_text;
    if (style_.is_complete || end >= text.size()) return text.size();
    return character_before(text, end);
  }
  void size(std::string_view text) {
    out_ += "… (";
    out_ += std::to_string(text.size());
    out_ += " bytes)";
  }

  // Prints an old and a new text. If they are long, prints only the part around the difference.
  void texts(std::string_view old_text, std::string_view new_text) {
    const Common common = common_parts(old_text, new_text);
    std::size_t first = 0;
    if (!style_.is_complete && std::max(old_text.size(), new_text.size()) > max_text_size &&
        common.prefix > 2 * shown_before)
      first = character_before(old_text, common.prefix - shown_before);
    text(old_text, first, common, colour::deleted);
    out_ += " → ";
    text(new_text, first, common, colour::inserted);
  }
  void text(std::string_view text, std::size_t first, const Common& common,
            std::string_view side_colour) {
    const bool is_short = first == 0 && text.size() <= max_text_size;
    const std::size_t end = is_short ? text.size() : cut(text, first);
    if (first > 0) out_ += "…";
    const std::size_t middle_end = std::min(text.size() - common.suffix, end);
    const bool has_common = common.prefix + common.suffix > 0 && common.prefix < middle_end;
    if (!style_.has_colours || !has_common) {
      append_shown(out_, text.substr(first, end - first));
    } else {
      // Put the parts into one pair of quotes.
      const auto add = [&](std::size_t from, std::size_t to) {
        std::string part;
        append_shown(part, text.substr(from, to - from));
        out_.append(part, 1, part.size() - 2);
      };
      out_ += '"';
      add(first, common.prefix);
      out_ += side_colour;
      add(common.prefix, middle_end);
      out_ += colour::end;
      out_ += colour::updated;
      add(middle_end, end);
      out_ += '"';
    }
    if (end < text.size()) size(text);
  }

  void words(std::initializer_list<std::string_view> words) {
    for (const std::string_view& word : words) {
      if (&word != words.begin()) out_ += ' ';
      append_plain(out_, word);
    }
  }
  void rows(index_t rows) { out_.append(" (").append(counted(rows, "record")).append(")"); }

  std::string& out_;
  const Change_Style& style_;
  const Logical_Type* const old_type_;
};

}  // namespace

void append_change(std::string& out, const Change& change, const Change_Style& style) {
  Writer writer(out, style);
  if (change.is_of_records())
    writer.records(change);
  else
    writer.schema(change);
}

void append_change(std::string& out, const Change& change, const Change_Style& style,
                   const Logical_Type& old_type) {
  Writer(out, style, &old_type).records(change);
}

void append_retyping(std::string& out, const std::string& table, const Schema_Change& added,
                     const Schema_Change& dropped, const Change_Style& style) {
  Writer(out, style).retyping(table, added, dropped);
}

const char* name_of(Change::Kind kind) {
  static constexpr const char* names[] = {"inserted",      "updated",       "deleted",
                                          "table_created", "table_renamed", "table_dropped",
                                          "field_added",   "field_renamed", "field_dropped",
                                          "field_typed",   "custom"};
  return names[static_cast<std::size_t>(kind)];
}

std::string summary_text(const Transaction_Summary& summary, bool has_colours) {
  std::string text;
  const auto begin = [&](std::string_view side_colour) {
    if (!text.empty()) text += ", ";
    if (has_colours) text += side_colour;
  };
  const auto end = [&] {
    if (has_colours) text += colour::end;
  };
  const auto add = [&](std::uint64_t count, char sign, const Table_Summary& table,
                       std::string_view side_colour) {
    if (count == 0) return;
    begin(side_colour);
    text += sign;
    text += std::to_string(count);
    text += ' ';
    append_plain(text, table.name);
    end();
  };
  for (const Table_Summary& table : summary.tables) {
    if (table.schema_changes > 0) {
      begin(colour::heading);
      text += "schema of ";
      append_plain(text, table.name);
      end();
    }
    add(table.inserted, '+', table, colour::inserted);
    add(table.updated, '~', table, colour::updated);
    add(table.deleted, '-', table, colour::deleted);
  }
  if (summary.marks > 0) {
    begin(colour::heading);
    text += summary.marks == 1 ? "a mark" : counted(summary.marks, "mark");
    end();
  }
  if (summary.blobs > 0) {
    begin(colour::heading);
    text.append(counted(summary.blobs, "blob")).append(" (");
    text += std::to_string(summary.blob_bytes);
    text += " bytes)";
    end();
  }
  return text;
}

void append_shown(std::string& out, std::string_view text) {
  constexpr std::string_view first_bytes = "\xc2\xe2";  // of control characters
  if (text.find_first_of(first_bytes) == text.npos) return append_quoted(out, text);
  std::string quoted;
  append_quoted(quoted, text);
  std::string_view rest = quoted;
  for (;;) {
    const std::size_t plain = std::min(rest.find_first_of(first_bytes), rest.size());
    out += rest.substr(0, plain);
    rest.remove_prefix(plain);
    if (rest.empty()) return;
    const std::size_t size = control_size(rest);
    for (const char c : rest.substr(0, size)) append_octal(out, c);
    if (size == 0) out += rest.front();
    rest.remove_prefix(std::max<std::size_t>(size, 1));
  }
}

void append_cut_value(std::string& out, const Logical_Type& logical, const Value& value,
                      std::size_t max_size) {
  std::visit(
      [&]<class T>(const T& typed) {
        if constexpr (std::is_same_v<T, std::string_view>) {
          using Kind = Logical_Type::Kind;
          if (logical.kind == Kind::uuid || is_missing(logical, typed))
            return append_value(out, logical, typed);
          if (logical.kind == Kind::bytes) {
            append_value(out, logical, typed.substr(0, max_size));
            if (typed.size() > max_size) out += "…";
            return;
          }
          const std::size_t size =
              typed.size() > max_size ? character_before(typed, max_size) : typed.size();
          append_shown(out, typed.substr(0, size));
          if (size < typed.size()) out += "…";
        } else {
          append_value(out, logical, typed);
        }
      },
      value);
}

}  // namespace joedb::inline v1

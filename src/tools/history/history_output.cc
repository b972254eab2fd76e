#include "tools/history/history_output.h"

#include "kernel/schema/logical_type.h"
#include "tools/frame/pager.h"
#include "tools/frame/standard_input.h"

namespace joedb {

// ---- JSON ---------------------------------------------------------------------------------------

Json json_of(const Logical_Type& logical, const Value& value) {
  return std::visit(
      [&]<class T>(const T& typed) -> Json {
        std::string text;
        if (is_missing(logical, typed)) return nullptr;
        if (append_logical(text, logical, typed)) return text;
        if constexpr (std::is_same_v<T, Record_Id>)
          return typed.is_null() ? Json(nullptr) : Json(typed.value());
        else if constexpr (std::is_same_v<T, Blob>)
          return Json::array({typed.get_position(), typed.get_size()});
        else
          return typed;
      },
      value);
}

static Json json_of(const Logical_Type& logical, const Values& values, index_t first, index_t end) {
  Json json = Json::array();
  for (index_t i = first; i < end; ++i) json.push_back(json_of(logical, values[i]));
  return json;
}

// The rule of a reference is not a part of this.
static std::string type_of(const Field_Description& field) {
  return field.type.code == Type_Code::reference
             ? std::string(type_name(field.type.code))
             : declared_type_text(field.type.code, get(field.logical));
}

static Json json_of(const Field_Description& field) {
  Json json{{"name", field.name}, {"type", type_of(field)}};
  if (field.type.code == Type_Code::reference)
    json["references"] = field.referenced.empty() ? Json(nullptr) : Json(field.referenced);
  for (const auto& [rule, name] : on_delete_rules)
    if (get(field.logical).on_delete == rule) json["on_delete"] = name;
  return json;
}

Json json_of(const Change& change, Record_Id record) {
  Json json{{"change", name_of(change.kind)}};
  if (change.table) json["table"] = change.table_name();
  if (change.is_of_records()) {
    const index_t first = record.is_null() ? 0 : record.value() - change.record.value();
    const index_t end = record.is_null() ? change.size : first + 1;
    json["record"] = change.record.value() + first;
    json["size"] = end - first;
    json["fields"] = Json::array();
    for (const Field_Change& field : change.fields) {
      const Field_Description& described = *change.table->find_field(field.field);
      const Logical_Type& logical = get(described.logical);
      Json values{{"name", change.field_name(field)}, {"type", type_of(described)}};
      if (!field.old_values.is_empty())
        values["old"] = json_of(logical, field.old_values, first, end);
      if (!field.new_values.is_empty())
        values["new"] = json_of(logical, field.new_values, first, end);
      json["fields"].push_back(std::move(values));
    }
    return json;
  }
  using Kind = Change::Kind;
  const Schema_Change& schema = *change.schema;
  const bool is_of_field = !schema.field.name.empty();
  if (is_of_field) json["field"] = json_of(schema.field);
  if (!schema.old_name.empty()) json["old_name"] = schema.old_name;
  if (change.kind == Kind::custom) json["name"] = schema.mark;
  if (change.kind != Kind::table_dropped && change.kind != Kind::field_dropped) return json;
  json["records"] = schema.rows;
  json["lost"] = schema.has_lost ? Json::array() : Json(nullptr);
  for (const Change& lost : schema.lost) json["lost"].push_back(json_of(lost, Record_Id()));
  return json;
}

Json json_of(const Transaction_Info& info) {
  Json json{{"position", info.end}, {"begin", info.begin}};
  json["time"] = info.time ? Json(*info.time) : Json(nullptr);
  json["has_own_time"] = info.has_own_time;
  json["complete"] = info.is_complete;
  json["author"] = info.author.empty() ? Json(nullptr) : Json(info.author);
  json["comments"] = info.comments;
  json["blobs"] = info.blobs;
  json["blob_bytes"] = info.blob_bytes;
  return json;
}

static Json json_of(const std::vector<Table_Summary>& tables) {
  Json json = Json::array();
  for (const Table_Summary& table : tables)
    json.push_back({{"name", table.name},
                    {"inserted", table.inserted},
                    {"updated", table.updated},
                    {"deleted", table.deleted},
                    {"schema_changes", table.schema_changes}});
  return json;
}

void History_Output::print_json(const Transaction& transaction) {
  Json json = json_of(static_cast<const Transaction_Info&>(transaction));
  if (style_.tags != nullptr) json["tags"] = text_.tags_of(transaction);
  json["changes"] = Json::array();
  for (const Change& change : transaction.changes)
    json["changes"].push_back(json_of(change, style_.record));
  joedb::print_json(json, out_);
}

// ---- JSON or text -------------------------------------------------------------------------------

static History_Text::Style with_options(History_Text::Style style, const History_Options& options) {
  style.has_colours = has_colours(options.colour);
  style.is_complete = options.is_complete;
  return style;
}

History_Output::History_Output(std::ostream& out, const History_Options& options,
                               History_Text::Style style)
    : out_(out),
      is_json_(options.is_json),
      style_(with_options(style, options)),
      text_(out, style_) {}

void History_Output::print(const Transaction_Summary& summary) {
  if (!is_json_) return text_.print(summary);
  Json json = json_of(static_cast<const Transaction_Info&>(summary));
  json["tables"] = json_of(summary.tables);
  json["marks"] = summary.marks;
  if (style_.tags != nullptr) json["tags"] = text_.tags_of(summary);
  joedb::print_json(json, out_);
}

void History_Output::print(const Transaction& transaction) {
  is_json_ ? print_json(transaction) : text_.print(transaction);
}

void History_Output::print_all(const Transaction& transaction) {
  is_json_ ? print_json(transaction) : text_.print_all(transaction);
}

void History_Output::print_difference(const State& from, const State& to,
                                      const std::vector<Change>& changes, bool has_changes) {
  if (!is_json_) return text_.print_difference(changes, has_changes);
  const auto json_of_state = [](const State& state) {
    return Json{{"file", state.file}, {"position", state.position}};
  };
  Json json{{"from", json_of_state(from)}, {"to", json_of_state(to)}};
  json["tables"] = json_of(summaries_of(changes));
  if (has_changes) {
    json["changes"] = Json::array();
    for (const Change& change : changes) json["changes"].push_back(json_of(change, style_.record));
  }
  joedb::print_json(json, out_);
}

void print_paged(bool may_page, const std::function<void(std::ostream&)>& print) {
  Paged_Output out(may_page && is_interactive() && has_pager_program());
  try {
    print(out.stream());
  } catch (const Display_Stopped&) {
  }
  out.finish();
}

}  // namespace joedb

#include "cli/history_output.h"

#include <algorithm>
#include <map>

#include "cli/history_json.h"
#include "interpreter/display.h"
#include "joedb/base/time.h"

namespace joedb {

// ---- JSON ---------------------------------------------------------------------------------------

Json json_of(const Value& value) {
  return std::visit(
      []<class T>(const T& typed) -> Json {
        if constexpr (std::is_same_v<T, Record_Id>)
          return typed.is_null() ? Json(nullptr) : Json(typed.value());
        else if constexpr (std::is_same_v<T, Blob>)
          return Json::array({typed.get_position(), typed.get_size()});
        else
          return typed;
      },
      value);
}

static Json json_of(const Values& values, index_t first, index_t end) {
  Json json = Json::array();
  for (index_t i = first; i < end; ++i) json.push_back(json_of(values[i]));
  return json;
}

static Json json_of(const Field_Description& field) {
  Json json{{"name", field.name}, {"type", type_name(field.type.code)}};
  if (field.type.code == Type_Code::reference)
    json["references"] = field.referenced.empty() ? Json(nullptr) : Json(field.referenced);
  return json;
}

static const char* name_of(Change::Kind kind) {
  static constexpr const char* names[] = {
      "inserted",      "updated",     "deleted",       "table_created", "table_renamed",
      "table_dropped", "field_added", "field_renamed", "field_dropped", "custom"};
  return names[static_cast<std::size_t>(kind)];
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
      Json values{{"name", change.field_name(field)},
                  {"type", type_name(change.table->find_field(field.field)->type.code)}};
      if (!field.old_values.is_empty()) values["old"] = json_of(field.old_values, first, end);
      if (!field.new_values.is_empty()) values["new"] = json_of(field.new_values, first, end);
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

static Json json_of(const Transaction_Summary& summary) {
  Json json = json_of(static_cast<const Transaction_Info&>(summary));
  json["tables"] = json_of(summary.tables);
  json["marks"] = summary.marks;
  return json;
}

static void write(std::ostream& out, const Json& json) {
  out << json.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

void History_Output::print_json(const Transaction& transaction) {
  Json json = json_of(static_cast<const Transaction_Info&>(transaction));
  if (settings_.tags != nullptr) json["tags"] = tags_of(transaction);
  json["changes"] = Json::array();
  for (const Change& change : transaction.changes)
    json["changes"].push_back(json_of(change, settings_.record));
  write(out_, json);
}

// ---- text ---------------------------------------------------------------------------------------

static std::string time_of(const Transaction_Info& info) {
  if (!info.time) return "";
  return (info.has_own_time ? "" : "after ") + time_text(*info.time);
}

std::vector<std::string> History_Output::tags_of(const Transaction_Info& info) const {
  return settings_.tags == nullptr ? std::vector<std::string>() : settings_.tags->names_of(info);
}

// Tags as one text.
static std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

std::string History_Output::line(const Transaction_Info& info) const {
  const bool has_colours = settings_.has_colours;
  const std::string position = std::to_string(info.end);
  std::string text(settings_.position_width - std::min(settings_.position_width, position.size()),
                   ' ');
  if (has_colours) text += colour::position;
  text += position;
  if (has_colours) text += colour::end;
  if (const std::string time = time_of(info); !time.empty()) {
    text += "  ";
    if (has_colours) text += colour::dim;
    text += time;
    if (has_colours) text += colour::end;
  }
  if (const std::string tags = joined(tags_of(info)); !tags.empty()) {
    text += "  (";
    if (has_colours) text += colour::heading;
    append_plain(text, tags);
    if (has_colours) text += colour::end;
    text += ')';
  }
  if (!info.author.empty()) {
    text += "  ";
    append_plain(text, info.author);
  }
  if (!info.comments.empty()) {
    const std::string& comment = info.comments.front();
    const std::size_t line_end = std::min(comment.find('\n'), comment.size());
    text += "  ";
    if (has_colours) text += colour::heading;
    append_plain(text, std::string_view(comment).substr(0, line_end));
    if (has_colours) text += colour::end;
    if (line_end < comment.size() || info.comments.size() > 1) text += " …";
  }
  return text;
}

void History_Output::print(const Transaction_Summary& summary) {
  if (settings_.is_json) {
    Json json = json_of(summary);
    if (settings_.tags != nullptr) json["tags"] = tags_of(summary);
    return write(out_, json);
  }
  std::string text = line(summary);
  if (const std::string changes = summary_text(summary, settings_.has_colours); !changes.empty())
    text += "  " + changes;
  out_ << text << '\n';
}

void History_Output::print_changes(const std::vector<Change>& changes,
                                   std::string_view indentation) {
  constexpr std::size_t block = std::size_t{1} << 16;
  std::string text;
  const Change_Style style{settings_.has_colours, settings_.is_complete, indentation,
                           settings_.record};
  for (const Change& change : changes) {
    append_change(text, change, style);
    if (text.size() < block) continue;
    out_ << text;
    text.clear();
  }
  out_ << text;
}

void History_Output::print(const Transaction& transaction) {
  if (settings_.is_json) return print_json(transaction);
  if (!is_first_) out_ << '\n';
  is_first_ = false;
  out_ << line(transaction) << '\n';
  print_changes(transaction.changes, "  ");
}

std::string History_Output::headings(const Transaction_Info& info) const {
  std::string text;
  const auto add = [&](std::string_view heading, std::string_view value) {
    constexpr std::size_t width = 10;
    std::string padded(heading);
    padded.resize(width, ' ');
    if (settings_.has_colours) text += colour::dim;
    text += padded;
    if (settings_.has_colours) text += colour::end;
    append_plain(text, value);
    text += '\n';
  };
  add("position", std::to_string(info.end) + ", begins at " + std::to_string(info.begin));
  if (const std::string time = time_of(info); !time.empty()) add("time", time);
  if (const std::string tags = joined(tags_of(info)); !tags.empty()) add("tags", tags);
  if (!info.author.empty()) add("author", info.author);
  std::string_view heading = "comment";
  for (const std::string& comment : info.comments) {
    std::string_view rest = comment;
    while (true) {
      const std::size_t line_end = std::min(rest.find('\n'), rest.size());
      add(heading, rest.substr(0, line_end));
      heading = "";
      if (line_end == rest.size()) break;
      rest.remove_prefix(line_end + 1);
    }
  }
  if (info.blobs > 0)
    add("blobs", std::to_string(info.blobs) + " (" + std::to_string(info.blob_bytes) + " bytes)");
  return text;
}

static std::vector<Table_Summary> summaries_of(const std::vector<Change>& changes) {
  std::map<Table_Id, Table_Summary> tables;
  for (const Change& change : changes) {
    if (!change.table) continue;
    Table_Summary& table = tables[change.table->id];
    table.table = change.table->id;
    table.name = change.table_name();
    const auto size = static_cast<std::uint64_t>(change.size);
    switch (change.kind) {
      case Change::Kind::inserted:
        table.inserted += size;
        break;
      case Change::Kind::updated:
        table.updated += size;
        break;
      case Change::Kind::deleted:
        table.deleted += size;
        break;
      default:
        ++table.schema_changes;
        break;
    }
  }
  std::vector<Table_Summary> result;
  for (auto& [id, table] : tables) result.push_back(std::move(table));
  return result;
}

void History_Output::print_difference(const State& from, const State& to,
                                      const std::vector<Change>& changes, bool has_changes) {
  const std::vector<Table_Summary> tables = summaries_of(changes);
  if (settings_.is_json) {
    const auto json_of_state = [](const State& state) {
      return Json{{"file", state.file}, {"position", state.position}};
    };
    Json json{{"from", json_of_state(from)}, {"to", json_of_state(to)}};
    json["tables"] = json_of(tables);
    if (has_changes) {
      json["changes"] = Json::array();
      for (const Change& change : changes)
        json["changes"].push_back(json_of(change, settings_.record));
    }
    return write(out_, json);
  }
  if (has_changes && !changes.empty()) {
    print_changes(changes, "");
    out_ << '\n';
  }
  for (const Table_Summary& table : tables) {
    Transaction_Summary summary;
    summary.tables.push_back(table);
    out_ << summary_text(summary, settings_.has_colours) << '\n';
  }
}

void History_Output::print_all(const Transaction& transaction) {
  if (settings_.is_json) return print_json(transaction);
  out_ << headings(transaction);
  if (transaction.changes.empty()) return;
  out_ << '\n';
  print_changes(transaction.changes, "");
}

}  // namespace joedb

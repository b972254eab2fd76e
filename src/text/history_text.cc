#include "text/history_text.h"

#include <algorithm>
#include <map>

#include "kernel/base/plain_text.h"
#include "kernel/base/time.h"
#include "text/display.h"
#include "text/display_width.h"

namespace joedb::inline v1 {

static std::string time_of(const Transaction_Info& info) {
  if (!info.time) return "";
  return (info.has_own_time ? "" : "after ") + time_text(*info.time);
}

std::vector<std::string> History_Text::tags_of(const Transaction_Info& info) const {
  return style_.tags == nullptr ? std::vector<std::string>() : style_.tags->names_of(info);
}

// Returns the tags separated by commas.
static std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

std::string History_Text::line(const Transaction_Info& info) const {
  const bool has_colours = style_.has_colours;
  const std::string position = std::to_string(info.end);
  std::string text(style_.position_width - std::min(style_.position_width, position.size()), ' ');
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

void History_Text::print(const Transaction_Summary& summary) {
  std::string text = line(summary);
  if (const std::string changes = summary_text(summary, style_.has_colours); !changes.empty())
    text += "  " + changes;
  out_ << text << '\n';
}

void History_Text::print_changes(const std::vector<Change>& changes, std::string_view indentation,
                                 Change_List list) {
  constexpr std::size_t block = std::size_t{1} << 16;
  std::string text;
  const Change_Style style{style_.has_colours, style_.is_complete, indentation, style_.record};
  const Shown_Changes shown(changes, list);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    shown.append(text, i, style);
    if (text.size() < block) continue;
    out_ << text;
    text.clear();
  }
  out_ << text;
}

void History_Text::print(const Transaction_Info& info, const std::vector<Change>& changes) {
  out_ << line(info) << '\n';
  print_changes(changes, "  ");
}

void History_Text::print(const Transaction& transaction) {
  if (!is_first_) out_ << '\n';
  is_first_ = false;
  print(transaction, transaction.changes);
}

void History_Text::print_plan(const Plan& plan, const Transaction_Info* written) {
  if (plan.changes.empty()) {
    out_ << "nothing to change\n";
    return;
  }
  if (written == nullptr) return print_changes(plan.changes, "");
  print(*written, plan.changes);
}

void History_Text::print(const Blame_Line& blame_line, bool has_record) {
  constexpr std::size_t max_text_size = 40;
  std::string text = has_record ? std::to_string(blame_line.record.value()) : "";
  if (blame_line.field != nullptr) {
    text.append(has_record ? " " : "").append(blame_line.field->name) += ' ';
    append_cut_value(text, blame_line.field->column->logical(), blame_line.value[0],
                     style_.is_complete ? std::string::npos : max_text_size);
  }
  out_ << text << "  " << (blame_line.writer == nullptr ? "" : line(*blame_line.writer)) << '\n';
}

std::string History_Text::headings(const Transaction_Info& info) const {
  std::string text;
  const auto add = [&](std::string_view heading, std::string_view value) {
    constexpr std::size_t width = 10;
    std::string padded(heading);
    padded.resize(width, ' ');
    if (style_.has_colours) text += colour::dim;
    text += padded;
    if (style_.has_colours) text += colour::end;
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

void History_Text::print_all(const Transaction& transaction) {
  out_ << headings(transaction);
  if (transaction.changes.empty()) return;
  out_ << '\n';
  print_changes(transaction.changes, "");
}

std::vector<Table_Summary> summaries_of(const std::vector<Change>& changes) {
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

void History_Text::print_difference(const std::vector<Change>& changes, bool has_changes) {
  if (has_changes && !changes.empty()) {
    print_changes(changes, "", Change_List::net);
    out_ << '\n';
  }
  for (const Table_Summary& table : summaries_of(changes)) {
    Transaction_Summary summary;
    summary.tables.push_back(table);
    out_ << summary_text(summary, style_.has_colours) << '\n';
  }
}

std::string tag_list_text(const Tags& tags) {
  std::size_t name_width = 0, position_width = 0;
  for (const auto& [name, tag] : tags.by_name()) {
    name_width = std::max(name_width, display_width(name));
    position_width = std::max(position_width, std::to_string(tag.position).size());
  }
  std::string text;
  for (const auto& [name, tag] : tags.by_name()) {
    append_plain(text, name);
    const std::string position = std::to_string(tag.position);
    text.append(name_width - display_width(name) + 2 + position_width - position.size(), ' ');
    text += position;
    if (tag.time) text.append("  ").append(time_text(*tag.time));
    if (!tag.author.empty()) {
      text += "  ";
      append_plain(text, tag.author);
    }
    text += '\n';
  }
  return text;
}

}  // namespace joedb::inline v1

#include "exchange/text_check.h"

#include <algorithm>

#include "joedb/format/header.h"
#include "kernel/base/shell_word.h"

namespace joedb {

namespace {

// The first bytes of a format that is not text.
struct Signature {
  std::string_view bytes;
  const char* what;
  const char* command = "";  // prints the content as text; the file name is appended
  const char* way = "";      // further advice
};

constexpr std::string_view operator""_bytes(const char* text, std::size_t size) {
  return {text, size};
}

constexpr Signature signatures[] = {
    {"\x1f\x8b"_bytes, "is compressed by gzip", "gunzip -c"},
    {"BZh91AY&SY"_bytes, "is compressed by bzip2", "bunzip2 -c"},
    {"\xfd"
     "7zXZ\0"_bytes,
     "is compressed by xz", "xz -dc"},
    {"\x28\xb5\x2f\xfd"_bytes, "is compressed by zstd", "zstd -dc"},
    {"\x04\x22\x4d\x18"_bytes, "is compressed by lz4", "lz4 -dc"},
    {"\x1f\x9d"_bytes, "is compressed by compress", "uncompress -c"},
    {"\x37\x7a\xbc\xaf\x27\x1c"_bytes, "is an archive of 7-Zip", "7z e -so"},
    {"PK\x03\x04"_bytes, "is a zip archive, as spreadsheets (.xlsx, .ods) are", "unzip -p",
     "a spreadsheet must be saved as CSV"},
    {"PK\x05\x06"_bytes, "is an empty zip archive"},
    {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"_bytes, "is a document of Microsoft Office (.xls)", "",
     "save it as CSV"},
    {"SQLite format 3\0"_bytes, "is a database of SQLite", "", "joedb import sqlite reads it"},
    {"PAR1\x15"_bytes, "is a file of Apache Parquet", "",
     "insert_many() of the Python module takes it from pyarrow"},
    {"ARROW1\0\0"_bytes, "is a file of Apache Arrow", "",
     "insert_many() of the Python module takes it from pyarrow"},
    {"%PDF-1."_bytes, "is a PDF document"},
    {"\x89PNG\r\n\x1a\n"_bytes, "is an image"},
    {"\xff\xd8\xff"_bytes, "is an image"},
    {"GIF89a"_bytes, "is an image"},
    {"\x7f"
     "ELF"_bytes,
     "is a program"},
};

// Returns iconv's name for the encoding of a text whose characters have 2 bytes, and which has no
// byte order mark; null for other texts.
const char* wide_encoding(std::string_view begin) {
  // Count the ASCII characters, whose other byte is zero.
  constexpr std::size_t pairs_needed = 2;
  constexpr std::size_t max_pairs = 16;
  const std::size_t pairs = std::min(begin.size() / 2, max_pairs);
  std::size_t zeros[2] = {};
  for (std::size_t i = 0; i < 2 * pairs; ++i) zeros[i % 2] += begin[i] == 0 ? 1u : 0u;
  if (pairs < pairs_needed) return nullptr;
  if (zeros[0] == pairs && zeros[1] == 0) return "UTF-16BE";
  if (zeros[1] == pairs && zeros[0] == 0) return "UTF-16LE";
  return nullptr;
}

std::string advice(const char* command, const std::string& file) {
  const std::string in = file == "-" ? "" : ' ' + shell_word(file);
  return std::string(": import what `") + command + in + "` prints, with - as IN";
}

}  // namespace

bool is_joedb_file(std::string_view begin) {
  return begin.size() >= header_size && begin.substr(signature_offset).starts_with(signature);
}

std::string non_text_reason(std::string_view begin, const std::string& name) {
  if (const char* const encoding = wide_encoding(begin))
    return std::string("is a text in ") + encoding +
           advice((std::string("iconv -f ") + encoding + " -t UTF-8").c_str(), name);
  for (const Signature& signature : signatures) {
    if (!begin.starts_with(signature.bytes)) continue;
    std::string text = signature.what;
    if (*signature.way != 0) text += std::string("; ") + signature.way;
    return *signature.command == 0 ? text : text + advice(signature.command, name);
  }
  return is_joedb_file(begin) && has_control_characters(begin) ? "is a database of joedb" : "";
}

bool has_control_characters(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f;
  });
}

}  // namespace joedb

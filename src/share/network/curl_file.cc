#include "share/network/curl_file.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string_view>

#include "joedb/base/version.h"
#include "kernel/base/lower_case.h"
#include "kernel/base/plain_text.h"
#include "kernel/base/standard_descriptors.h"
#include "kernel/io/unnamed_file.h"

namespace joedb::inline v1 {

// ---- answers ------------------------------------------------------------------------------------

namespace {

// The value of the header Content-Range: "bytes FIRST-LAST/SIZE".
struct Content_Range {
  Offset first = 0;
  Offset last = -1;
  Offset size = -1;
};

std::optional<Offset> take_number(std::string_view& text) {
  Offset value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

std::optional<Content_Range> parse_range(std::string_view text) {
  if (!take(text, "bytes ")) return std::nullopt;
  Content_Range range;
  if (!take(text, "*/")) {
    const auto first = take_number(text);
    if (!first || !take(text, "-")) return std::nullopt;
    const auto last = take_number(text);
    if (!last || *last < *first || !take(text, "/")) return std::nullopt;
    range.first = *first;
    range.last = *last;
  }
  const auto size = take_number(text);
  if (!size || !text.empty() || range.last >= *size) return std::nullopt;
  range.size = *size;
  return range;
}

// The header of a reply.
struct Answer {
  long status = 0;
  std::optional<Content_Range> range;
  std::optional<Offset> length;
  bool has_end = false;  // the body has a marked end, which a cut connection cannot imitate
  std::string etag;
  std::string last_modified;
  std::string encoding;
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t start = text.find_first_not_of(blanks);
  if (start == text.npos) return {};
  return text.substr(start, text.find_last_not_of(blanks) - start + 1);
}

void read_header(Answer& answer, std::string_view line) {
  if (line.starts_with("HTTP/")) {  // after a redirection, another reply follows
    answer = {};
    const std::size_t space = line.find(' ');
    if (space == line.npos) return;
    std::string_view rest = line.substr(space + 1);
    answer.status = static_cast<long>(take_number(rest).value_or(0));
    answer.has_end = !line.starts_with("HTTP/1") && !line.starts_with("HTTP/0");
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == line.npos) return;
  const std::string name = lower_case(line.substr(0, colon));
  std::string_view value = trimmed(line.substr(colon + 1));
  if (name == "content-range")
    answer.range = parse_range(value);
  else if (name == "content-length")
    answer.length = take_number(value);
  else if (name == "transfer-encoding")
    answer.has_end = true;
  else if (name == "etag")
    answer.etag = value;
  else if (name == "last-modified")
    answer.last_modified = value;
  else if (name == "content-encoding")
    answer.encoding = lower_case(value);
}

// Returns the part of a URL between :// and the path.
std::string_view authority_of(std::string_view url) {
  const std::size_t start = url.find("://");
  if (start == url.npos) return {};
  url.remove_prefix(start + 3);
  return url.substr(0, url.find_first_of("/?#"));
}

const std::string& without_password(const std::string& url) {
  if (authority_of(url).find('@') != std::string_view::npos)
    throw Exception(
        "a URL with a user or a password in it is not taken: everybody on this machine could read "
        "it. Put them in ~/.netrc");
  return url;
}

}  // namespace

// ---- transfers ----------------------------------------------------------------------------------

namespace {

struct Free_Handle {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct Free_List {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

CURL* new_handle() {
  reserve_standard_descriptors();
  static const CURLcode global = curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL* const handle = global == CURLE_OK ? curl_easy_init() : nullptr;
  if (handle == nullptr) throw Exception("curl: libcurl cannot be used");
  return handle;
}

}  // namespace

// Sends the requests for a file, one at a time.
class Curl_File::Transfer {
 public:
  Transfer(const std::string& url, std::string name, Settings settings)
      : name_(std::move(name)), settings_(std::move(settings)), handle_(new_handle()) {
    set(CURLOPT_URL, url.c_str());
    set(CURLOPT_ERRORBUFFER, error_);
    set(CURLOPT_USERAGENT, (std::string("joedb/") + version).c_str());
    set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_OPTIONAL));
    set_limits(url);
    set(CURLOPT_HEADERFUNCTION, &Transfer::take_header);
    set(CURLOPT_HEADERDATA, this);
    set(CURLOPT_WRITEFUNCTION, &Transfer::take_body);
    set(CURLOPT_WRITEDATA, this);
    // Use the user's certificate authorities, from the environment variables that the program curl
    // reads.
    for (const char* const variable : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"})
      if (const char* const file = std::getenv(variable); file != nullptr && *file != '\0')
        set(CURLOPT_CAINFO, file);
  }

  // Returns the first `size` bytes at most; empty if the server does not support ranges.
  std::vector<char> open(std::size_t size) {
    std::vector<char> bytes(size);
    bytes.resize(request(bytes.data(), size, 0));
    return bytes;
  }

  std::size_t read(char* data, std::size_t size, Offset offset) {
    if (offset >= *size_) return 0;
    if (whole_) return whole_->pread(data, size, offset);
    return request(data, std::min(size, static_cast<std::size_t>(*size_ - offset)), offset);
  }

  Offset size() const { return *size_; }
  bool has_ranges() const { return !whole_; }

 private:
  template <class Value>
  void set(CURLoption option, Value value) {
    const CURLcode code = curl_easy_setopt(handle_.get(), option, value);
    if (code != CURLE_OK) throw Exception(name_ + ": " + curl_easy_strerror(code));
  }

  void set_limits(const std::string& url) {
    const bool is_safe = lower_case(url.substr(0, 8)) == "https://";
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    // Never redirect from https to http.
    set(CURLOPT_REDIR_PROTOCOLS_STR, is_safe ? "https" : "http,https");
    set(CURLOPT_FOLLOWLOCATION, 1L);
    set(CURLOPT_MAXREDIRS, 5L);
    const auto milliseconds = static_cast<long>(settings_.timeout.count());
    set(CURLOPT_CONNECTTIMEOUT_MS, std::max(milliseconds, 1L));
    set(CURLOPT_LOW_SPEED_LIMIT, 1000L);
    set(CURLOPT_LOW_SPEED_TIME, std::max((milliseconds + 999) / 1000, 1L));
  }

  // Sends a request. If the connection is cut, sends it once more. Returns the number of bytes
  // received.
  std::size_t request(char* data, std::size_t size, Offset offset) {
    constexpr int max_tries = 2;
    const std::string range =
        std::to_string(offset) + '-' + std::to_string(offset + static_cast<Offset>(size) - 1);
    set(CURLOPT_RANGE, range.c_str());
    set(CURLOPT_HTTPHEADER, headers_.get());
    for (int i = 1;; ++i) {
      data_ = data;
      wanted_ = size;
      offset_ = offset;
      done_ = 0;
      header_bytes_ = 0;
      answer_ = {};
      failure_ = nullptr;
      is_accepted_ = false;
      error_[0] = '\0';
      const CURLcode code = curl_easy_perform(handle_.get());
      if (failure_) std::rethrow_exception(failure_);
      if (code == CURLE_OK) break;
      const bool was_cut = code == CURLE_PARTIAL_FILE || code == CURLE_RECV_ERROR ||
                           code == CURLE_SEND_ERROR || code == CURLE_GOT_NOTHING;
      if (!was_cut || i == max_tries) fail(code);
    }
    accept();
    finish();
    return whole_ ? 0 : done_;
  }

  [[noreturn]] void fail(CURLcode code) const {
    if (code == CURLE_UNSUPPORTED_PROTOCOL)
      throw Disconnection(name_ + ": leads to something that is not http or https");
    if (code == CURLE_OPERATION_TIMEDOUT)
      throw Connection_Lost(name_ +
                            ": the server does not answer, or too slowly: nothing, or less "
                            "than 1 kB/s, for " +
                            std::to_string(settings_.timeout.count()) + " ms (--timeout)");
    throw Connection_Lost(name_ + ": " + curl_easy_strerror(code) + detail());
  }

  // Returns libcurl's text for the error; empty if it contains a URL, whose query may be a secret.
  std::string detail() const {
    const std::string_view text(error_);
    if (text.empty() || text.find("://") != text.npos) return "";
    return " (" + plain(text) + ")";
  }

  // ---- callbacks during a transfer ----

  template <class F>
  std::size_t guarded(std::size_t size, F f) {
    try {
      f();
      return size;
    } catch (...) {
      failure_ = std::current_exception();
      return size == 0 ? 1 : 0;  // ends the transfer with an error
    }
  }

  static std::size_t take_header(char* data, std::size_t, std::size_t size, void* object) {
    Transfer& transfer = *static_cast<Transfer*>(object);
    return transfer.guarded(size, [&] {
      constexpr std::size_t most = std::size_t{1} << 16;
      transfer.header_bytes_ += size;
      if (transfer.header_bytes_ > most) transfer.refuse("the header of its answer is too long");
      read_header(transfer.answer_, {data, size});
    });
  }

  static std::size_t take_body(char* data, std::size_t, std::size_t size, void* object) {
    Transfer& transfer = *static_cast<Transfer*>(object);
    return transfer.guarded(size, [&] {
      transfer.accept();
      transfer.take({data, size});
    });
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw Disconnection(name_ + ": " + what);
  }

  bool is_first() const { return !size_; }

  // Checks the header. Called before the first byte of the body is used.
  void accept() {
    if (std::exchange(is_accepted_, true)) return;
    refuse_status();
    if (!answer_.encoding.empty() && answer_.encoding != "identity" && answer_.encoding != "zstd" &&
        answer_.encoding != "br")
      refuse("the server sends it in another form than it is (Content-Encoding: " +
             plain(answer_.encoding.substr(0, 40)) + ')');
    if (answer_.status == 206)
      accept_range();
    else if (answer_.status == 200)
      accept_whole();
    if (!is_first() &&
        (answer_.etag != first_.etag || answer_.last_modified != first_.last_modified))
      has_changed();
  }

  void refuse_status() const {
    const long status = answer_.status;
    if (status == 200 || status == 206) return;
    const std::string code = " (status " + std::to_string(status) + ')';
    if (status == 416 && is_first() && answer_.range && answer_.range->size == 0) return;
    if (!is_first() && (status == 404 || status == 410 || status == 412 || status == 416))
      has_changed();
    if (status == 404 || status == 410) refuse("the server has no such file" + code);
    if (status == 401 || status == 403) refuse("the server does not let you read it" + code);
    refuse("the server does not send it" + code);
  }

  void accept_range() const {
    const auto& range = answer_.range;
    const auto end = offset_ + static_cast<Offset>(wanted_);
    if (!range) refuse("the server does not say which bytes it sends, or how many the file has");
    if (range->first != offset_ || range->last < range->first || range->last >= end)
      refuse("the server sends other bytes than those that it was asked for");
    if (!is_first() && range->size != size_) has_changed();
  }

  // Handles a reply with the whole file: either the server does not support ranges, or the file is
  // no longer the version in If-Range.
  void accept_whole() {
    if (!is_first()) has_changed();
    if (!answer_.length && !answer_.has_end)
      refuse("the server does not say how many bytes the file has");
    if (answer_.length) require_allowed(*answer_.length);
    whole_ = std::make_unique<Unnamed_File>("a temporary file for " + name_);
  }

  [[noreturn]] void has_changed() const {
    refuse("the file has changed on the server while it was read: start again");
  }

  void require_allowed(Offset size) const {
    if (size > settings_.max_download)
      refuse("the server can only send the whole file, and this has " +
             (size == answer_.length ? std::to_string(size)
                                     : "more than " + std::to_string(settings_.max_download)) +
             " bytes. To download it: --max-size BYTES");
  }

  void take(std::string_view bytes) {
    if (answer_.status == 206) {
      const auto promised = static_cast<std::size_t>(answer_.range->last - offset_ + 1);
      if (bytes.size() > promised - done_) refuse("the server sends more than it was asked for");
      std::copy(bytes.begin(), bytes.end(), data_ + done_);
    } else if (answer_.status == 200) {
      require_allowed(static_cast<Offset>(done_ + bytes.size()));
      whole_->pwrite(bytes.data(), bytes.size(), static_cast<Offset>(done_));
      settings_.report(static_cast<Offset>(done_), answer_.length);
    } else {
      return;  // ignore the body of an error page
    }
    done_ += bytes.size();
  }

  // ---- after a transfer ----

  void finish() {
    const std::size_t promised =
        answer_.status == 206 ? static_cast<std::size_t>(answer_.range->last - offset_ + 1) : done_;
    if (done_ < promised)
      throw Connection_Lost(name_ + ": the answer of the server ends after " +
                            std::to_string(done_) + " bytes of " + std::to_string(promised));
    if (!is_first()) return;
    size_ = whole_ ? static_cast<Offset>(done_) : answer_.range->size;
    first_ = answer_;
    // If-Range accepts a strong tag or a date.
    const bool is_strong = !first_.etag.empty() && !first_.etag.starts_with("W/");
    const std::string& condition = is_strong ? first_.etag : first_.last_modified;
    if (!condition.empty())
      headers_.reset(curl_slist_append(nullptr, ("If-Range: " + condition).c_str()));
  }

  const std::string name_;
  const Settings settings_;
  char error_[CURL_ERROR_SIZE] = {};
  std::unique_ptr<curl_slist, Free_List> headers_;
  const std::unique_ptr<CURL, Free_Handle> handle_;

  std::optional<Offset> size_;  // nullopt before the first answer
  Answer first_;
  std::unique_ptr<Unnamed_File> whole_;

  // State of the current request.
  char* data_ = nullptr;
  std::size_t wanted_ = 0;
  Offset offset_ = 0;
  std::size_t done_ = 0;
  std::size_t header_bytes_ = 0;
  Answer answer_;
  bool is_accepted_ = false;
  std::exception_ptr failure_;
};

// ---- the file -----------------------------------------------------------------------------------

Curl_File::Curl_File(const std::string& url, std::string name, Settings settings)
    : Remote_File(std::move(name)),
      transfer_(std::make_unique<Transfer>(without_password(url), get_name(), std::move(settings)),
                get_name()) {
  std::vector<char> bytes = transfer_->open(first_size);
  if (!bytes.empty()) keep(0, std::move(bytes));
}

Curl_File::~Curl_File() = default;

Offset Curl_File::get_size() const { return transfer_->size(); }
bool Curl_File::has_ranges() const { return transfer_->has_ranges(); }

std::size_t Curl_File::fetch(char* data, std::size_t size, Offset offset) const {
  return transfer_->read(data, size, offset);
}

}  // namespace joedb::inline v1

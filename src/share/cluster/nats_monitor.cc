#include "share/cluster/nats_monitor.h"

#ifdef JOEDB_HAS_CURL
#include <curl/curl.h>
#endif

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "kernel/base/plain_text.h"
#include "kernel/base/standard_descriptors.h"

namespace joedb::inline v1 {

namespace {

#ifdef JOEDB_HAS_CURL
std::size_t append(const char* data, std::size_t size, std::size_t count, void* text) noexcept {
  constexpr std::size_t most = std::size_t{1} << 24;
  auto& answer = *static_cast<std::string*>(text);
  if (answer.size() + size * count > most) return 0;
  answer.append(data, size * count);
  return size * count;
}

std::string get(const std::string& url, System::Duration time) {
  reserve_standard_descriptors();
  static const CURLcode global = curl_global_init(CURL_GLOBAL_DEFAULT);
  struct Cleanup {
    void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
  };
  const std::unique_ptr<CURL, Cleanup> curl(global == CURLE_OK ? curl_easy_init() : nullptr);
  if (!curl) return "";
  std::string answer;
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(
      curl.get(), CURLOPT_TIMEOUT_MS,
      static_cast<long>(std::chrono::duration_cast<std::chrono::milliseconds>(time).count()));
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &answer);
  return curl_easy_perform(curl.get()) == CURLE_OK ? answer : "";
}
#else
std::string get(const std::string&, System::Duration) { return ""; }
#endif

}  // namespace

std::optional<Nats_Server_State> ask_monitor(const std::string& url, System::Duration time) {
  const auto answer = nlohmann::json::parse(get(url + "/varz", time), nullptr, false);
  if (!answer.is_object()) return std::nullopt;
  try {
    Nats_Server_State state;
    state.name = plain(answer.value("server_name", ""));
    state.version = plain(answer.value("version", ""));
    const nlohmann::json empty = nlohmann::json::object();
    state.syncs_always =
        answer.value("jetstream", empty).value("config", empty).value("sync_always", false);
    return state;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

std::vector<std::string> monitor_urls(const std::string& monitor,
                                      const std::vector<std::string>& servers) {
  std::vector<std::string> urls;
  if (monitor.empty()) return urls;
  if (monitor.find_first_not_of("0123456789") == std::string::npos) {
    for (const std::string& server : servers) {
      std::string url = "http://" + server.substr(0, server.rfind(':')) + ":" + monitor;
      if (std::find(urls.begin(), urls.end(), url) == urls.end()) urls.push_back(std::move(url));
    }
    return urls;
  }
  std::string_view rest = monitor;
  while (!rest.empty()) {
    std::string url(rest.substr(0, rest.find(',')));
    rest.remove_prefix(std::min(rest.size(), url.size() + 1));
    while (url.ends_with('/')) url.pop_back();
    if (url.empty()) continue;
    urls.push_back(url.find("://") == std::string::npos ? "http://" + url : url);
  }
  return urls;
}

}  // namespace joedb::inline v1

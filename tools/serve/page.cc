#include "tools/serve/page.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "tools/serve/json.h"
#include "tools/serve/kserve.h"
#include "tools/serve/percent.h"

namespace tenon::serve {
namespace {

constexpr char kHead[] = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Tenon model server</title>
<style>
body { font: 14px sans-serif; margin: 2em; color: #222 }
table { border-collapse: collapse; margin-bottom: 1em }
td, th { border: 1px solid #ccc; padding: .3em .6em; text-align: left; vertical-align: top }
td.n { text-align: right; font-variant-numeric: tabular-nums }
code { font-size: 13px }
</style></head><body>
)";

// Differences of two looks at the statistics, as rates.
constexpr char kScript[] = R"(<script>
let last = {};
async function look() {
  const now = performance.now(), stats = await (await fetch('/v2/models/stats')).json();
  for (const m of stats.model_stats) {
    const key = m.name + '/' + m.version, was = last[key], s = m.inference_stats;
    const all = {t: now, ok: s.success.count, bad: s.fail.count, rows: m.inference_count,
                 runs: m.execution_count, ns: s.compute_infer.ns, wait: s.queue.ns};
    last[key] = all;
    const row = document.querySelector('tr[data-key="' + CSS.escape(key) + '"]');
    if (!was || !row) continue;
    const seconds = (now - was.t) / 1000, runs = all.runs - was.runs;
    const answered = all.ok - was.ok + all.bad - was.bad;
    const put = (name, value) => { row.querySelector('[data-rate=' + name + ']').textContent = value; };
    put('ok', ((all.ok - was.ok) / seconds).toFixed(1));
    put('bad', ((all.bad - was.bad) / seconds).toFixed(1));
    put('rows', runs ? ((all.rows - was.rows) / runs).toFixed(1) : '');
    put('run', runs ? ((all.ns - was.ns) / runs / 1e6).toFixed(3) : '');
    put('wait', answered ? ((all.wait - was.wait) / answered / 1e6).toFixed(3) : '');
  }
}
look(); setInterval(look, 2000);
</script></body></html>
)";

std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

const char* NameOf(VersionState state) {
  switch (state) {
    case VersionState::kStart:
      return "start";
    case VersionState::kLoading:
      return "loading";
    case VersionState::kAvailable:
      return "available";
    case VersionState::kUnloading:
      return "unloading";
    case VersionState::kEnd:
      return "ended";
  }
  return "";
}

std::string Listed(const std::vector<TensorSpec>& specs) {
  std::vector<std::string> texts;
  for (const TensorSpec& spec : specs) {
    const std::string type = KServeName(spec.dtype);
    texts.push_back(absl::StrCat(
        "<code>", Escaped(spec.name), "</code> ", type.empty() ? "?" : type, " ",
        spec.dims.has_value() ? absl::StrCat("[", absl::StrJoin(*spec.dims, ", "), "]") : "[…]"));
  }
  return absl::StrJoin(texts, "<br>");
}

std::string SignatureRows(const Servable& servable) {
  std::string html;
  for (const auto& [name, runnable] : servable.signatures()) {
    absl::StrAppend(&html, "<tr><td>", Escaped(servable.name()), "</td><td>", servable.version(),
                    "</td><td><code>", Escaped(name), "</code></td><td>",
                    Listed(runnable->signature.inputs), "</td><td>",
                    Listed(runnable->signature.outputs), "</td><td><a href=\"", kGraphsPath,
                    EncodePercent(servable.name()), "/", servable.version(), "/",
                    EncodePercent(name), "\">graph</a></td></tr>\n");
  }
  return html;
}

// What a path of a graph names.
struct GraphName {
  tensorflow::serving::ModelSpec spec;
  std::string signature;
};

absl::StatusOr<GraphName> ParseGraphPath(absl::string_view path) {
  const std::vector<absl::string_view> parts = absl::StrSplit(path.substr(1), '/');
  GraphName name;
  std::string model;
  int64_t version;
  if (parts.size() != 4 || !DecodePercent(parts[1], &model) ||
      !absl::SimpleAtoi(parts[2], &version) || !DecodePercent(parts[3], &name.signature)) {
    return absl::NotFoundError("graphs are at /graphs/MODEL/VERSION/SIGNATURE");
  }
  name.spec.set_name(model);
  name.spec.mutable_version()->set_value(version);
  return name;
}

absl::StatusOr<std::string> ExploreSignature(const Servable& servable,
                                             const std::string& signature) {
  try {
    const Model model = Model::Open(servable.path());
    SessionOptions options;
    options.signature = signature;
    options.threads = servable.threads();
    const tenon_session_options c = options.ToC();
    tenon_text* text = nullptr;
    Check(tenon_model_explore(model.get(), &c, nullptr, 0, 0, &text));
    return TakeText(text);
  } catch (const Error& error) {
    return absl::InternalError(error.what());
  }
}

}  // namespace

std::string StartPage(const Repository& repository) {
  std::string html = absl::StrCat(kHead, "<h1>Tenon ", tenon_version(), "</h1>\n<p>",
                                  repository.Ready() ? "Ready." : "Not ready.",
                                  " <a href=\"/metrics\">Metrics</a></p>\n",
                                  "<table><tr><th>model</th><th>version</th><th>state</th>"
                                  "<th>threads</th><th>answers/s</th><th>errors/s</th>"
                                  "<th>rows/run</th><th>ms/run</th><th>ms waited</th></tr>\n");
  std::string signatures;
  for (const std::string& name : repository.Names()) {
    tensorflow::serving::ModelSpec spec;
    spec.set_name(name);
    const auto statuses = repository.Statuses(spec);
    if (!statuses.ok()) continue;
    for (const VersionStatus& status : *statuses) {
      spec.mutable_version()->set_value(status.version);
      const auto servable = repository.Find(spec);
      absl::StrAppend(&html, "<tr data-key=\"", Escaped(name), "/", status.version, "\"><td>",
                      Escaped(name), "</td><td>", status.version, "</td><td>", NameOf(status.state),
                      status.status.ok() ? "" : ": ", Escaped(status.status.message()),
                      "</td><td class=n>",
                      servable.ok() ? absl::StrCat((*servable)->threads()) : "", "</td>");
      for (const char* rate : {"ok", "bad", "rows", "run", "wait"}) {
        absl::StrAppend(&html, "<td class=n data-rate=", rate, "></td>");
      }
      absl::StrAppend(&html, "</tr>\n");
      if (servable.ok()) absl::StrAppend(&signatures, SignatureRows(**servable));
    }
  }
  absl::StrAppend(&html,
                  "</table>\n<table><tr><th>model</th><th>version</th><th>signature</th>"
                  "<th>inputs</th><th>outputs</th><th></th></tr>\n",
                  signatures, "</table>\n", kScript);
  return html;
}

void GraphMaker::Make(const Repository& repository, absl::string_view path, Respond respond) {
  const auto name = ParseGraphPath(path);
  const auto fail = [&](int status, absl::string_view why) {
    respond({status, "application/json", {}, ErrorJson(why)});
  };
  if (!name.ok()) return fail(404, name.status().message());
  const auto servable = repository.Find(name->spec);
  if (!servable.ok()) return fail(404, servable.status().message());
  if ((*servable)->Find(name->signature) == nullptr) return fail(404, "there is no such signature");
  const std::lock_guard<std::mutex> lock(mutex_);
  if (busy_) return fail(429, "another graph is being made");
  busy_ = true;
  if (thread_.joinable()) thread_.join();  // it has ended
  thread_ = std::thread(
      [this, servable = *servable, signature = name->signature, respond = std::move(respond)] {
        auto json = ExploreSignature(*servable, signature);
        {
          const std::lock_guard<std::mutex> done(mutex_);
          busy_ = false;
        }
        if (json.ok()) {
          respond({200, "application/json", {}, *std::move(json)});
        } else {
          respond({500, "application/json", {}, ErrorJson(json.status().message())});
        }
      });
}

void GraphMaker::Close() {
  std::thread last;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    last = std::move(thread_);
  }
  if (last.joinable()) last.join();
}

}  // namespace tenon::serve

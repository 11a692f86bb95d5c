// Verdicts in HTML, and the page around them. The executions are in page_scene.cpp.
#include "check/page.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "check/html_text.hpp"
#include "check/print.hpp"

namespace muster::check {

namespace {

const char* style_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::certified:
    case Verdict::complete: return "good";
    case Verdict::bounded: return "open";
    case Verdict::refuted: return "bad";
  }
  return "";
}

std::string verdict_words(const Report& report) {
  std::string words = name_of(report.verdict);
  if (report.verdict == Verdict::refuted && !report.findings.empty())
    words += fmt::format(": {}", name_of(report.findings.front().kind));
  return words;
}

// "1 call", "2 calls"
std::string counted(std::uint64_t number, std::string_view thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

std::string numbers_of(const Options& options) {
  return fmt::format("{}, {}, {}, {} per lane", counted(options.ranks, "rank"),
                     counted(options.calls, "call"), counted(options.lanes, "lane"),
                     counted(options.threads, "thread"));
}

std::string button(const std::string& shows, bool first, const std::string& html) {
  return fmt::format("<button type=\"button\" data-shows=\"{}\"{}>{}</button>\n", shows,
                     first ? " data-first" : "", html);
}

std::string paragraph(std::string_view text, std::string_view style = "") {
  return fmt::format("<p class=\"{}\">{}</p>\n", style, html_text(text));
}

// The verdict as the command line has it, without the column of profiles.
std::string verdict_sentence(const Report& report, const Options& options) {
  const std::string line = verdict_line(report, options);
  const std::size_t at = line.find(name_of(report.verdict));
  return at == std::string::npos ? line : line.substr(at);
}

// ---- where nothing is wrong

std::string explored(const PageResult& result) {
  const Report& report = result.report;
  std::string out = "<h3>What was explored</h3>\n<ul>\n";
  const auto item = [&](const std::string& text) {
    out += fmt::format("<li>{}</li>\n", html_text(text));
  };
  item(fmt::format("{} on the profile {}", numbers_of(result.options),
                   name_of(result.options.profile)));
  item(fmt::format(
      "{} to the end{}, {} operations of the model in all", counted(report.executions, "execution"),
      report.dropped > 0 ? fmt::format(", {} given up", report.dropped) : "", report.steps));
  if (report.verdict == Verdict::certified)
    item(
        "every other execution of this configuration does the same: the reads of this one hold "
        "condition D (docs/proof.md), and no two accesses of it race");
  if (!report.why_search.empty()) item("no certificate: " + report.why_search);
  if (result.options.expire == 0) item("not explored: waits that expire");
  item(
      "not explored: other ranks, calls, lanes, threads and inputs than these; load buffering, "
      "which contract 5 excludes; what is touched outside the fabric's operations");
  return out + "</ul>\n";
}

std::string good(const PageResult& result, const std::string& id) {
  std::string out =
      fmt::format("<div class=\"box {}-box\"><span class=\"verdict {}\">{}</span></div>\n",
                  style_of(result.report.verdict), style_of(result.report.verdict),
                  html_text(verdict_sentence(result.report, result.options)));
  out += explored(result);
  if (result.shown.report.events.empty()) return out;
  out += result.report.verdict == Verdict::certified
             ? "<h3>The execution that stands for all</h3>\n"
             : "<h3>One of the executions</h3>\n";
  return out + scene_of(result.shown.report, id);
}

// ---- where something is

std::string findings_box(const Report& report) {
  std::string out = "<div class=\"box bad-box\">\n";
  const Finding& first = report.findings.front();
  out += fmt::format("<p><span class=\"verdict bad\">{}</span>: {}</p>\n", name_of(first.kind),
                     html_text(first.what));
  if (!first.missing.empty())
    out += fmt::format("<p><b>missing</b>: {}</p>\n", html_text(first.missing));
  for (const Finding& finding : report.findings)
    if (finding.kind != first.kind)
      out += paragraph(fmt::format("then {}: {}", name_of(finding.kind), finding.what), "soft");
  return out + "</div>\n";
}

std::string mended(const MendedRun& mend, const std::string& id) {
  const std::string verdict = mend.repair.is_whole()
                                  ? fmt::format("{}", name_of(mend.repair.verdict))
                                  : "not refuted by a short search and a few schedules";
  std::string out =
      fmt::format("<section id=\"{}\">\n<div class=\"box good-box\">With this change ", id);
  out += fmt::format(
      "(<b>{}</b>) it is <span class=\"verdict good\">{}</span>. This is {} of it, "
      "found by running it so.</div>\n",
      html_text(describe(mend.repair)), verdict,
      mend.repair.verdict == Verdict::certified ? "the execution" : "one execution");
  return out + scene_of(mend.report, id) + "</section>\n";
}

std::string refuted(const PageResult& result, const std::string& id) {
  const auto& [options, report] = result.shown;
  std::string out = paragraph(
      fmt::format("It fails with {}, on {}.", numbers_of(options), name_of(options.profile)));
  out += findings_box(report);
  out += fmt::format("<p class=\"soft\">Again: <code>--replay {}</code></p>\n",
                     html_text(replay_string(options, report.replay)));
  if (result.mends.empty()) {
    if (options.replay.empty())  // a replay tries none
      out += paragraph("No single stronger order, wider scope, flush or converge mends it.");
    return out + scene_of(report, id + "-f");
  }
  out += "<p>Each of these alone mends it:</p>\n<ul>\n";
  for (const MendedRun& mend : result.mends)
    out += fmt::format("<li>{}</li>\n", html_text(describe(mend.repair)));
  out += "</ul>\n<div class=\"choices\">\n";
  out += button(id + "-f", true, "what fails");
  for (std::size_t at = 0; at < result.mends.size(); ++at)
    out += button(fmt::format("{}-m{}", id, at), false,
                  "run with: " + html_text(describe(result.mends[at].repair)));
  out +=
      fmt::format("</div>\n<section id=\"{}-f\">\n{}</section>\n", id, scene_of(report, id + "-f"));
  for (std::size_t at = 0; at < result.mends.size(); ++at)
    out += mended(result.mends[at], fmt::format("{}-m{}", id, at));
  return out;
}

// ---- the whole

std::string result_section(const PageResult& result, const std::string& id) {
  std::string out = fmt::format("<section id=\"{}\">\n<h3>{}: <span class=\"{}\">{}</span></h3>\n",
                                id, name_of(result.options.profile),
                                style_of(result.report.verdict), verdict_words(result.report));
  if (result.same_as)
    out += paragraph(fmt::format("It fails as on {}. Again: --replay {}", name_of(*result.same_as),
                                 replay_string(result.shown.options, result.shown.report.replay)));
  else
    out += result.report.verdict == Verdict::refuted ? refuted(result, id) : good(result, id);
  return out + "</section>\n";
}

// The first that fails, else the weakest, which says most.
std::size_t first_shown(const PageCheck& check) {
  for (std::size_t at = 0; at < check.results.size(); ++at)
    if (check.results[at].report.verdict == Verdict::refuted) return at;
  return check.results.size() - 1;
}

std::string check_article(const PageCheck& check, std::size_t number, bool alone) {
  const std::string id = fmt::format("c{}", number);
  std::string out = fmt::format("<article id=\"{}\">\n", id);
  if (!alone) out += fmt::format("<h2>{}</h2>\n", html_text(check.entry->name));
  if (*check.entry->protocol.about != '\0') out += paragraph(check.entry->protocol.about, "soft");
  if (check.results.empty()) return out + "</article>\n";
  out += paragraph(numbers_of(check.results.front().options), "soft");
  if (check.results.size() > 1) {
    out += "<div class=\"choices\">\n";
    for (std::size_t at = 0; at < check.results.size(); ++at) {
      const PageResult& result = check.results[at];
      out += button(
          fmt::format("{}-{}", id, name_of(result.options.profile)), at == first_shown(check),
          fmt::format("{}: <span class=\"verdict {}\">{}</span>", name_of(result.options.profile),
                      style_of(result.report.verdict), verdict_words(result.report)));
    }
    out += "</div>\n";
  }
  for (const PageResult& result : check.results)
    out += result_section(result, fmt::format("{}-{}", id, name_of(result.options.profile)));
  if (!check.hints.empty()) out += "<h3>What this check does not need</h3>\n<ul>\n";
  for (const std::string& hint : check.hints) out += fmt::format("<li>{}</li>\n", html_text(hint));
  if (!check.hints.empty()) out += "</ul>\n";
  return out + "</article>\n";
}

std::string contents(const std::vector<PageCheck>& checks) {
  if (checks.size() < 2) return "";
  std::string out = "<ul class=\"contents\">\n";
  for (std::size_t at = 0; at < checks.size(); ++at) {
    out += fmt::format("<li><a href=\"#c{}\">{}</a>", at, html_text(checks[at].entry->name));
    for (const PageResult& result : checks[at].results)
      out +=
          fmt::format(" {} <span class=\"verdict {}\">{}</span>", name_of(result.options.profile),
                      style_of(result.report.verdict), verdict_words(result.report));
    out += "</li>\n";
  }
  return out + "</ul>\n";
}

void replace(std::string& text, std::string_view place, const std::string& by) {
  if (const auto at = text.find(place); at != std::string::npos) text.replace(at, place.size(), by);
}

}  // namespace

std::string page_of(const std::vector<PageCheck>& checks) {
  const std::string title =
      checks.size() == 1 ? "muster check " + html_text(checks.front().entry->name) : "muster check";
  std::string content = fmt::format("<header><h1>{}</h1></header>\n{}", title, contents(checks));
  for (std::size_t at = 0; at < checks.size(); ++at)
    content += check_article(checks[at], at, checks.size() == 1);
  std::string page = page_frame;
  replace(page, "{{content}}", content);  // which may hold the other's place, further down
  replace(page, "{{title}}", title);
  return page;
}

}  // namespace muster::check

#!/usr/bin/env python3
"""The pages of `muster check --html` in a browser: on a phone, on a desk, in the dark, on paper.

Usage: page_browser_test.py MUSTER

The browser is MUSTER_BROWSER, or a Chromium or Chrome on the PATH; without one it says SKIPPED.
"""
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile

from page import write_page

BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
CHECKS = [["broken/put_to_third_rank"], ["broken/eq_on_growing_cell"], ["broken/notify_without_converge"],
          ["epoch_barrier", "-n", "4"]]
# Measures the page in which it runs, and leaves what is wrong as text.
PROBE = """<script>
addEventListener("load", () => {
  const faults = [];
  const seen = [...document.body.querySelectorAll("*")].filter((e) => e.getClientRects().length > 0);
  if (document.documentElement.scrollWidth > innerWidth)
    faults.push(`the page is ${document.documentElement.scrollWidth} wide in ${innerWidth}`);
  for (const e of seen) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
    if (["SCRIPT", "STYLE"].includes(e.tagName)) continue;
    if (parseFloat(getComputedStyle(e).fontSize) < 12) faults.push(`small text: ${e.textContent}`);
  }
  const rows = seen.filter((e) => e.matches(".diagram li"));
  if (!rows.length) faults.push("no row is seen");
  rows.forEach((row, at) => {
    const box = row.getBoundingClientRect();
    const lines = row.querySelector("svg")?.getBoundingClientRect();
    const text = row.querySelector(".who")?.getBoundingClientRect();
    if (lines && text && text.left < lines.right) faults.push(`text over lines: ${row.textContent}`);
    if (lines && Math.abs(lines.height - box.height) > 1.1) faults.push(`lines end early: ${row.textContent}`);
    const next = rows[at + 1]?.getBoundingClientRect();
    if (next && next.left === box.left && next.top > box.top && next.top < box.bottom - 0.6)
      faults.push(`rows overlap: ${row.textContent}`);
  });
  const buttons = seen.filter((e) => e.matches(".choices button"));
  if (buttons.some((e) => e.getBoundingClientRect().height < 40)) faults.push("a button is too small for a finger");
  for (const button of buttons) {
    button.click();
    for (const other of button.parentElement.children) {
      const hidden = document.getElementById(other.dataset.shows).hidden;
      if (hidden === (other === button)) faults.push(`${button.textContent} shows the wrong panel`);
    }
  }
  const grey = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map((v) => (v / 255 <= 0.04045 ? v / 3294.6 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const body = getComputedStyle(document.body);
  const paper = grey(body.backgroundColor);
  for (const e of seen.filter((e) => e.matches("p, .who, .at, .verdict, .words, .n, .t, button"))) {
    const ink = grey(getComputedStyle(e).color);
    const contrast = Math.max(ink, paper) / Math.min(ink, paper);
    if (contrast < 4.5) faults.push(`contrast ${contrast.toFixed(1)}: ${e.className} ${e.textContent}`);
  }
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  if (dark !== paper < 0.2) faults.push("the colours are not those of the scheme");
  const result = document.createElement("pre");
  result.id = "probe";
  result.textContent = `${innerWidth} ${dark ? "dark" : "light"}\\n` + [...new Set(faults)].slice(0, 10).join("\\n");
  parent.document.body.append(result);
});
</script>"""


def browse(browser, folder, page, *arguments):
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
               "--disable-background-networking", f"--user-data-dir={folder}/profile", *arguments, f"file://{page}"]
    # A browser that cannot start here says so by its status; what it prints besides is its own.
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if run.returncode != 0:
        raise SystemExit(f"{browser}: exit status {run.returncode}\n{run.stderr[-2000:]}")
    return run.stdout


def probed(browser, folder, text, width, scheme):
    """What is wrong in a window of that width: in a frame, since a browser's own may not be as narrow as a phone."""
    page = os.path.join(folder, "probed.html")
    inner = html.escape(text.replace("</body>", PROBE + "</body>"))
    with open(page, "w", encoding="utf-8") as file:
        file.write('<!DOCTYPE html><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
                   f'<iframe style="width: {width}px; height: 844px; border: 0" srcdoc="{inner}"></iframe>')
    dom = browse(browser, folder, page, f"--window-size={width + 100},900", "--dump-dom",
                 f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}")
    found = re.search(r'<pre id="probe">(.*?)</pre>', dom, re.S)
    if not found:
        return ["the page has not been measured"]
    first, *faults = html.unescape(found.group(1)).split("\n")
    expected = f"{width} {scheme}"
    return [f for f in faults if f] + ([f"it is shown as {first}, not {expected}"] if first != expected else [])


def main():
    muster = sys.argv[1]
    browser = os.environ.get("MUSTER_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        print(f"SKIPPED: there is no browser (MUSTER_BROWSER, or one of {', '.join(BROWSERS)})")
        return 0
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "page.html")
        for arguments in CHECKS:
            text = write_page(muster, arguments, page)
            for width, scheme in ((390, "light"), (1280, "light"), (1280, "dark")):
                faults += [f"{arguments[0]}, {width} wide, {scheme}: {fault}"
                           for fault in probed(browser, folder, text, width, scheme)]
            paper = os.path.join(folder, "page.pdf")
            browse(browser, folder, page, f"--print-to-pdf={paper}", "--no-pdf-header-footer")
            with open(paper, "rb") as file:
                pages = len(re.findall(rb"/Type\s*/Page\b", file.read()))
            if not 1 <= pages <= 40:
                faults.append(f"{arguments[0]}: {pages} pages on paper")
    print("\n".join(faults[:40] + [f"{len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

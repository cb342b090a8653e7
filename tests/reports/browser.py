"""Opening a page in a real browser and asking it what it sees: complaints, widths, pictures, sounds."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

OPTIONS = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync "
    "--disable-component-update --hide-scrollbars --mute-audio --autoplay-policy=no-user-gesture-required "
    "--enable-logging=stderr"
)
# looks at the page from inside and leaves what it saw as JSON in the page itself
PROBE = """
<script>
const seen = {errors: []};
window.addEventListener("error", e => seen.errors.push(String(e.message || e.target.src)), true);
async function heard(audio) {
  const ready = new Promise(done => {
    audio.addEventListener("canplay", () => done(true));
    audio.addEventListener("error", () => done(false));
    setTimeout(() => done(false), 20000);
  });
  audio.preload = "auto"; audio.load();
  const can = await ready;
  return {can: can, duration: audio.duration, label: audio.getAttribute("aria-label")};
}
async function played(audio) {
  audio.muted = true;
  await audio.play();
  await new Promise(done => { audio.addEventListener("timeupdate", () => { if (audio.currentTime > 0) done(); });
                              audio.addEventListener("ended", done); setTimeout(done, 8000); });
  return audio.currentTime;
}
const parts = colour => (colour.match(/[\\d.]+/g) || []).map(Number);
function luminance(colour) {
  const [r, g, b] = parts(colour).slice(0, 3).map(c => c / 255)
    .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function ground(e) {
  for (let at = e; at; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor, [, , , alpha] = parts(colour);
    if (alpha === undefined || alpha > 0) return colour;
  }
  return "rgb(255, 255, 255)";
}
// every element that shows words of its own, as drawn: its colour against what lies under it (WCAG 2.2, 1.4.3)
function contrasts() {
  const worded = [...document.querySelectorAll("body *")].filter(e => e.getClientRects().length
    && [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) && e.tagName !== "SCRIPT");
  return worded.map(e => {
    const style = getComputedStyle(e), drawn = e.closest("svg") !== null;
    const [a, b] = [luminance(drawn ? style.fill : style.color), luminance(ground(e))].sort((x, y) => y - x);
    return {ratio: (a + 0.05) / (b + 0.05), words: e.textContent.trim().slice(0, 40)};
  });
}
async function look() {
  const root = document.documentElement;
  document.querySelectorAll("details").forEach(d => { d.open = true; });
  seen.dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const found = contrasts();
  seen.worded = found.length;
  seen.faint = found.filter(c => !(c.ratio >= 4.5));
  seen.width = window.innerWidth; seen.scroll = root.scrollWidth; seen.client = root.clientWidth;
  const inside = e => e.closest(".scroll") !== null || e.closest("details:not([open])") !== null;
  seen.wide = [...document.querySelectorAll("body *")].filter(e => !inside(e) && !e.closest("svg")
    && e.getBoundingClientRect().right > root.clientWidth + 1).map(e => e.tagName + "." + e.className);
  seen.drawings = [...document.querySelectorAll("figure svg")].map(s => [s.clientWidth, s.clientHeight]);
  const small = e => parseFloat(getComputedStyle(e).fontSize) * e.ownerSVGElement.clientWidth
    / e.ownerSVGElement.viewBox.baseVal.width;
  seen.smallest = Math.min(...[...document.querySelectorAll("figure svg text")].map(small));
  seen.images = [...document.querySelectorAll("img")].map(i => i.complete && i.naturalWidth > 0);
  const audios = [...document.querySelectorAll("audio")];
  seen.sounds = await Promise.all(audios.map(heard));
  seen.played = audios.length ? await played(audios[0]) : null;
  parent.postMessage(JSON.stringify(seen), "*");
}
look();
</script>
"""
# a window cannot be as narrow as a phone, a frame can; keeps what the probe sends
FRAME = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>frame</title>
<link rel="icon" href="data:,"><style>body { margin: 0 } iframe { border: 0; display: block }</style></head><body>
<iframe src="%s" width="%d" height="%d" title="page" allow="autoplay"></iframe>
<script>
window.addEventListener("message", told => {
  const out = document.createElement("script");
  out.type = "application/json"; out.id = "seen"; out.textContent = told.data;
  document.body.appendChild(out);
});
</script></body></html>
"""


def chromium() -> str:
    """The browser, or a skip that says why."""
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("needs the browser chromium, which is not on this machine")
    return found


def framed(page: Path, folder: Path, *, width: int, height: int) -> Path:
    """Put a page into a frame as wide as asked."""
    frame = folder / f"frame-{width}.html"
    frame.write_text(FRAME % (page.as_uri(), width, height), encoding="utf-8")
    return frame


def look(
    page: Path, folder: Path, *, width: int, height: int = 900, dark: bool = False
) -> tuple[dict[str, Any], list[str]]:
    """Open a page on a light or a dark screen; gives what the probe saw, and every line of the console."""
    probed = folder / f"probed-{width}.html"
    text = page.read_text(encoding="utf-8")
    probed.write_text(text.replace("</body>", PROBE + "</body>"), encoding="utf-8")
    frame = framed(probed, folder, width=width, height=height)
    more = [f"--window-size={max(width, 500)},{height}", f"--user-data-dir={folder / 'profile'}"]
    more.append(f"--blink-settings=preferredColorScheme={0 if dark else 1}")
    done = subprocess.run(
        [chromium(), *OPTIONS.split(), *more, "--virtual-time-budget=60000", "--dump-dom", frame.as_uri()],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    told = re.search(r'<script type="application/json" id="seen">(.*?)</script>', done.stdout, re.DOTALL)
    assert told is not None, f"the page did not answer: {done.stderr[-800:]}"
    return json.loads(told.group(1)), [line for line in done.stderr.splitlines() if "CONSOLE" in line]

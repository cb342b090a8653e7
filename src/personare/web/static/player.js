// Playing sounds: one at a time, from the beginning to the end; counts how long and how often each was heard.
import { el, fill, icon, say } from "./dom.js";

const PLAY = "M8 5v14l11-7z", STOP = "M7 6h4v12H7zM13 6h4v12h-4z";
let playing = null;

export class Sound {
  constructor(sound, changed = () => {}) {
    this.id = sound.id; this.seconds = sound.seconds || 0; this.changed = changed;
    this.playedMs = 0; this.plays = 0; this.heard = false; this.failed = false;
    this.audio = new Audio(`audio/${sound.id}`);
    this.audio.preload = "auto";
    this.last = 0;
    this.audio.addEventListener("timeupdate", () => { this.count(); this.changed(); });
    this.audio.addEventListener("ended", () => { this.count(); this.ended(); });
    this.audio.addEventListener("error", () => { this.failed = true; this.changed(); });
    this.audio.addEventListener("pause", () => { this.count(); this.changed(); });
    this.audio.addEventListener("play", () => this.changed());
  }

  count() {
    const now = this.audio.currentTime;
    if (now > this.last) this.playedMs += 1000 * (now - this.last);
    this.last = now;
  }

  ended() {
    this.plays += 1; this.last = 0; this.heard = true;
    this.playedMs = Math.max(this.playedMs, 1000 * this.seconds * this.plays);
    if (playing === this) playing = null;
    this.changed();
  }

  get running() { return !this.audio.paused && !this.audio.ended; }

  // how much of it has been played; 0 while nobody knows how long it is
  get share() {
    if (!this.running) return this.heard ? 1 : 0;
    const whole = Number.isFinite(this.audio.duration) && this.audio.duration > 0 ? this.audio.duration : this.seconds;
    return whole > 0 ? this.audio.currentTime / whole : 0;
  }

  toggle() { this.running ? this.stop() : this.play(); }

  async play() {
    if (playing && playing !== this) playing.stop();
    playing = this;
    if (this.failed) { this.failed = false; this.audio.load(); }
    this.audio.currentTime = 0; this.last = 0;
    try { await this.audio.play(); } catch { if (playing === this) { this.failed = true; this.changed(); } }
  }

  stop() { this.audio.pause(); if (playing === this) playing = null; }
}

export function silence() { if (playing) playing.stop(); }

export function listening(sounds, since) {
  const whole = value => Math.round(value);
  return {
    played_ms: Object.fromEntries(sounds.map(s => [s.id, whole(s.playedMs)])),
    plays: Object.fromEntries(sounds.map(s => [s.id, s.plays])),
    page_ms: whole(performance.now() - since),
  };
}

// a round button, the name of the sound, how far it is
export function player(sound, name, hint = "") {
  const button = el("button", { type: "button", "aria-label": `Play ${name}` }, icon(PLAY));
  const bar = el("progress", { max: 1, value: 0, "aria-label": `How far ${name} is` });
  const state = el("span", { class: "state" }, "Not heard yet");
  const whole = el("div", { class: "player" }, button, el("div", { class: "words" }, el("b", {}, name), hint ? el("span", { class: "soft" }, hint) : null, state, bar));
  button.addEventListener("click", () => sound.toggle());
  const before = sound.changed;
  let runs = false;
  sound.changed = () => {
    if (sound.running !== runs) {  // only then: whoever is just pressing the button presses the same one
      runs = sound.running;
      button.replaceChildren(icon(runs ? STOP : PLAY));
      button.setAttribute("aria-label", `${runs ? "Stop" : "Play"} ${name}`);
    }
    fill(bar, sound.share, 1);
    const first = sound.heard && !whole.classList.contains("heard");
    whole.classList.toggle("heard", sound.heard);
    state.textContent = sound.failed ? "Could not be played; try again" : sound.running ? "Playing …" : sound.heard ? "Heard" : "Not heard yet";
    if (first) say(`${name} heard`);
    before();
  };
  return whole;
}

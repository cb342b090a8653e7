// A/B/X: whose voice is X, that of A or that of B?
import { el } from "./dom.js";
import { Sound, player } from "./player.js";

export function abx(state, changed) {
  let choice = null, ready = () => {};
  const sounds = state.sounds.map(s => new Sound(s, () => ready()));
  const by = Object.fromEntries(state.sounds.map((s, i) => [s.part, sounds[i]]));
  const inputs = ["A", "B"].map(name => el("input", { type: "radio", name: "choice", value: name, disabled: true, "aria-label": `X is the speaker of ${name}`,
    onchange: () => { choice = name; changed(); } }));
  const sides = ["A", "B"].map((name, i) => el("section", { class: "card" }, player(by[name], name),
    el("label", { class: "choice" }, inputs[i], el("span", { "aria-hidden": "true" }, `X is ${name}`))));
  ready = () => { const all = sounds.every(s => s.heard); inputs.forEach(input => { input.disabled = !all; }); changed(); };
  return {
    heading: "Who is X?",
    hint: el("span", {}, "X may sound changed. Which of the two speakers is it?", el("span", { class: "keys" }, " Keys: ", el("kbd", {}, "x"), " ", el("kbd", {}, "a"), " ", el("kbd", {}, "b"), " play.")),
    content: [el("section", { class: "card" }, player(by.X, "X")), el("div", { class: "pair", role: "radiogroup", "aria-label": "Who is X?" }, sides)],
    sounds,
    keys: key => { const sound = by[key.toUpperCase()]; if (sound) sound.toggle(); return Boolean(sound); },
    answer: () => ({ choice }),
    complete: () => choice !== null && sounds.every(s => s.heard),
    missing: () => sounds.every(s => s.heard) ? "Choose A or B to go on." : "Listen to all three to the end first.",
  };
}

// A/B/X: whose voice is X, that of A or that of B? And expression: which of A and B is said like X?
import { el } from "./dom.js";
import { Sound, player } from "./player.js";

const SPEAKER = {
  heading: "Who is X?", hint: "X may sound changed. Which of the two speakers is it?",
  choice: name => `X is ${name}`, label: name => `X is the speaker of ${name}`,
};
const EXPRESSION = {
  heading: "Which is said like X?", hint: "The voices differ. Listen to how it is said: mood, melody, emphasis.",
  choice: name => `${name} is said like X`, label: name => `${name} is said like X`,
};

export const abx = (state, changed) => triplet(state, changed, SPEAKER);
export const expression = (state, changed) => triplet(state, changed, EXPRESSION);

function triplet(state, changed, words) {
  let choice = null, ready = () => {};
  const sounds = state.sounds.map(s => new Sound(s, () => ready()));
  const by = Object.fromEntries(state.sounds.map((s, i) => [s.part, sounds[i]]));
  const inputs = ["A", "B"].map(name => el("input", { type: "radio", name: "choice", value: name, disabled: true, "aria-label": words.label(name),
    onchange: () => { choice = name; changed(); } }));
  const sides = ["A", "B"].map((name, i) => el("section", { class: "card" }, player(by[name], name),
    el("label", { class: "choice" }, inputs[i], el("span", { "aria-hidden": "true" }, words.choice(name)))));
  ready = () => { const all = sounds.every(s => s.heard); inputs.forEach(input => { input.disabled = !all; }); changed(); };
  return {
    heading: words.heading,
    hint: el("span", {}, words.hint, el("span", { class: "keys" }, " Keys: ", el("kbd", {}, "x"), " ", el("kbd", {}, "a"), " ", el("kbd", {}, "b"), " play.")),
    content: [el("section", { class: "card" }, player(by.X, "X")), el("div", { class: "pair", role: "radiogroup", "aria-label": words.heading }, sides)],
    sounds,
    keys: key => { const sound = by[key.toUpperCase()]; if (sound) sound.toggle(); return Boolean(sound); },
    answer: () => ({ choice }),
    complete: () => choice !== null && sounds.every(s => s.heard),
    missing: () => sounds.every(s => s.heard) ? "Choose A or B to go on." : "Listen to all three to the end first.",
  };
}

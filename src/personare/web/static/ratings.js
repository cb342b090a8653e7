// Ratings: the unified test (three scales from 1 to 10, two recordings) and MOS (two scales from 1 to 5, one recording).
import { el } from "./dom.js";
import { Sound, player } from "./player.js";

const SCALES = {
  intelligibility: ["How well can you understand what is said?", "totally unintelligible", "totally intelligible"],
  naturalness: ["How natural does it sound?", "totally unnatural", "totally natural"],
  similarity: ["Is it the same speaker in both recordings?", "different speakers", "the same speaker"],
};

function scale(name, top, answers, changed) {
  const [question, low, high] = SCALES[name];
  const marks = Array.from({ length: top }, (_, i) => i + 1);
  const row = el("div", { class: "scale" }, marks.map(value => el("label", {},
    el("input", { type: "radio", name, value, "aria-label": `${value} of ${top}${value === 1 ? `, ${low}` : value === top ? `, ${high}` : ""}`,
      onchange: () => { answers[name] = value; changed(); } }), el("span", { "aria-hidden": "true" }, String(value)))));
  return el("fieldset", { disabled: true }, el("legend", {}, question), row,
    el("div", { class: "ends", "aria-hidden": "true" }, el("span", {}, `1: ${low}`), el("span", {}, `${top}: ${high}`)));
}

export function ratings(state, changed) {
  const unified = state.test === "unified", top = unified ? 10 : 5;
  const answers = {};
  let ready = () => {};
  const sounds = state.sounds.map(s => new Sound(s, () => ready()));
  const under = sounds[state.sounds.findIndex(s => s.part === "trial")];
  const other = unified ? sounds[state.sounds.findIndex(s => s.part === "enrolment")] : null;
  const update = () => changed();
  const first = ["intelligibility", "naturalness"].map(name => scale(name, top, answers, update));
  const cards = [el("section", { class: "card" }, player(under, unified ? "Recording 1" : "Recording"), first)];
  let alike = null;
  if (unified) {
    alike = scale("similarity", top, answers, update);
    cards.push(el("section", { class: "card" }, player(other, "Recording 2"), alike));
  }
  ready = () => {
    first.forEach(field => { field.disabled = !under.heard; });
    if (alike) alike.disabled = !(under.heard && other.heard);
    changed();
  };
  const needed = unified ? 3 : 2;
  return {
    heading: unified ? "Listen, then rate" : "Listen and rate",
    hint: unified ? "Rate the first recording, then compare its speaker with that of the second one." : "Rate what you hear; there is no right answer.",
    content: cards, sounds,
    answer: () => answers,
    complete: () => sounds.every(s => s.heard) && Object.keys(answers).length === needed,
    missing: () => sounds.every(s => s.heard) ? "Give every rating to go on." : "Listen to everything to the end first.",
  };
}

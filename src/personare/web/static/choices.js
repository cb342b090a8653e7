// How voices are hidden: one of three strengths, or another method by its name.
import { el } from "./dom.js";

const percent = value => value === null ? "not measured" : `${Number(value).toFixed(1)} %`;
const needs = (command, id) => command ? el("p", { class: "missing", id }, "Needs: ", el("code", {}, command)) : null;

function card(one, chosen, choose) {
  const about = `about-${one.name}`, lacking = one.missing.length ? `needs-${one.name}` : "";
  return el("label", { class: "strength" }, el("input", { type: "radio", name: "strength", value: one.name, checked: chosen, "aria-label": one.name, "aria-describedby": `${about} ${lacking}`.trim(), onchange: choose }),
    el("b", {}, one.name), el("div", { id: about }, el("p", { class: "soft" }, one.meaning),
      el("dl", {}, el("dt", {}, "attacker wrong"), el("dd", {}, percent(one.attacker_errs)), el("dt", {}, "words wrong"), el("dd", {}, percent(one.words_wrong)), el("dt", {}, "languages"), el("dd", {}, one.languages.length ? one.languages.join(", ") : "any"))),
    lacking ? needs(`personare models fetch ${one.missing.join(" ")}`, lacking) : null);
}

function method(one, chosen, choose) {
  const about = `about-method-${one.name}`, lacking = one.needs ? `needs-method-${one.name}` : "";
  return el("label", { class: one.needs ? "method absent" : "method" }, el("input", { type: "radio", name: "method", value: one.name, checked: chosen, disabled: Boolean(one.needs), "aria-label": one.name, "aria-describedby": `${about} ${lacking}`.trim(), onchange: choose }),
    el("span", {}, el("b", {}, one.name), el("span", { class: "soft", id: about }, one.summary), needs(one.needs, lacking)));
}

// the cards; choice() says what is chosen as the server takes it, or null where nothing can be; changed() is called after each choice
export function choices(job, { strengths, methods }, changed) {
  const ready = methods.filter(one => !one.needs).map(one => one.name);
  let strength = job.method ? "" : job.strength, name = ready.includes(job.method) ? job.method : ready[0] || "";
  const list = el("fieldset", { class: "methods", hidden: !job.method }, el("legend", {}, "Which one?"), methods.map(one => method(one, one.name === name, () => { name = one.name; changed(); })));
  const choose = which => { strength = which; list.hidden = Boolean(which); changed(); };
  const other = el("div", { class: "strength other" },
    el("label", {}, el("input", { type: "radio", name: "strength", value: "", checked: Boolean(job.method), "aria-label": "Another method", "aria-describedby": "about-other", onchange: () => choose("") }),
      el("b", {}, "Another method"), el("p", { class: "soft", id: "about-other" }, `${methods.filter(one => !one.paper).map(one => one.name).join(", ")}, and the systems of papers by their names: for who knows what they do. How well they protect is for attackers to find out: let them listen.`)), list);
  const shown = el("fieldset", { class: "strengths" },
    el("legend", {}, "What was measured of the three strengths: how often the best of our attackers is wrong about who speaks (50 % is guessing: nobody is recognised), and how many words a recognizer gets wrong."),
    strengths.map(one => card(one, one.name === strength, () => choose(one.name))), methods.length ? other : null);
  return { shown, choice: () => strength ? { strength } : name ? { method: name } : null };
}

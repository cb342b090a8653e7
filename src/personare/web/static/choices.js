// How voices are hidden: one of three strengths, or another method by its name; and in which language people speak.
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

// what the status of a language means
const STATUS = { measured: "its figures were measured on real recordings", usable: "its figures were measured on synthetic speech", experimental: "many words may be lost: listen before you rely on it" };

// the language of the recordings: detected, or one for all; used() is true where the choice transcribes speech, else says what the language is for
function language(job, languages, used) {
  const about = el("p", { class: "soft", id: "about-language" }), lacking = el("div");
  const chosen = el("select", { id: "language", "aria-describedby": "about-language", onchange: () => tell() }, el("option", { value: "" }, "Detect it, unless the corpus names it"), languages.map(one => el("option", { value: one.code, selected: one.code === job.language }, `${one.name} (${one.status})`)));
  function tell() {
    const one = languages.find(row => row.code === chosen.value);
    about.textContent = used() !== true ? used() : one ? `All recordings are taken for ${one.name}. ${one.status[0].toUpperCase()}${one.status.slice(1)}: ${STATUS[one.status] || ""}.` : "Recordings in a language that is not in this list are rejected, and counted.";
    lacking.replaceChildren(...(used() === true && one && one.missing.length ? [needs(`personare models fetch --language ${one.code}`, "needs-language")] : []));
  }
  tell();
  return { shown: el("div", { class: "language" }, el("label", { for: "language" }, el("b", {}, "Language of the recordings")), chosen, about, lacking), code: () => chosen.value, tell };
}

// the cards; choice() says what is chosen as the server takes it, or null where nothing can be; changed() is called after each choice
export function choices(job, { strengths, methods, languages }, changed) {
  const ready = methods.filter(one => !one.needs).map(one => one.name);
  let strength = job.method ? "" : job.strength, name = ready.includes(job.method) ? job.method : ready[0] || "";
  const list = el("fieldset", { class: "methods", hidden: !job.method }, el("legend", {}, "Which one?"), methods.map(one => method(one, one.name === name, () => { name = one.name; changed(); })));
  const spoken = language(job, languages, () => !strength ? "Methods that transcribe speech use it; the others work in any language." : strengths.some(one => one.name === strength && one.languages.length) || `${strength} works in any language.`);
  const choose = which => { strength = which; list.hidden = Boolean(which); spoken.tell(); changed(); };
  const other = el("div", { class: "strength other" },
    el("label", {}, el("input", { type: "radio", name: "strength", value: "", checked: Boolean(job.method), "aria-label": "Another method", "aria-describedby": "about-other", onchange: () => choose("") }),
      el("b", {}, "Another method"), el("p", { class: "soft", id: "about-other" }, `${methods.filter(one => !one.paper).map(one => one.name).join(", ")}, and the systems of papers by their names: for who knows what they do. How well they protect is for attackers to find out: let them listen.`)), list);
  const shown = el("fieldset", { class: "strengths" },
    el("legend", {}, "What was measured of the three strengths: how often the best of our attackers is wrong about who speaks (50 % is guessing: nobody is recognised), and how many words a recognizer gets wrong."),
    strengths.map(one => card(one, one.name === strength, () => choose(one.name))), methods.length ? other : null);
  const by = () => strength ? { strength } : name ? { method: name } : null;
  return { shown: [shown, spoken.shown], choice: () => by() && { ...by(), language: spoken.code() } };
}

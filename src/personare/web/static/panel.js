// The listening panel: invitation, consent, headphones, one trial after the other, the end.
import { ask, el, fill, problem, sentence, say } from "./dom.js";
import { Sound, listening, player, silence } from "./player.js";
import { ratings } from "./ratings.js";
import { abx, expression } from "./abx.js";
import { clustering } from "./clustering.js";

const main = document.getElementById("main");
const TESTS = { unified: ratings, mos: ratings, abx, expression, clustering };
const WORDS = {
  unified: ["You will hear short recordings of people speaking, some of them changed by a program. You rate how well you understand them, how natural they sound, and whether two recordings are of the same speaker.", 30],
  mos: ["You will hear short recordings of people speaking, some of them changed by a program. You rate how well you understand each of them and how natural it sounds.", 15],
  abx: ["You will hear three recordings at a time: X, A and B. X may have been changed by a program. You say whether X is the speaker of A or of B.", 25],
  expression: ["You will hear three recordings at a time: X is a person speaking, A and B are two versions of the same words by a program, in another voice. You say which of the two is said like X: its mood, its melody, its emphasis.", 25],
  clustering: ["You will hear short recordings and put those of the same speaker together. Some of them were changed by a program.", 240],
};
let keys = null;

document.addEventListener("keydown", event => {
  if (!keys || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "radio") return;
  if (keys(event.key)) event.preventDefault();
});

function show(...content) {
  silence(); keys = null;
  main.replaceChildren(...content.flat().filter(Boolean));
  main.focus({ preventScroll: true }); window.scrollTo(0, 0);
  say(main.querySelector("h1")?.textContent || "");
}

function progress(state) {
  const place = document.getElementById("progress"), bar = document.getElementById("bar");
  place.hidden = state.total === undefined;
  if (place.hidden) return;
  fill(bar, state.done, state.total);
  document.getElementById("bar-words").textContent = state.step === "done" ? "All done" : `${state.done + 1} of ${state.total}`;
}

const contact = state => state.contact ? el("p", { class: "soft" }, `Questions: ${state.contact}`) : null;

function consent(state) {
  const [words, each] = WORDS[state.test];  // seconds a step
  const minutes = Math.ceil(state.trials * each / 60);
  const agree = el("input", { type: "checkbox", id: "agree", onchange: () => { go.disabled = !agree.checked; } });
  const go = el("button", { class: "main", type: "button", disabled: true, onclick: () => send("api/consent", { agree: true, native }, go) }, "Begin");
  let native = null;
  const asked = state.language ? el("fieldset", {}, el("legend", {}, `Is ${state.language} your first language?`),
    el("div", { class: "choices" }, [["yes", true], ["no", false], ["I would rather not say", null]].map(([word, value]) => el("label", {},
      el("input", { type: "radio", name: "native", checked: value === null, onchange: () => { native = value; } }), word)))) : null;
  show(el("h1", {}, "Before you begin"), el("p", {}, words),
    el("ul", {}, el("li", {}, `It takes about ${minutes} minute${minutes > 1 ? "s" : ""}, ${state.trials} steps. You may close the page and go on later with the same invitation.`),
      el("li", {}, "Use headphones in a quiet place."), el("li", {}, "Nobody tests you: say what you hear."),
      el("li", {}, "Every recording must be heard to the end before you can answer; you may hear it again as often as you like.")),
    el("section", { class: "card" }, el("h2", { class: "first" }, "Your consent"), el("p", {}, state.consent), contact(state), asked,
      el("p", {}, el("label", { class: "agree" }, agree, " I am of age, have read this, and take part of my own free will."))),
    el("div", { class: "actions" }, go));
}

function headphones(state) {
  const choices = state.sounds.map(() => null);
  const go = el("button", { class: "main", type: "button", disabled: true, onclick: () => send("api/headphones", { choices }, go) }, "Go on");
  const rounds = state.sounds.map((given, i) => {
    const field = el("fieldset", { disabled: true }, el("legend", {}, "Which tone was the quietest?"),
      el("div", { class: "scale" }, ["first", "second", "third"].map((name, k) => el("label", {},
        el("input", { type: "radio", name: `round-${i}`, value: k + 1, "aria-label": `The ${name} tone`, onchange: () => { choices[i] = k + 1; go.disabled = choices.includes(null); } }),
        el("span", { "aria-hidden": "true" }, name)))));
    const sound = new Sound(given, () => { field.disabled = !sound.heard; });
    return el("section", { class: "card" }, player(sound, `Three tones, round ${i + 1}`), field);
  });
  show(el("h1", {}, "Are your headphones on?"),
    el("p", {}, "Set the volume so that the tones are comfortable. One of the three tones in each round is quieter than the others; over loudspeakers it is hard to tell which."),
    state.again ? el("div", { class: "error", role: "alert" }, "That was not right. Please put your headphones on and try once more.") : null, rounds,
    el("div", { class: "actions" }, go));
}

function trial(state) {
  const since = performance.now();
  const hint = el("p", { class: "soft", id: "missing", "aria-live": "polite" });
  const go = el("button", { class: "main", type: "button", "aria-describedby": "missing" }, "Next");
  let test = null;
  const changed = () => { if (!test) return; const ok = test.complete(); go.disabled = !ok; const words = ok ? "" : test.missing(); if (hint.textContent !== words) hint.textContent = words; };
  test = TESTS[state.test](state, changed);
  go.addEventListener("click", () => send("api/answer", { trial: state.trial, answer: test.answer(), listening: listening(test.sounds, since) }, go));
  show(el("h1", {}, test.heading), el("p", { class: "soft" }, test.hint), test.content, el("div", { class: "actions" }, go, hint));
  keys = test.keys || null;
  changed();
}

function done(state) {
  show(el("h1", {}, "Thank you!"), el("p", {}, "Your answers are saved. You can close this page."),
    el("section", { class: "card" }, el("p", {}, "Should you want your answers to be deleted later, keep this token and name it:"), el("p", { class: "token" }, state.evaluator), contact(state)));
}

async function overview(state) {
  const found = await ask("api/overview");
  const rows = found.evaluators.map(p => el("tr", {}, el("th", { scope: "row" }, p.evaluator), el("td", { class: "n" }, p.total ? `${p.done} of ${p.total}` : "not begun"),
    el("td", {}, p.headphones === null ? "-" : p.headphones ? "passed" : "not passed")));
  const ended = found.evaluators.filter(p => p.total && p.done === p.total).length;
  show(el("h1", {}, "Who is how far"), el("p", {}, `${found.evaluators.length} invited, ${found.evaluators.filter(p => p.done).length} began, ${ended} ended.`),
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "evaluator"), el("th", { scope: "col", class: "n" }, "answers"), el("th", { scope: "col" }, "headphones"))), el("tbody", {}, rows))),
    el("div", { class: "actions" }, el("button", { type: "button", onclick: () => overview(state) }, "Load again")));
}

const STEPS = { consent, headphones, trial, done, overview };

function step(state) {
  document.title = state.title; document.getElementById("title").textContent = state.title;
  progress(state);
  return STEPS[state.step](state);
}

// the answer stays on the page until the server has it
async function send(path, body, button) {
  button.disabled = true;
  try { step(await ask(path, body)); } catch (error) {
    if (error.status === 409) { begin(); return; }
    button.disabled = false; problem(main, error);
  }
}

async function begin() {
  const token = location.hash.slice(1);
  try {
    if (token) { await ask("api/enter", { token }); history.replaceState(null, "", location.pathname); }
    await step(await ask("api/state"));
  } catch (error) {
    show(el("h1", {}, error.status === 401 ? "By invitation only" : "This does not work"),
      el("p", {}, error.status === 401 ? "Please open the link that you were sent." : sentence(error.message)),
      error.status === 0 ? el("div", { class: "actions" }, el("button", { type: "button", onclick: begin }, "Try again")) : null);
  }
}

window.addEventListener("hashchange", begin);
begin();

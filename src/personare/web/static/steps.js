// The steps of a job: people, strength or method, hiding, attackers, what may be given away.
import { choices } from "./choices.js";
import { ask, el, fill, problem, say, sentence } from "./dom.js";
import { draw } from "./spectrogram.js";

const RULES = [["", "As the folder is laid out"], ["folder", "Each folder is a person"], ["last-folder", "Each innermost folder is a person"], ["file", "Each file is a person"], ["channel", "Each channel is a person (calls)"]];
const number = value => Number(value).toLocaleString("en");
const unbroken = words => words.replace(/(\d) %/g, "$1\u00a0%");  // a number stays with its unit
const remarks = notes => notes.length === 1 ? "1 remark" : `${notes.length} remarks`;
const time = seconds => !seconds ? "" : seconds < 90 ? `about ${seconds} s left` : seconds < 5400 ? `about ${Math.round(seconds / 60)} min left` : `about ${(seconds / 3600).toFixed(1)} h left`;

export const STEPS = ["Recordings", "People", "Strength", "Hide", "Attack", "Verdict"];

// which step a job is at, by what has ended
export function stepOf(job) {
  const good = phase => job.ended[phase] && job.ended[phase].ok;
  if (good("attack")) return 5;
  if (good("hide")) return job.phase === "attack" || job.chosen === 4 ? 4 : 4;
  if (job.phase === "hide" && !good("hide")) return 3;
  if (job.phase === "preview") return 2;
  if (good("read")) return job.chosen === 2 ? 2 : 1;
  return 0;
}

export function act(job, body, page) {
  return ask(`api/jobs/${job.id}/act`, body).then(page.refresh, error => problem(page.main, error));
}

function failure(job, phase) {
  const ended = job.ended[phase];
  return ended && !ended.ok ? el("div", { class: "error", role: "alert" }, el("strong", {}, "This does not work. "), sentence(ended.error)) : null;
}

// progress with the buttons that fit: pause, resume, cancel
export function work(job, page, words) {
  const state = el("p", { id: "work" }), bar = el("progress", { "aria-label": words });
  const button = (label, action, main) => el("button", { type: "button", class: main ? "main" : "", onclick: () => act(job, { action }, page) }, label);
  page.tell = now => {  // only the words and the bar: a button that is being pressed stays the same button
    const p = now.progress || {}, running = now.status === "running";
    const count = p.total ? `${number(p.done)} of ${number(p.total)}${p.failed ? `, ${number(p.failed)} failed` : ""}` : "";
    state.textContent = running ? [p.label || words, count, time(p.left_s)].filter(Boolean).join(" · ") : now.status === "paused" ? `Paused${count ? ` at ${count}` : ""}.` : "Interrupted; nothing is lost.";
    bar.hidden = !running && !p.total;
    fill(bar, p.share, 1);
  };
  page.tell(job);
  return el("section", { class: "card" }, state, bar,
    el("div", { class: "actions" }, job.status === "running" ? button("Pause", "pause") : button("Go on", "resume", true),
      el("button", { type: "button", onclick: () => confirm("Stop, and remove what was made so far?") && act(job, { action: "cancel" }, page).then(() => job.phase === "hide" && page.go(2)) }, "Cancel")));
}

export function reading(job, page) {
  if (failure(job, "read")) return [failure(job, "read"), rule(job, page)];
  return [work(job, page, "Looking at the recordings")];
}

function rule(job, page) {
  const known = RULES.some(([value]) => value === job.rule);
  const pattern = el("input", { type: "text", value: known ? "" : job.rule, placeholder: "{speaker}_{rest}", "aria-label": "Pattern of file names" });
  const chosen = el("select", { "aria-label": "Who speaks" }, RULES.map(([value, words]) => el("option", { value, selected: value === job.rule }, words)), el("option", { value: "*", selected: !known }, "By a pattern of file names"));
  chosen.addEventListener("change", () => { pattern.hidden = chosen.value !== "*"; });
  pattern.hidden = known;
  return el("div", { class: "row" }, chosen, pattern, el("button", { type: "button", onclick: () => act(job, { action: "read", chosen: true, rule: chosen.value === "*" ? pattern.value : chosen.value }, page) }, "Look again"));
}

// every recording that was found, by its outcome; names only here, on the owner's page
const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
const named = (names, count) => el("ul", {}, names.map(name => el("li", {}, name)), count > names.length ? el("li", { class: "soft" }, `and ${number(count - names.length)} more`) : null);

// names by outcome and reason; a reason that begins with the file's path says it without
function reasons(excluded) {
  const groups = new Map();
  for (const { name, outcome, reason } of excluded) {
    const why = `${outcome}, ${reason.replace(/^[^:]*[/\\][^:]*: /, "")}`;
    groups.set(why, [...(groups.get(why) || []), name]);
  }
  return [...groups];
}

function account(job) {
  const found = job.ended.read, others = job.refused.filter(one => !one.recording);
  const outcomes = { unreadable: found.unreadable, rejected: found.rejected || 0, "left out": found.left_out }, unused = Object.values(outcomes).reduce((sum, count) => sum + count);
  const parts = [`${plural(found.recordings, "recording")} to anonymize`, ...Object.entries(outcomes).filter(([, count]) => count).map(([name, count]) => `${number(count)} ${name}`)];
  return [unused ? el("section", { class: "card stays", id: "account" }, el("p", {}, el("strong", {}, `${plural(found.found, "recording")} found: `), `${parts.join(", ")}.`),
    found.left_out ? el("p", {}, "Left out: nothing says who speaks in them. Choose another rule below to include them.") : null,
    el("ul", {}, reasons(found.excluded).map(([why, names]) => el("li", {}, el("b", {}, `${why}: `), names.join(", "))), unused > found.excluded.length ? el("li", { class: "soft" }, `and ${number(unused - found.excluded.length)} more`) : null)) : null,
  others.length ? el("p", { class: "soft" }, `${plural(others.length, "file")} that ${others.length === 1 ? "is no recording was" : "are no recordings were"} not copied.`) : null];
}

function severalSpeakers(job, page) {
  const found = job.ended.read, channel = value => () => act(job, { action: "read", chosen: true, rule: value }, page);
  const calls = found.by_channel ? el("section", { class: "card", id: "calls" }, el("p", {}, el("strong", {}, `${plural(found.calls, "two-channel recording")} ${found.calls === 1 ? "has" : "have"} another person on each channel. `), "Each channel is a person and gets a voice of its own. Is that right?"), el("div", { class: "actions" }, el("button", { type: "button", onclick: channel("file") }, "No, each file is one person")))
    : found.calls && job.rule !== "channel" ? el("section", { class: "card stays", id: "calls" }, el("p", {}, el("strong", {}, `${plural(found.calls, "two-channel recording")} ${found.calls === 1 ? "has" : "have"} another person on each channel. `), "Both would get the same new voice."), el("div", { class: "actions" }, el("button", { type: "button", onclick: channel("channel") }, "Each channel is a person"))) : null;
  const several = !found.speakers_checked ? el("p", { class: "soft", id: "several" }, "More than one speaker on a channel: not checked (personare models fetch segmentation wespeaker).")
    : found.several_count ? el("section", { class: "card stays", id: "several" }, el("p", {}, el("strong", {}, `More than one person seems to speak on one channel of ${plural(found.several_count, "recording")}. `), "All of them would get the same new voice. Split these recordings by speaker first, or leave them out."), named(found.several, found.several_count)) : null;
  return [calls, several];
}

export function people(job, page) {
  const found = job.ended.read;
  const body = el("tbody"), more = el("p", { class: "soft" });
  const search = el("input", { type: "search", placeholder: "Find a person", "aria-label": "Find a person" });
  let start = 0;
  async function load(again) {
    if (again) { start = 0; body.replaceChildren(); }
    const part = await ask(`api/jobs/${job.id}/people?from=${start}&search=${encodeURIComponent(search.value)}`).catch(error => { problem(page.main, error); return { people: [], total: 0 }; });
    start += part.people.length;
    body.append(...part.people.map(person => {
      const name = el("input", { type: "text", value: person.name, "aria-label": `Name of ${person.found}`, maxlength: 200 });
      name.addEventListener("change", () => ask(`api/jobs/${job.id}/act`, { action: "name", found: person.found, name: name.value }).then(() => say(`${person.found} is ${name.value}`), error => { name.value = person.name; problem(page.main, error); }));
      return el("tr", {}, el("th", { scope: "row" }, person.found), el("td", {}, name), el("td", { class: "n", "data-label": "recordings" }, number(person.recordings)));
    }));
    more.hidden = start === found.people;
    more.replaceChildren(`${number(start)} of ${number(part.total)} people shown. `, start < part.total ? el("button", { type: "button", onclick: () => load(false) }, "Show more") : "");
  }
  search.addEventListener("input", () => { clearTimeout(search.wait); search.wait = setTimeout(() => load(true), 250); });
  load(true);
  return [el("h1", {}, `${number(found.people)} ${found.people === 1 ? "person" : "people"} in ${plural(found.recordings, "recording")}`), account(job), severalSpeakers(job, page),
    el("p", {}, "Is that right? Each person gets one new voice. Give two of them the same name if they are one person, or say where the name stands:"), rule(job, page),
    found.notes.length ? el("details", {}, el("summary", {}, remarks(found.notes)), el("ul", {}, found.notes.map(note => el("li", {}, note)))) : null,
    el("section", { class: "card" }, found.people > 10 ? el("div", { class: "row" }, search) : null, el("div", { class: "scroll" }, el("table", { class: "people" }, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "found as"), el("th", { scope: "col" }, "name"), el("th", { scope: "col", class: "n" }, "recordings"))), body)), more),
    el("div", { class: "actions" }, el("button", { class: "main", type: "button", onclick: () => page.go(2) }, "That is right"))];
}

export function strength(job, page) {
  const ended = job.ended.preview, busy = job.phase === "preview" && job.status === "running", by = ended && [ended.method || ended.strength, ended.language && (page.languages.find(one => one.code === ended.language) || { name: ended.language }).name].filter(Boolean).join(", ");
  const rejected = ended && ended.ok && ended.failed.length ? el("section", { class: "card stays", id: "rejected" }, el("p", {}, el("strong", {}, `${plural(ended.failed.length, "recording")} could not be anonymized with ${by}:`)), named(ended.failed.map(one => `${one.recording}: ${one.reason}`), ended.failed.length)) : null;
  const sounds = ended && ended.ok ? ended.sounds.map((sound, i) => el("section", { class: "card" }, el("h2", { class: "first" }, sound.speaker), sound.whole ? null : el("p", { class: "soft" }, "Only these seconds were tried; all of the recording is judged when everything is hidden."),
    el("div", { class: "before-after" }, ["before", "after"].map(kind => {
      const address = `api/jobs/${job.id}/sound/${i}/${kind}?${encodeURIComponent(by)}`, canvas = el("canvas", { role: "img", "aria-label": `Spectrogram ${kind}, ${sound.speaker}` });
      draw(canvas, address).catch(() => canvas.remove());
      return el("div", { class: "sound" }, el("b", {}, kind === "before" ? "Before" : `After (${by})`), canvas, el("audio", { controls: true, preload: "auto", src: address, "aria-label": `${kind}, ${sound.speaker}` }));
    })))) : [];
  const begin = action => () => act(job, { action, ...choice() }, page);
  const hear = el("button", { type: "button", onclick: begin("preview") }, sounds.length ? "Hear it with this choice" : "Hear three recordings first");
  const hide = el("button", { class: "main", type: "button", onclick: begin("hide") }, "Hide all voices");
  const allow = () => { for (const button of [hear, hide]) button.disabled = busy || !choice(); };
  const { shown, choice } = choices(job, page, allow);
  allow();
  return [el("h1", {}, "How strongly?"), shown,
    failure(job, "preview"), busy ? el("p", { id: "work" }, "Hiding three voices …") : null,
    el("div", { class: "actions" }, hear, hide, el("button", { type: "button", onclick: () => page.go(1) }, "Back")),
    rejected, sounds.length ? el("p", { class: "soft" }, "The seconds with most speech. Voices are drawn anew when everything is hidden.") : null, sounds];
}

export function hiding(job, page) {
  const failed = failure(job, "hide");
  return [el("h1", {}, failed ? "Voices could not be hidden" : job.status === "paused" ? "Paused" : "Voices are being hidden"), failed || work(job, page, "Hiding voices"),
    failed ? el("div", { class: "actions" }, el("button", { type: "button", onclick: () => act(job, { action: "cancel" }, page) }, "Choose again")) : el("p", { class: "soft" }, "You may close this page, or end the app: the work goes on where it was.")];
}

// what a verdict means for the person at this page, who types no commands; better: what else could be chosen
const VERDICTS = {
  "protected": ["good", "●", () => "Before you rely on it, try it with more people and other speech; keep the key apart."],
  "partly protected": ["warn", "◆", better => `Give away fewer recordings of each person, or choose ${better}.`],
  "not protected": ["bad", "▲", better => `Do not give it away as anonymous: choose ${better}, and let attackers listen again.`],
  "not decided": ["open", "○", () => "Hide recordings of more people, or more of each: so few prove nothing."],
};
// the mark of the whole verdict, voice and words; green only where neither is shown to identify anybody
const MARKS = { "not-shown": ["good", "●"], "partly": ["warn", "◆"], "exposed": ["bad", "▲"], "undecided": ["open", "○"] };
const WORDS = "The words identify people, whatever the voice: give away fewer recordings of each person.";
const identified = one => Boolean(one.by_words && one.by_words.shown === "exposed");
const judged = job => (job.ended.attack && job.ended.attack.ok && job.ended.attack.verdicts) || [];
const exposed = job => judged(job).some(one => one.protection === "not protected");

function verdict(one, job) {
  const [plain, sign, next] = VERDICTS[one.protection] || VERDICTS["not decided"], { method, strength } = job;
  const [kind, mark] = MARKS[one.tone] || [plain, sign];
  const strongest = strength === "strong" && plain !== "good" && plain !== "open";
  const words = plain === "good" && identified(one) ? WORDS : strongest ? "Do not give it away as anonymous, or give away fewer recordings of each person; there is no greater strength." : next(method ? "another method or a strength" : "a greater strength");
  const name = method || `${strength[0].toUpperCase()}${strength.slice(1)}`;
  return el("section", { class: `verdict ${kind}` }, el("h2", { class: "first" }, el("span", { "aria-hidden": "true" }, `${mark} `), `${name}: ${one.verdict || one.protection}`),
    el("p", {}, unbroken(one.sentence)), el("p", {}, el("b", {}, "Next: "), words));
}

function givenAway(job) {
  if (!job.ended.attack || !job.ended.attack.ok) return "Hidden; nothing is proved before attackers have listened:";
  if (exposed(job)) return "Hidden, but not protected; not to be given away as anonymous:";
  if (judged(job).some(identified)) return "Voices are hidden; the words still identify people:";
  return judged(job).some(one => one.protection === "not decided") ? "Hidden; whether that protects anybody is not proved yet:" : "May be given away:";
}

// the same counts as in the report and the PDF
function ledger(job) {
  const counts = job.ended.hide.ledger, attacked = job.ended.attack && job.ended.attack.ok && job.ended.attack.ledger;
  const rows = attacked ? Object.entries(attacked) : [["found", counts.found], ["left out", counts.left_out], ["unreadable", counts.unreadable], ["rejected", counts.rejected], ["failed", counts.failed], ["anonymized", counts.anonymized]].filter(([name, count]) => count || name === "found" || name === "anonymized");
  return el("dl", { class: "ledger", "aria-label": "Recordings" }, rows.map(([name, count]) => [el("dt", {}, name), el("dd", {}, number(count))]));
}

// recordings whose words or language are least certain: a person should hear whether the words are still the same
function uncertain(job) {
  const rows = job.ended.hide.uncertain || [];
  if (!rows.length) return null;
  return el("details", { id: "uncertain" }, el("summary", {}, `Listen to the ${plural(rows.length, "recording")} with the least certain words`),
    rows.map((one, i) => el("div", {}, el("p", {}, `${one.utterance}: ${one.language}, ${Math.round(100 * one.language_confidence)} % sure; words ${Math.round(100 * one.word_confidence)} % sure${one.omitted_s ? `; ${one.omitted_s} s omitted` : ""}`),
      el("div", { class: "before-after" }, ["before", "after"].map(kind => el("div", { class: "sound" }, el("b", {}, kind === "before" ? "Before" : "After"), el("audio", { controls: true, preload: "none", src: `api/jobs/${job.id}/sound/${i}/${kind}?of=uncertain`, "aria-label": `${kind}, ${one.utterance}` })))))));
}

function hidden(job) {
  const done = job.ended.hide;
  return el("section", { class: "card stays" }, el("p", {}, `${plural(done.done, "recording")} ${done.done === 1 ? "is" : "are"} hidden.`), ledger(job),
    done.several.length ? el("p", {}, `In ${plural(done.ledger.several_speakers, "recording")} more than one person speaks; they got the same new voice.`) : done.ledger.speakers_checked ? null : el("p", { class: "soft" }, "More than one speaker on a channel: not checked."),
    [done.languages, done.length].filter(Boolean).map(line => el("p", { class: "soft" }, line)), uncertain(job),
    done.failures.length ? el("details", { open: true }, el("summary", {}, "What failed"), named(done.failures, done.failed)) : null,
    el("p", {}, givenAway(job)), el("p", { class: "paths" }, done.folder), el("p", {}, el("strong", {}, "Must stay: "), "the key that links people and recordings. Delete it to cut the link."), el("p", { class: "paths" }, done.private));
}

const again = (job, page, main) => el("button", { type: "button", class: main ? "main" : "", onclick: () => confirm("Remove the hidden recordings, their key and the report, and choose again?") && act(job, { action: "again" }, page).then(() => page.go(2)) }, job.method ? "Choose another method" : "Choose another strength");

export function attacking(job, page) {
  const failed = failure(job, "attack"), busy = job.phase === "attack" && !failed && job.ended.attack === null;
  const lines = el("ul", { class: "lines" }), progress = busy ? work(job, page, "Attackers listen") : null, told = page.tell;
  const write = now => { const said = (now.progress && now.progress.lines) || []; lines.hidden = !said.length; lines.replaceChildren(...said.map(line => el("li", {}, unbroken(line)))); };
  write(job);
  page.tell = now => { if (busy) told(now); write(now); };
  return [el("h1", {}, busy ? "Attackers are listening" : "Can anybody be recognised?"),
    progress || el("p", {}, "Attackers can now try to find out who speaks in the hidden recordings: some know only the original voices, others know the method too, use it themselves and learn from it. It may take longer than hiding did."),
    lines, failed,
    busy ? null : el("div", { class: "actions" }, el("button", { class: "main", type: "button", onclick: () => act(job, { action: "attack" }, page) }, failed ? "Try again" : "Let attackers listen"), again(job, page)),
    hidden(job)];
}

export function result(job, page) {
  const done = job.ended.attack, table = done.tables[0];
  const words = judged(job).length ? judged(job).map(one => verdict(one, job)) : done.verdict.split("\n").filter(Boolean).map(line => el("p", { class: "verdict" }, line.replace(/`/g, "")));
  return [el("h1", {}, "The verdict"), words,
    el("div", { class: "actions" }, exposed(job) ? again(job, page, true) : null, el("a", { class: "button", href: `api/jobs/${job.id}/file/report`, target: "_blank", rel: "noopener" }, "Report"),
      done.evidence ? el("span", { class: "soft" }, done.evidence) : el("a", { class: "button", href: `api/jobs/${job.id}/file/evidence`, download: "evidence.pdf" }, "PDF evidence"),
      job.give_away ? el("a", { class: "button", href: `api/jobs/${job.id}/file/zip`, download: "anonymized.zip" }, judged(job).some(identified) ? "ZIP, words not hidden" : "ZIP to give away") : null, exposed(job) ? null : again(job, page)),
    table ? el("div", { class: "scroll numbers" }, el("table", { class: "stacked" }, el("thead", {}, el("tr", {}, table.head.map((name, i) => el("th", { scope: "col", class: i && table.rows.every(row => /^[\d-]/.test(row[i])) ? "n" : "" }, name)))), el("tbody", {}, table.rows.map(row => el("tr", {}, row.map((cell, i) => el(i ? "td" : "th", i ? { class: /^[\d-]/.test(cell) ? "n" : "", "data-label": table.head[i] } : { scope: "row" }, cell))))))) : null,
    hidden(job), done.notes.length ? el("details", {}, el("summary", {}, remarks(done.notes)), el("ul", {}, done.notes.map(note => el("li", {}, note)))) : null];
}

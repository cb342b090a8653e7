// The app: choose recordings, then one step after the other; everything is kept on the machine, in a folder.
import { ask, el, fill, problem, say, sentence } from "./dom.js";
import { STEPS, act, attacking, hiding, people, reading, result, stepOf, strength, work } from "./steps.js";

const main = document.getElementById("main"), PIECE = 4 * 1024 * 1024, EVERY_MS = 700;
const page = { main, strengths: [], methods: [], languages: [], tell: () => {}, refresh: update, go: step => { wanted = step; seen = ""; update(); } };
let current = null, wanted = null, seen = "", timer = null, asked = 0;

function show(...content) {
  const focused = document.activeElement && main.contains(document.activeElement) ? document.activeElement.textContent : null;
  main.replaceChildren(...content.flat(2).filter(Boolean));
  const again = focused && [...main.querySelectorAll("button, a")].find(one => one.textContent === focused);
  if (again) again.focus(); else main.focus({ preventScroll: true });
}

const bar = at => el("ol", { class: "steps", "aria-label": "Steps" }, STEPS.map((name, i) => el("li", { class: i < at ? "past" : i === at ? "now" : "", "aria-current": i === at ? "step" : null }, name)));

async function home() {
  current = null; wanted = null; seen = ""; asked += 1; clearTimeout(timer);
  const state = await ask("api/state");
  Object.assign(page, { strengths: state.strengths, methods: state.methods, languages: state.languages });
  document.getElementById("place").textContent = state.folder;
  const files = el("input", { type: "file", multiple: true, id: "files", "aria-label": "Choose files", onchange: () => upload([...files.files].map(file => [file.name, file])) });
  const folder = el("input", { type: "file", webkitdirectory: true, id: "folder", "aria-label": "Choose a folder to copy", onchange: () => upload([...folder.files].map(file => [file.webkitRelativePath.split("/").slice(1).join("/") || file.name, file])) });
  const drop = el("section", { class: "drop" }, el("h2", { class: "first" }, "Drop recordings here"), el("p", { class: "soft" }, `Nothing leaves this machine. Copies are deleted with their job, or ${state.days} days after its last change.`),
    el("div", { class: "actions" }, files, folder, el("button", { type: "button", onclick: () => files.click() }, "Choose files"), el("button", { type: "button", onclick: () => folder.click() }, "Choose a folder to copy")));
  drop.addEventListener("dragover", event => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", async event => { event.preventDefault(); drop.classList.remove("over"); upload(await dropped(event.dataTransfer)); });
  const jobs = state.jobs.map(job => el("li", { class: "card" }, el("div", {}, el("b", {}, job.title), el("p", { class: "soft" }, `${STEPS[stepOf(job)]}${job.status === "running" ? ", at work" : job.status === "paused" ? ", paused" : ""} · ${new Date(1000 * job.created).toLocaleString()}`)),
    el("div", { class: "row" }, el("button", { type: "button", "aria-label": `Open ${job.title}`, onclick: () => open(job.id) }, "Open"), el("button", { type: "button", "aria-label": `Remove ${job.title}`, onclick: () => remove(job) }, "Remove"))));
  show(el("h1", {}, "Hide voices, and prove it"), drop, el("h2", {}, "Or a folder on this machine"), browse(), jobs.length ? [el("h2", {}, "Go on with"), el("ul", { class: "jobs" }, jobs)] : null);
}

function remove(job) {
  const what = `Remove “${job.title}”: ${job.copied ? "the copies of the recordings, " : ""}the anonymized recordings, the key, reports, speaker embeddings and transcripts?${job.copied ? "" : " The original recordings stay in their folder."}`;
  if (!confirm(what)) return;
  ask(`api/jobs/${job.id}/act`, { action: "forget" }).then(async gone => { await home(); main.prepend(el("section", { class: "card", role: "status" }, el("p", {}, el("strong", {}, `“${job.title}” is removed. `), "What remains:"), el("ul", {}, gone.remains.map(line => el("li", {}, line))))); }).catch(error => problem(main, error, "Not removed. "));
}

function browse() {
  const path = el("input", { type: "text", "aria-label": "Folder on this machine", placeholder: "/path/to/recordings" });
  const list = el("ul", { "aria-label": "Folders" }), words = el("p", { class: "soft" });
  let looked = 0;
  const look = async where => {
    const turn = looked += 1;
    try {
      const found = await ask(`api/folders?path=${encodeURIComponent(where)}`);
      if (turn !== looked) return;  // something else was asked for meanwhile
      if (document.activeElement !== path || (where && path.value === where)) path.value = found.path;  // nobody is typing
      words.textContent = `${found.folders.length} folders and ${found.recordings} recordings in it; what lies in the folders counts too.`;
      const entry = (name, to) => el("li", {}, el("button", { type: "button", onclick: () => look(to) }, name));
      list.replaceChildren(entry("↑ one up", found.parent), ...found.folders.map(name => entry(name, `${found.path.replace(/\/$/, "")}/${name}`)));
    } catch (error) { problem(main, error); }
  };
  path.addEventListener("keydown", event => { if (event.key === "Enter") look(path.value); });
  look("");
  return el("section", { class: "card browse" }, el("div", { class: "row" }, path, el("button", { class: "main", type: "button", onclick: () => ask("api/jobs", { folder: path.value }).then(made => open(made.id), error => problem(main, error)) }, "Use this folder")), words, list);
}

// files of dropped folders, with the folders they lie in
async function dropped(transfer) {
  const found = [], entries = [...transfer.items].map(item => item.webkitGetAsEntry && item.webkitGetAsEntry()).filter(Boolean);
  async function walk(entry, path) {
    if (entry.isFile) found.push([path + entry.name, await new Promise((done, failed) => entry.file(done, failed))]);
    else { const reader = entry.createReader(); for (let part; (part = await new Promise(reader.readEntries.bind(reader))).length;) for (const one of part) await walk(one, `${path}${entry.name}/`); }
  }
  for (const entry of entries) await walk(entry, "");
  return found.length ? found : [...transfer.files].map(file => [file.name, file]);
}

async function upload(files) {
  if (!files.length) return;
  const words = el("p", {}), progress = el("progress", { max: files.length, value: 0, "aria-label": "Copying" }), refused = el("ul");
  show(el("h1", {}, "Copying"), words, progress, refused);
  try {
    const { id } = await ask("api/jobs", {});
    let taken = 0;
    for (const [i, [name, file]] of files.entries()) {
      words.textContent = `${i + 1} of ${files.length}: ${name}`;
      try { for (let at = 0, token = ""; at === 0 || at < file.size; at += PIECE) token = (await ask(`api/jobs/${id}/upload?name=${encodeURIComponent(name)}&file=${token}&offset=${at}`, file.slice(at, at + PIECE), true)).file; taken += 1; } catch (error) { if (error.status === 0) throw error; if (refused.children.length < 20) refused.append(el("li", { class: "soft" }, error.message)); }
      fill(progress, i + 1, files.length);
    }
    if (!taken) { await ask(`api/jobs/${id}/act`, { action: "forget" }); show(el("h1", {}, "Nothing to hide"), el("p", {}, "None of these files is a recording that can be read."), refused, el("div", { class: "actions" }, el("button", { type: "button", onclick: home }, "Back"))); return; }
    await ask(`api/jobs/${id}/act`, { action: "read", rule: files.some(([name]) => name.includes("/")) ? "" : "file" });
    open(id);
  } catch (error) { problem(main, error); }
}

function open(id) { current = id; wanted = null; seen = ""; location.hash = `job-${id}`; update(); }

async function update(after) {
  clearTimeout(timer);
  if (!current) return;
  const turn = asked += 1;
  let job;
  try { job = after && after.id ? after : await ask(`api/jobs/${current}`); } catch (error) { if (turn !== asked) return; if (error.status === 404 || error.status === 401) { begin(); return; } timer = setTimeout(update, 3000); return; }
  if (turn !== asked) return;  // a newer answer is shown already, or another page
  if (wanted !== null && (job.ended.hide || job.phase === "hide" || !job.ended.read)) wanted = null;
  const at = wanted ?? stepOf(job);
  const views = [() => [el("h1", {}, "Looking at the recordings"), reading(job, page)], () => people(job, page), () => strength(job, page), () => hiding(job, page), () => attacking(job, page), () => result(job, page)];
  const now = JSON.stringify([at, job.status, job.phase, job.ended]);
  if (now !== seen) {
    const turned = seen.slice(0, 3) !== now.slice(0, 3);
    seen = now; page.tell = () => {}; document.title = `${job.title} · personare`;
    show(bar(at), ...views[at]().flat(2));
    if (turned) { window.scrollTo(0, 0); say(main.querySelector("h1")?.textContent || ""); }
  } else page.tell(job);
  if (job.status === "running" || job.status === "interrupted") timer = setTimeout(update, EVERY_MS);
}

async function begin() {
  const hash = location.hash.slice(1);
  try {
    if (/^[A-Za-z0-9_-]{32}$/.test(hash)) { history.replaceState(null, "", location.pathname); await ask("api/enter", { token: hash }); }
    const state = await ask("api/state");
    Object.assign(page, { strengths: state.strengths, methods: state.methods, languages: state.languages });
    document.getElementById("place").textContent = state.folder;
    const job = /^job-([0-9a-f]{12})$/.exec(location.hash.slice(1));
    if (job && state.jobs.some(one => one.id === job[1])) open(job[1]); else { history.replaceState(null, "", location.pathname); await home(); }
  } catch (error) {
    show(el("h1", {}, "Not open"), el("p", {}, sentence(error.message)), error.status === 0 ? el("div", { class: "actions" }, el("button", { type: "button", onclick: begin }, "Try again")) : null);
  }
}

document.getElementById("home").addEventListener("click", event => { event.preventDefault(); history.replaceState(null, "", location.pathname); home().catch(error => problem(main, error)); });
begin();

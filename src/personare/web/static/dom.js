// Small helpers of every page: making elements, asking the server, saying things aloud.

export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else if (value === true) made.setAttribute(name, "");
    else made.setAttribute(name, String(value));
  }
  made.append(...children.flat(2).filter(child => child !== null && child !== undefined));
  return made;
}

export function icon(path) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(space, "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}

export class ServerError extends Error {
  constructor(status, message) { super(message); this.status = status; }
}

// what a POST must carry: given with the state, known to our own page only
const known = { csrf: "" };

export async function ask(path, body, raw) {
  const options = { credentials: "same-origin", cache: "no-store" };
  if (body !== undefined) {
    options.method = "POST";
    options.headers = { "content-type": raw ? "application/octet-stream" : "application/json", "x-csrf": known.csrf };
    options.body = raw ? body : JSON.stringify(body);
  }
  let answer;
  try { answer = await fetch(path, options); } catch { throw new ServerError(0, "The server cannot be reached. Nothing is lost: try again."); }
  const found = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new ServerError(answer.status, found.error || `The server answered ${answer.status}.`);
  if (found.csrf) known.csrf = found.csrf;
  return found;
}

// how far something is; a bar without a known end says only that work goes on (the browser refuses NaN and Infinity)
export function fill(bar, done, total) {
  if (!(Number.isFinite(done) && Number.isFinite(total) && total > 0)) { bar.removeAttribute("value"); return; }
  bar.max = total; bar.value = Math.min(total, Math.max(0, done));
}

export function say(words) { document.getElementById("live").textContent = words; }

export function problem(place, error, title = "Not saved. ") {
  place.querySelectorAll(".error").forEach(old => old.remove());
  place.append(el("div", { class: "error", role: "alert" }, el("strong", {}, title), error.message));
}

export const sentence = words => words ? words[0].toUpperCase() + words.slice(1) + (/[.!?…]$/.test(words) ? "" : ".") : "";

// Speaker clustering: recordings are dragged, tapped or moved by keys into up to four groups, one for each voice.
import { el, say } from "./dom.js";
import { Sound } from "./player.js";

const GROUPS = 4, FAR = 6;

export function clustering(state, changed) {
  const placed = new Map(), home = new Map();
  let moves = 0, chosen = null;
  const sounds = state.sounds.map(s => new Sound(s));
  const tiles = sounds.map((sound, i) => tile(sound, i + 1));
  const pool = el("div", { class: "tiles" }, tiles);
  const poolBox = el("section", { class: "pool", "data-group": "0", "aria-label": "Recordings without a group" }, pool);
  const boxes = Array.from({ length: GROUPS }, (_, i) => box(i + 1));
  const groups = el("div", { class: "clusters" }, boxes);

  function tile(sound, number) {
    const made = el("button", { type: "button", class: "tile", "data-number": number }, String(number));
    const label = () => {
      const where = placed.get(sound.id);
      made.setAttribute("aria-label", `Recording ${number}, ${where ? `group ${where}` : "no group"}${sound.heard ? ", heard" : ", not heard yet"}`);
    };
    sound.changed = () => {
      made.classList.toggle("playing", sound.running); made.classList.toggle("heard", sound.heard); label(); changed();
    };
    sound.tile = made; sound.label = label; sound.number = number;
    made.addEventListener("click", event => { if (event.detail !== 0 && made.dataset.moved) { delete made.dataset.moved; return; } choose(sound); sound.toggle(); });
    made.addEventListener("focus", () => choose(sound));
    made.addEventListener("keydown", event => {
      if (/^[0-4]$/.test(event.key)) { event.preventDefault(); move(sound, Number(event.key)); made.focus(); }
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) { event.preventDefault(); const all = [...document.querySelectorAll(".tile")]; all[(all.indexOf(made) + step + all.length) % all.length].focus(); }
    });
    made.addEventListener("pointerdown", event => drag(event, sound));
    label();
    return made;
  }

  function box(number) {
    const inside = el("div", { class: "tiles" });
    const put = el("button", { type: "button", disabled: true, onclick: () => chosen && move(chosen, number) }, "Put here");
    const made = el("section", { class: "cluster", "data-group": number, "aria-label": `Group ${number}` }, el("header", {}, el("b", {}, `Group ${number}`), put), inside);
    made.inside = inside; made.put = put;
    return made;
  }

  function choose(sound) {
    chosen = sound;
    tiles.forEach(t => t.classList.toggle("chosen", t === sound.tile));
    boxes.forEach((b, i) => { b.put.disabled = placed.get(sound.id) === i + 1; b.put.setAttribute("aria-label", `Put recording ${sound.number} into group ${i + 1}`); });
  }

  function move(sound, group) {
    const before = placed.get(sound.id) || 0;
    if (before === group) return;
    if (group && home.get(sound.id) && home.get(sound.id) !== group) moves += 1;
    if (group) { placed.set(sound.id, group); home.set(sound.id, group); } else placed.delete(sound.id);
    (group ? boxes[group - 1].inside : pool).append(sound.tile);
    say(group ? `Recording ${sound.number} is in group ${group}` : `Recording ${sound.number} has no group`);
    sound.label(); choose(sound); changed();
  }

  function drag(event, sound) {
    if (event.button !== 0) return;
    const made = sound.tile, start = { x: event.clientX, y: event.clientY };
    let ghost = null, over = null;
    const find = e => { const at = document.elementFromPoint(e.clientX, e.clientY); return at && at.closest("[data-group]"); };
    const moved = e => {
      if (!ghost && Math.hypot(e.clientX - start.x, e.clientY - start.y) < FAR) return;
      if (!ghost) { ghost = made.cloneNode(true); ghost.classList.add("ghost"); document.body.append(ghost); made.classList.add("dragged"); choose(sound); }
      ghost.style.transform = `translate(${e.clientX - 26}px, ${e.clientY - 26}px)`;
      const now = find(e);
      if (now !== over) { over?.classList.remove("over"); over = now; over?.classList.add("over"); }
    };
    const end = e => {
      document.removeEventListener("pointermove", moved); document.removeEventListener("pointerup", end); document.removeEventListener("pointercancel", end);
      over?.classList.remove("over"); made.classList.remove("dragged");
      if (!ghost) return;
      ghost.remove(); made.dataset.moved = "yes"; setTimeout(() => delete made.dataset.moved, 50);
      if (over && e.type === "pointerup") move(sound, Number(over.dataset.group));
    };
    document.addEventListener("pointermove", moved); document.addEventListener("pointerup", end); document.addEventListener("pointercancel", end);
  }

  return {
    heading: "Put recordings of the same speaker together",
    hint: el("span", {}, "Press a recording to hear it; a green dot says that it was heard to the end. Drag it into a group, or press “Put here”. Use as many of the four groups as you hear speakers.",
      el("span", { class: "keys" }, " Keys: ", el("kbd", {}, "space"), " plays, ", el("kbd", {}, "1"), "–", el("kbd", {}, "4"), " moves, ", el("kbd", {}, "0"), " takes it back.")),
    content: [poolBox, groups], sounds,
    answer: () => ({ clusters: Object.fromEntries(placed), moves }),
    complete: () => placed.size === sounds.length && sounds.every(s => s.heard),
    missing: () => !sounds.every(s => s.heard) ? `Listen to every recording to the end: ${sounds.filter(s => !s.heard).length} left.` : `Put every recording into a group: ${sounds.length - placed.size} left.`,
  };
}

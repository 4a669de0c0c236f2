"use strict";
// Data: nodes in columns, parents first and each before what is in it; moments, the smallest
// budget first, each with the lines and the details that are otherwise than at the one before;
// spans, the pieces of the text in its order: of each the node whose text or mark it is.
const data = JSON.parse(document.getElementById("data").textContent);
const { parent, tokens, title, place } = data.nodes;
const DROPPED = 0;  // the first detail; by its number each has a colour, a sign and a name
const COLOURS = ["dropped", "skeleton", "cut", "full"], SIGNS = ".-~+";
const NAMES = ["dropped", "title and ID", "cut", "full"];
const [slider, cost, map, status, text] =
  ["budget", "cost", "map", "node", "text"].map((id) => document.getElementById(id));
const count = parent.length;
const depth = new Int32Array(count), start = new Float64Array(count);
const detail = new Uint8Array(count), reason = new Array(count).fill("");
const children = Array.from({ length: count }, () => []);
const TALLEST = 32000;  // pixels; a canvas that is taller is blank in some browsers
let now = -1, chosen = 0, zoomed = 0, spans = [], row = 24;  // pixels of a level

for (let i = 1; i < count; i++) {
  depth[i] = depth[parent[i]] + 1;
  children[parent[i]].push(i);
}
for (let i = 0; i < count; i++) {  // a node's own text is at its left, then what is in it
  let at = start[i] + tokens[i] - children[i].reduce((sum, child) => sum + tokens[child], 0);
  for (const child of children[i]) {
    start[child] = at;
    at += tokens[child];
  }
}

// --- The moments: the text as spans, each a list of lines ---

function play(moment) {
  if (moment < now) {  // views nest, so smaller ones are played anew from the first
    now = -1;
    spans = [];
    detail.fill(DROPPED);
    reason.fill("");
    text.replaceChildren();
  }
  const changed = new Set();
  while (now < moment) {
    const [, changes, details] = data.moments[++now];
    for (const [span, begin, end, lines] of changes) {
      const old = spans[span]?.lines ?? [];
      spans[span] ??= { lines: [], element: null };
      spans[span].lines = [...old.slice(0, begin), ...lines, ...old.slice(old.length - end)];
      changed.add(span);
    }
    for (const [node, kind, why] of details) [detail[node], reason[node]] = [kind, why];
  }
  for (const span of [...changed].sort((a, b) => b - a)) write(span);
  slider.value = now;
  const [least] = data.moments[now];
  slider.setAttribute("aria-valuetext", `${least} ${data.unit}`);
  cost.textContent = `${least} of ${data.budget} ${data.unit}, view ${now + 1} of ${data.moments.length}`;
  draw();
  tell();
}

function write(span) {
  let { lines, element } = spans[span];
  if (!element) {
    element = spans[span].element = document.createElement("span");
    element.dataset.node = data.spans[span];
    let next = span + 1;
    while (next < data.spans.length && !spans[next]?.element) next++;
    text.insertBefore(element, spans[next]?.element ?? null);
  }
  element.textContent = lines.join("");
}

// --- The map ---

const share = (i) => tokens[i] / (tokens[zoomed] || 1);
const left = (i) => (start[i] - start[zoomed]) / (tokens[zoomed] || 1);

function height() {  // in levels, of what is looked at; what is in a node comes right behind it
  let deepest = depth[zoomed];
  for (let i = zoomed + 1; depth[i] > depth[zoomed]; i++) deepest = Math.max(deepest, depth[i]);
  return deepest + 1;
}

function draw() {
  const levels = height();
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const fills = COLOURS.map(colour), [ink, mark] = ["ink", "chosen"].map(colour);
  row = Math.round(Math.min(60, Math.max(24, (window.innerHeight - 220) / levels)));
  const width = map.clientWidth, context = map.getContext("2d");
  const scale = Math.min(window.devicePixelRatio || 1, TALLEST / (levels * row));
  map.width = width * scale;
  map.height = levels * row * scale;
  map.style.height = `${levels * row}px`;
  context.scale(scale, scale);
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  const drawn = new Int32Array(levels).fill(-1);  // of what is narrower than a pixel, one is enough
  for (let i = 0; i < count; i++) {
    const from = Math.max(0, left(i) * width), to = Math.min(width, (left(i) + share(i)) * width);
    const pixel = Math.ceil(to);
    if (to <= from || (to - from < 1 && pixel <= drawn[depth[i]] && !detail[i])) continue;
    drawn[depth[i]] = pixel;
    const gap = to - from > 3 ? 1 : 0, y = depth[i] * row;
    context.fillStyle = fills[detail[i]];
    context.fillRect(from, y, Math.max(to - from - gap, 0.7), row - 1);
    if (to - from > 26) label(context, `${SIGNS[detail[i]]} ${title[i]}`, from, y, to - from, ink);
  }
  frame(context, width, mark);
}

function frame(context, width, colour) {  // around what is chosen, also where that has no width
  const from = Math.max(0, left(chosen)) * width;
  const to = Math.min(1, left(chosen) + share(chosen)) * width;
  context.strokeStyle = colour;
  context.lineWidth = 2;
  context.strokeRect(Math.min(from + 1, width - 3), depth[chosen] * row + 1, Math.max(to - from - 2, 2), row - 3);
}

function label(context, words, x, y, width, ink) {
  context.save();
  context.beginPath();
  context.rect(x, y, width - 3, row);
  context.clip();
  context.fillStyle = ink;
  context.fillText(words.slice(0, width / 3), x + 4, y + row / 2);
  context.restore();
}

function under(event) {
  const level = Math.floor(event.offsetY / row), x = event.offsetX / map.clientWidth;
  for (let i = 0; i < count; i++) {
    if (depth[i] === level && left(i) <= x && x < left(i) + share(i)) return i;
  }
  return -1;
}

// --- What is looked at ---

function tell() {
  const i = chosen, why = reason[i] ? ` (${reason[i]})` : "";
  const portion = (100 * tokens[i]) / (tokens[0] || 1);
  const percent = 0 < portion && portion < 0.1 ? "less than 0.1" : portion.toFixed(1);
  const weight = `${tokens[i]} tokens with all in it, ${percent} %`;
  status.replaceChildren(apart(title[i]), ` — ${NAMES[detail[i]]}${why} — ${weight}`);
  if (place[i]) status.append(" — ", apart(place[i]));
}

function apart(words) {  // whatever way they are written, what stands beside them stays there
  const element = document.createElement("bdi");
  element.textContent = words;
  return element;
}

function reveal(element) {  // in the text; the page itself stays where it is
  const above = element.offsetTop - text.scrollTop;
  const below = above + element.offsetHeight - text.clientHeight;
  if (above < 0 || below > 0) text.scrollTop += above < 0 ? above : Math.min(above, below);
}

function choose(node) {
  chosen = node;
  for (const each of text.querySelectorAll(".chosen")) each.classList.remove("chosen");
  for (const { element } of spans.filter((span) => span?.element?.dataset.node === `${node}`)) {
    element.classList.add("chosen");
  }
  const first = text.querySelector(".chosen");
  if (first) reveal(first);
  if (!holds(zoomed, node) && !holds(node, zoomed)) zoomed = parent[node];  // the map follows
  draw();
  tell();
}

function holds(above, node) {
  while (node > above) node = parent[node];
  return node === above;
}

function around(nodes) {  // the smallest that holds them all
  return nodes.reduce((top, node) => {
    while (!holds(top, node)) top = parent[top];
    return top;
  });
}

function zoom(node) {
  zoomed = tokens[node] ? node : zoomed;
  choose(node);
}

function beside(step) {
  const all = chosen ? children[parent[chosen]] : [0];
  return all[all.indexOf(chosen) + step] ?? chosen;
}

const KEYS = {
  ArrowLeft: () => choose(beside(-1)),
  ArrowRight: () => choose(beside(1)),
  ArrowUp: () => choose(chosen ? parent[chosen] : 0),
  ArrowDown: () => choose(children[chosen][0] ?? chosen),
  Home: () => choose(0),
  Enter: () => zoom(chosen),
  Escape: () => zoom(zoomed ? parent[zoomed] : 0),
};

map.addEventListener("keydown", (event) => {
  if (!(event.key in KEYS) || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  KEYS[event.key]();
});
map.addEventListener("mousemove", (event) => {
  const node = under(event);
  if (node >= 0 && node !== chosen) choose(node);
});
map.addEventListener("click", (event) => {
  const node = under(event);
  if (node >= 0) zoom(node);
});
slider.addEventListener("input", () => play(Number(slider.value)));
window.addEventListener("resize", draw);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

document.getElementById("title").textContent = data.title;
slider.max = data.moments.length - 1;
play(data.moments.length - 1);
zoom(around([...detail.keys()].filter((i) => detail[i])));
choose(data.target);

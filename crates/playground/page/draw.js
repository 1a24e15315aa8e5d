// Drawings: the bucket with requests against its wall, and the running chart. Numbers come from the server; only the way a
// dot takes is the page's own.
const still = matchMedia("(prefers-reduced-motion: reduce)");
const dark = matchMedia("(prefers-color-scheme: dark)");
let ink = {};

function readInks() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["card", "text", "muted", "line", "water", "water-soft", "no", "yes"]) {
    ink[name] = style.getPropertyValue("--" + name).trim();
  }
}
dark.addEventListener("change", readInks);
readInks();

/** Sizes a canvas to its place on the page; returns a context in CSS pixels. */
function context(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas;
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  return { g, width, height };
}

const dots = [];
const drops = [];

/** Lets requests fly: as many dots as there were, up to a few a frame. */
export function fly(passed, refused) {
  if (still.matches) return;
  const now = performance.now();
  for (const [count, ok] of [[passed, true], [refused, false]]) {
    for (let i = 0; i < Math.min(count, 8) && dots.length < 240; i++) {
      dots.push({ born: now + i * 14, ok, lane: Math.random() });
    }
  }
}

/** Lets permits spill over the rim. */
export function spill(permits) {
  if (still.matches) return;
  for (let i = 0; i < Math.min(permits, 3) && drops.length < 30; i++) {
    drops.push({ born: performance.now() + i * 90, side: Math.random() < 0.5 ? -1 : 1 });
  }
}

export function bucket(canvas, state, words) {
  const { g, width, height } = context(canvas);
  const wall = Math.round(width * 0.34);
  const middle = height * 0.5;
  g.font = "12px system-ui, sans-serif";
  // The wall with its gate.
  g.fillStyle = ink.muted;
  g.fillRect(wall - 3, 22, 6, middle - 62);
  g.fillRect(wall - 3, middle + 40, 6, height - middle - 54);
  g.textAlign = "center";
  g.fillText(words.wall, wall, 14);
  const place = { x: wall + 34, y: 34, w: width - wall - 62, h: height - 70 };
  const { main } = state;
  if (main.capacity === null) {
    g.fillStyle = ink.muted;
    g.font = "22px system-ui, sans-serif";
    g.fillText("∞ " + words.endless, place.x + place.w / 2, middle + 8);
  } else if (main.algorithm.includes("window")) {
    windows(g, place, state);
  } else {
    vessel(g, place, main, words);
  }
  requests(g, wall, middle, width);
}

/** A bucket: filled with what is left, or, where requests wait, with those that do. */
function vessel(g, place, main, words) {
  const w = Math.min(place.w, 300);
  const x = place.x + (place.w - w) / 2;
  const taper = 18;
  const left = (f) => x + taper * f;
  const share = Math.max(0, Math.min(1, main.available / main.capacity));
  const fill = main.delays ? 1 - share : share;
  const top = place.y + place.h * (1 - fill);
  const depth = 1 - fill;
  if (fill > 0) {
    g.beginPath();
    g.moveTo(left(depth), top);
    g.lineTo(x + w - taper * depth, top);
    g.lineTo(x + w - taper, place.y + place.h);
    g.lineTo(x + taper, place.y + place.h);
    g.closePath();
    g.fillStyle = ink.water;
    g.fill();
  }
  g.beginPath();
  g.moveTo(x, place.y);
  g.lineTo(x + taper, place.y + place.h);
  g.lineTo(x + w - taper, place.y + place.h);
  g.lineTo(x + w, place.y);
  g.strokeStyle = ink.text;
  g.lineWidth = 3;
  g.stroke();
  // A mark for each permit, as long as they can be told apart.
  if (main.capacity <= 60) {
    g.lineWidth = 1;
    g.strokeStyle = ink.muted;
    for (let i = 1; i < main.capacity; i++) {
      const f = i / main.capacity;
      const y = place.y + place.h * (1 - f);
      g.beginPath();
      g.moveTo(left(1 - f), y);
      g.lineTo(left(1 - f) + (i % 5 ? 6 : 14), y);
      g.stroke();
    }
  }
  if (main.available < 0) {
    g.fillStyle = ink.no;
    g.textAlign = "center";
    g.fillText(main.available.toFixed(1), x + w / 2, place.y + place.h - 8);
  }
  const now = performance.now();
  g.fillStyle = ink.water;
  for (let i = drops.length - 1; i >= 0; i--) {
    const t = (now - drops[i].born) / 700;
    if (t > 1) { drops.splice(i, 1); continue; }
    if (t < 0) continue;
    const dx = drops[i].side > 0 ? x + w + 4 + t * 16 : x - 4 - t * 16;
    g.globalAlpha = 1 - t;
    g.beginPath();
    g.arc(dx, place.y + t * t * place.h, 4, 0, 7);
    g.fill();
    g.globalAlpha = 1;
  }
  if (drops.length) {
    g.fillStyle = ink.muted;
    g.textAlign = "center";
    g.fillText(words.overflow, x + w / 2, place.y - 10);
  }
}

/** A window: permits used of the limit, time through it, and a tick for each admission. */
function windows(g, place, state) {
  const { main, window: span, ticks } = state;
  const used = Math.max(0, Math.min(1, 1 - main.available / main.capacity));
  const barHeight = place.h * 0.58;
  g.strokeStyle = ink.text;
  g.lineWidth = 2;
  const barWidth = Math.min(110, place.w * 0.34);
  g.fillStyle = used >= 1 ? ink.no : ink.water;
  g.fillRect(place.x, place.y + barHeight * (1 - used), barWidth, barHeight * used);
  g.strokeRect(place.x, place.y, barWidth, barHeight);
  g.fillStyle = ink.text;
  g.textAlign = "left";
  g.font = "600 20px system-ui, sans-serif";
  const text = `${Math.round(main.capacity - main.available)} / ${main.capacity}`;
  g.fillText(text, place.x + barWidth + 16, place.y + barHeight / 2 + 7);
  // The time line: the last window's length, now at its right end; the fixed window's edge moves through it.
  const y = place.y + place.h - 14;
  const at = (age) => place.x + place.w * (1 - age / span.ms);
  g.strokeStyle = ink.muted;
  g.lineWidth = 1;
  g.strokeRect(place.x, y - 26, place.w, 26);
  g.fillStyle = ink.water;
  for (const [age, permits] of ticks) {
    if (age <= span.ms) g.fillRect(at(age) - 1, y - 26, 2, Math.min(26, 8 + permits * 2));
  }
  if (main.algorithm !== "sliding-window-log") {
    g.fillStyle = ink["no"];
    g.fillRect(at(span.into_ms) - 1, y - 34, 2, 42);
  }
  g.fillStyle = ink.muted;
  g.font = "12px system-ui, sans-serif";
  g.fillText(`−${Math.round(span.ms / 100) / 10} s`, place.x, y + 14);
  g.textAlign = "right";
  g.fillText("0 s", place.x + place.w, y + 14);
}

function requests(g, wall, middle, width) {
  const now = performance.now();
  for (let i = dots.length - 1; i >= 0; i--) {
    const dot = dots[i];
    const t = (now - dot.born) / (dot.ok ? 700 : 900);
    if (t > 1) { dots.splice(i, 1); continue; }
    if (t < 0) continue;
    const gate = middle + (dot.lane - 0.5) * 60;
    const block = dot.lane < 0.5 ? 40 + dot.lane * 140 : middle + 52 + (dot.lane - 0.5) * 160;
    if (dot.ok) {
      g.fillStyle = ink.water;
      g.globalAlpha = t > 0.75 ? (1 - t) * 4 : 1;
      g.beginPath();
      g.arc(8 + t * (width * 0.5), gate, 6, 0, 7);
      g.fill();
    } else {
      const hit = 0.45;
      const x = t < hit ? 8 + (t / hit) * (wall - 22) : wall - 14 - (t - hit) * wall * 0.7;
      const y = block + (t < hit ? 0 : (t - hit) * (t - hit) * 160);
      g.globalAlpha = t > 0.7 ? (1 - t) / 0.3 : 1;
      g.strokeStyle = ink.no;
      g.lineWidth = 3.5;
      g.beginPath();
      g.moveTo(x - 6, y - 6); g.lineTo(x + 6, y + 6);
      g.moveTo(x + 6, y - 6); g.lineTo(x - 6, y + 6);
      g.stroke();
    }
    g.globalAlpha = 1;
  }
}

let hatch = null;

/** The last 60 seconds: passed and, hatched so that colour is not all that tells them apart, refused. */
export function chart(canvas, bins, nowSecond) {
  const { g, width, height } = context(canvas);
  const base = height - 18;
  let most = 4;
  for (let s = nowSecond - 59; s <= nowSecond; s++) {
    const bin = bins.get(s);
    if (bin) most = Math.max(most, bin[0] + bin[1]);
  }
  g.font = "12px system-ui, sans-serif";
  g.fillStyle = ink.muted;
  g.textAlign = "left";
  g.fillText(String(most), 2, 12);
  g.fillText("−60 s", 34, height - 3);
  g.textAlign = "right";
  g.fillText("0 s", width - 2, height - 3);
  g.strokeStyle = ink.line;
  g.beginPath();
  g.moveTo(34, base + 0.5); g.lineTo(width, base + 0.5);
  g.moveTo(34, 8.5); g.lineTo(width, 8.5);
  g.stroke();
  const step = (width - 34) / 60;
  hatch ??= hatched();
  for (let i = 0; i < 60; i++) {
    const bin = bins.get(nowSecond - 59 + i);
    if (!bin) continue;
    const x = 34 + i * step;
    const scale = (base - 8) / most;
    g.fillStyle = ink.water;
    g.fillRect(x, base - bin[0] * scale, step - 1, bin[0] * scale);
    g.fillStyle = ink.no;
    g.fillRect(x, base - (bin[0] + bin[1]) * scale, step - 1, bin[1] * scale);
    g.fillStyle = g.createPattern(hatch, "repeat");
    g.fillRect(x, base - (bin[0] + bin[1]) * scale, step - 1, bin[1] * scale);
  }
}

function hatched() {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const g = tile.getContext("2d");
  g.strokeStyle = "rgba(255,255,255,.55)";
  g.lineWidth = 1.5;
  g.beginPath();
  for (const shift of [-6, 0, 6]) { g.moveTo(shift, 6); g.lineTo(shift + 6, 0); }
  g.stroke();
  return tile;
}

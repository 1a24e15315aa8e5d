// The page: sends what a hand does, shows what the server says. All counts are the server's.
import { NAMES } from "./names.js";
import { WORDS } from "./words.js";
import { bucket, chart, fly, spill } from "./draw.js";

const $ = (id) => document.getElementById(id);
let language = "en";
let choices = null;
let state = null;
let seen = null;
const bins = new Map();

const t = (key, ...values) => values.reduce((text, value, i) => text.replace(`{${i}}`, value), WORDS[language][key] ?? key);
const number = (value, digits = 0) => value.toLocaleString(language, { maximumFractionDigits: digits });
const money = (micro) => (micro / 1e6).toLocaleString(language, { style: "currency", currency: "USD", maximumFractionDigits: 3 });

// Words.
function speak(chosen) {
  language = chosen;
  document.documentElement.lang = chosen;
  $("language").value = chosen;
  try { localStorage.setItem("language", chosen); } catch { /* a browser that keeps nothing asks again next time */ }
  for (const element of document.querySelectorAll("[data-t]")) element.textContent = t(element.dataset.t);
  for (const element of document.querySelectorAll("[data-label]")) element.setAttribute("aria-label", t(element.dataset.label));
  for (const element of document.querySelectorAll("[data-tip]")) element.title = t(element.dataset.tip);
  document.title = `workbench: ${t("title")}`;
  const loop = $("client").options[0];
  if (loop) loop.textContent = t("constant");
  if (choices) client();
  if (state) { form(); show(); }
}

/** What an algorithm or a client does, in the page's language where it is told in it. */
function describe(id, one) {
  const told = NAMES[language]?.[one?.name];
  $(id).lang = told ? language : "en";
  write(id, told ?? plain(one?.summary ?? ""));
}

function preferred() {
  let kept = null;
  try { kept = localStorage.getItem("language"); } catch { /* as above */ }
  const wanted = [kept, ...(navigator.languages ?? [navigator.language])];
  for (const tag of wanted) {
    const base = (tag ?? "").slice(0, 2);
    if (WORDS[base]) return base;
  }
  return "en";
}

// Talking to the server.
async function post(path, body) {
  const response = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw answer;
  return answer;
}

function problem(answer) {
  for (const element of document.querySelectorAll("[aria-invalid]")) element.removeAttribute("aria-invalid");
  $("problem").textContent = answer ? `${answer.field ?? ""}: ${answer.detail ?? answer}` : "";
  const field = answer?.field && document.querySelector(`#${CSS.escape(answer.field)}, [data-param="${CSS.escape(answer.field)}"]`);
  if (field) field.setAttribute("aria-invalid", "true");
}

async function set(change) {
  try {
    await post("api/settings", change);
    problem(null);
    await refresh();
    location.hash = link();
  } catch (answer) { problem(answer); }
}

async function refresh() {
  take(await (await fetch("api/state")).json());
}

function listen() {
  const events = new EventSource("api/events");
  events.onmessage = (event) => { $("offline").hidden = true; take(JSON.parse(event.data)); };
  events.onerror = () => { $("offline").hidden = false; };
}

/** Takes a state and shows what has changed since the one before. */
function take(next) {
  if (state && next.revision === state.revision && next.now_ms < state.now_ms) return;
  const fresh = !state || next.revision !== state.revision;
  const second = Math.floor(next.now_ms / 1000);
  if (seen && next.main.admitted >= seen.admitted && next.main.refused >= seen.refused) {
    const [passed, refused] = [next.main.admitted - seen.admitted, next.main.refused - seen.refused];
    if (passed || refused) {
      const bin = bins.get(second) ?? [0, 0];
      bins.set(second, [bin[0] + passed, bin[1] + refused]);
      fly(passed, refused);
      strip(passed, refused);
    }
    if (next.lost > seen.lost && next.lost - seen.lost < 1e6) spill(next.lost - seen.lost);
  } else {
    bins.clear();
    $("answers").replaceChildren();
  }
  for (const old of bins.keys()) if (old < second - 61) bins.delete(old);
  seen = { admitted: next.main.admitted, refused: next.main.refused, lost: next.lost ?? 0 };
  state = next;
  state.heard = performance.now();
  if (fresh) form();
  show();
}

// Showing.
function strip(passed, refused) {
  const list = $("answers");
  for (const [count, ok] of [[passed, true], [refused, false]]) {
    for (let i = 0; i < Math.min(count, 40); i++) {
      const item = document.createElement("li");
      item.className = ok ? "ok" : "no";
      item.textContent = ok ? "✓" : "✕";
      item.setAttribute("aria-label", t(ok ? "passed" : "blocked"));
      list.prepend(item);
    }
  }
  while (list.children.length > 40) list.lastChild.remove();
}

const write = (id, text) => { const element = $(id); if (element.textContent !== text) element.textContent = text; };

function show() {
  const { main, money: bill, traffic, recording, last } = state;
  write("n-admitted", number(main.admitted));
  write("n-refused", number(main.refused));
  write("n-spent", money(bill.spent_microusd));
  write("n-saved", money(bill.saved_microusd));
  write("n-worst", bill.worst_8h_microusd === null ? "∞" : money(bill.worst_8h_microusd));
  write("n-useful", number(bill.useful_lost));
  write("n-lost", state.lost === null ? "–" : number(state.lost));
  write("n-bytes", `${number(main.bytes)} B`);
  const running = traffic.kind !== "none";
  $("go").setAttribute("aria-pressed", String(running));
  write("go", t(running ? "halt" : "go"));
  let said = situation(main);
  if (state.settings.scope !== "global") said = `${state.key}: ${said}`;
  if (traffic.edge_in_ms !== null) said += ` · ${t("edgeIn", number(traffic.edge_in_ms / 1000, 1))}`;
  if (traffic.twin_calls !== null) said += ` · ${t("twin", number(traffic.twin_calls), number(traffic.calls))}`;
  write("said", said);
  $("bucket").setAttribute("aria-label", situation(main));
  $("chart").setAttribute("aria-label", t("chartNote"));
  write("recording", recording.why ? t("recordingNo", t(`why_${recording.why}`)) : t("recordingOk", number(recording.entries)));
  $("save").disabled = Boolean(recording.why);
  write("headers", last ? [`HTTP/1.1 ${last.status}`, ...last.headers.map(([name, value]) => `${name}: ${value}`)].join("\n") : t("none"));
  if (!$("beside").hidden) besides();
}

function situation(main) {
  if (main.capacity === null) return t("endless");
  const [left, whole] = [number(main.available, 1), number(main.capacity)];
  const used = number(Math.max(0, main.capacity - main.available), 1);
  if (main.delays) return t("queueSaid", used, whole);
  if (main.algorithm.includes("window")) return t("windowSaid", used, whole, number((100 * state.window.into_ms) / state.window.ms));
  return t("bucketSaid", left, whole);
}

function besides() {
  const place = $("beside");
  if (place.children.length !== state.beside.length) {
    place.replaceChildren(...state.beside.map((lane) => {
      const card = document.createElement("article");
      card.dataset.algorithm = lane.algorithm;
      card.innerHTML = "<h3></h3><div class=tube><span></span></div><p><span class=yes></span><span class=no></span></p>";
      card.querySelector("h3").textContent = lane.algorithm;
      return card;
    }));
  }
  state.beside.forEach((lane, i) => {
    const card = place.children[i];
    const refusedBefore = Number(card.dataset.refused ?? 0);
    card.classList.toggle("chosen", lane.algorithm === state.main.algorithm);
    card.classList.toggle("flash", lane.refused > refusedBefore);
    card.dataset.refused = lane.refused;
    card.dataset.admitted = lane.admitted;
    const share = lane.capacity === null ? 1 : Math.max(0, Math.min(1, lane.available / lane.capacity));
    card.querySelector(".tube span").style.height = `${100 * share}%`;
    card.querySelector(".yes").textContent = `✓ ${number(lane.admitted)}`;
    card.querySelector(".no").textContent = `✕ ${number(lane.refused)}`;
    card.title = lane.parameters;
    card.setAttribute("aria-label", `${lane.algorithm}: ${t("admitted")} ${lane.admitted}, ${t("refused")} ${lane.refused}`);
  });
}

// The form.
/** Sources mark names with backticks, which are only marks here. */
const plain = (text) => text.replaceAll("`", "");
const seconds = (text) => { const found = /^(\d+)s$/.exec(text); return found ? Number(found[1]) : null; };

function form() {
  const { settings, window: span } = state;
  const known = choices.algorithms.find((one) => one.name === settings.algorithm);
  const windowed = known.name.includes("window");
  $("algorithm").value = known.name;
  describe("summary", known);
  write("l-limit", t(windowed ? "limit" : "refill"));
  $("burst-field").hidden = windowed || known.name === "unlimited" || known.name === "spend-cap";
  for (const id of ["limit", "burst"]) {
    if (document.activeElement !== $(id)) $(id).value = settings[id];
    $(`${id}-range`).value = settings[id];
  }
  if (document.activeElement !== $("window")) $("window").value = settings.window;
  if (seconds(settings.window) !== null) $("window-range").value = seconds(settings.window);
  if (document.activeElement !== $("price")) $("price").value = settings.price;
  $("price-range").value = state.price_microusd / 1000;
  if (document.activeElement !== $("cap")) $("cap").value = settings.cap ?? "";
  $("scope").value = settings.scope;
  $("key-field").hidden = settings.scope === "global";
  write("rate", t("rate", number((settings.limit / span.ms) * 1000, 3)));
  write("rule", plain(known.rule ?? ""));
  write("source", known.code);
  write("file", t("file", `crates/limiters/src/${known.file}`));
  write("curl", `curl -i -X POST '${location.origin}/call${keyed("?")}'`);
  params(known, settings);
}

function params(known, settings) {
  $("own").hidden = known.params.length === 0;
  $("params").replaceChildren(...known.params.map((param) => {
    const label = document.createElement("label");
    label.textContent = param.name;
    let input;
    if (param.takes.kind === "choice") {
      input = document.createElement("select");
      for (const word of ["", ...param.takes.words]) input.add(new Option(word || t("standard"), word));
    } else {
      input = document.createElement("input");
      input.type = "text";
      input.maxLength = 32;
      input.placeholder = { permits: "10", duration: "250ms", rate: "2/s" }[param.takes.kind];
    }
    input.value = settings.params[param.name] ?? "";
    input.dataset.param = param.name;
    input.addEventListener("change", () => set({ params: ownParams() }));
    const doc = document.createElement("small");
    doc.lang = "en";
    doc.textContent = plain(param.doc);
    label.append(input, doc);
    return label;
  }));
}

function ownParams() {
  const inputs = [...document.querySelectorAll("[data-param]")].filter((input) => input.value.trim() !== "");
  return Object.fromEntries(inputs.map((input) => [input.dataset.param, input.value.trim()]));
}

function wireForm() {
  $("algorithm").addEventListener("change", () => set({ algorithm: $("algorithm").value }));
  for (const id of ["limit", "burst"]) {
    $(id).addEventListener("change", () => set({ [id]: Number($(id).value) }));
    $(`${id}-range`).addEventListener("input", () => { $(id).value = $(`${id}-range`).value; });
    $(`${id}-range`).addEventListener("change", () => set({ [id]: Number($(`${id}-range`).value) }));
  }
  $("window").addEventListener("change", () => set({ window: $("window").value.trim() }));
  $("window-range").addEventListener("input", () => { $("window").value = `${$("window-range").value}s`; });
  $("window-range").addEventListener("change", () => set({ window: `${$("window-range").value}s` }));
  const price = () => `$${(Number($("price-range").value) / 1000).toFixed(3)}`.replace(/^\$0\.000$/, "$0");
  $("price").addEventListener("change", () => set({ price: $("price").value.trim() }));
  $("price-range").addEventListener("input", () => { $("price").value = price(); });
  $("price-range").addEventListener("change", () => set({ price: price() }));
  $("cap").addEventListener("change", () => set({ cap: $("cap").value.trim() || null }));
  $("scope").addEventListener("change", () => set({ scope: $("scope").value }));
  $("key").addEventListener("change", form);
}

// A link carries the settings after the #, where no server log sees them.
function link() {
  const { settings } = state;
  const query = new URLSearchParams();
  for (const name of ["algorithm", "limit", "window", "burst", "price", "scope"]) query.set(name, settings[name]);
  if (settings.cap !== null) query.set("cap", settings.cap);
  for (const [name, value] of Object.entries(settings.params)) query.set(`p.${name}`, value);
  return query.toString();
}

function linked() {
  const query = new URLSearchParams(location.hash.slice(1));
  const change = {};
  for (const [name, value] of query) {
    if (name.startsWith("p.")) (change.params ??= {})[name.slice(2)] = value;
    else change[name] = name === "limit" || name === "burst" ? Number(value) : value;
  }
  if (query.has("algorithm")) { change.params ??= {}; change.cap ??= null; }
  return Object.keys(change).length ? change : null;
}

// Firing.
/** The key as a part of the query, where each key has a limiter of its own. */
function keyed(before) {
  const key = $("key").value.trim();
  return state.settings.scope === "global" || key === "" ? "" : `${before}key=${encodeURIComponent(key)}`;
}

let flying = 0;
async function fire() {
  if (flying >= 4) return;
  flying += 1;
  try {
    const response = await fetch(`call?wait=false${keyed("&")}`, { method: "POST" });
    const answer = await response.json();
    if (response.status === 400 || response.status === 503) { problem(answer); return; }
    const words = response.ok ? (answer.delayed_ms > 0 ? t("later", number(answer.delayed_ms / 1000, 1)) : t("passed")) : t("blocked");
    write("live", `${words}. ${situation(state.main)}`);
  } catch { $("offline").hidden = false; } finally { flying -= 1; }
}

function wireFire() {
  $("fire").addEventListener("click", fire);
  let held = null;
  const start = () => { if (held === null) { fire(); held = setInterval(fire, 50); $("hold").setAttribute("aria-pressed", "true"); } };
  const stop = () => { clearInterval(held); held = null; $("hold").setAttribute("aria-pressed", "false"); };
  $("hold").addEventListener("pointerdown", (event) => { $("hold").setPointerCapture(event.pointerId); start(); });
  for (const end of ["pointerup", "pointercancel", "lostpointercapture", "blur"]) $("hold").addEventListener(end, stop);
  $("hold").addEventListener("keydown", (event) => { if (event.key === " " || event.key === "Enter") { event.preventDefault(); start(); } });
  $("hold").addEventListener("keyup", stop);
  $("hold").addEventListener("contextmenu", (event) => event.preventDefault());
  $("edge").addEventListener("click", () => act({ kind: "edge", calls: Number($("edge-calls").value) }));
  $("client").addEventListener("change", client);
  $("go").addEventListener("click", () => {
    if (state.traffic.kind !== "none") act({ kind: "stop" });
    else if ($("client").value === "") act({ kind: "loop", per_second: Number($("per-second").value) });
    else act({ kind: "agent", preset: $("client").value });
  });
}

async function act(what) {
  try { await post("api/traffic", what); problem(null); await refresh(); } catch (answer) { problem(answer); }
}

function client() {
  $("per-second-field").hidden = $("client").value !== "";
  describe("client-note", choices.clients.find((one) => one.name === $("client").value));
}

function mode(all) {
  $("one").hidden = all;
  $("beside").hidden = !all;
  $("beside-note").hidden = !all;
  $("mode-one").setAttribute("aria-pressed", String(!all));
  $("mode-all").setAttribute("aria-pressed", String(all));
  show();
}

async function copied(button, text) {
  try { await navigator.clipboard.writeText(text); } catch { window.prompt(t("copy"), text); return; }
  const word = button.dataset.t;
  button.textContent = t("copied");
  setTimeout(() => { button.textContent = t(word); }, 1200);
}

function wireRest() {
  $("language").addEventListener("change", () => speak($("language").value));
  $("mode-one").addEventListener("click", () => mode(false));
  $("mode-all").addEventListener("click", () => mode(true));
  $("copy-curl").addEventListener("click", () => copied($("copy-curl"), $("curl").textContent));
  $("copy-link").addEventListener("click", () => { location.hash = link(); copied($("copy-link"), location.href); });
  $("reset").addEventListener("click", async () => { await post("api/reset", {}); await refresh(); });
  $("save").addEventListener("click", async () => {
    const response = await fetch("api/scenario");
    if (!response.ok) { problem(await response.json()); return; }
    const file = document.createElement("a");
    file.href = URL.createObjectURL(await response.blob());
    file.download = "recorded.toml";
    file.click();
    setTimeout(() => URL.revokeObjectURL(file.href), 10_000);
  });
}

/** Where time alone moves the picture it moves between two states too. */
function paint() {
  if (state && !document.hidden) {
    if (!$("one").hidden) bucket($("bucket"), state, { wall: t("wall"), endless: t("endless"), overflow: t("overflow") });
    chart($("chart"), bins, Math.floor(state.now_ms / 1000));
  }
  requestAnimationFrame(paint);
}

choices = await (await fetch("api/choices")).json();
for (const one of choices.algorithms) $("algorithm").add(new Option(one.name, one.name));
$("client").add(new Option("", ""));
for (const one of choices.clients) $("client").add(new Option(one.name, one.name));
speak(preferred());
wireForm(); wireFire(); wireRest();
await refresh();
speak(language);
const carried = linked();
if (carried) await set(carried);
client();
listen();
requestAnimationFrame(paint);
document.body.dataset.ready = "true";

"use strict";
(() => {
  const block = (id) => document.getElementById(id).textContent.trim();

  async function inflate(base64) {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }
  const text = async (base64) => new TextDecoder().decode(await inflate(base64));

  // Languages: English stands in the page; the others come from templates with what stands in them.
  const root = document.documentElement;
  const STORED = "assay-language";
  let spoken = null; // {messages, languages: {ja: {texts, units, prefixes}}}
  let language = "en";
  const catalogue = () => spoken.languages[language];
  const elements = new Map(); // element -> its English nodes

  const NUMBER = "[+\u2212-]?(?:\\d{1,3}(?:,\\d{3})+|\\d+)(?:\\.\\d+)?";
  const UNIT = "(?: (?:%|[kKMGTPmnpµ]?i?(?:B|s|Hz|flop|FLOPS?|bit|update|message|load)(?:/[a-z]+)?|[kMGT]?/s))?";
  const ONE = `×?${NUMBER}${UNIT}`;
  const ENDS = new RegExp(`^\\[(${NUMBER}), (${NUMBER})\\](${UNIT})$`, "u");
  const RANGE = new RegExp(`^(${ONE}) to (${ONE})$`, "u");
  const FIGURE = new RegExp(`^(×?)(${NUMBER})(${UNIT})$`, "u");
  const SHORT = new RegExp(`^(${ONE}) (\\[.*\\]|\\(.*\\))(${UNIT})$`, "u");
  const BARE = /^[kKMGTPmnpµ]?i?(?:B|s|Hz|flop|FLOP|bit)(?:\/[a-z]+)?$/u;

  function number(text) {
    const plain = text.replaceAll(",", "").replace("\u2212", "-");
    const digits = (plain.split(".")[1] ?? "").length;
    const form = { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: text.includes(",") };
    return (plain.startsWith("+") ? "+" : "") + new Intl.NumberFormat(language, form).format(Number(plain));
  }

  function unit(text) {
    const { units, prefixes } = catalogue();
    const whole = text.trim();
    const base = Object.keys(units).find((each) => whole.endsWith(each) && (whole === each || whole.slice(0, -each.length) in prefixes));
    const written = base ? (prefixes[whole.slice(0, -base.length)] ?? "") + units[base] : whole;
    return (text.startsWith(" ") ? "\u00a0" : "") + written;
  }

  // A string that is a figure and nothing else, in the digits and the units of the language; others as they are.
  function figure(text) {
    const comma = number("0.5").includes(",");
    let found;
    if ((found = FIGURE.exec(text))) return found[1] + number(found[2]) + unit(found[3]);
    if ((found = ENDS.exec(text))) return `[${number(found[1])}${comma ? "; " : ", "}${number(found[2])}]${unit(found[3])}`;
    if ((found = RANGE.exec(text))) return filled(spoken.messages[0][0], { low: found[1], high: found[2] });
    if ((found = SHORT.exec(text))) {
      const ends = found[2].startsWith("(") ? `(${figure(found[2].slice(1, -1))})` : figure(found[2]);
      return `${figure(found[1])} ${ends}${unit(found[3])}`;
    }
    return BARE.test(text) ? unit(text) : text;
  }

  function filled(template, parameters) {
    let form = catalogue().texts[template];
    if (Array.isArray(form)) form = parameters.count === 1 ? form[0] : form.at(-1); // English: the catalogue lacks it
    else if (typeof form === "object") {
      const category = new Intl.PluralRules(language).select(parameters.count);
      form = form[category] ?? form.other ?? form.many;
    }
    return form.replace(/\{(\w+)\}/g, (_, name) => say(parameters[name]));
  }

  const SEPARATORS = { ja: { ", ": "、" } };

  function say(part) {
    if (typeof part === "number") return new Intl.NumberFormat(language).format(part);
    if (typeof part === "string") return figure(part);
    const [head, rest] = part;
    if (typeof head === "number") return filled(head, rest);
    const parts = rest.map(say);
    return head === "and" ? new Intl.ListFormat(language).format(parts) : parts.join(SEPARATORS[language]?.[head] ?? head);
  }
  const message = (index) => say(spoken.messages[index]);
  // A sentence begins with a capital letter, but for names, which are Latin.
  const begun = (text) => text.replace(/^\p{Script=Cyrillic}/u, (letter) => letter.toUpperCase());

  function whole(word) {
    const element = document.createElement("span");
    element.textContent = word;
    return element;
  }

  // The same marks as in `spoken.py`.
  function marked(text) {
    return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((piece, at, pieces) => {
      const width = piece.startsWith("`") ? 1 : piece.startsWith("**") ? 2 : 0;
      if (!width) return piece;
      const element = document.createElement(width === 1 ? "code" : "b");
      const inside = piece.slice(width, -width);
      if (width === 1 && !pieces[at + 1] && inside.includes(" ")) element.className = "typed";
      if (width === 2) element.textContent = inside;
      else element.append(...inside.split(" ").flatMap((word, at) => [...(at ? [" "] : []), whole(word)]));
      return element;
    });
  }

  // In English no line ends between a number and its unit; other languages have that from `unit`.
  const PARTED = new RegExp("(\\d) (?=(?:%|[kKMGTPmnpµ]?i?(?:B|s|Hz|flop|FLOP|bit)(?:/[a-z]+)?)(?![a-z]))", "gu");
  for (const element of document.querySelectorAll("[data-sentence], #summary :is(.label, .limit, th)")) {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replace(PARTED, "$1\u00a0");
  }

  function write(element, nodes) {
    if (!elements.has(element)) elements.set(element, [...element.childNodes]);
    element.replaceChildren(...(language === "en" ? elements.get(element) : nodes()));
  }

  function speak() {
    root.lang = language;
    for (const element of document.querySelectorAll("[data-text]")) {
      const said = () => (element.hasAttribute("data-sentence") ? begun(message(element.dataset.text)) : message(element.dataset.text));
      write(element, () => marked(said()));
    }
    for (const element of document.querySelectorAll("td.num, [data-figure], tbody th:not([translate], [data-text])")) {
      if (!element.childElementCount) write(element, () => [figure(elements.get(element)[0]?.data ?? "")]);
    }
    for (const element of document.querySelectorAll("[data-label]")) {
      element.dataset.english ??= element.getAttribute("aria-label");
      element.setAttribute("aria-label", language === "en" ? element.dataset.english : message(element.dataset.label));
    }
    for (const [name, index] of [["figure", 1], ["table", 2]]) {
      if (language === "en") root.style.removeProperty(`--word-${name}`);
      else root.style.setProperty(`--word-${name}`, JSON.stringify(message(index)));
    }
    for (const button of document.querySelectorAll("[data-language]")) {
      button.setAttribute("aria-pressed", String(button.dataset.language === language));
    }
    cards();
    dispatchEvent(new Event("languagechosen"));
  }

  // A phone shows a row of a wide table as a card: each cell beside its heading.
  const MOST_CARDS = 300;
  function cards() {
    for (const table of document.querySelectorAll("table")) {
      const heads = [...table.querySelectorAll("thead th")].map((each) => each.textContent);
      if (heads.length < 4 || table.rows.length > MOST_CARDS) continue;
      table.classList.add("cards");
      for (const row of table.tBodies[0].rows) [...row.cells].forEach((cell, at) => { cell.dataset.head = heads[at]; });
    }
  }

  const attempt = (action) => { try { return action(); } catch { return null; } }; // storage may be forbidden

  async function languages() {
    spoken = JSON.parse(await text(block("words")));
    const known = (name) => name === "en" || (name in spoken.languages);
    const wanted = [/^#lang=(\w+)$/.exec(location.hash)?.[1], attempt(() => localStorage.getItem(STORED)), root.dataset.wanted];
    language = wanted.find((name) => name && known(name)) ?? "en";
    for (const button of document.querySelectorAll("[data-language]")) {
      button.addEventListener("click", () => {
        language = button.dataset.language;
        attempt(() => localStorage.setItem(STORED, language));
        speak();
      });
    }
    document.querySelector(".languages").hidden = false;
    speak();
  }

  // A chart's strings: titles, domains and data; names of fields stay.
  function translated(spec, words) {
    if (language === "en") return spec;
    const one = (value) => (value in words ? message(words[value]) : figure(value));
    const values = (part) => {
      if (typeof part === "string") return one(part);
      if (Array.isArray(part)) return part.map(values);
      if (part && typeof part === "object") return Object.fromEntries(Object.entries(part).map(([k, v]) => [k, values(v)]));
      return part;
    };
    const walk = (part, key) => {
      if (key === "values" || key === "domain") return values(part);
      if (typeof part === "string") {
        if (key === "title") return one(part);
        return key === "labelExpr" ? part.replace(/' ([KMGT]?i?B)'/g, (_, name) => `' ${unit(name)}'`) : part;
      }
      if (Array.isArray(part)) return part.map((each) => walk(each, key));
      if (part && typeof part === "object") return Object.fromEntries(Object.entries(part).map(([k, v]) => [k, walk(v, k)]));
      return part;
    };
    const parts = new Intl.NumberFormat(language).formatToParts(1234567.8);
    const sign = (type) => parts.find((each) => each.type === type)?.value ?? "";
    const locale = { number: { decimal: sign("decimal"), thousands: sign("group"), grouping: [3], currency: ["", ""] } };
    const drawn = walk(spec, "");
    return { ...drawn, config: { ...drawn.config, locale } };
  }

  // Figures: the drawings in the page become charts that answer to the pointer.
  const phone = matchMedia("(max-width: 699px)");

  async function enliven(chart) {
    const part = (name) => JSON.parse(chart.querySelector(name).textContent);
    const spec = { ...part(".spec"), ...(phone.matches ? part(".patch") : {}) };
    const live = chart.querySelector(".live");
    const options = { ast: true, actions: false, renderer: "svg", mode: "vega-lite", tooltip: { theme: "assay" } };
    await window.vegaEmbed(live, translated(spec, part(".words")), options);
    live.hidden = false;
    chart.classList.add("alive");
  }

  async function figures() {
    const charts = [...document.querySelectorAll(".chart")];
    if (!charts.length) return;
    const library = document.createElement("script");
    library.textContent = await text(block("vega-library"));
    document.head.append(library);
    const draw = async () => { for (const chart of charts) await enliven(chart); };
    await draw();
    phone.addEventListener("change", draw);
    addEventListener("languagechosen", draw);
    addEventListener("figurechanged", (event) => enliven(event.target));
    root.dataset.figures = "live";
  }

  // Raw samples: see "Raw samples" in the page for the form.
  async function samples() {
    const index = JSON.parse(await text(block("sample-index")));
    const bytes = await inflate(block("sample-block"));
    const lines = ["launch,attempt,case,kernel,host,phase,iterations,sample,nanoseconds\r\n"];
    const quoted = (value) => (/[",\r\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : value);
    let at = 0;
    for (const series of index.series) {
      const [base, count] = series.slice(-2);
      const head = series.slice(0, -2).map(quoted).join(",");
      for (let i = 0; i < count; i += 1, at += 1) {
        let value = base;
        for (let plane = 0; plane < index.planes; plane += 1) value += bytes[plane * index.samples + at] * 256 ** plane;
        lines.push(`${head},${i},${value}\r\n`);
      }
    }
    return new Blob(lines, { type: "text/csv" });
  }
  const estimates = async () => new Blob([await inflate(block("estimate-block"))], { type: "application/json" });

  const files = { samples: [samples, "samples.csv"], estimates: [estimates, "estimates.json"] };
  for (const button of document.querySelectorAll("[data-download]")) {
    button.addEventListener("click", async () => {
      const [make, name] = files[button.dataset.download];
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await make());
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    });
  }

  // A link into a folded table opens it.
  function reveal() {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let each = target; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
    if (target && target.closest("details")) target.scrollIntoView({ block: "center" });
  }
  addEventListener("hashchange", reveal);
  reveal();

  // Paper opens what is folded.
  let shut = [];
  addEventListener("beforeprint", () => {
    shut = [...document.querySelectorAll("details:not([open])")];
    for (const each of shut) each.open = true;
  });
  addEventListener("afterprint", () => { for (const each of shut) each.open = false; });

  if (!("DecompressionStream" in window)) return;
  for (const element of document.querySelectorAll(".downloads")) element.hidden = false;
  languages().then(figures);
})();

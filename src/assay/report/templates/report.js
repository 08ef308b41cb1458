"use strict";
(() => {
  const block = (id) => document.getElementById(id).textContent.trim();

  async function inflate(base64) {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }
  const text = async (base64) => new TextDecoder().decode(await inflate(base64));

  // Figures: the drawings in the page become charts that answer to the pointer.
  const phone = matchMedia("(max-width: 699px)");

  async function enliven(chart) {
    const spec = JSON.parse(chart.querySelector(".spec").textContent);
    const patch = phone.matches ? JSON.parse(chart.querySelector(".patch").textContent) : {};
    const live = chart.querySelector(".live");
    const options = { ast: true, actions: false, renderer: "svg", mode: "vega-lite", tooltip: { theme: "assay" } };
    await window.vegaEmbed(live, { ...spec, ...patch }, options);
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
    document.documentElement.dataset.figures = "live";
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
    const folded = target && target.closest("details");
    if (folded) { folded.open = true; target.scrollIntoView({ block: "center" }); }
  }
  addEventListener("hashchange", reveal);
  reveal();

  if (!("DecompressionStream" in window)) return;
  for (const element of document.querySelectorAll(".downloads")) element.hidden = false;
  figures();
})();

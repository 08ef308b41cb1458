"use strict";
(() => {
  // Figures: the drawings in the page become charts that answer to the pointer.
  const phone = matchMedia("(max-width: 699px)");

  async function library() {
    const packed = document.getElementById("vega-library").textContent.trim();
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const element = document.createElement("script");
    element.textContent = await new Response(stream).text();
    document.head.append(element);
  }

  async function enliven(chart) {
    const part = (name) => JSON.parse(chart.querySelector(`.${name}`).textContent);
    const options = { ast: true, actions: false, renderer: "svg", mode: "vega-lite", tooltip: { theme: "assay" } };
    const live = chart.querySelector(".live");
    await window.vegaEmbed(live, { ...part("spec"), ...(phone.matches ? part("patch") : {}) }, options);
    live.hidden = false;
    chart.classList.add("alive");
  }

  async function figures() {
    const charts = [...document.querySelectorAll(".chart")];
    if (charts.length) await library();
    const draw = async () => { for (const chart of charts) await enliven(chart); };
    await draw();
    phone.addEventListener("change", draw);
    document.documentElement.dataset.figures = "live";
  }

  if ("DecompressionStream" in window) figures();
})();

"use strict";
(() => {
  // Published systems that the reader adds to a figure of messages: their curves join its data.
  const block = document.getElementById("published-curves");
  if (!block || !("DecompressionStream" in window)) return;
  const curves = JSON.parse(block.textContent);
  const COLOURS = 8, SHAPES = ["triangle-left", "triangle-right", "triangle-down", "cross", "triangle-up", "square", "diamond", "circle"];
  const DASHES = [[5, 2, 1, 2], [12, 3], [1, 3], [4, 4], [8, 3, 2, 3], [2, 2], [6, 3], [1, 0]];
  const sizes = (bytes) => bytes >= 2 ** 20 ? `${bytes / 2 ** 20} MiB` : bytes >= 1024 ? `${bytes / 1024} KiB` : `${bytes} B`;

  // The figure with the chosen curves: points, lines, and a place for each in every scale of series.
  function joined(plain, factor, chosen) {
    const spec = JSON.parse(plain);
    const lines = spec.layer.find((layer) => layer.mark.type === "line").data.values;
    const scales = new Set();
    for (const layer of spec.layer) {
      for (const [channel, encoding] of Object.entries(layer.encoding ?? {})) {
        if (encoding?.field === "series" && encoding.scale) scales.add([channel, encoding]);
      }
    }
    const alone = [...new Set(spec.data.values.map((value) => value.series))];
    chosen.forEach((curve, number) => {
      const series = `${curve.system}: ${curve.path}`;
      for (const [bytes, si, text] of curve.points) {
        const value = si * factor;
        spec.data.values.push({ x: bytes, curve: series, state: "", series, value, lo: value, hi: value, text,
          basis: "published, without samples", size: sizes(bytes) });
        lines.push({ x: bytes, value, series, segment: 0 });
      }
      for (const [channel, encoding] of scales) {
        encoding.legend = { title: null };
        encoding.scale.domain.push(series);
        const at = alone.length + number;
        encoding.scale.range.push({ color: `var(--series-${(at % COLOURS) + 1})`, shape: SHAPES[at % SHAPES.length] }[channel]
          ?? DASHES[number % DASHES.length]);
      }
    });
    // Ticks and ends were chosen for the figure alone: now there is a tick at each power of ten.
    const ends = spec.data.values.flatMap((value) => [value.lo, value.hi]);
    const [low, high] = [Math.min(...ends), Math.max(...ends)].map(Math.log10);
    const ticks = Array.from({ length: Math.floor(high) - Math.ceil(low) + 1 }, (_, at) => 10 ** (Math.ceil(low) + at));
    for (const layer of spec.layer) {
      if (layer.encoding?.y?.axis) layer.encoding.y.axis.values = ticks;
      if (layer.encoding?.y?.scale) delete layer.encoding.y.scale.domain;
    }
    return JSON.stringify(spec);
  }

  for (const figure of document.querySelectorAll("figure[data-pattern]")) {
    const fitting = curves.filter((curve) => curve.pattern === figure.dataset.pattern);
    const held = figure.querySelector(".spec");
    if (!fitting.length || !held) continue;
    const plain = held.textContent;
    const control = document.createElement("details");
    control.className = "published";
    const [summary, note] = document.getElementById("published-words").content.cloneNode(true).children;
    control.append(summary);
    const boxes = fitting.map((curve) => {
      const box = Object.assign(document.createElement("input"), { type: "checkbox" });
      const label = document.createElement("label");
      label.title = `${curve.source}; ${curve.where}`;
      label.lang = "en"; // names of systems and paths, as they were published
      label.append(box, ` ${curve.system}: ${curve.path}`);
      control.append(label);
      return box;
    });
    control.append(note);
    control.addEventListener("change", () => {
      const chosen = fitting.filter((_, number) => boxes[number].checked);
      held.textContent = chosen.length ? joined(plain, Number(figure.dataset.factor), chosen) : plain;
      figure.dataset.published = chosen.map((curve) => curve.system).join(" ");
      held.parentElement.dispatchEvent(new Event("figurechanged", { bubbles: true }));
    });
    figure.querySelector("figcaption").before(control);
  }
})();

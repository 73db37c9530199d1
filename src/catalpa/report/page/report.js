"use strict";
// The page works without this script; it adds sorting, the choice of trees, and what a pointer asks for.
(() => {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  const SVG = "http://www.w3.org/2000/svg";

  function shape(name, attributes, text) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  function percent(share) {
    if (share > 0 && share < 0.01) return "<1 %";
    if (share > 0.99 && share < 1) return ">99 %";
    return `${Math.round(100 * share)} %`;
  }

  // Sorting: a button in each heading, the same one turns the order around.
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, at) => {
      const button = head.querySelector("button");
      if (!button) return;
      button.addEventListener("click", () => {
        const falling = head.getAttribute("aria-sort") === "descending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", falling ? "ascending" : "descending");
        const rows = [...table.tBodies[0].rows];
        const value = (row) => Number(row.cells[at].dataset.value);
        rows.sort((one, other) => (falling ? 1 : -1) * (value(one) - value(other)));
        table.tBodies[0].append(...rows);
      });
    });
  }

  // Folded parts open for a link to them, and on paper.
  function unfold(id) {
    const fold = id && document.getElementById(id)?.querySelector("details.fold");
    if (fold) fold.open = true;
  }
  for (const link of document.querySelectorAll("nav a")) link.addEventListener("click", () => unfold(link.hash.slice(1)));
  unfold(location.hash.slice(1));
  addEventListener("beforeprint", () => {
    document.querySelectorAll("details.fold").forEach((fold) => { fold.open = true; });
    if (data.relations) chosenTrees();
  });

  // Shares: find a column or a category, and keep the whole table as a file.
  const tools = document.getElementById("share-tools");
  if (tools) {
    tools.hidden = false;
    const groups = [...document.querySelectorAll(".shares tbody.group")];
    document.getElementById("find-share").addEventListener("input", (event) => {
      const wanted = event.target.value.trim().toLowerCase();
      const holds = (cell) => (cell.title || cell.textContent).toLowerCase().includes(wanted);
      let found = 0;
      for (const group of groups) {
        const [head, ...rows] = group.rows;
        const whole = holds(head.cells[0]);
        for (const row of rows) row.hidden = !whole && !holds(row.cells[0]);
        group.hidden = rows.every((row) => row.hidden);
        found += group.hidden ? 0 : 1;
        if (wanted && !group.hidden && group.closest("details")) group.closest("details").open = true;
      }
      document.getElementById("found-shares").textContent = wanted ? `${found} of ${groups.length} columns` : "";
    });
    document.getElementById("save-shares").addEventListener("click", () => {
      // A cell that begins like a formula would be run by a spreadsheet; an apostrophe keeps it text.
      const cell = (text) => `"${String(text).replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;
      const lines = [["column", "category", "all", ...data.colours.map((_, at) => `cluster ${at}`)].map(cell)];
      for (const { column, categories } of data.profile) {
        for (const { category, overall, shares } of categories) {
          lines.push([cell(column), cell(category), Number(overall.toFixed(4)), ...shares]);
        }
      }
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([lines.map((line) => line.join(",") + "\r\n").join("")], { type: "text/csv" }));
      link.download = "shares.csv";
      link.click();
      URL.revokeObjectURL(link.href);
    });
  }

  // What is wider than the page fades where it goes on.
  const wide = [...document.querySelectorAll(".scroll, .map")];
  const mark = (place) => place.toggleAttribute("data-more", place.scrollWidth - place.clientWidth - place.scrollLeft > 4);
  const widths = new ResizeObserver((entries) => entries.forEach((entry) => mark(entry.target)));
  for (const place of wide) {
    place.addEventListener("scroll", () => mark(place), { passive: true });
    widths.observe(place);
  }

  // Trees.
  const LINE = 26, TOP = 8, FOOT = 30;

  function shortened(text, most) {
    // Names that begin alike often differ at their end, so both ends are kept.
    const end = Math.floor(most * 0.35);
    return text.length > most ? `${text.slice(0, most - end - 1)}…${text.slice(-end)}` : text;
  }

  function ticks(longest) {
    const rough = longest / 4, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((unit) => unit * power).find((unit) => unit >= rough);
    const made = [];
    for (let at = 0; at <= longest * 1.0001; at += step) made.push(Number(at.toPrecision(6)));
    return made;
  }

  function drawTree(figure, cluster, column, longest) {
    const tree = data.relations.trees[cluster][column];
    const width = Math.max(260, Math.floor(figure.clientWidth));
    const letters = Math.min(34, Math.max(...tree.rows.map((row) => row[0].length), 3));
    const left = Math.min(width * 0.46, letters * 7.6 + 18), right = width - 62;
    const height = TOP + LINE * tree.rows.length + FOOT;
    const x = (place) => left + 12 + (place / longest) * (right - left - 24);
    const y = (line) => TOP + LINE * (line + 0.5);
    const colour = data.colours[cluster];
    const name = `${data.relations.columns[column]} in ${data.names[cluster]}`;
    const svg = shape("svg", { class: "tree", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name });
    const axis = shape("g", { class: "axis" });
    for (const tick of ticks(longest)) {
      axis.append(shape("line", { class: "guide", x1: x(tick), x2: x(tick), y1: TOP, y2: height - FOOT + 4 }));
      axis.append(shape("text", { x: x(tick), y: height - 10, "text-anchor": "middle" }, String(tick)));
    }
    svg.append(axis);
    tree.rows.forEach(([, , place, parent], line) => {
      if (parent < 0) return;
      const from = x(tree.rows[parent][2]);
      svg.append(shape("path", { class: "edge", stroke: colour, d: `M${from},${y(parent)}V${y(line)}H${x(place)}` }));
    });
    tree.rows.forEach(([text, share, place], line) => {
      const most = Math.floor((left - 14) / 7.3);
      const label = shape("text", { class: "category", x: left - 8, y: y(line) + 4.5, "text-anchor": "end" }, shortened(text, most));
      label.append(shape("title", {}, text));
      svg.append(label);
      svg.append(shape("circle", { cx: x(place), cy: y(line), r: 3.5 + 6 * Math.sqrt(share), fill: colour }));
      svg.append(shape("text", { class: "share", x: width - 4, y: y(line) + 4.5, "text-anchor": "end" }, percent(share)));
    });
    figure.querySelector("svg")?.remove();
    figure.querySelector("figcaption .told").textContent = shortened(name, 70);
    const chip = figure.querySelector(".chip");
    chip.className = data.chips[cluster];
    chip.style.setProperty("--c", colour);
    chip.textContent = String(cluster);
    figure.querySelector(".left-out").textContent = [
      tree.left_out ? `${tree.left_out} rarer categories are not drawn.` : "",
      tree.absent.length ? `No row of the cluster holds ${tree.absent.join(", ")}.` : "",
    ].join(" ");
    figure.insertBefore(svg, figure.querySelector(".left-out"));
  }

  function chosenTrees() {
    const column = Number(document.getElementById("choose-column").value);
    const clusters = [Number(document.getElementById("choose-cluster").value)];
    const other = document.getElementById("choose-other").value;
    if (other !== "") clusters.push(Number(other));
    const places = clusters.flatMap((cluster) => data.relations.trees[cluster][column].rows.map((row) => row[2]));
    const longest = Math.max(...places, 0) || 1;
    const figures = document.querySelectorAll(".trees figure");
    figures[1].hidden = clusters.length === 1;
    clusters.forEach((cluster, at) => drawTree(figures[at], cluster, column, longest));
  }

  if (data.relations) {
    for (const id of ["choose-column", "choose-cluster", "choose-other"]) {
      document.getElementById(id).addEventListener("change", chosenTrees);
    }
    let last = 0;
    new ResizeObserver(([entry]) => {
      const width = Math.round(entry.contentRect.width);
      if (width !== last) { last = width; chosenTrees(); }
    }).observe(document.querySelector(".trees"));
  }

  // Map: a press on a cluster's number fades the others.
  const legend = [...document.querySelectorAll(".legend button")];
  const dots = [...document.querySelectorAll("#map svg .mark-symbol path")];
  legend.forEach((button) => button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    legend.forEach((other) => other.setAttribute("aria-pressed", String(other === button && on)));
    const wanted = Number(button.dataset.cluster);
    dots.forEach((dot, at) => dot.classList.toggle("faded", on && data.map_clusters[at] !== wanted));
  }));

  const tip = document.getElementById("tip");
  function showTip(mark, x, y) {
    tip.hidden = !mark;
    if (!mark) return;
    tip.textContent = mark.getAttribute("aria-label");
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - width - 8))}px`;
    tip.style.top = `${y + height + 24 > innerHeight ? y - height - 12 : y + 16}px`;
  }
  document.addEventListener("pointermove", (event) => {
    showTip(event.target.closest?.(".drawn svg path[aria-label]"), event.clientX, event.clientY);
  });

  // Maps by keyboard: arrow keys go from point to point, from left to right; Escape leaves the point.
  for (const map of document.querySelectorAll(".map[tabindex]")) {
    const points = [...map.querySelectorAll("svg .mark-symbol path[aria-label]")];
    let order = null, current = null;
    const leave = () => { current?.classList.remove("current"); current = null; tip.hidden = true; };
    map.addEventListener("blur", leave);
    map.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const end = { Home: 0, End: -1 }[event.key];
      if (event.key === "Escape") leave();
      if (step === undefined && end === undefined) return;
      event.preventDefault();
      const middle = (point) => { const box = point.getBoundingClientRect(); return box.left + box.width / 2; };
      order ??= points.map((point) => [middle(point), point]).sort((one, other) => one[0] - other[0]).map(([, point]) => point);
      const shown = order.filter((point) => !point.classList.contains("faded"));
      if (!shown.length) return;
      const at = shown.indexOf(current);
      const next = end !== undefined ? shown.at(end) : at < 0 ? shown.at(step > 0 ? 0 : -1) : shown[(at + step + shown.length) % shown.length];
      leave();
      current = next;
      next.classList.add("current");
      const box = next.getBoundingClientRect();
      showTip(next, box.right, box.bottom);
      document.getElementById("told").textContent = next.getAttribute("aria-label");
    });
  }
})();

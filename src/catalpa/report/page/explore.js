"use strict";
// The explorer. catalpaExplorer(root, data, host) builds it inside an element; every host of it calls this function.
// Text from the table only ever becomes textContent or an attribute's value, never markup.
function catalpaExplorer(root, data, host = {}) {
  const MISSING = /^\((missing|not seen at fit)\)$/;
  // What makes a category a reason, as in the report: rows, share, difference or ratio of shares, and a likelihood ratio.
  const LEAST_ROWS = 5, COMMON = 0.1, POINTS = 0.1, TIMES = 2, CHANCE = 6.63;
  const SVG = "http://www.w3.org/2000/svg";

  // ---- elements

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value === undefined || value === null || value === false) continue;
      if (key === "on") for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
      else if (key === "style") for (const [property, one] of Object.entries(value)) made.style.setProperty(property, one);
      else made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return made;
  }

  function shape(name, attributes, text) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  // A long question keeps its end, which often is what tells it from others.
  function short(text, most = 60) {
    const letters = [...String(text)];
    return letters.length <= most ? String(text) : `${letters.slice(0, most - 16).join("")}\u2026${letters.slice(-15).join("")}`;
  }
  const option = (value, text, selected) => element("option", { value, selected, title: short(text) === text ? null : text }, short(text));
  const whole = (number) => Math.round(number).toLocaleString("en-US");

  function percent(share) {
    if (share > 0 && share < 0.01) return "<1\u00a0%";
    if (share > 0.99 && share < 1) return ">99\u00a0%";
    return `${Math.round(100 * share)}\u00a0%`;
  }

  // ---- what the page holds

  function decoded(codes) {
    if (!codes) return null;
    const bytes = Uint8Array.from(atob(codes.base64), (letter) => letter.charCodeAt(0));
    if (codes.bytes === 1) return bytes;
    return Uint16Array.from({ length: bytes.length / 2 }, (_, at) => bytes[2 * at] + 256 * bytes[2 * at + 1]);
  }

  const columns = data.columns;
  const codes = data.codes && data.codes.map(decoded);
  const weights = data.weights && Float64Array.from(data.weights);
  const labels = data.partitions.map((one) => decoded(one.labels));
  const hasRows = codes !== null;

  // What the reader has done: the number of clusters, filters, and names and merges for every number.
  const state = {
    at: data.model,
    filters: [], // {column, category}
    notes: host.notes || "",
    byNumber: data.partitions.map((one) => ({
      group: Array.from({ length: one.k }, (_, cluster) => cluster), // the cluster that each one is merged into
      names: [...one.names],
    })),
  };

  const partition = () => data.partitions[state.at];
  const edits = () => state.byNumber[state.at];
  const groups = () => [...new Set(edits().group)].sort((one, other) => one - other);
  const nameOf = (cluster) => edits().names[cluster] || `cluster ${cluster}`;
  const colourOf = (cluster, at = state.at) => {
    const strand = data.partitions[at].strands[cluster];
    return data.palette[strand % data.palette.length];
  };

  function chip(cluster) {
    const colour = colourOf(cluster);
    return element("span", { class: colour.dark ? "chip dark-ink" : "chip", style: { "--c": colour.colour } }, String(cluster));
  }

  // ---- counts

  // One byte per row of the page: whether it passes the filters. Categories of one column are alternatives.
  function passing() {
    if (!state.filters.length) return null;
    const wanted = new Map();
    for (const { column, category } of state.filters) {
      if (!wanted.has(column)) wanted.set(column, new Set());
      wanted.get(column).add(category);
    }
    const passes = new Uint8Array(data.shown).fill(1);
    for (const [column, categories] of wanted) {
      const own = codes[column];
      for (let row = 0; row < passes.length; row++) if (!categories.has(own[row])) passes[row] = 0;
    }
    return passes;
  }

  // Weight of the rows per cluster and category of every column, after filters and merges.
  function counted() {
    const one = partition(), passes = passing(), { group } = edits();
    if (one.counts && !passes) return { sizes: merged(one.sizes, group), byColumn: one.counts.map((table) => mergedRows(table, group)) };
    const own = labels[state.at], n = data.shown;
    const sizes = new Float64Array(one.k);
    const byColumn = columns.map((column) => Array.from({ length: one.k }, () => new Float64Array(column.categories.length)));
    for (let row = 0; row < n; row++) if (!passes || passes[row]) sizes[group[own[row]]] += weights ? weights[row] : 1;
    columns.forEach((column, at) => {
      const table = byColumn[at], places = codes[at];
      for (let row = 0; row < n; row++) if (!passes || passes[row]) table[group[own[row]]][places[row]] += weights ? weights[row] : 1;
    });
    return { sizes, byColumn };
  }

  function merged(sizes, group) {
    const sums = new Float64Array(sizes.length);
    sizes.forEach((size, cluster) => (sums[group[cluster]] += size));
    return sums;
  }

  function mergedRows(table, group) {
    const sums = table.map((row) => new Float64Array(row.length));
    table.forEach((row, cluster) => row.forEach((count, at) => (sums[group[cluster]][at] += count)));
    return sums;
  }

  let counts = null; // of the state as it is

  // ---- reasons: categories that are clearly more common in a cluster than elsewhere, one per column

  function reasonsOf(cluster, most) {
    const total = counts.sizes.reduce((sum, size) => sum + size, 0);
    const inside = counts.sizes[cluster], outside = total - inside;
    if (!inside || !outside) return [];
    const best = new Map();
    columns.forEach((column, at) => {
      if (!column.clustered) return;
      const table = counts.byColumn[at];
      const gone = column.categories.findIndex((category) => MISSING.test(category));
      const sumOf = (place) => table.reduce((sum, row) => sum + row[place], 0);
      const goneHere = gone < 0 ? 0 : table[cluster][gone], goneElsewhere = gone < 0 ? 0 : sumOf(gone) - goneHere;
      column.categories.forEach((category, place) => {
        if (category === "(other)") return;
        const rows = table[cluster][place], rest = sumOf(place) - rows;
        const share = rows / inside, elsewhere = rest / outside, missing = MISSING.test(category);
        if (rows * data.rows_per_weight < Math.min(LEAST_ROWS, inside) || share < COMMON) return;
        if (share < elsewhere + POINTS && share < TIMES * elsewhere) return;
        // Common only because others did not answer: no reason.
        if (!missing && !(rows / (inside - goneHere) >= rest / Math.max(outside - goneElsewhere, 1e-12) + POINTS / 2)) return;
        const bits = information(rows, rest, inside, outside);
        if (2 * Math.LN2 * bits * total * data.rows_per_weight < CHANCE) return;
        const reason = { column, category, share, elsewhere, bits, missing };
        const known = best.get(voteOf(at));
        if (!known || before(reason, known)) best.set(voteOf(at), reason);
      });
    });
    return [...best.values()].sort((one, other) => (before(one, other) ? -1 : 1)).slice(0, most);
  }

  // Mutual information of "in the cluster" and "has the category", in bits per row.
  function information(rows, rest, inside, outside) {
    const total = inside + outside, having = rows + rest;
    return [[rows, inside, having], [rest, outside, having], [inside - rows, inside, total - having], [outside - rest, outside, total - having]]
      .reduce((sum, [count, ofRows, ofKind]) => sum + (count > 1e-12 ? (count / total) * Math.log2((count * total) / (ofRows * ofKind)) : 0), 0);
  }

  // The answer comes first; "yes", "3" and ranges mean nothing without their column, if that is no long question.
  const isClear = (text) => /^\p{L}./u.test(text) && !/^(yes|no|true|false)$/i.test(text);
  const needsColumn = ({ column, category }) => column.title.length <= 24 && (column.kind === "numbers" || !isClear(category));
  function answerOf({ column, category }) {
    if (column.item) return `${short(column.item)}: ${short(category)}`;
    return needsColumn({ column, category }) ? `${column.title}: ${short(category)}` : short(category);
  }
  function figuresOf(reason) {
    const rest = reason.elsewhere ? `elsewhere ${percent(reason.elsewhere)}` : "nowhere else";
    return `${needsColumn(reason) ? "" : `${short(reason.column.item ? reason.column.question : reason.column.title)}: `}${percent(reason.share)}, ${rest}`;
  }

  // What a column is called where space is scarce: its item, and as much of the question as fits.
  function calledColumn(name, ofQuestion = 50) {
    const column = columns.find((one) => one.name === name);
    if (!column || !column.item) return short(column ? column.title : name, 90);
    return ofQuestion ? `${short(column.item)} \u00b7 ${short(column.question, ofQuestion)}` : short(column.item);
  }

  // Columns that repeat each other have one vote.
  const voteOf = (at) => (columns[at].repeats === null ? `column ${at}` : `group ${columns[at].repeats}`);
  const before = (one, other) => (one.missing !== other.missing ? other.missing : one.bits > other.bits);

  // ---- the cluster of a row: the model's own whole numbers

  function scored(row) {
    const scoring = data.scoring, k = scoring.anchor.length;
    const total = scoring.anchor.map(BigInt);
    scoring.words.forEach((column, at) => {
      const parent = column.parent === null ? 0 : row.places[column.parent] * column.width;
      column.costs[parent + row.places[at]].forEach((cost, cluster) => (total[cluster] += BigInt(cost)));
    });
    if (scoring.numbers.length) {
      const parts = new Float64Array(k);
      scoring.numbers.forEach((column, at) => {
        const costs = numberCosts(column, row.numbers[at]);
        if (costs) costs.forEach((cost, cluster) => (parts[cluster] += cost));
      });
      parts.forEach((part, cluster) => (total[cluster] += BigInt(toEven(Math.min(part, scoring.limit) * 2 ** scoring.shift))));
    }
    const least = total.reduce((one, other) => (other < one ? other : one));
    const label = total.findIndex((cost) => cost <= least + BigInt(scoring.tie));
    const reasons = k > 1 ? explained(row, total, label) : null, odd = oddCells(row, label);
    if (!scoring.soft) return { label, probabilities: null, reasons, odd, outlier: false };
    const odds = total.map((cost) => Math.exp(-Number(cost - least) * 2 ** -scoring.shift));
    const sum = odds.reduce((one, other) => one + other, 0);
    const density = Math.log(sum) - Number(least) * 2 ** -scoring.shift;
    return { label, probabilities: odds.map((one) => one / sum), reasons, odd, outlier: scoring.outliers !== null && density < scoring.outliers.least };
  }

  // Cells that are unusual in the row's cluster, with their share or mean there, as model.explain has them.
  function oddCells(row, label) {
    const words = data.scoring.words.flatMap((column, at) => {
      const here = column.odd[row.places[at]][label];
      return here === undefined ? [] : [{ column: column.name, here }];
    });
    const numbers = data.scoring.numbers.flatMap((column, at) => {
      const usual = column.usual[label], half = scaledNumber(column, row.numbers[at]) * column.half_span;
      return usual && Math.abs(column.low + half + half - usual.mean) > usual.within ? [{ column: column.name, here: usual.here }] : [];
    });
    return [...words, ...numbers];
  }

  // Why the cluster and not the next best one: by how much every column costs less there, as model.explain has it.
  function explained(row, total, label) {
    const scoring = data.scoring, unit = 2 ** -scoring.shift;
    const rest = total.map((cost, cluster) => ({ cost, cluster })).filter(({ cluster }) => cluster !== label);
    const rival = rest.reduce((one, other) => (other.cost < one.cost ? other : one)).cluster;
    const words = scoring.words.map((column, at) => {
      const parent = column.parent === null ? 0 : row.places[column.parent] * column.width;
      const costs = column.costs[parent + row.places[at]];
      return { column: column.name, ahead: Number(BigInt(costs[rival]) - BigInt(costs[label])) * unit };
    });
    const numbers = scoring.numbers.map((column, at) => {
      const parts = numberCosts(column, row.numbers[at]);
      return { column: column.name, ahead: parts ? parts[rival] - parts[label] : 0 };
    });
    return { rival, columns: [...words, ...numbers].sort((one, other) => other.ahead - one.ahead) };
  }

  // What a number costs in every cluster; null if it is missing.
  function numberCosts(column, value) {
    if (Number.isNaN(value)) return null;
    const scoring = data.scoring, scaled = scaledNumber(column, value);
    return column.means.map((mean, cluster) => {
      if (mean === null) return 0;
      const away = Math.abs(scaled - mean);
      return column.level[cluster] + column.scale[cluster] * (scoring.power === 2 ? away * away : away);
    });
  }

  function scaledNumber(column, value) {
    const unit = (value / 2 - column.low / 2) / column.half_span, { ticks } = data.scoring;
    return toEven(Math.min(Math.max(unit, column.least), column.most) * ticks) / ticks;
  }

  // Halves go to the even number, as in the model.
  function toEven(number) {
    const limit = 2 ** 52;
    if (Math.abs(number) >= limit) return number;
    return number < 0 ? -((-number + limit) - limit) : number + limit - limit;
  }

  // ---- parts of the page

  const verdict = element("p", { id: "verdict" });
  const verdictNote = element("p", { class: "key", id: "verdict-note" });
  function drawVerdict() {
    const found = data.verdict, own = data.partitions[data.model].k;
    verdict.hidden = !found;
    verdictNote.hidden = !found || state.at === data.model;
    root.classList.toggle("doubtful", Boolean(found) && found.level === "none");
    if (!found) return;
    verdict.className = `verdict ${found.level.replaceAll(" ", "-")}`;
    // The samples that the verdict needs are compared while the page is read.
    const awaited = host.extend && !data.judged && found.level === "unchecked";
    verdict.replaceChildren(element("strong", {}, awaited ? `${own} clusters. Comparing random samples of the rows \u2026` : found.sentence));
    verdictNote.textContent = `The verdict is about ${own} clusters; shown are ${partition().k}.`;
  }
  const status = element("p", { class: "status", id: "filter-status", role: "status", "aria-live": "polite" });
  const filterList = element("div", { class: "filters" });
  const cards = element("div", { class: "cards" });
  const flow = element("div", { class: "flow-box scroll" });
  const crossBox = element("div"), versusBox = element("div"), tryBox = element("div");

  function section(id, title, lead, ...children) {
    return element("section", { id }, element("h2", {}, title), lead ? element("p", { class: "lead" }, lead) : null, ...children);
  }

  function labelled(text, control) {
    return element("label", {}, text, control);
  }

  // -- the number of clusters
  const shownNumber = element("output", {});
  const slider = element("input", {
    type: "range", min: 0, max: data.partitions.length - 1, step: 1, value: state.at, id: "clusters", "aria-label": "Number of clusters",
    on: { input: (event) => { state.at = Number(event.target.value); changed(); } },
  });
  slider.value = state.at;
  const numberLabel = element("label", { class: "number", for: "clusters" }, element("span", {}, "Number of clusters: ", shownNumber), slider);
  numberLabel.hidden = data.partitions.length < 2;

  // -- filters
  const filterColumn = element("select", { id: "filter-column", on: { change: fillFilterCategories } },
    columns.map((column, at) => option(at, column.title)));
  const filterCategory = element("select", { id: "filter-category" });
  function fillFilterCategories() {
    filterCategory.replaceChildren(...columns[Number(filterColumn.value)].categories.map((category, place) => option(place, category)));
  }
  const addFilter = element("button", { type: "button", id: "add-filter", on: { click: () => {
    const filter = { column: Number(filterColumn.value), category: Number(filterCategory.value) };
    if (!state.filters.some((one) => one.column === filter.column && one.category === filter.category)) state.filters.push(filter);
    changed();
  } } }, "Show only these");

  function drawFilters() {
    filterList.replaceChildren(...state.filters.map((filter, at) => {
      const column = columns[filter.column];
      const text = `${short(column.title)} = ${short(column.categories[filter.category])}`;
      return element("button", { type: "button", "aria-label": `Remove the filter ${text}`, on: { click: () => { state.filters.splice(at, 1); changed(); } } }, `${text} ✕`);
    }));
    filterList.hidden = !state.filters.length;
  }

  // -- cards
  // What is typical of a cluster names it until the reader does, but not as a part of a merged one.
  function suggestedName(cluster) {
    const isMerged = edits().group.filter((target) => target === cluster).length > 1;
    return (!isMerged && partition().suggested[cluster]) || `cluster ${cluster}`;
  }
  function drawCards() {
    const total = counts.sizes.reduce((sum, size) => sum + size, 0);
    const order = groups().sort((one, other) => counts.sizes[other] - counts.sizes[one]);
    cards.replaceChildren(...order.map((cluster) => {
      const size = counts.sizes[cluster], colour = colourOf(cluster).colour;
      const name = element("input", {
        type: "text", value: edits().names[cluster] || "", placeholder: suggestedName(cluster), title: `Name of cluster ${cluster}`, "aria-label": `Name of cluster ${cluster}`, maxlength: 80,
        on: { change: (event) => { edits().names[cluster] = event.target.value.trim() || null; drawRest(); } },
      });
      const parts = edits().group.flatMap((target, part) => (target === cluster && part !== cluster ? [part] : []));
      const others = order.filter((one) => one !== cluster);
      const merge = element("select", { "aria-label": `Merge cluster ${cluster} into another`, on: { change: (event) => {
        const target = Number(event.target.value);
        edits().group = edits().group.map((one) => (one === cluster ? target : one));
        changed();
      } } }, option("", "merge into …"), others.map((one) => option(one, nameOf(one))));
      const undo = parts.length ? element("button", { type: "button", on: { click: () => {
        for (const part of parts) edits().group[part] = part;
        changed();
      } } }, `undo merge (${parts.join(", ")})`) : null;
      // Clusters inside a cluster are sought by the program that serves the page.
      const split = host.split && state.at === data.model && !parts.length
        ? element("button", { type: "button", "data-split": cluster, on: { click: () => host.split(cluster) } }, "split") : null;
      return element("article", { class: "card", style: { "--c": colour }, "data-cluster": cluster },
        element("header", {}, chip(cluster), name, element("span", { class: "note" }, `${whole(size)} ${data.weighted ? "(weighted)" : "rows"}, ${percent(total ? size / total : 0)}`)),
        element("div", { class: "bar", style: { "--c": colour } }, element("i", { style: { width: `${total ? (100 * size) / total : 0}%` } })),
        element("ul", {}, reasonsOf(cluster, 4).map((reason) => element("li", {},
          element("span", {}, element("b", {}, answerOf(reason)), element("small", {}, figuresOf(reason))),
          element("span", { class: "pair", style: { "--c": colour } },
            element("i", { style: { width: `${100 * reason.share}%` } }), element("u", { style: { left: `${100 * reason.elsewhere}%` } }))))),
        element("div", { class: "acts" }, others.length ? merge : null, undo, split));
    }));
  }

  // -- ribbons between the numbers of clusters
  function drawFlow() {
    const stages = data.partitions.length;
    if (stages < 2) return;
    const height = 240, top = 24, node = 18, gap = 3, step = Math.max(70, Math.min(150, 900 / (stages - 1)));
    const svg = shape("svg", { class: "flow", viewBox: `-12 0 ${step * (stages - 1) + node + 24} ${height + top + 8}`, role: "img", "aria-label": "How clusters divide as their number grows" });
    const scale = (height - gap * Math.max(...data.partitions.map((one) => one.k))) / data.total;
    const boxes = [];
    data.partitions.forEach((one, at) => {
      // Beside where the rows come from, so that ribbons cross little.
      const middles = one.sizes.map((_, cluster) => {
        if (!at) return cluster;
        const flows = data.flows[at - 1].map((row) => row[cluster]), sum = flows.reduce((x, y) => x + y, 0) || 1;
        return flows.reduce((x, rows, from) => x + rows * (boxes[at - 1][from].y + boxes[at - 1][from].height / 2), 0) / sum;
      });
      let y = top;
      const own = [];
      for (const cluster of one.sizes.map((_, cluster) => cluster).sort((x, z) => middles[x] - middles[z])) {
        own[cluster] = { y, height: one.sizes[cluster] * scale, left: y, right: y };
        y += one.sizes[cluster] * scale + gap;
      }
      boxes.push(own);
    });
    data.flows.forEach((table, at) => {
      const x = step * at + node, end = step * (at + 1), middle = (x + end) / 2;
      const byPlace = (own) => own.map((_, cluster) => cluster).sort((one, other) => own[one].y - own[other].y);
      for (const from of byPlace(boxes[at])) for (const to of byPlace(boxes[at + 1])) {
        const wide = table[from][to] * scale;
        if (wide < 0.2) continue;
        const a = boxes[at][from].right, b = boxes[at + 1][to].left;
        boxes[at][from].right += wide;
        boxes[at + 1][to].left += wide;
        svg.append(shape("path", { fill: colourOf(from, at).colour, d: `M${x},${a}C${middle},${a} ${middle},${b} ${end},${b}v${wide}C${middle},${b + wide} ${middle},${a + wide} ${x},${a + wide}Z` }));
      }
    });
    data.partitions.forEach((one, at) => {
      const chosen = at === state.at;
      const text = shape("text", { x: step * at + node / 2, y: 15, "text-anchor": "middle", class: chosen ? "chosen" : "" }, String(one.k));
      text.addEventListener("click", () => { state.at = at; slider.value = at; changed(); });
      svg.append(text);
      boxes[at].forEach((box, cluster) => {
        const rect = shape("rect", { x: step * at, y: box.y, width: node, height: Math.max(box.height, 1), rx: 3, fill: colourOf(cluster, at).colour, class: chosen ? "chosen" : "" });
        rect.append(shape("title", {}, `${state.byNumber[at].names[cluster] || `cluster ${cluster}`} of ${one.k}: ${whole(one.sizes[cluster])} rows`));
        svg.append(rect);
      });
    });
    flow.replaceChildren(svg);
  }

  // -- cross a column
  const crossColumn = element("select", { id: "cross-column", on: { change: drawCross } }, columns.map((column, at) => option(at, column.clustered ? column.title : `${column.title} (not clustered)`)));
  const crossWay = element("select", { id: "cross-way", on: { change: drawCross } }, option("cluster", "share of the cluster"), option("category", "share of the category"), option("rows", "rows"));
  function drawCross() {
    const at = Number(crossColumn.value), column = columns[at], table = counts.byColumn[at], shown = groups();
    const sums = column.categories.map((_, place) => shown.reduce((sum, cluster) => sum + table[cluster][place], 0));
    const total = sums.reduce((one, other) => one + other, 0) || 1;
    const rowsOf = (cluster) => counts.sizes[cluster] || 1;
    const cell = (rows, share) => element("td", { style: { "--a": crossWay.value === "rows" ? 0 : share.toFixed(3) }, title: `${whole(rows)} rows` }, crossWay.value === "rows" ? whole(rows) : percent(share));
    const head = element("tr", {}, element("th", { scope: "col", title: column.name }, short(column.title, 90)), element("th", { scope: "col" }, "all"), shown.map((cluster) => element("th", { scope: "col" }, element("span", { class: "name-of" }, chip(cluster), edits().names[cluster] || ""))));
    const body = column.categories.flatMap((category, place) => sums[place] ? [element("tr", {}, element("th", { scope: "row" }, category),
      cell(sums[place], sums[place] / total),
      shown.map((cluster) => cell(table[cluster][place], table[cluster][place] / (crossWay.value === "category" ? sums[place] : rowsOf(cluster)))))] : []);
    crossBox.replaceChildren(element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Cross-tabulation" },
      element("table", { class: "cross" }, element("thead", {}, head), element("tbody", {}, body))));
  }

  // -- compare two clusters
  const first = element("select", { id: "first-cluster", on: { change: drawVersus } }), second = element("select", { id: "second-cluster", on: { change: drawVersus } });
  function fillVersus() {
    const shown = groups();
    [first, second].forEach((select, at) => {
      const before = Number(select.value || NaN);
      const chosen = shown.includes(before) && select.value !== "" ? before : shown[Math.min(at, shown.length - 1)];
      select.replaceChildren(...shown.map((cluster) => option(cluster, nameOf(cluster), cluster === chosen)));
    });
    drawVersus();
  }
  const apart = (share) => Math.abs(share.one - share.other);
  function drawVersus() {
    const one = Number(first.value), other = Number(second.value);
    if (one === other || !counts.sizes[one] || !counts.sizes[other]) {
      versusBox.replaceChildren(element("p", { class: "lead" }, "Choose two clusters that hold rows."));
      return;
    }
    const best = new Map();
    columns.forEach((column, at) => {
      const table = counts.byColumn[at];
      column.categories.forEach((category, place) => {
        const share = { column, category, one: table[one][place] / counts.sizes[one], other: table[other][place] / counts.sizes[other] };
        const known = best.get(voteOf(at));
        if (!known || apart(share) > apart(known)) best.set(voteOf(at), share);
      });
    });
    const differences = [...best.values()].sort((x, y) => apart(y) - apart(x)).slice(0, 15);
    versusBox.replaceChildren(element("div", { class: "versus" }, differences.flatMap((share) => [
      element("span", {}, element("b", {}, answerOf(share)), needsColumn(share) ? null : element("small", { title: share.column.name }, ` ${short(share.column.item ? share.column.question : share.column.title)}`)),
      element("span", { class: "two-bars" },
        element("i", { style: { "--c": colourOf(one).colour, width: `${100 * share.one}%` } }),
        element("i", { style: { "--c": colourOf(other).colour, width: `${100 * share.other}%` } })),
      element("span", {}, `${percent(share.one)} and ${percent(share.other)}`)])));
  }

  // -- try a row
  // Place of the most frequent choice of a column.
  function mostCommon(column) {
    const at = columns.findIndex((one) => one.name === column.name);
    if (at < 0) return 0;
    const sums = columns[at].categories.map((_, place) => counts.byColumn[at].reduce((sum, row) => sum + row[place], 0));
    const text = columns[at].categories[sums.indexOf(Math.max(...sums))];
    return Math.max(0, column.choices.findIndex((choice) => choice.text === text));
  }

  // Columns that speak for the cluster of the tried row, and against it, with their cells.
  function drawReasons(result, called, form) {
    const { reasons, label, odd } = result;
    if (!reasons) return [];
    const cellOf = (name) => {
      const field = form.querySelector(`label[data-column="${CSS.escape(name)}"] :is(select, input)`);
      if (!field) return data.scoring.words.find((column) => column.name === name).choices.find((choice) => choice.place === result.places[name]).text; // a block of columns
      return field.tagName === "SELECT" ? field.selectedOptions[0].textContent : field.value || "(missing)";
    };
    const line = ({ column, ahead }) => element("li", {}, element("b", { title: column }, `${calledColumn(column, 0)}: ${short(cellOf(column))}`), element("small", {}, ` ${ahead > 0 ? "+" : "\u2212"}${Math.abs(ahead).toPrecision(2)}${data.scoring.soft ? " nats" : ""}`));
    const support = reasons.columns.filter(({ ahead }) => ahead > 0).slice(0, 4);
    const against = reasons.columns.filter(({ ahead }) => ahead < 0).reverse().slice(0, 2);
    return [
      support.length ? element("p", { class: "lead" }, `Why ${called(label)} and not ${called(reasons.rival)}:`) : null,
      support.length ? element("ul", { class: "why" }, support.map(line)) : null,
      against.length ? element("p", { class: "lead" }, `Closer to ${called(reasons.rival)}:`) : null,
      against.length ? element("ul", { class: "why-not" }, against.map(line)) : null,
      odd.length ? element("p", { class: "lead" }, `Unusual in ${called(label)}:`) : null,
      odd.length ? element("ul", { class: "odd" }, odd.map(({ column, here }) => element("li", {}, element("b", { title: column }, `${calledColumn(column, 0)}: ${short(cellOf(column))}`), element("small", {}, here ? ` (${here} here)` : "")))) : null,
    ];
  }

  function buildTry() {
    const scoring = data.scoring;
    if (scoring.refused) {
      tryBox.replaceChildren(element("p", { class: "lead" }, scoring.refused));
      return;
    }
    const answer = element("div", { class: "answer", id: "answer", role: "status", "aria-live": "polite" });
    const words = scoring.words.map((column, at) => column.steps ? null : column.edges
      ? element("input", { type: "number", step: "any", "data-word": at })
      : element("select", { "data-word": at }, column.choices.map((choice, place) => option(place, choice.text, place === mostCommon(column)))));
    const numbers = scoring.numbers.map((column, at) => element("input", { type: "number", step: "any", "data-number": at, value: column.typical }));
    words.forEach((control, at) => { if (control && scoring.words[at].edges && scoring.words[at].typical !== null) control.value = scoring.words[at].typical; });
    const update = () => {
      const missing = [];
      const places = scoring.words.map((column, at) => {
        if (column.steps) return null;
        if (!column.edges) return column.choices[Number(words[at].value)].place;
        const value = words[at].value === "" ? NaN : Number(words[at].value);
        if (!Number.isNaN(value)) return column.edges.filter((edge) => value >= edge).length;
        const gone = column.choices.find((choice) => choice.text === "(missing)");
        if (!gone) missing.push(column.name);
        return gone ? gone.place : 0;
      });
      const values = numbers.map((input) => (input.value === "" ? NaN : Number(input.value)));
      // A block of columns is answered, or up to the last step with an answer in any of its columns.
      const isAnswered = (name) => {
        const at = scoring.words.findIndex((column) => column.name === name);
        return at < 0 ? !Number.isNaN(values[scoring.numbers.findIndex((column) => column.name === name)]) : places[at] !== scoring.words[at].absent;
      };
      scoring.words.forEach((column, at) => {
        if (!column.steps) return;
        const last = column.steps.map((names) => names.some(isAnswered)).lastIndexOf(true);
        places[at] = last < 0 ? column.absent : last;
      });
      scoring.numbers.forEach((column, at) => { if (column.refused && Number.isNaN(values[at])) missing.push(column.name); });
      if (missing.length) {
        answer.replaceChildren(element("p", { class: "lead" }, `The model needs a value for ${missing.map((name) => calledColumn(name)).join(", ")}.`));
        return;
      }
      const result = scored({ places, numbers: values });
      const own = data.partitions[data.model], known = state.byNumber[data.model];
      const called = (cluster) => known.names[cluster] || `cluster ${cluster}`;
      const order = (result.probabilities || []).map((share, cluster) => ({ share, cluster })).sort((one, other) => other.share - one.share).slice(0, 5);
      answer.dataset.label = result.outlier ? -1 : result.label;
      answer.replaceChildren(element("strong", {}, result.outlier ? `Outlier (label -1); nearest is ${called(result.label)} of ${own.k}` : `${called(result.label)} of ${own.k}`),
        ...order.map(({ share, cluster }) => element("div", {}, element("span", {}, called(cluster)),
          element("span", { class: "bar", style: { "--c": colourOf(cluster, data.model).colour } }, element("i", { style: { width: `${100 * share}%` } })),
          element("span", {}, percent(share)))),
        ...drawReasons({ ...result, places: Object.fromEntries(scoring.words.map((column, at) => [column.name, places[at]])) }, called, form).filter((one) => one !== null));
    };
    const fieldOf = (name, control) => element("label", { "data-column": name, title: name }, calledColumn(name), control);
    const form = element("form", { class: "try", on: { input: update, submit: (event) => event.preventDefault() } },
      scoring.words.flatMap((column, at) => (words[at] ? [fieldOf(column.name, words[at])] : [])), scoring.numbers.map((column, at) => fieldOf(column.name, numbers[at])));
    tryBox.replaceChildren(form, answer);
    update();
  }

  // -- notes and files
  const notes = element("textarea", { id: "notes", "aria-label": "Notes", on: {
    input: (event) => { state.notes = event.target.value; },
    change: () => { if (host.edited) host.edited(edited()); },
  } });

  notes.value = state.notes;

  function save(name, text, type) {
    if (host.save) return host.save(name, text);
    const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    return undefined;
  }

  function edited() {
    return {
      title: data.title, n_clusters: partition().k, model_clusters: data.partitions[data.model].k,
      fitted_clusters: data.fitted_clusters ?? data.partitions[data.model].k, splits: data.splits || [],
      names: Object.fromEntries(groups().filter((cluster) => edits().names[cluster]).map((cluster) => [cluster, edits().names[cluster]])),
      merges: groups().map((cluster) => edits().group.flatMap((target, part) => (target === cluster ? [part] : []))).filter((parts) => parts.length > 1),
      filters: state.filters.map(({ column, category }) => ({ column: columns[column].name, category: columns[column].categories[category] })),
      notes: state.notes,
    };
  }

  function labelsFile() {
    // A cell that begins like a formula would be run by a spreadsheet; an apostrophe keeps it text.
    const cell = (text) => `"${String(text).replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;
    const own = labels[state.at], { group } = edits(), outliers = new Set(partition().outliers);
    const line = (label, row) => (outliers.has(row) ? `${row},-1,outlier` : `${row},${group[label]},${cell(nameOf(group[label]))}`);
    return ["row,cluster,name", ...Array.from(own, line)].join("\n") + "\n";
  }

  const saveNames = element("button", { type: "button", id: "save-names", on: { click: () => save("clusters.json", JSON.stringify(edited(), null, 2), "application/json") } }, "Save names and notes");
  const saveLabels = element("button", { type: "button", id: "save-labels", on: { click: () => save("labels.csv", labelsFile(), "text/csv") } }, "Save labels");

  // ---- drawing

  function drawRest() {
    if (host.edited) host.edited(edited());
    versusPart.hidden = groups().length < 2;
    drawFlow();
    drawCross();
    fillVersus();
    if (tryBox.querySelector("form")) tryBox.querySelector("form").dispatchEvent(new Event("input"));
  }

  function changed() {
    counts = counted();
    const total = counts.sizes.reduce((sum, size) => sum + size, 0);
    shownNumber.textContent = groups().length === partition().k ? partition().k : `${partition().k}, merged into ${groups().length}`;
    status.textContent = state.filters.length ? `${whole(total)} of ${whole(hasRows && data.shown < data.rows ? data.shown : data.total)} rows pass the filters.` : "";
    drawVerdict();
    drawFilters();
    drawCards();
    drawRest();
  }

  // First crossed: a column that was not clustered, or the most typical one of the largest cluster.
  function crossedFirst() {
    const beside = columns.findIndex((column) => !column.clustered);
    if (beside >= 0) return beside;
    const [reason] = reasonsOf(counts.sizes.indexOf(Math.max(...counts.sizes)), 1);
    return reason ? columns.indexOf(reason.column) : 0;
  }

  const versusPart = section("versus", "Compare two clusters", "The category of each column whose shares differ most.", element("div", { class: "pick" }, labelled("Cluster", first), labelled("and", second)), versusBox);
  root.classList.add("explorer");
  root.replaceChildren(
    verdict, verdictNote,
    element("div", { class: "tools" }, numberLabel,
      hasRows ? labelled("Filter rows by", filterColumn) : null, hasRows ? labelled("with the value", filterCategory) : null, hasRows ? addFilter : null,
      saveNames, hasRows && data.shown === data.rows ? saveLabels : null),
    filterList, status,
    section("clusters-found", "Clusters", "Bars are shares in the cluster; the mark is the share elsewhere. Click a name to change it.", cards),
    data.partitions.length > 1 ? section("numbers", "From few clusters to many", "Each box is a cluster; its height is the number of rows. Click a number to show its clusters.", flow) : "",
    section("cross", "Cross with a column", null, element("div", { class: "pick" }, labelled("Column", crossColumn), labelled("Show", crossWay)), crossBox),
    versusPart,
    data.partitions[data.model].k > 1 ? section("try", "Try a row", `The cluster that the model of ${data.partitions[data.model].k} clusters assigns.`, tryBox) : "",
    section("notes-part", "Notes", "Kept in the file of names and notes.", notes));
  fillFilterCategories();
  counts = counted();
  crossColumn.value = crossedFirst();
  buildTry();
  changed();
  if (host.extend) {
    const before = document.activeElement;
    host.extend({
      number: () => data.partitions[data.model].k,
      edited: () => ({ ...edited() }),
      short: (text) => short(text, 80),
      save,
      // A verdict that needs more time comes after the page.
      judge: (found) => { data.verdict = found; data.judged = true; drawVerdict(); },
      // Notes are about the table, and stay; names and merges belong to the clusters before.
      show: (newer) => catalpaExplorer(root, newer, { ...host, notes: state.notes }),
    }).then((panel) => {
      root.prepend(panel);
      if (before && before !== document.body) panel.querySelector("summary").focus();
    });
  }
  return { state, changed };
}

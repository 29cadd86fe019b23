"use strict";
(() => {
  const table = document.getElementById("index");
  const controls = document.getElementById("controls");
  if (!table || !controls) return;
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const told = document.getElementById("told");
  const sorter = document.getElementById("sort");
  const order = document.getElementById("order");
  const filters = Array.from(controls.querySelectorAll("[data-filter]"));
  const numeric = new Set(["order", "change", "rating", "score", "baseline", "experiments"]);
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));

  const value = (row, key) => {
    const text = row.dataset[key] || "";
    if (!numeric.has(key)) return text.toLowerCase();
    return text === "" ? null : Number(text);
  };

  // What has no value comes last, whichever way round.
  const compare = (key, sign) => (one, other) => {
    const a = value(one, key), b = value(other, key);
    if (a === b) return Number(one.dataset.order) - Number(other.dataset.order);
    if (a === null || a === "") return 1;
    if (b === null || b === "") return -1;
    return sign * (numeric.has(key) ? a - b : a.localeCompare(b));
  };

  const passes = (row) => filters.every((control) => {
    const wanted = control.value.trim();
    if (wanted === "") return true;
    const key = control.dataset.filter;
    if (key === "text") return texts.get(row).includes(wanted.toLowerCase());
    if (control.dataset.least !== undefined) {
      const found = value(row, key), least = Number(wanted);
      return Number.isNaN(least) || (found !== null && found >= least);
    }
    return row.dataset[key] === wanted;
  });

  const filter = () => {
    let shown = 0;
    for (const row of rows) {
      const keep = passes(row);
      row.hidden = !keep;
      shown += keep ? 1 : 0;
    }
    told.textContent = shown === rows.length ? `All ${rows.length} are shown.` : `${shown} of ${rows.length} are shown.`;
  };

  const sort = () => {
    const sign = order.value === "down" ? -1 : 1;
    body.append(...rows.slice().sort(compare(sorter.value, sign)));
    for (const head of table.tHead.rows[0].cells) {
      if (head.dataset.key === sorter.value) head.setAttribute("aria-sort", sign < 0 ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
  };

  for (const head of table.tHead.rows[0].cells) {
    if (!head.dataset.key) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => {
      const again = sorter.value === head.dataset.key;
      order.value = again ? (order.value === "down" ? "up" : "down") : (numeric.has(head.dataset.key) ? "down" : "up");
      sorter.value = head.dataset.key;
      sort();
    });
    head.replaceChildren(button);
  }
  for (const control of filters) control.addEventListener("input", filter);
  sorter.addEventListener("input", sort);
  order.addEventListener("input", sort);
  document.getElementById("reset").addEventListener("click", () => {
    for (const control of filters) control.value = "";
    sorter.value = "order";
    order.value = "up";
    filter();
    sort();
  });
  controls.hidden = false;
  filter();
  sort();
})();

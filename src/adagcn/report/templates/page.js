"use strict";
(function () {
  var root = document.documentElement;
  root.classList.remove("no-script");
  var data = JSON.parse(document.getElementById("page-data").textContent);
  function all(selector, within) {
    return Array.prototype.slice.call((within || document).querySelectorAll(selector));
  }
  function make(tag, className, text) {
    var element = document.createElement(tag);
    if (className) { element.className = className; }
    if (text !== undefined) { element.textContent = text; }
    return element;
  }

  // Light and dark: the system's wish, until the reader says otherwise.
  var theme = document.getElementById("theme");
  var wish = window.matchMedia("(prefers-color-scheme: dark)");
  function isDark() {
    return root.dataset.theme ? root.dataset.theme === "dark" : wish.matches;
  }
  function sayTheme() {
    theme.setAttribute("aria-pressed", String(isDark()));
    theme.querySelector(".word").textContent = isDark() ? "Light" : "Dark";
  }
  theme.addEventListener("click", function () {
    root.dataset.theme = isDark() ? "light" : "dark";
    sayTheme();
  });
  wish.addEventListener("change", sayTheme);
  sayTheme();

  // Printing opens what is folded.
  window.addEventListener("beforeprint", function () {
    all("main details").forEach(function (each) { each.open = true; });
  });

  // Contents fold away on a narrow screen.
  var contents = document.querySelector(".contents details");
  if (contents && window.innerWidth < 1100) { contents.open = false; }

  // Tables: a click on a heading sorts by it, a second one the other way round.
  function keyOf(row, column, kind) {
    var cell = row.cells[column];
    var key = cell.dataset.sort === undefined ? cell.textContent.trim() : cell.dataset.sort;
    return kind === "number" ? Number(key) : key.toLowerCase();
  }
  all("table.sortable").forEach(function (table) {
    all("button.sort", table).forEach(function (button) {
      button.addEventListener("click", function () {
        var heading = button.closest("th");
        var kind = button.dataset.kind;
        var before = heading.getAttribute("aria-sort");
        var up = before === "none" ? kind === "text" : before !== "ascending";
        var body = table.tBodies[0];
        var rows = all("tr", body);
        rows.sort(function (a, b) {
          var x = keyOf(a, heading.cellIndex, kind), y = keyOf(b, heading.cellIndex, kind);
          return (x < y ? -1 : x > y ? 1 : 0) * (up ? 1 : -1);
        });
        rows.forEach(function (row) { body.appendChild(row); });
        all("th[aria-sort]", table).forEach(function (each) { each.setAttribute("aria-sort", "none"); });
        heading.setAttribute("aria-sort", up ? "ascending" : "descending");
      });
    });
  });

  // Depth: every slider of the page shows the same depth.
  var stages = data.stages || [];
  var stage = Math.max(0, stages.length - 1);
  var sliders = all(".depth-range");
  function showConfusion() {
    var table = document.getElementById("confusion");
    var counts = (data.confusion || [])[stage];
    if (!table || !counts) { return; }
    var n = data.labels.length;
    all("tbody tr", table).forEach(function (row, i) {
      var cells = all("td", row);
      var total = cells.reduce(function (sum, _, j) { return sum + counts[i * n + j]; }, 0);
      cells.forEach(function (cell, j) {
        var count = counts[i * n + j];
        cell.textContent = count ? String(count) : "·";
        cell.style.setProperty("--share", total ? (count / total).toFixed(3) : "0");
      });
    });
  }
  function showStage() {
    if (!stages.length) { return; }
    var now = stages[stage];
    sliders.forEach(function (slider) {
      slider.value = String(stage);
      slider.setAttribute("aria-valuetext", "hop " + now.depth);
    });
    all(".depth-now").forEach(function (each) { each.textContent = String(now.depth); });
    all(".depth-said").forEach(function (each) {
      each.textContent = now.accuracy + " right (" + now.low + " to " + now.high + ")";
    });
    var cursor = document.getElementById("depth-cursor");
    if (cursor) { cursor.setAttribute("transform", "translate(" + now.move[0] + " " + now.move[1] + ")"); }
    showConfusion();
    showMap();
  }
  sliders.forEach(function (slider) {
    slider.addEventListener("input", function () {
      stage = Number(slider.value);
      showStage();
    });
  });

  // The map: marks follow the depth, and a node can be chosen by mouse, keys or from the list.
  var map = document.getElementById("graph-map");
  var said = document.getElementById("node-said");
  var choice = document.getElementById("node-choice");
  var marks = map ? all(".node", map) : [];
  var CIRCLE = "M-7 0a7 7 0 1 0 14 0a7 7 0 1 0-14 0";
  var SMALL = "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0";
  var SQUARE = "M-6-6H6V6H-6Z";
  var DIAMOND = "M0-10L10 0L0 10L-10 0Z";
  var SHAPES = { scored: CIRCLE, trained: SQUARE, other: SMALL };
  var chosen = choice ? Number(choice.value) : 0;
  function labelAt(index, at) { return data.map_labels[at][index]; }
  function isWrong(index, at) {
    var node = data.nodes[index];
    return node.role === "scored" && labelAt(index, at) !== node.truth;
  }
  function showMap() {
    if (!map) { return; }
    var last = data.map_labels.length - 1;
    var at = Math.min(stage, last);
    marks.forEach(function (mark, index) {
      var node = data.nodes[index], wrong = isWrong(index, at);
      var names = ["node", "k" + data.colors[labelAt(index, at)], node.role];
      if (wrong) { names.push("wrong"); }
      if (node.unsure && at === last) { names.push("unsure"); }
      if (index === chosen) { names.push("chosen"); }
      mark.setAttribute("class", names.join(" "));
      mark.querySelector(".mark").setAttribute("d", wrong ? DIAMOND : SHAPES[node.role]);
      mark.setAttribute("aria-label", "node " + node.id + ", " + data.labels[labelAt(index, at)] + (wrong ? ", wrong" : ""));
      mark.setAttribute("tabindex", index === chosen ? "0" : "-1");
    });
    showNode(at);
  }
  function fact(list, name, text, color) {
    var row = make("div");
    row.appendChild(make("dt", "", name));
    var value = make("dd");
    if (color !== undefined) {
      var chip = make("span", "chip k" + color);
      chip.setAttribute("aria-hidden", "true");
      value.appendChild(chip);
      value.appendChild(document.createTextNode(" "));
    }
    value.appendChild(document.createTextNode(text));
    row.appendChild(value);
    list.appendChild(row);
  }
  var USED = { scored: "scored", trained: "trained on", other: "not scored" };
  function showNode(at) {
    var node = data.nodes[chosen], label = labelAt(chosen, at);
    said.textContent = "";
    said.appendChild(make("h3", "", "Node " + node.id));
    var list = make("dl", "facts");
    fact(list, "predicted", data.labels[label] + ", " + data.map_confidence[at][chosen] + " %", data.colors[label]);
    if (node.truth === null) {
      fact(list, "true label", "not known");
    } else {
      fact(list, "true label", data.labels[node.truth] + (node.role === "scored" ? (isWrong(chosen, at) ? " (wrong)" : " (right)") : ""), data.colors[node.truth]);
    }
    fact(list, "used", USED[node.role]);
    said.appendChild(list);
    if (data.map_labels.length > 1) { showStrip(at); }
    if (data.map_parts) { showHops(); }
    showTies();
  }
  function showStrip(at) {
    said.appendChild(make("h3", "", "Its label, hop by hop"));
    var strip = make("div", "strip");
    strip.setAttribute("role", "img");
    var words = [];
    data.map_labels.forEach(function (labels, k) {
      var label = labels[chosen];
      var cell = make("span", "k" + data.colors[label] + (k === at ? " now" : ""));
      cell.title = "hop " + stages[k].depth + ": " + data.labels[label] + ", " + data.map_confidence[k][chosen] + " %";
      strip.appendChild(cell);
      if (k === 0 || data.map_labels[k - 1][chosen] !== label) {
        words.push("from hop " + stages[k].depth + " on: " + data.labels[label]);
      }
    });
    var sentence = words.length === 1
      ? "the same at every hop: " + data.labels[data.map_labels[at][chosen]]
      : words.join(", then ");
    strip.setAttribute("aria-label", sentence);
    said.appendChild(strip);
    said.appendChild(make("p", "small", sentence.charAt(0).toUpperCase() + sentence.slice(1) + "."));
  }
  function showHops() {
    var parts = data.map_parts[chosen];
    if (!parts) { return; }
    said.appendChild(make("h3", "", "What each hop adds"));
    var largest = Math.max.apply(null, parts.map(Math.abs)) || 1;
    var oneSided = data.voting.every(function (hop) { return parts[hop] >= 0; });
    var bars = make("div", oneSided ? "hop-bars one-sided" : "hop-bars");
    data.voting.forEach(function (hop) {
      var part = parts[hop];
      bars.appendChild(make("span", "", "hop " + hop));
      var track = make("span", "track");
      var bar = make("span", part < 0 ? "against" : "for");
      bar.style.width = (100 * Math.abs(part) / largest).toFixed(1) + "%";
      track.appendChild(bar);
      bars.appendChild(track);
      bars.appendChild(make("span", "number", (part < 0 ? "−" : "+") + Math.abs(part).toFixed(2)));
    });
    said.appendChild(bars);
    said.appendChild(make("p", "small", "Log-odds over " + data.map_runner_up[chosen] + ", the runner-up of the finished model: " + parts.reduce(function (a, b) { return a + b; }, 0).toFixed(2) + "."));
  }
  function showTies() {
    var path = "";
    (data.edges || []).forEach(function (pair) {
      if (pair[0] === chosen || pair[1] === chosen) {
        var a = data.nodes[pair[0]], b = data.nodes[pair[1]];
        path += "M" + a.x + " " + a.y + "L" + b.x + " " + b.y;
      }
    });
    map.querySelector(".ties").setAttribute("d", path);
  }
  function choose(index, focus) {
    chosen = index;
    choice.value = String(index);
    showMap();
    if (focus) { marks[index].focus(); }
  }
  var WAYS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
  function nearest(from, way) {
    var best = from, cost = Infinity, start = data.nodes[from];
    data.nodes.forEach(function (node, index) {
      var dx = node.x - start.x, dy = node.y - start.y;
      var along = dx * way[0] + dy * way[1], aside = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
      if (index !== from && along > 0 && along >= aside / 2 && along + 2 * aside < cost) {
        best = index;
        cost = along + 2 * aside;
      }
    });
    return best;
  }
  if (map) {
    choice.addEventListener("change", function () { choose(Number(choice.value), false); });
    map.addEventListener("click", function (event) {
      var mark = event.target.closest(".node");
      if (mark) { choose(Number(mark.dataset.index), true); }
    });
    map.addEventListener("keydown", function (event) {
      var mark = event.target.closest(".node");
      if (mark && WAYS[event.key]) {
        event.preventDefault();
        choose(nearest(Number(mark.dataset.index), WAYS[event.key]), true);
      }
    });
    showMap();
  }
  showStage();

  // The hardest nodes: one card at a time.
  var cards = all(".hard-card");
  var pickers = all(".pick");
  function pick(number) {
    cards.forEach(function (card) { card.classList.toggle("off", card.dataset.number !== number); });
    pickers.forEach(function (each) { each.setAttribute("aria-pressed", String(each.dataset.number === number)); });
  }
  pickers.forEach(function (each) {
    each.addEventListener("click", function () { pick(each.dataset.number); });
  });
  if (cards.length) { pick(cards[0].dataset.number); }
})();

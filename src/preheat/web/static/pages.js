// What the pages do beside loading parts of themselves: filters that apply at once, the keyboard, the ribbon, curves, the live
// stream, and asking before something is changed. Nothing here knows what a session is; without it every page can still be read.
"use strict";
(function () {
  document.documentElement.classList.add("js");

  // Filters apply when one is chosen.
  document.addEventListener("change", function (event) {
    var form = event.target.closest && event.target.closest("form.filters");
    if (form && event.target.tagName === "SELECT") form.requestSubmit();
  });
  document.addEventListener("submit", function (event) {
    var question = event.target.getAttribute("data-confirm");
    if (question && !window.confirm(question)) { event.preventDefault(); return; }
    if (event.target.matches("form.filters")) {
      event.target.querySelectorAll("select, input").forEach(function (field) { if (!field.value) field.disabled = true; });
    }
  });
  window.addEventListener("pageshow", function () {
    document.querySelectorAll("form.filters [disabled]").forEach(function (field) { field.disabled = false; });
  });
  // What was typed into the search is part of the address.
  document.addEventListener("htmx:afterSwap", function (event) {
    var search = document.querySelector("form.filters input[type=search]");
    if (!search || event.detail.target.id !== "rows") return;
    var address = new URL(window.location.href);
    if (search.value) address.searchParams.set("words", search.value); else address.searchParams.delete("words");
    address.searchParams.delete("start");
    window.history.replaceState(null, "", address);
  });

  // The keyboard: rows with j and k, the search with /, the next failure with n.
  var row = -1;
  function rows() { return Array.prototype.filter.call(document.querySelectorAll("table.rows tbody tr, .lesson"), function (each) { return each.querySelector("a.row"); }); }
  function move(by) {
    var all = rows();
    if (!all.length) return;
    if (row >= 0 && all[row]) all[row].classList.remove("current");
    row = Math.max(0, Math.min(all.length - 1, row + by));
    all[row].classList.add("current");
    all[row].querySelector("a.row").focus({ preventScroll: true });
    all[row].scrollIntoView({ block: "nearest" });
  }
  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    var typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    if (event.key === "Escape" && typing) { event.target.blur(); return; }
    if (typing) { if (event.key === "Enter" && event.target.type === "search" && rows().length) { event.preventDefault(); event.target.blur(); row = -1; move(1); } return; }
    if (event.key === "/") {
      event.preventDefault();
      var field = document.querySelector("input[type=search], textarea");
      if (field) field.focus(); else window.location.href = "/sessions" + window.location.search;
    } else if (event.key === "j") move(1);
    else if (event.key === "k") move(-1);
    else if (event.key === "n") nextFailure();
  });

  // The ribbon: a click reads the call, the pointer says its number.
  var ribbon = document.getElementById("ribbon");
  var at = -1;
  function callAt(event) {
    var box = ribbon.querySelector("svg").getBoundingClientRect();
    var calls = Number(ribbon.dataset.calls);
    return Math.max(0, Math.min(calls - 1, Math.floor((event.clientX - box.left) / box.width * calls)));
  }
  function showCall(seq) {
    at = seq;
    var found = document.getElementById("call-" + seq);
    if (!found) {
      var address = new URL(window.location.href);
      address.searchParams.set("call", seq);
      address.searchParams.delete("line");
      address.hash = "call-" + seq;
      window.location.href = address;
      return;
    }
    document.querySelectorAll(".entry.here").forEach(function (each) { each.classList.remove("here"); });
    found.classList.add("here");
    var details = found.querySelector("details");
    if (details) details.open = true;
    found.scrollIntoView({ block: "center" });
  }
  function nextFailure() {
    if (!ribbon || !ribbon.dataset.failures) return;
    var failures = ribbon.dataset.failures.split(",").map(Number);
    var next = failures.filter(function (each) { return each > at; })[0];
    showCall(next === undefined ? failures[0] : next);
  }
  if (ribbon) {
    var pointer = ribbon.querySelector(".pointer");
    ribbon.addEventListener("mousemove", function (event) {
      pointer.hidden = false;
      pointer.textContent = "call " + (callAt(event) + 1);
      pointer.style.left = Math.min(event.offsetX, ribbon.clientWidth - 80) + "px";
    });
    ribbon.addEventListener("mouseleave", function () { pointer.hidden = true; });
    ribbon.addEventListener("click", function (event) { showCall(callAt(event)); });
    var button = document.getElementById("next-failure");
    if (button) button.addEventListener("click", nextFailure);
    var wanted = new URL(window.location.href).searchParams.get("call");
    if (wanted !== null) at = Number(wanted);
  }
  document.addEventListener("htmx:afterSettle", function (event) {
    if (at >= 0 && event.detail.elt && event.detail.elt.id === "entries") showCall(at);
  });

  // Curves: the drawing of the server is replaced by one that says its values.
  function drawChart(box) {
    if (typeof window.uPlot !== "function") return;
    var values = box.dataset.values.split(",").map(Number);
    var style = getComputedStyle(document.documentElement);
    var ink = style.getPropertyValue("--soft").trim(), stroke = style.getPropertyValue("--finding").trim();
    var axis = { stroke: ink, grid: { stroke: style.getPropertyValue("--line").trim(), width: 1 } };
    box.textContent = "";
    var chart = new window.uPlot({
      width: box.clientWidth - 8, height: 180, cursor: { y: false }, legend: { show: true },
      scales: { x: { time: false }, y: { range: function (_, low, high) { return [0, high * 1.05 || 1]; } } },
      axes: [axis, Object.assign({ size: 60, values: function (_, all) { return all.map(function (each) { return each >= 1000 ? each / 1000 + "k" : each; }); } }, axis)],
      series: [{ label: "response" }, { label: "tokens", stroke: stroke, width: 1.5, fill: stroke + "33" }],
    }, [values.map(function (_, place) { return place + 1; }), values], box);
    window.addEventListener("resize", function () { chart.setSize({ width: box.clientWidth - 8, height: 180 }); });
  }
  document.querySelectorAll(".chart[data-values]").forEach(drawChart);

  // What runs now. The server sends rows that it has rendered, as it renders every page.
  var live = document.getElementById("live");
  if (live && typeof window.EventSource === "function") {
    var stream = new EventSource(live.dataset.stream);
    stream.onmessage = function (event) { live.innerHTML = event.data; };
    window.addEventListener("pagehide", function () { stream.close(); });
  }
})();

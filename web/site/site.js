/* SPDX-License-Identifier: Apache-2.0 */
/* Search, and keyboard access to boxes that scroll. */
"use strict";

const MAX_RESULTS = 50;
const SNIPPET = 160;

/* Boxes that scroll can have the keyboard focus; the Tab key skips others. */
function markScrolling() {
  for (const box of document.querySelectorAll("pre, .scroll")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}

function count(text, word) {
  return text.split(word).length - 1;
}

/* Returns the sections that contain all words, best first: words in headings count more than words in the text. */
function find(words) {
  const found = [];
  for (const row of globalThis.searchIndex) {
    const [title, heading, text] = [row[1], row[3], row[4]].map((each) => each.toLowerCase());
    let score = 0;
    const hasAll = words.every((word) => {
      const points = 20 * Math.min(1, count(heading, word)) + 10 * Math.min(1, count(title, word)) + Math.min(5, count(text, word));
      score += points + (heading === word ? 50 : 0);
      return points > 0;
    });
    if (hasAll) found.push([score, row]);
  }
  return found.sort((a, b) => b[0] - a[0]).map((each) => each[1]);
}

/* Returns the part of a text around the first word, with marks on all words. */
function snippet(text, words) {
  const at = Math.max(0, ...words.map((word) => text.toLowerCase().indexOf(word)).filter((each) => each >= 0).slice(0, 1));
  const from = Math.max(0, at - 60);
  const part = (from ? "\u2026" : "") + text.slice(from, from + SNIPPET) + (text.length > from + SNIPPET ? "\u2026" : "");
  const box = document.createElement("p");
  let rest = part;
  while (rest) {
    const lower = rest.toLowerCase();
    const places = words.map((word) => [lower.indexOf(word), word.length]).filter((each) => each[0] >= 0).sort((a, b) => a[0] - b[0]);
    const [next, length] = places[0] || [rest.length, 0];
    box.append(rest.slice(0, next));
    if (length) {
      const mark = document.createElement("mark");
      mark.textContent = rest.slice(next, next + length);
      box.append(mark);
    }
    rest = rest.slice(next + length);
  }
  return box;
}

function showResults(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length ? find(words) : [];
  const items = found.slice(0, MAX_RESULTS).map(([page, title, anchor, heading, text]) => {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = page + (anchor ? `#${anchor}` : "");
    link.textContent = heading && heading !== title ? `${title}: ${heading}` : title;
    item.append(link, snippet(text, words));
    return item;
  });
  document.getElementById("results").replaceChildren(...items);
  const shown = found.length > MAX_RESULTS ? `, the first ${MAX_RESULTS} are listed` : "";
  document.getElementById("status").textContent = words.length
    ? `${found.length} ${found.length === 1 ? "section matches" : "sections match"}${shown}` : "Enter words to find.";
}

if (globalThis.searchIndex) {
  const field = document.getElementById("query");
  field.value = new URLSearchParams(location.search).get("q") || "";
  field.addEventListener("input", () => showResults(field.value));
  field.form.addEventListener("submit", (event) => event.preventDefault());
  showResults(field.value);
  field.focus();
}
markScrolling();
addEventListener("resize", markScrolling);
for (const box of document.querySelectorAll("details")) box.addEventListener("toggle", markScrolling);

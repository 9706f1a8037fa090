// The script of report pages: tables that can be sorted and searched, links that open what they lead to. The page says
// all it has to say without it, but for the drawing of the data flow.
#pragma once
#include <string_view>

namespace svod {

inline constexpr std::string_view kHtmlScript = R"js(
'use strict';
(() => {
  const valueOf = (row, i) => {
    const cell = row.cells[i], text = cell.dataset.v ?? cell.textContent;
    return text !== '' && Number.isFinite(+text) ? +text : text;
  };
  // Numbers before texts; what is equal stays in the order of the plan.
  const compare = (a, b) => {
    const numbers = (typeof a === 'number') - (typeof b === 'number');
    if (numbers) return -numbers;
    return typeof a === 'number' ? a - b : a < b ? -1 : a > b ? 1 : 0;
  };

  const mainRows = table => [...table.tBodies[0].rows].filter(row => !row.classList.contains('beneath'));
  const beneath = row => row.nextElementSibling?.classList.contains('beneath') ? [row.nextElementSibling] : [];

  function sortBy(table, i, button) {
    const header = button.parentNode, body = table.tBodies[0], isText = !header.classList.contains('n');
    const was = header.getAttribute('aria-sort');
    const up = was ? was === 'descending' : isText || i === 0;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
    header.setAttribute('aria-sort', up ? 'ascending' : 'descending');
    const entryOf = row => ({rows: [row, ...beneath(row)], at: table.order.get(row), v: valueOf(row, i)});
    const entries = mainRows(table).map(entryOf);
    entries.sort((a, b) => (up ? 1 : -1) * compare(a.v, b.v) || a.at - b.at);
    body.append(...entries.flatMap(e => e.rows));
  }

  function searchIn(table) {
    const box = document.createElement('input');
    box.type = 'search', box.placeholder = 'Only rows with ..';
    box.setAttribute('aria-label', 'Only rows with these words');
    box.addEventListener('input', () => {
      const words = box.value.toLowerCase().split(/\s+/).filter(w => w);
      for (const row of mainRows(table)) {
        const all = [row, ...beneath(row)], text = all.map(r => r.textContent).join(' ').toLowerCase();
        for (const r of all) r.hidden = !words.every(w => text.includes(w));
      }
    });
    table.parentNode.before(box);
  }

  for (const table of document.querySelectorAll('table.sortable')) {
    table.order = new Map(mainRows(table).map((row, i) => [row, i]));
    [...table.tHead.rows[0].cells].forEach((header, i) => {
      const button = document.createElement('button');
      button.type = 'button', button.textContent = header.textContent;
      button.addEventListener('click', () => sortBy(table, i, button));
      header.replaceChildren(button);
    });
    if (table.order.size > 12) searchIn(table);
  }

  const shares = [...document.querySelectorAll('td[data-share]')];
  const most = Math.max(...shares.map(c => +c.dataset.v || 0), 1e-9);
  for (const cell of shares) cell.style.backgroundSize = 100 * (+cell.dataset.v || 0) / most + '% 100%';

  // A link into something that is folded opens it, and a row that a search has hidden comes back.
  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let at = target; at; at = at.parentElement) {
      if (at.tagName === 'DETAILS') at.open = true;
      if (at.tagName === 'TR') at.hidden = false;
    }
    target.scrollIntoView();
    (target.querySelector(':scope > summary') ?? target).focus({preventScroll: true});
  }
  addEventListener('hashchange', reveal);
  document.addEventListener('click', event => {  // the same link once more
    const link = event.target.closest('a[href^="#"]');
    if (link && link.getAttribute('href') === location.hash) reveal();
  });
  if (location.hash) reveal();
})();
)js";

}  // namespace svod

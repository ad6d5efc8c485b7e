/* SPDX-License-Identifier: Apache-2.0 */
/* Elements that several views use. Names become text nodes, never markup. */

const maxRows = 100; /* rows of a table until the user shows all */
const charWidth = 7.3; /* mean width of a character in a chart, px */

const maxName = 80; /* characters of a name that is not cut to fit a chart */

let tip = null;
let liveRegion = null; /* element whose text screen readers announce */

/* Appends an element with attributes and text, which may be functions of the data. */
function add(parent, tag, attributes, text) {
  const element = parent.append(tag);
  for (const name of Object.keys(attributes)) element.attr(name, attributes[name]);
  return text === undefined ? element : element.text(text);
}

/* Shows lines of text beside the pointer while it is over the selection. */
function addTip(selection, lines) {
  selection.on('mousemove.tip', function show(datum) {
    const event = d3.event;
    tip.property('hidden', false).selectAll('div').data(lines.call(this, datum)).join('div').text(line => line);
    const box = tip.node().getBoundingClientRect();
    tip.style('left', `${Math.max(0, Math.min(event.clientX + 14, window.innerWidth - box.width - 8))}px`)
      .style('top', `${event.clientY + (event.clientY + 18 + box.height > window.innerHeight ? -box.height - 10 : 18)}px`);
  }).on('mouseleave.tip', () => { tip.property('hidden', true); });
  selection.on('focusin.tip', function show(datum) {
    if (this.matches(':focus-visible')) showTip(this, lines.call(this, datum));
  });
}

/* Shows lines of text below an element. */
function showTip(element, lines) {
  tip.property('hidden', false).selectAll('div').data(lines).join('div').text(line => line);
  const box = tip.node().getBoundingClientRect();
  const place = element.getBoundingClientRect();
  tip.style('left', `${Math.max(0, Math.min(place.left, window.innerWidth - box.width - 8))}px`)
    .style('top', `${place.bottom + box.height + 8 > window.innerHeight ? Math.max(0, place.top - box.height - 6) : place.bottom + 6}px`);
}

function announce(text) { liveRegion.text(text); }

/*
 * Makes a shape of a chart work like a button: pointer, Enter and Space. A chart has one tab stop: its first shape or
 * the one that had the focus last; arrow keys, Home and End move between its shapes (moveFocus).
 */
function addAction(selection, label, key, action) {
  selection.attr('role', 'button').attr('tabindex', function stop() {
    return this.closest('svg').querySelector('[tabindex="0"]') ? -1 : 0;
  }).attr('aria-label', label).attr('data-key', key).on('click.action', action)
    .on('keydown.action', function press(datum) {
      if (d3.event.key !== 'Enter' && d3.event.key !== ' ') return;
      d3.event.preventDefault();
      action.call(this, datum);
    });
}

/* Makes arrow keys move the focus among the shapes of a chart: next(datum, key) returns a data-key. */
function addArrows(selection, next) {
  selection.on('keydown.arrows', datum => {
    if (!d3.event.key.startsWith('Arrow')) return;
    const key = next(datum, d3.event.key);
    d3.event.preventDefault();
    if (key !== null) focusKey(key);
  });
}

/* Makes the shape that got the focus the tab stop of its chart. */
function moveStop(event) {
  const chart = event.target.getAttribute('role') === 'button' && event.target.closest('svg');
  if (!chart) return;
  for (const stop of chart.querySelectorAll('[tabindex="0"]')) stop.setAttribute('tabindex', -1);
  event.target.setAttribute('tabindex', 0);
}

/* Moves the focus to another shape of a chart, unless the chart itself handled the key (addArrows). */
function moveFocus(event) {
  const chart = event.target.getAttribute('role') === 'button' && event.target.closest('svg');
  const step = {ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -Infinity, End: Infinity}[event.key];
  if (!chart || !step || event.defaultPrevented) return;
  const shapes = [...chart.querySelectorAll('[role="button"]')];
  event.preventDefault();
  shapes[Math.max(0, Math.min(shapes.length - 1, shapes.indexOf(event.target) + step))].focus();
}

function focusKey(key) {
  const element = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (element && element !== document.activeElement) element.focus();
}

/* Adds a section of a view, with a heading that states a finding and a subtitle, and returns it. */
function addSection(parent, heading, subtitle, level) {
  const section = parent.append('section');
  section.append(level || 'h2').text(heading);
  if (subtitle) add(section, 'p', {class: 'subtitle'}, subtitle);
  return section;
}

function addButton(parent, key, text, action) {
  return add(parent, 'button', {type: 'button', 'data-key': key}, text).on('click', action);
}

/* Adds a row of buttons for the choices [{key, label}]; the current one is pressed. */
function addSwitch(parent, name, label, choices, current, action) {
  const group = add(parent, 'div', {class: 'switch', role: 'group', 'aria-label': label});
  add(group, 'span', {class: 'label'}, label);
  for (const choice of choices)
    addButton(group, `${name}-${choice.key}`, choice.label, () => action(choice.key))
      .attr('aria-pressed', String(choice.key === current));
}

/* Adds a button that copies a text. */
function addCopy(parent, key, text, label) {
  addButton(parent, `copy-${key}`, 'Copy', function copy() {
    const area = add(d3.select(this.parentNode), 'textarea', {class: 'hidden-text', 'aria-label': label}).property('value', text);
    area.node().select();
    const isDone = document.execCommand('copy');
    area.remove();
    d3.select(this).text(isDone ? 'Copied' : 'Copy failed').node().focus();
    announce(isDone ? 'Copied' : 'Copy failed');
  }).attr('class', 'copy').attr('aria-label', label);
}

/* Adds a name, shortened in the middle if it is long, with a button that copies all of it. */
function addName(parent, name) {
  add(parent, 'span', {class: 'name'}, fit(name, 2 * maxName));
  addCopy(parent, 'name', name, 'Copy the name');
}

function addSearch(parent, label) {
  add(parent, 'input', {type: 'search', 'data-key': 'search', 'aria-label': label,
    placeholder: label}).property('value', state.search)
    .on('input', function search() { setState({search: this.value}); });
}

function matches(text) {
  return text.toLowerCase().includes(state.search.toLowerCase());
}

/* Returns a number with three digits, or with all if the reader asked for exact numbers. */
function numberText(value, unit) { return state.digits === 'all' ? exact(value, unit) : short(value, unit); }

/* Adds a number after a prefix, with all digits as title and data-value; a dash if undefined or an unknown time. */
function addNumber(parent, tag, value, unit, prefix, isChange) {
  const text = value === undefined || unit === 'ps' && !isChange && !(value > 0) ? '\u2013' : isChange ? signed(value, unit) : numberText(value, unit);
  return add(parent, tag, {'data-value': isKnown(value) ? String(value) : '', title: exact(value, unit)},
    (text === '\u2013' ? '' : prefix || '') + text);
}

/* Marks figures of `row` that are inexact in `from`, one of the rows that `row` sums: copies their keys. */
function addBounds(row, from) {
  for (const key of ['upper_bound', 'partial']) row[key] = (row[key] || []).concat(from[key] || []);
}

/* Prefixes of figures that are not exact: upper bounds, and sums that leave something out. */
const atMost = '\u2264 ';
const atLeast = '\u2265 ';

function prefixOf(row, key) {
  const has = keys => Boolean(keys && keys.indexOf && keys.indexOf(key) >= 0);
  return !has(row.partial) ? has(row.upper_bound) ? atMost : '' : has(row.upper_bound) ? '~ ' : atLeast;
}

/* Adds a chart of fixed size that scales down on narrow pages. */
function addChart(parent, width, height, label) {
  return add(parent, 'svg', {class: 'chart', viewBox: `0 0 ${width} ${height}`, width, height, role: 'group', 'aria-label': fit(label, 3 * maxName)});
}

/* Returns the number of axis labels that fit side by side. */
function ticksFor(width) { return Math.max(2, Math.min(8, Math.floor(width / 90))); }

function widthOf(parent) {
  return Math.max(280, Math.floor(parent.node().getBoundingClientRect().width));
}

/* Adds a horizontal stacked bar of parts {label, value, colour} with a legend; narrow parts have no label. */
function addStack(parent, title, parts, unit, total, full = total) {
  const figure = add(parent, 'figure', {class: 'stack'});
  figure.append('figcaption').text(title);
  const bar = add(figure, 'div', {class: 'bar'});
  const width = widthOf(bar);
  const known = parts.filter(part => part.value > 0);
  for (const part of known) {
    const share = part.value / total;
    const piece = add(bar, 'div', {class: `piece ${part.colour}`}).style('width', `${100 * part.value / full}%`)
      .attr('data-value', String(part.value)).attr('title', `${part.label}: ${exact(part.value, unit)}`);
    const label = `${part.label} ${roughly(share)}`;
    if (part.value / full * width > 20 + 1.15 * charWidth * label.length) piece.append('span').text(label);
  }
  addLegend(figure, known.map(part =>
    [part.colour, `${part.label} ${numberText(part.value, unit)} (${percent(part.value, total, unit)})`]));
  return bar;
}

/* Adds a legend of entries [class of the colour, text]. */
function addLegend(parent, entries) {
  const legend = add(parent, 'ul', {class: 'legend'});
  for (const entry of entries) {
    const item = legend.append('li');
    add(item, 'span', {class: `swatch ${entry[0]}`});
    item.append('span').text(entry[1]);
  }
}

/* Adds a share as a bar to a table cell. */
function addShareBar(cell, value, total, colour) {
  add(cell, 'span', {class: `share ${colour || ''}`})
    .append('span').style('width', `${total > 0 && value > 0 ? Math.min(100, 100 * value / total) : 0}%`);
}

/* Adds a share as a bar and a percentage; a bar of the total is full. */
function addShare(cell, value, total, colour, unit) {
  addShareBar(cell, +value || 0, +total, colour);
  add(cell, 'span', {class: 'percent'}, percent(isKnown(value) ? value : 0, total, unit));
}

/* Orders rows by a column {value}; unknown values come last. */
function sortRows(rows, by, isAscending) {
  const direction = isAscending ? 1 : -1;
  return rows.slice().sort((a, b) => {
    const x = by.value(a);
    const y = by.value(b);
    if (!isKnown(x) || !isKnown(y)) return isKnown(y) - isKnown(x);
    return (typeof x === 'string' ? x.localeCompare(y) : x - y) * direction;
  });
}

function addHead(table, columns, current) {
  const row = table.append('thead').append('tr');
  for (const each of columns) {
    const cell = add(row, 'th', {scope: 'col'}).classed('number', Boolean(each.unit || each.isNumber));
    if (current) {
      const order = current === `${each.key}:desc` ? 'asc' : 'desc';
      addButton(cell, `sort-${each.key}`, each.label, () => setState({sort: `${each.key}:${order}`}));
    } else cell.text(each.label);
    if (current.split(':')[0] === each.key)
      cell.attr('aria-sort', current.endsWith(':asc') ? 'ascending' : 'descending');
  }
}

function addCell(row, each, datum) {
  const unit = typeof each.unit === 'function' ? each.unit(datum) : each.unit;
  if (unit !== undefined) {
    addNumber(row, 'td', each.value(datum), unit, prefixOf(datum, each.key), each.isChange).attr('class', 'number');
    return;
  }
  const cell = row.append(each.isName ? 'th' : 'td').classed('number', Boolean(each.isNumber));
  if (each.isName) cell.attr('scope', 'row');
  if (each.draw) each.draw(cell, datum);
  else if (each.open && each.open(datum)) addOpenLink(cell, each.open(datum), each.value(datum));
  else cell.text(each.value(datum));
}

/* Returns a column of a table: the property `key` of its rows, or as `more` specifies. */
function field(key, label, more) {
  return Object.assign({key, label, value: row => row[key]}, more);
}

/* Returns a column of shares of a total; colour(row) is a class. */
function shareColumn(value, total, colour, unit) {
  return field('share', 'Share', {value, isNumber: true,
    draw: (cell, row) => addShare(cell, value(row), total, colour ? colour(row) : '', unit)});
}

/*
 * Adds a table with columns {key, label, value, unit | draw, open, isNumber, isName, isChange}. With `open` a cell is a
 * link that opens the drawer: open(row) returns "node:12". With `sort` the headings are buttons and state.sort
 * ("macs:desc") orders the rows. The first `limit` rows are shown until the user shows all.
 */
function addTable(parent, caption, columns, rows, sort, limit = maxRows) {
  const box = add(parent, 'div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption});
  const current = sort ? state.sort || sort : '';
  const first = columns.find(each => each.key === current.split(':')[0]);
  const ordered = first ? sortRows(rows, first, current.endsWith(':asc')) : rows;
  const table = box.append('table');
  table.append('caption').text(caption);
  addHead(table, columns, current);
  const body = table.append('tbody');
  const fill = some => {
    for (const datum of some) {
      const row = body.append('tr');
      for (const each of columns) addCell(row, each, datum);
    }
  };
  fill(ordered.slice(0, limit));
  if (ordered.length > limit) {
    const more = addButton(box, 'more', `Show all ${exact(ordered.length)} rows`, () => {
      more.remove();
      fill(ordered.slice(limit));
    });
  }
  if (rows.length === 0) add(box, 'p', {class: 'none'}, 'No row matches.');
  if (sort && state.search !== '') announce(`${plural(rows.length, 'row')} match`);
}

/* Adds a link that opens the details of a module. */
function addModuleLink(parent, path, text) {
  addOpenLink(parent, `module:${path}`, text || path || '(root)').attr('data-key', `module-${path}`);
}

/* Adds a section that states what is missing, and a command that makes a page with it. */
function addMissing(parent, heading, text, command) {
  const section = addSection(parent, heading, text);
  section.append('p').append('code').text(command);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Variants: profiles of one model at several precisions, batches and devices. The header selects one for all views. */

const variantAxes = [{key: 'precision', label: 'Precision'}, {key: 'batch', label: 'Batch'}, {key: 'device', label: 'Device'}];
const enough = 0.9; /* share of the highest throughput at the knee */

function isTooLarge(row) {
  return row.state === 'misfit' || isKnown(row.device_bytes) && +row.required_bytes > +row.device_bytes;
}

function hasFigures(row) { return ['done', 'incomplete', 'misfit'].includes(row.state); }

/* Adds report.variants: the rows, the axes in which they differ, and the index of the first row with a profile. */
function indexVariants(report) {
  const rows = report.sweep.sweep;
  /* Rows without figures lack what is the same in all rows. */
  for (const {key} of variantAxes) {
    const values = new Set(rows.map(row => row[key]).filter(isKnown));
    for (const row of rows) row[key] = String(isKnown(row[key]) || values.size > 1 ? row[key] : [...values][0]);
  }
  const axes = variantAxes.map(axis => Object.assign({values: [...new Set(rows.map(row => row[axis.key]))]}, axis))
    .filter(axis => axis.values.length > 1);
  const first = rows.findIndex(hasFigures);
  report.variants = {rows, axes, first, profiles: new Map([[first, report.profile]])};
  const words = (row, key) => key === 'batch' ? `batch ${row.batch}` : row[key];
  for (const row of rows) row.name = axes.map(axis => words(row, axis.key)).join(', ');
  if (axes.some(axis => axis.key !== 'batch')) views.find(view => view.key === 'sweep').label = 'Variants';
}

/* Returns the row with these values of the axes; a value that no row has is that of the first profile. */
function variantRow(report, values) {
  const {rows, axes, first} = report.variants;
  const value = axis => axis.values.includes(values[axis.key]) ? values[axis.key] : rows[first][axis.key];
  const wanted = axes.map(axis => [axis.key, value(axis)]);
  return rows.find(row => wanted.every(pair => row[pair[0]] === pair[1])) || rows[first];
}

/* Sets report.variant to the row that the state selects, and report.profile to its profile, or that of the first. */
function selectVariant(report) {
  const {rows, profiles, first} = report.variants;
  const index = rows.indexOf(variantRow(report, state));
  if (!profiles.has(index)) profiles.set(index, indexProfile(readJson(`costmodel-profile-${index}`)));
  report.variant = rows[index];
  report.variant.isMissing = !profiles.get(index);
  report.profile = profiles.get(index) || profiles.get(first);
}

function openVariant(row) {
  setState({precision: row.precision, batch: row.batch, device: row.device}, true);
}

/* Adds a switch for each axis to the header. */
function drawVariantSwitches(parent, report) {
  const tools = add(parent, 'div', {class: 'tools variants'});
  for (const axis of report.variants.axes) {
    const label = key => {
      const row = variantRow(report, Object.assign({}, report.variant, {[axis.key]: key}));
      return key + (!hasFigures(row) ? ' \u2715' : isTooLarge(row) ? ' !' : '');
    };
    addSwitch(tools, axis.key, axis.label, axis.values.map(key => ({key, label: label(key)})), report.variant[axis.key],
      key => setState({[axis.key]: key}, true));
  }
}

/* Replaces a view if the page has no profile of the selected variant. */
function drawMissingVariant(parent, row) {
  if (!hasFigures(row)) addSection(parent, `${sentence(row.name)} could not be profiled`, row.problem);
  else addSection(parent, `The page has only the totals of ${row.name}`,
    'They are in the table of variants. A page has all views of the first 32 variants, fewer of large models; list fewer of them for the others.');
}

/* Returns the highest throughput of rows that fit, {row, rate}, with `knee`: the first row with 90 % of it; or null. */
function throughputKnee(rows) {
  const timed = rows.filter(row => throughput(row) !== null && !isTooLarge(row));
  if (timed.length === 0) return null;
  const row = timed.reduce((best, each) => throughput(each) > throughput(best) ? each : best);
  return {row, rate: throughput(row), knee: timed.find(each => throughput(each) >= enough * throughput(row))};
}

/* Returns a panel for each precision and device: {name, rows by batch, best: of throughputKnee}. */
function variantPanels(report) {
  const axes = report.variants.axes.filter(axis => axis.key !== 'batch');
  return d3.nest().key(row => axes.map(axis => row[axis.key]).join(' \u00b7 ')).entries(report.variants.rows).map(entry => {
    const rows = entry.values.slice().sort((a, b) => a.batch - b.batch);
    return {name: entry.key, rows, best: throughputKnee(rows)};
  });
}

/* Returns "batch 32 has 95% of 343 samples/s; does not fit from batch 512". */
function panelText(panel) {
  const best = panel.best;
  const large = panel.rows.find(isTooLarge);
  const parts = [];
  if (best)
    parts.push(`batch ${best.knee.batch} has ${best.knee === best.row ? 'the most, ' : `${roughly(throughput(best.knee) / best.rate)} of `}${rateText(best.rate)} samples/s`);
  if (large) parts.push(`does not fit from batch ${large.batch}`);
  return parts.join('; ');
}

function variantsTitle(report, panels) {
  const first = panels.filter(panel => panel.best).sort((a, b) => b.best.rate - a.best.rate)[0];
  if (first) {
    const {row, rate, knee} = first.best;
    const hasBatches = first.rows.length > 1;
    const name = first.name ? first.name.replace(' \u00b7 ', ' on ') : `Batch ${row.batch}`;
    return `${name} has the highest throughput${report.profile.training ? ' of the forward pass' : ''}${
      report.variants.rows.some(isTooLarge) ? ' that fits' : ''}: ${rateText(rate)} samples/s${
      hasBatches && first.name ? ` at batch ${row.batch}` : ''}${
      knee === row ? '' : `, ${roughly(throughput(knee) / rate)} of it at batch ${knee.batch}`}`;
  }
  return report.variants.rows.every(isTooLarge) ? 'No variant fits' : 'Required memory of each variant';
}

/* Returns what a mark of the strip shows, one line each. */
function variantLines(row) {
  const lines = [row.name];
  if (!hasFigures(row)) return lines.concat(`failed: ${row.problem}`);
  if (throughput(row) !== null) lines.push(`${rateText(throughput(row))} samples/s, ${exact(row.latency_ps, 'ps')}`);
  lines.push(`requires ${exact(row.required_bytes, 'bytes')}${isTooLarge(row) ? isKnown(row.device_bytes) ? `, the device has ${short(row.device_bytes, 'bytes')}` : ', above the limit' : ''}`);
  return lines.concat(row.state === 'incomplete' ? row.problem : []);
}

/* Adds the axis of a figure: lines and labels at its extremes and at powers of ten between them. */
function addDecades(svg, plot, width) {
  const [low, high] = plot.extent;
  const ticks = low < high ? [low, high] : [high];
  for (const power of d3.range(Math.ceil(Math.log10(low)), Math.log10(high)))
    if (ticks.every(tick => Math.abs(plot.y(tick) - plot.y(10 ** power)) > 15)) ticks.push(10 ** power);
  for (const tick of ticks) {
    add(svg, 'line', {x1: plot.left, x2: width, y1: plot.y(tick), y2: plot.y(tick)});
    add(svg, 'text', {x: plot.left - 6, y: plot.y(tick) + 4, 'text-anchor': 'end'}, plot.text(tick));
  }
}

/* Returns a function that is true for a label, centred at x, which overlaps none of those before it. */
function labelRoom() {
  let last = -Infinity;
  return (x, half) => {
    if (x - half < last + 5) return false;
    last = x + half;
    return true;
  };
}

function batchLabel(batch) { return batch < 1e5 ? String(batch) : short(+batch, 'elements'); }

/* Adds the label of a batch if it has room. */
function addBatch(parent, row, x, y, hasRoom) {
  const text = batchLabel(row.batch);
  if (hasRoom(x, charWidth * text.length / 2)) add(parent, 'text', {class: 'faint', x, y, 'text-anchor': 'middle'}, text);
}

/* Adds the column of a variant to a chart: it has the width of its pointer target. */
function addVariant(svg, report, row, [x, width], height) {
  const mark = add(svg, 'g', {class: `variant${row === report.variant ? ' selected' : ''}`}).datum(row);
  add(mark, 'rect', {x, width, y: 0, height});
  return mark;
}

/* Adds the point of a variant, a cross if it does not fit, with a ring at the knee. */
function addVariantMark(parent, row, x, y, value, isKnee) {
  if (isTooLarge(row) || !hasFigures(row)) {
    add(parent, 'path', {class: 'misfit', d: `M${x - 4},${y - 4}l8,8m0,-8l-8,8`});
    return;
  }
  if (!(value > 0)) return;
  if (isKnee) add(parent, 'circle', {class: 'knee', cx: x, cy: y, r: 7.5});
  add(parent, 'circle', {class: 'point', cx: x, cy: y, r: 3.5, 'data-value': value});
}

/* Makes the variants of a chart buttons: one tab stop, arrows for batches and panels. */
function addVariantActions(report, marks, panels, name) {
  const selection = d3.selectAll(marks);
  const key = row => `${name}-${report.variants.rows.indexOf(row)}`;
  addTip(selection, variantLines);
  addAction(selection, row => variantLines(row).join('; '), key, openVariant);
  const hasSelected = panels.some(panel => panel.rows.includes(report.variant));
  selection.attr('tabindex', (row, i) => row === report.variant || !hasSelected && i === 0 ? 0 : -1)
    .attr('aria-current', row => row === report.variant ? 'true' : null);
  addArrows(selection, (row, arrow) => {
    const panel = panels.findIndex(each => each.rows.includes(row));
    const step = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[arrow];
    const next = ((panels[panel + step[0]] || {}).rows || [])[panels[panel].rows.indexOf(row) + step[1]];
    return next ? key(next) : null;
  });
}

/* Draws a panel: two figures above each other by batch. A batch is a column that selects its variant. */
function drawPanel(parent, report, panel, plots, batches) {
  const box = add(parent, 'div', {class: 'panel'});
  const head = add(box, 'p', {class: 'faint'});
  if (panel.name) head.append('strong').text(`${panel.name} `);
  head.append('span').text(panelText(panel));
  const width = Math.max(150, Math.floor(box.node().getBoundingClientRect().width));
  const height = plots[plots.length - 1].bottom + 22;
  const svg = addChart(box, width, height, `${panel.name} throughput and memory by batch`.trim());
  const right = width - 4 - charWidth * batchLabel(d3.max(batches)).length / 2;
  const x = d3.scaleLog().domain(d3.extent(batches)).range([plots[0].left + 14, right]);
  const axis = add(svg, 'g', {class: 'axis'});
  for (const plot of plots) {
    addDecades(axis, plot, width);
    const known = panel.rows.filter(row => plot.value(row) > 0);
    add(svg, 'path', {class: 'line', d: d3.line().x(row => x(row.batch)).y(row => plot.y(plot.value(row)))(known)});
  }
  const hasRoom = labelRoom();
  return panel.rows.map((row, i) => {
    const at = x(row.batch);
    const before = i > 0 ? (x(panel.rows[i - 1].batch) + at) / 2 : plots[0].left;
    const after = i + 1 < panel.rows.length ? (x(panel.rows[i + 1].batch) + at) / 2 : width;
    const mark = addVariant(svg, report, row, [before, after - before], height);
    for (const plot of plots) {
      const value = plot.value(row);
      const isKnee = plot === plots[0] && panel.best && row === panel.best.knee;
      addVariantMark(mark, row, at, value > 0 ? plot.y(value) : plot.bottom, value, isKnee);
    }
    addBatch(mark, row, at, height - 5, hasRoom);
    return mark.node();
  });
}

/* Draws small multiples: a panel for each precision and device, with throughput and memory by batch. */
function drawPanels(parent, report, panels) {
  const rows = report.variants.rows.filter(hasFigures);
  const batches = report.variants.rows.map(row => +row.batch);
  const plots = [{value: throughput, text: value => `${rateText(value)}/s`, size: 84, label: 'samples per second'},
    {value: row => +row.required_bytes, text: value => short(value, 'bytes'), size: 54, label: 'required memory'}]
    .filter(plot => rows.some(row => plot.value(row) > 0));
  let top = 10;
  for (const plot of plots) {
    const extent = d3.extent(rows.map(plot.value).filter(value => value > 0));
    const bottom = top + plot.size;
    Object.assign(plot, {extent, bottom, left: 62,
      y: d3.scaleLog().domain(extent[0] < extent[1] ? extent : [extent[0] / 2, extent[1]]).range([bottom, top])});
    top = bottom + 24;
  }
  const grid = add(parent, 'div', {class: 'panels'});
  const devices = (report.variants.axes.find(axis => axis.key === 'device') || {values: []}).values.length;
  if (devices > 1 && devices < 6 && panels.length > 4 && widthOf(grid) > 200 * devices)
    grid.style('grid-template-columns', `repeat(${devices}, minmax(0, 1fr))`);
  const marks = [].concat(...panels.map(panel => drawPanel(grid, report, panel, plots, batches)));
  addVariantActions(report, marks, panels, 'strip');
  const notes = [];
  if (panels.some(panel => panel.best)) notes.push('\u25ce smallest batch with 90 % of the highest throughput');
  if (report.variants.rows.some(row => isTooLarge(row) || !hasFigures(row))) notes.push('\u2715 does not fit the memory, or failed');
  const figures = plots.map(plot => plot.label).join(' above, ') + (plots.length > 1 ? ' below' : '');
  notes.push(`${figures}, on logarithmic scales that all panels share`);
  add(parent, 'p', {class: 'note'}, notes.join(' \u00b7 '));
}

/* Draws variants with one batch: a row for each, with bars of time and memory. */
function drawVariantBars(parent, report) {
  const rows = report.variants.rows;
  const colour = row => isTooLarge(row) ? 'on-grows' : row === report.variant ? 'on-compute' : '';
  const bar = (key, unit) => (cell, row) => {
    addShareBar(cell, +row[key] || 0, d3.max(rows, each => +each[key] || 0), colour(row));
    addNumber(cell, 'span', isKnown(row[key]) ? row[key] : undefined, unit);
  };
  const columns = [variantColumn(report)];
  if (rows.some(row => timeOf(row) !== null))
    columns.push(field('latency_ps', report.profile.timeName, {draw: bar('latency_ps', 'ps')}));
  columns.push(field('required_bytes', 'Required memory', {draw: bar('required_bytes', 'bytes')}),
    field('state', 'State', {value: row => isTooLarge(row) ? 'does not fit' : row.problem || 'fits'}));
  addTable(parent, 'Time and memory of each variant', columns, rows);
}

/* Returns the column with the name of a variant, which selects it. */
function variantColumn(report) {
  return field('name', 'Variant', {isName: true, value: row => row.name, draw: (cell, row) =>
    addButton(cell, `row-${report.variants.rows.indexOf(row)}`, row.name, () => openVariant(row)).attr('class', 'link')
      .attr('aria-current', row === report.variant ? 'true' : null)});
}

/* Draws the strip of all variants, above the overview and in the view of variants. */
function drawVariantStrip(parent, report) {
  if (report.variants.axes.length === 0) return;
  const panels = variantPanels(report);
  const section = addSection(parent, variantsTitle(report, panels), '');
  section.attr('class', 'strip');
  if (report.variants.axes.some(axis => axis.key === 'batch')) drawPanels(section, report, panels);
  else drawVariantBars(section, report);
}

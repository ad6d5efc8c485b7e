/* SPDX-License-Identifier: Apache-2.0 */
/* Merged sweeps: a heat map of models by device, batch or precision, and the fastest choice for each model. */

const heatSteps = 7; /* CSS classes heat-0 to heat-6 */
const fastestMark = '\u2605 ';

/* The keys in which combinations of the same model and dims may differ. */
const campaignAxes = [
  {key: 'device', label: 'Device', noun: 'device'},
  {key: 'batch', label: 'Batch', noun: 'batch'},
  {key: 'precision', label: 'Precision', noun: 'precision'},
];

/* Metrics of the heat map: value(row, line) returns the number of a cell, text(number) its text. */
const campaignMetrics = [
  {key: 'latency_ps', label: 'Time', isTimed: true, value: row => timeOf(row), text: value => short(value, 'ps')},
  {key: 'rate', label: 'Samples/s', isTimed: true, value: row => throughput(row), text: rateText},
  {key: 'slowdown', label: 'Time relative to the fastest', isTimed: true, value: slowdown, text: factorText},
  {key: 'required_bytes', label: 'Required memory', value: row => row.required_bytes,
    text: value => short(value, 'bytes')},
  {key: 'macs', label: 'MACs', value: row => row.macs, text: value => short(value, 'macs')},
  {key: 'params', label: 'Parameters', value: row => row.params, text: value => short(value, 'elements')},
];

function factorText(value) { return `${value.toFixed(2)}\u00d7`; }

/* Returns the time per sample relative to the fastest combination of the line; null if either is unknown. */
function slowdown(row, line) {
  return line.fastest && throughput(row) !== null ? throughput(line.fastest) / throughput(row) : null;
}

function dimsText(row) { return Object.keys(row.dims || {}).map(name => `${name}=${row.dims[name]}`).join(' '); }

/* Returns the axes in which rows of the same model and dims differ, with their values in the order of the rows. */
function variedAxes(rows) {
  return campaignAxes.filter(axis => {
    const seen = new Map();
    return rows.some(row => {
      const key = JSON.stringify([row.model, row.dims].concat(campaignAxes.map(other => other === axis ? '' : row[other.key])));
      const isFirst = !seen.has(key);
      if (isFirst) seen.set(key, row[axis.key]);
      return !isFirst && seen.get(key) !== row[axis.key];
    });
  }).map(axis => withValues(axis, rows));
}

/* Returns an axis with its values in the order of the rows. */
function withValues(axis, rows) {
  return Object.assign({values: [...new Set(rows.map(row => String(row[axis.key])))]}, axis);
}

/* Returns what the user chose: the axis of the columns (across), a value of each other axis (fixed), and the metric. */
function campaignChoice(report) {
  const rows = report.sweep.sweep;
  report.axes = report.axes || variedAxes(rows);
  const across = report.axes.find(axis => axis.key === state.across) || report.axes[0]
    || withValues(campaignAxes[0], rows);
  const fixed = report.axes.filter(axis => axis.key !== across.key).map(axis =>
    Object.assign({value: axis.values.includes(state[axis.key]) ? state[axis.key] : axis.values[0]}, axis));
  const metrics = campaignMetrics.filter(metric =>
    rows.some(row => metric.isTimed ? timeOf(row) !== null : isKnown(row[metric.key])));
  return {across, fixed, metrics, metric: metrics.find(metric => metric.key === state.metric) || metrics[0]};
}

/*
 * Returns a line per model and dims: {name, cells, fastest}. `cells` maps a value of the column axis to its row,
 * `fastest` is the first row of rankColumns. If two rows belong to the same cell, the first is used.
 */
function campaignLines(rows, choice) {
  const lines = new Map();
  const paths = d3.nest().key(row => fileName(row.model))
    .rollup(group => d3.set(group, row => row.model).size()).object(rows);
  for (const row of rows) {
    if (choice.fixed.some(axis => String(row[axis.key]) !== axis.value)) continue;
    const file = fileName(row.model);
    const name = `${paths[file] > 1 ? row.model : file} ${dimsText(row)}`.trim();
    if (!lines.has(name)) lines.set(name, {name, cells: new Map()});
    const line = lines.get(name);
    const column = String(row[choice.across.key]);
    if (!line.cells.has(column)) line.cells.set(column, row);
  }
  for (const line of lines.values()) line.fastest = (rankColumns(line, choice)[0] || {}).row;
  return [...lines.values()];
}

/* Returns a logarithmic scale of positive values: step(value) is 0 to heatSteps - 1, from(step) its lowest value. */
function heatScale(values) {
  const min = d3.min(values);
  const span = Math.log(d3.max(values) / min);
  return {
    step: value => span > 0 ? Math.min(heatSteps - 1, Math.floor(heatSteps * Math.log(value / min) / span)) : 0,
    from: step => min * Math.exp(span * step / heatSteps),
    isFlat: !(span > 0),
  };
}

/* Returns the text of a cell without a value. */
function missingText(row) {
  if (!row) return '\u2013';
  return row.state === 'done' || row.state === 'incomplete' ? 'unknown' : 'failed';
}

/* Draws a cell: the value on a colour of the scale, marked if it is the fastest, too large or incomplete. */
function drawHeat(cell, line, column, metric, scale) {
  const row = line.cells.get(column);
  const value = row ? metric.value(row, line) : null;
  const notes = [line.name, column];
  cell.classed('heat', true);
  if (!isKnown(value) || !(+value > 0)) {
    if (row && row.problem) notes.push(row.problem);
    cell.classed('heat-none', true).attr('title', notes.join(', ')).text(missingText(row));
    return;
  }
  if (isTooLarge(row)) notes.push(`requires ${short(row.required_bytes, 'bytes')}, the device has ${short(row.device_bytes, 'bytes')}`);
  if (row.state !== 'done') notes.push(row.problem || row.state);
  const isFastest = metric.isTimed && row === line.fastest;
  cell.classed(`heat-${scale.step(+value)}`, true).classed('fastest', isFastest).attr('data-value', String(value))
    .attr('title', notes.join(', '))
    .text((isFastest ? fastestMark : '') + metric.text(value) + (isTooLarge(row) ? ' !' : '') + (row.state !== 'done' ? ' *' : ''));
}

function heatColumns(choice, scale) {
  const {metric, across} = choice;
  const columns = across.values.map((column, i) => field(`column${i}`, column === 'undefined' ? metric.label : column, {
    isNumber: true, value: line => line.cells.has(column) ? metric.value(line.cells.get(column), line) : null,
    draw: (cell, line) => drawHeat(cell, line, column, metric, scale)}));
  return [field('name', 'Model', {isName: true})].concat(columns);
}

function drawHeatMap(parent, choice, lines) {
  const metric = choice.metric;
  const cellsOf = line => [...line.cells.values()].map(row => ({row, value: +metric.value(row, line)}));
  const rows = [].concat(...lines.map(cellsOf));
  const values = rows.map(each => each.value).filter(value => value > 0);
  const scale = heatScale(values);
  const caption = `${metric.label} by model and ${choice.across.noun}`;
  const section = addSection(parent, caption, '', 'h3');
  if (values.length > 0)
    addLegend(section, d3.range(scale.isFlat ? 1 : heatSteps).map(step => [`heat-${step}`,
      scale.isFlat ? metric.text(values[0]) : `${metric.text(scale.from(step))} to ${metric.text(scale.from(step + 1))}`]));
  const marks = [];
  if (metric.isTimed && choice.across.values.length > 1) marks.push(`${fastestMark}most samples/s of the model`);
  if (rows.some(each => isTooLarge(each.row))) marks.push('! requires more memory than the device has');
  if (rows.some(each => each.row.state === 'incomplete')) marks.push('* some operators are not included');
  add(section, 'p', {class: 'note'}, marks.join(' \u00b7 '));
  addTable(section, caption, heatColumns(choice, scale), lines, 'none:asc');
}

/* Returns the complete combinations of a line that fit into memory, from fast to slow: [{column, row}]. */
function rankColumns(line, choice) {
  return choice.across.values.map(column => ({column, row: line.cells.get(column)}))
    .filter(each => each.row && each.row.state === 'done' && !isTooLarge(each.row) && throughput(each.row) !== null)
    .sort((a, b) => throughput(b.row) - throughput(a.row));
}

function drawFastest(parent, choice, lines) {
  const rows = lines.map(line => ({name: line.name, ranks: rankColumns(line, choice)}));
  const text = (row, i, of) => row.ranks[i] ? of(row.ranks[i].row, row) : '\u2013';
  const caption = `Fastest ${choice.across.noun} of each model`;
  addTable(addSection(parent, caption, '', 'h3'), caption, [
    field('name', 'Model', {isName: true}),
    field('first', choice.across.label, {value: row => row.ranks[0] ? row.ranks[0].column : 'none'}),
    field('time', 'Time', {unit: 'ps', value: row => row.ranks[0] ? row.ranks[0].row.latency_ps : null}),
    field('rate', 'Samples/s', {isNumber: true, value: row => text(row, 0, first => rateText(throughput(first)))}),
    field('second', `Second ${choice.across.noun}`, {value: row => row.ranks[1] ? row.ranks[1].column : 'none'}),
    field('factor', 'Its time per sample', {isNumber: true,
      value: row => text(row, 1, second => factorText(throughput(row.ranks[0].row) / throughput(second)))}),
  ], rows);
}

/* Draws a table with a row for each device, batch or precision, with its figures over all models. */
function drawColumnSummary(parent, choice, lines) {
  const rows = choice.across.values.map(column => {
    const cells = lines.filter(line => line.cells.has(column)).map(line => ({line, row: line.cells.get(column)}));
    const timed = cells.filter(cell => slowdown(cell.row, cell.line) !== null && cell.row.state === 'done' && !isTooLarge(cell.row));
    return {column, models: cells.length, first: cells.filter(cell => cell.row === cell.line.fastest).length,
      mean: timed.length ? Math.exp(d3.mean(timed, cell => Math.log(slowdown(cell.row, cell.line)))) : null,
      large: cells.filter(cell => isTooLarge(cell.row)).length,
      failed: cells.filter(cell => !['done', 'incomplete', 'misfit'].includes(cell.row.state)).length};
  }).sort((a, b) => b.first - a.first || (a.mean || Infinity) - (b.mean || Infinity));
  const caption = `All models by ${choice.across.noun}`;
  const section = addSection(parent, caption, 'The mean is geometric, over the models that fit.', 'h3');
  addTable(section, caption, [
    field('column', choice.across.label, {isName: true}), field('models', 'Models', {isNumber: true}),
    field('first', 'Fastest for', {isNumber: true}),
    field('mean', 'Mean time relative to the fastest', {isNumber: true, value: row => row.mean ? factorText(row.mean) : '\u2013'}),
    field('large', 'Too large for', {isNumber: true}), field('failed', 'Failed', {isNumber: true}),
  ], rows);
}

function campaignTitle(choice, lines) {
  const timed = lines.filter(line => line.fastest);
  if (timed.length === 0 || choice.across.values.length < 2) return 'Costs by model';
  const counts = d3.nest().key(line => String(line.fastest[choice.across.key]))
    .rollup(group => group.length).entries(timed);
  const first = counts.sort((a, b) => b.value - a.value)[0];
  const rest = timed.length < lines.length ? `; ${plural(lines.length - timed.length, 'row')} without time` : '';
  return `${choice.across.label} ${first.key} is the fastest for ${first.value} of ${plural(timed.length, 'row')}${rest}`;
}

function drawCampaign(parent, report) {
  const choice = campaignChoice(report);
  if (!choice.metric) {
    addMissing(parent, 'No combination has costs', report.sweep.sweep.length ? report.sweep.sweep[0].problem : '', 'costmodel sweep --retry');
    return;
  }
  const all = campaignLines(report.sweep.sweep, choice);
  const lines = all.filter(line => matches(line.name));
  const section = addSection(parent, campaignTitle(choice, lines), choice.fixed.map(axis => `${axis.label} ${axis.value}`).join(' \u00b7 '));
  const tools = add(section, 'div', {class: 'tools'});
  addSwitch(tools, 'metric', 'Show', choice.metrics, choice.metric.key, metric => setState({metric}, true));
  if (report.axes.length > 1)
    addSwitch(tools, 'across', 'Columns', report.axes, choice.across.key, across => setState({across, sort: ''}, true));
  for (const axis of choice.fixed)
    addSwitch(tools, axis.key, axis.label, axis.values.map(key => ({key, label: key})), axis.value,
      value => setState({[axis.key]: value}, true));
  addSearch(tools, 'Search models');
  drawHeatMap(section, choice, lines);
  if (!choice.metrics.some(metric => metric.isTimed) || choice.across.values.length < 2) return;
  drawFastest(section, choice, lines);
  drawColumnSummary(section, choice, lines);
}

function drawCombinations(parent, report) {
  const rows = report.sweep.sweep.filter(row => matches(`${row.model} ${dimsText(row)} ${row.device} ${row.precision} ${row.state}`));
  const section = addSection(parent, plural(rows.length, 'combination'), 'Select a heading to sort.');
  addSearch(add(section, 'div', {class: 'tools'}), 'Search combinations');
  const columns = [field('model', 'Model', {isName: true}), field('dims', 'Dims', {value: dimsText})]
    .concat(campaignAxes.map(axis => field(axis.key, axis.label, {isNumber: axis.key === 'batch',
      value: row => isKnown(row[axis.key]) ? row[axis.key] : '\u2013'})))
    .filter(column => rows.some(row => column.value(row) !== '' && column.value(row) !== '\u2013'));
  columns.push(field('macs', 'MACs', {unit: 'macs'}), field('required_bytes', 'Required memory', {unit: 'bytes'}));
  if (rows.some(row => timeOf(row) !== null))
    columns.push(field('latency_ps', 'Time', {unit: 'ps'}), field('rate', 'Samples/s', {isNumber: true, value: throughput,
      draw: (cell, row) => cell.text(throughput(row) === null ? '\u2013' : rateText(throughput(row)))}));
  columns.push(field('state', 'State', {value: row => row.problem || row.state}));
  addTable(section, 'Combinations', columns, rows, 'none:asc');
}

/* Returns "12 combinations", "times modelled" and "FLOPs as deepspeed counts them", joined by dots. */
function campaignSubtitle(sweep) {
  const sources = [...new Set(sweep.sweep.map(row => row.times).filter(Boolean))];
  return [plural(sweep.sweep.length, 'combination')].concat(sources.length ? `times ${sources.join(', ')}` : [],
    `FLOPs as ${sweep.convention} counts them`).join(' \u00b7 ');
}

views.push({key: 'campaign', label: 'Heat map', guide: 'compare-candidates', draw: drawCampaign, isWhole: true, isFor: report => report.kind === 'sweep'});
views.push({key: 'combinations', label: 'Combinations', guide: 'compare-candidates', draw: drawCombinations, isWhole: true, isFor: report => report.kind === 'sweep'});

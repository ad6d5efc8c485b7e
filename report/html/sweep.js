/* SPDX-License-Identifier: Apache-2.0 */
/* Batch sweep: latency, samples/s and memory by batch, and the largest batch that fits. */

function sweepRate(row) { return row.latency_ps > 0 ? row.batch / (row.latency_ps * 1e-12) : null; }

function sweepTitle(rows, fitted) {
  const timed = rows.filter(row => sweepRate(row) !== null);
  let text = 'Cost by batch size';
  if (timed.length > 1) {
    const best = d3.max(timed, sweepRate);
    const enough = timed.find(row => sweepRate(row) >= 0.9 * best);
    text = `Batch ${enough.batch} reaches ${sweepRate(enough) === best ? 'the highest' : roughly(sweepRate(enough) / best) + ' of the highest'} throughput: ${short(sweepRate(enough), 'elements')} samples/s`;
  }
  return fitted ? `${text}; ${fitted}` : text;
}

/* Returns "batch 65 is the largest that fits 4.29 GB; 51 fits with 90 % confidence"; "" without a limit. */
function fitText(memory) {
  const fits = (memory || {}).fit;
  if (!fits) return '';
  const confident = isKnown(fits.confident_batch) ? `; ${fits.confident_batch === 0 ? 'none' : exact(fits.confident_batch)} fits with 90 % confidence` : '';
  if (fits.largest_batch === 0) return `no batch fits ${short(fits.limit_bytes, 'bytes')}`;
  return isKnown(fits.largest_batch) ? `batch ${exact(fits.largest_batch)} is the largest that fits ${short(fits.limit_bytes, 'bytes')}${confident}`
    : `the batch that profiles show ${fits.fits ? 'fits' : 'does not fit'} ${short(fits.limit_bytes, 'bytes')}`;
}

/* Draws a small chart of one figure by batch; each point is labelled. */
function drawSweepChart(parent, rows, chart) {
  const section = addSection(parent, chart.title, '', 'h3');
  const width = widthOf(section);
  const height = 240;
  const svg = addChart(section, width, height, chart.title);
  const known = rows.filter(row => isKnown(chart.value(row)));
  const x = d3.scaleLog().base(2).domain([d3.min(rows, row => row.batch), Math.max(2, d3.max(rows, row => row.batch))])
    .range([64, width - 40]);
  const limit = isKnown(chart.limit) && chart.limit < 4 * d3.max(known, chart.value) ? chart.limit : null;
  const y = d3.scaleLinear().domain([0, 1.1 * (Math.max(d3.max(known, row => +chart.value(row)) || 0, +limit || 0)
    || 1)]).range([height - 36, 12]);
  addAxis(svg, y, chart.unit, 56, width - 62, 4);
  add(svg, 'path', {class: 'line', d: d3.line().x(row => x(row.batch)).y(row => y(+chart.value(row)))(known)});
  if (limit) {
    add(svg, 'line', {class: 'limit', x1: 56, x2: width - 6, y1: y(limit), y2: y(limit)});
    add(svg, 'text', {class: 'strong', x: 62, y: y(limit) - 5}, `limit ${short(limit, 'bytes')}`);
  }
  for (const row of rows)
    add(svg, 'text', {class: 'faint', x: x(row.batch), y: height - 18, 'text-anchor': 'middle'}, row.batch);
  add(svg, 'text', {class: 'faint', x: (56 + width) / 2, y: height - 3, 'text-anchor': 'middle'}, 'batch size');
  known.forEach((row, i) => {
    add(svg, 'circle', {class: 'point', cx: x(row.batch), cy: y(+chart.value(row)), r: 4});
    add(svg, 'text', {class: 'halo', x: x(row.batch), y: y(+chart.value(row)) - 9, 'text-anchor': i === 0 ? 'start'
      : i + 1 === known.length ? 'end' : 'middle'}, short(chart.value(row), chart.unit));
  });
}

function drawSweep(parent, report) {
  const rows = report.sweep.sweep.filter(row => isKnown(row.batch));
  const profile = report.profile;
  const memory = (profile || {}).memory || {};
  const limit = report.sweep.memory_limit || (memory.fit || {}).limit_bytes;
  const section = addSection(parent, sweepTitle(rows, fitText(memory)),
    `Batches ${rows.map(row => row.batch).join(', ')}; the other views show batch ${profile ? profile.options.batch : rows[0].batch}.`);
  const charts = add(section, 'div', {class: 'columns three'});
  const timed = rows.some(row => isKnown(row.latency_ps));
  const timeName = report.sweep.times === 'modelled' ? 'Expected time' : 'Measured time';
  if (timed) {
    drawSweepChart(charts, rows, {title: timeName, unit: 'ps', value: row => row.latency_ps});
    drawSweepChart(charts, rows, {title: 'Samples per second', unit: 'elements', value: sweepRate});
  }
  drawSweepChart(charts, rows, {title: (profile || {}).device_memory ? 'Device memory of a training process' : 'Required memory, with weights', unit: 'bytes', value: row => row.required_bytes, limit});
  const columns = [field('batch', 'Batch', {isName: true}), field('macs', 'MACs', {unit: 'macs'}),
    field('peak_activation_bytes', 'Peak activation memory', {unit: 'bytes'}),
    field('required_bytes', 'Required memory', {unit: 'bytes'})];
  if (timed)
    columns.push(field('latency_ps', timeName, {unit: 'ps'}), field('rate', 'Samples/s', {isNumber: true,
      value: row => sweepRate(row) === null ? '?' : sweepRate(row).toFixed(2)}));
  columns.push(field('state', 'State', {value: row => row.problem || row.state}));
  addTable(section, 'Costs by batch size', columns, rows);
}

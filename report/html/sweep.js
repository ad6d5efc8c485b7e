/* SPDX-License-Identifier: Apache-2.0 */
/* Batch sweep: latency, samples/s and memory by batch, and the largest batch that fits. */

function timeOf(row) { return row.latency_ps > 0 ? row.latency_ps : null; }

/* Returns the samples per second, null without a time; models without a batch axis count as one sample. */
function throughput(row) { return timeOf(row) === null ? null : (+row.batch || 1) / (row.latency_ps * 1e-12); }

function rateText(value) { return value < 100 ? value.toPrecision(3) : short(value, 'elements'); }

function sweepTitle(best, fitted) {
  const text = !best ? 'Cost by batch size' : `Batch ${best.knee.batch} reaches ${best.knee === best.row ? 'the highest'
    : `${roughly(throughput(best.knee) / best.rate)} of the highest`} throughput: ${rateText(throughput(best.knee))} samples/s`;
  return fitted ? `${text}; ${fitted}` : text;
}

/* Draws a chart of one figure by batch; points that have room are labelled, and select their variant. */
function drawSweepChart(parent, report, panel, chart) {
  const section = addSection(parent, chart.title, '', 'h3');
  const width = widthOf(section);
  const height = 240;
  const svg = addChart(section, width, height, chart.title);
  const rows = panel.rows;
  const known = rows.filter(row => isKnown(chart.value(row)));
  const x = d3.scaleLog().domain([+rows[0].batch, Math.max(2, +rows[rows.length - 1].batch)]).range([78, width - 24]);
  const limit = isKnown(chart.limit) && chart.limit < 4 * d3.max(known, chart.value) ? chart.limit : null;
  const y = d3.scaleLinear().domain([0, 1.1 * (Math.max(d3.max(known, row => +chart.value(row)) || 0, +limit || 0)
    || 1)]).range([height - 36, 12]);
  addAxis(svg, y, chart.unit, 56, width - 62, 4);
  add(svg, 'path', {class: 'line', d: d3.line().x(row => x(row.batch)).y(row => y(+chart.value(row)))(known)});
  if (limit) {
    add(svg, 'line', {class: 'limit', x1: 56, x2: width - 6, y1: y(limit), y2: y(limit)});
    add(svg, 'text', {class: 'strong', x: 62, y: y(limit) - 5}, `limit ${short(limit, 'bytes')}`);
  }
  add(svg, 'text', {class: 'faint', x: (56 + width) / 2, y: height - 3, 'text-anchor': 'middle'}, 'batch size');
  const hasRoom = labelRoom();
  const hasTickRoom = labelRoom();
  const marks = rows.map(row => {
    const value = chart.value(row);
    const mark = addVariant(svg, report, row, [x(row.batch) - 12, 24], height);
    const isKnee = chart.hasKnee && panel.best && row === panel.best.knee;
    addVariantMark(mark, row, x(row.batch), y(+value || 0), value, isKnee);
    const label = short(value, chart.unit);
    const half = charWidth * label.length / 2;
    const at = Math.min(x(row.batch), width - half - 2);
    if (isKnown(value) && hasRoom(at, half))
      add(mark, 'text', {class: 'halo', x: at, y: y(+value) - 10, 'text-anchor': 'middle'}, label);
    addBatch(mark, row, x(row.batch), height - 18, hasTickRoom);
    return mark.node();
  });
  addVariantActions(report, marks, [panel], chart.key);
}

function drawSweep(parent, report) {
  const {profile, variant} = report;
  const axes = report.variants.axes;
  const memory = profile.memory || {};
  if (axes.some(axis => axis.key !== 'batch')) drawVariantStrip(parent, report);
  const panel = variantPanels(report).find(each => each.rows.includes(variant));
  const timed = report.variants.rows.some(row => timeOf(row) !== null);
  const section = panel.rows.length > 1 ? addSection(parent, sweepTitle(panel.best, variant.isMissing ? '' : fitText(memory)),
    `${panel.name ? `${panel.name}: b` : 'B'}atches ${panel.rows.map(row => row.batch).join(', ')}; ${variant.isMissing ? 'the page does not have' : 'the other views show'} batch ${variant.batch}.`)
    : addSection(parent, 'All figures');
  if (panel.rows.length > 1) {
    const charts = add(section, 'div', {class: 'columns three'});
    if (timed) {
      drawSweepChart(charts, report, panel, {key: 'time', title: profile.timeName, unit: 'ps', value: row => row.latency_ps});
      drawSweepChart(charts, report, panel, {key: 'rate', title: 'Samples per second', unit: 'elements', value: throughput, hasKnee: true});
    }
    drawSweepChart(charts, report, panel, {key: 'memory', title: profile.device_memory ? 'Device memory of a training process' : 'Required memory, with weights', unit: 'bytes',
      value: row => row.required_bytes, limit: report.sweep.memory_limit || variant.device_bytes});
  }
  const columns = [variantColumn(report), field('macs', 'MACs', {unit: 'macs'}), field('peak_activation_bytes', 'Peak activation memory', {unit: 'bytes'}),
    field('required_bytes', 'Required memory', {unit: 'bytes'})];
  if (timed)
    columns.push(field('latency_ps', profile.timeName, {unit: 'ps'}), field('rate', 'Samples/s', {isNumber: true,
      value: row => throughput(row) === null ? '?' : throughput(row).toFixed(2)}));
  columns.push(field('state', 'State', {value: row => isTooLarge(row) ? 'does not fit' : row.problem || row.state}));
  addTable(section, 'Costs of each variant', columns, report.variants.rows);
}

views.push({key: 'sweep', label: 'Batch sweep', guide: 'which-batch-size', draw: drawSweep, isWhole: true, isFor: report => report.variants});

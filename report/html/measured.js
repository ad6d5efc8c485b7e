/* SPDX-License-Identifier: Apache-2.0 */
/* Measured: layers of another tool beside the modelled time and the lower bound of their nodes. */

const maxDumbbells = 16;

function hasLayers(report) {
  return Boolean(report.profile && report.profile.measure && report.profile.measure.imported && report.profile.timed);
}

/* Returns the layers {layer, node, name, measured, expected, bound, ratio, lost}; node: the one with most MACs. */
function measuredRows(profile) {
  const module = selectedModule(profile);
  const comparable = !profile.measure.other_shape;
  return profile.primitives.map(layer => {
    const nodes = layer.nodes.map(index => profile.nodes[index]);
    const more = layer.import || {};
    const node = nodes.reduce((best, each) => !best || each.macs > best.macs ? each : best, null);
    const owner = node ? node.owner : profile.modules[more.module] || profile.root;
    const measured = +layer.median_ps || 0;
    const expected = comparable && more.expected_ps > 0 ? +more.expected_ps : null;
    const bound = comparable && more.lower_bound_ps > 0 ? +more.lower_bound_ps : null;
    return {layer, node, owner, nodes, name: node ? nodeLabel(node) : layer.primitive, measured, expected, bound,
      ratio: expected ? measured / expected : null, lost: expected ? measured - expected : undefined};
  }).filter(row => !module || isInside(row, module) || row.nodes.some(each => isInside(each, module)));
}

/* Returns "3.7" for a ratio, "0.42" below 1, "12,665" for large ones. */
function ratioText(ratio) {
  return ratio >= 100 ? exact(Math.round(ratio)) : ratio.toFixed(ratio < 1 ? 2 : 1);
}

function measuredTitle(rows, sums) {
  const measured = d3.sum(rows, row => row.measured);
  if (!sums.expected) {
    const first = rows.reduce((best, row) => !best || row.measured > best.measured ? row : best, null);
    return first ? `${plural(rows.length, 'layer')} measured ${short(measured, 'ps')}; ${first.name} takes ${roughly(first.measured / measured)}` : 'No layer in this module';
  }
  const worst = rows.reduce((best, row) => row.lost > (best ? best.lost : 0) ? row : best, null);
  const ratio = sums.measured / sums.expected;
  const lost = worst ? `; ${worst.name} alone loses ${short(worst.lost, 'ps')}` : '';
  return `Measured ${ratio < 1.05 && ratio > 0.95 ? 'as expected' : `${ratioText(ratio)} times the expected time`}${lost}`;
}

/* Returns sums of the layers that have an expected time. */
function measuredSums(rows) {
  const known = rows.filter(row => row.expected);
  const sum = value => d3.sum(known, value);
  return {known, measured: sum(row => row.measured), expected: sum(row => row.expected),
    bound: sum(row => Math.min(row.measured, row.bound || 0)),
    modelled: sum(row => Math.min(row.measured, row.expected) - Math.min(row.measured, row.bound || 0, row.expected)),
    lost: sum(row => Math.max(0, row.lost))};
}

/* Adds the anatomy of a run: what the bound needs, what the model expects, what is lost, and time outside of layers. */
function addAnatomy(parent, profile, rows, sums) {
  const {gap_ps: gap, gap_host_ps: host} = profile.measure;
  const isWhole = !selectedModule(profile);
  const rest = names => d3.sum(rows.filter(row => !row.expected && names.test(row.layer.state)), row => row.measured);
  const parts = [
    {label: 'least time of the layers', value: sums.bound, colour: 'on-compute'},
    {label: 'modelled above it', value: sums.modelled, colour: 'on-memory'},
    {label: 'measured above the model', value: sums.lost, colour: 'on-grows'},
    {label: sums.known.length ? 'layers without a modelled time' : 'layers', value: rest(/imported|split/), colour: 'on-leaf'},
    {label: 'copies and folded work', value: rest(/copy/), colour: 'kind-3'},
    {label: 'blocks', value: rest(/opaque/), colour: 'kind-0'},
    {label: 'not in the model', value: rest(/unplaced/), colour: 'kind-4'},
    {label: 'gaps: the device waits for the host', value: isWhole ? +host || 0 : 0, colour: 'on-host'},
    {label: isKnown(host) ? 'gaps: nothing recorded' : 'gaps between layers', value: isWhole ? Math.max(0, (+gap || 0) - (+host || 0)) : 0, colour: 'on-unknown'},
  ];
  const total = d3.sum(parts, part => part.value);
  addStack(parent, `Where the ${short(total, 'ps')} of a ${isWhole ? 'run' : 'module'} go`, parts, 'ps', total);
}

/* Adds a chart of the layers that lose most: bound, modelled and measured time on one logarithmic axis. */
function addDumbbells(parent, rows) {
  const shown = rows.filter(row => row.measured > 0).sort((a, b) => b.lost - a.lost).slice(0, maxDumbbells);
  if (shown.length === 0) return;
  addLegend(parent, [['tick-swatch', 'lower bound'], ['ring-swatch', 'modelled'], ['dot-swatch', 'measured']]);
  const width = widthOf(parent);
  const isNarrow = width < 640;
  const step = isNarrow ? 46 : 30;
  const frame = {left: isNarrow ? 6 : 300, right: width - (isNarrow ? 64 : 150), top: 26};
  const values = [].concat(...shown.map(row => [row.bound, row.expected, row.measured])).filter(value => value > 0);
  const x = d3.scaleLog().domain([d3.min(values) / 1.3, d3.max(values) * 1.3]).range([frame.left, frame.right]);
  const height = frame.top + shown.length * step + 8;
  const svg = addChart(parent, width, height, 'Bound, modelled and measured time of layers').classed('dumbbells', true);
  const axis = add(svg, 'g', {class: 'axis'});
  const powers = d3.range(Math.ceil(Math.log10(x.domain()[0])), Math.floor(Math.log10(x.domain()[1])) + 1);
  let until = -Infinity;
  for (const power of powers) {
    const at = x(10 ** power);
    const text = short(10 ** power, 'ps').replace('.00', '').replace('.0', '');
    add(axis, 'line', {x1: at, x2: at, y1: frame.top - 6, y2: height - 8});
    if (at - text.length * 4 < until + 10 || at + text.length * 4 > width) continue;
    add(axis, 'text', {x: at, y: 14, 'text-anchor': 'middle'}, text);
    until = at + text.length * 4;
  }
  shown.forEach((row, i) => {
    const y = frame.top + (i + (isNarrow ? 0.7 : 0.5)) * step;
    const change = row.lost > 0 ? 'slower' : 'faster';
    const group = add(svg, 'g', {class: `dumbbell ${change}`}).datum(row);
    add(group, 'rect', {class: 'back', x: 0, y: frame.top + i * step, width, height: step});
    const label = fit(row.name, Math.floor((isNarrow ? width - 20 : frame.left - 20) / charWidth));
    add(group, 'text', isNarrow ? {x: frame.left, y: y - 13} : {x: frame.left - 14, y: y + 4, 'text-anchor': 'end'}, label);
    add(group, 'line', {class: 'reach', x1: x(row.expected), x2: x(row.measured), y1: y, y2: y});
    if (row.bound > 0) add(group, 'line', {class: 'bound', x1: x(row.bound), x2: x(row.bound), y1: y - 7, y2: y + 7});
    add(group, 'circle', {class: 'modelled', cx: x(row.expected), cy: y, r: 5});
    add(group, 'circle', {class: 'measured', cx: x(row.measured), cy: y, r: 6});
    if (!isNarrow) add(group, 'text', {x: width - 72, y: y + 4, 'text-anchor': 'end'}, short(row.measured, 'ps'));
    add(group, 'text', {class: 'ratio', x: width - 4, y: y + 4, 'text-anchor': 'end'}, `${ratioText(row.ratio)}\u00d7`);
    addAction(group, `${row.name}: measured ${short(row.measured, 'ps')}, modelled ${short(row.expected, 'ps')}`, `layer-${row.layer.primitive}`,
      () => openDetails('node', row.node.index));
    addArrows(group, (datum, key) => {
      const next = shown[i + {ArrowDown: 1, ArrowUp: -1}[key]];
      return next ? `layer-${next.layer.primitive}` : null;
    });
  });
  addTip(svg.selectAll('.dumbbell'), row => [row.name, row.layer.primitive, `measured ${exact(row.measured, 'ps')}`,
    `modelled ${exact(row.expected, 'ps')}`, `lower bound ${exact(row.bound, 'ps')}`,
    `${ratioText(row.ratio)} times the modelled time`]);
}

/* Adds the lists of what only the trace has, and what only the model has. */
function addUnmatched(parent, profile, rows) {
  const measure = profile.measure;
  const total = (+profile.totals.latency_ps || 0) + (+measure.gap_ps || 0);
  const layers = name => rows.filter(row => row.layer.state === name);
  const groups = [['Copies, and work that the export folded', layers('copy'), 'kind-3'], ['Layers that match no node', layers('unplaced'), 'kind-4']]
    .map(([name, some, colour]) => ({name, n: some.length, time: d3.sum(some, row => row.measured), colour,
      largest: some.slice().sort((a, b) => b.measured - a.measured).slice(0, 3)
        .map(row => `${fit(row.layer.primitive, 60)} ${short(row.measured, 'ps')}`).join('; ')})).filter(group => group.n > 0);
  if (isKnown(measure.gap_host_ps)) groups.push({name: 'Host time: it runs operators while the device waits', time: +measure.gap_host_ps, colour: 'on-host', largest: ''});
  const gap = (+measure.gap_ps || 0) - (+measure.gap_host_ps || 0);
  if (gap > 0) groups.push({name: isKnown(measure.gap_host_ps) ? 'Gaps: neither device nor operators run' : 'Gaps between layers: Python and the framework', time: gap, colour: 'on-unknown', largest: ''});
  const extra = d3.sum(groups, group => group.time);
  const section = addSection(parent, extra > 0 ? `${roughly(extra / total)} of the run is not in the model` : 'Every layer of the trace is in the model',
    'Time that the other tool recorded and that no node of the model explains.', 'h3');
  if (groups.length > 0)
    addTable(section, 'Only in the trace', [field('name', 'What', {isName: true}), field('n', 'Layers', {isNumber: true, draw: (cell, row) => cell.text(row.n || '\u2013')}),
      field('time', 'Time of a run', {unit: 'ps'}), shareColumn(row => row.time, total, row => row.colour, 'ps'), field('largest', 'Largest')], groups);
  const missing = measure.untimed || [];
  if (missing.length > 0)
    add(section, 'p', {class: 'subtitle'}, `Only in the model: ${plural(d3.sum(missing, row => row.nodes), 'node')} without a layer (${missing.slice(0, 4).map(row => `${row.nodes} ${row.op}`).join(', ')}${missing.length > 4 ? ', \u2026' : ''}).`);
}

function drawMeasured(parent, report) {
  const profile = report.profile;
  const measure = profile.measure;
  const rows = measuredRows(profile);
  const sums = measuredSums(rows);
  const reason = measure.other_shape ? ` No comparison: ${measure.other_shape}.`
    : sums.expected ? ` Modelled: ${measure.device}; the lower bound is the least time of the roofline.` : ' --device NAME adds the modelled time and the lower bound of each layer.';
  const section = addSection(parent, measuredTitle(rows, sums), `Measured by ${measure.backend} (${measure.version}).${reason}`);
  addAnatomy(section, profile, rows, sums);
  if (sums.known.length > 0) {
    const loss = d3.sum(sums.known.slice().sort((a, b) => b.lost - a.lost).slice(0, 3), row => Math.max(0, row.lost));
    const chart = addSection(section, sums.lost > 0 ? `Three layers lose ${roughly(loss / sums.lost)} of the time above the model` : 'No layer is slower than modelled',
      'Layers with the largest loss, on a logarithmic axis: the longer the line, the larger the ratio.', 'h3');
    addDumbbells(chart, sums.known);
  }
  addUnmatched(section, profile, rows);
  const found = rows.filter(row => matches(`${row.name} ${row.layer.primitive}`));
  const list = addSection(section, `All ${plural(rows.length, 'layer')}`, '', 'h3');
  addSearch(add(list, 'div', {class: 'tools'}), 'Search layers');
  addTable(list, 'Layers', [
    field('name', 'Nodes', {isName: true}), field('primitive', 'Layer', {value: row => row.layer.primitive}),
    field('state', 'State', {value: row => row.layer.state}), field('measured', 'Measured', {unit: 'ps'})]
    .concat(sums.expected ? [field('expected', 'Modelled', {unit: 'ps'}), field('bound', 'Lower bound', {unit: 'ps'}),
      field('ratio', 'Ratio', {isNumber: true, draw: (cell, row) => cell.text(row.ratio ? `${ratioText(row.ratio)}\u00d7` : '\u2013')}),
      field('lost', 'Lost', {unit: 'ps', isChange: true})] : []), found, sums.expected ? 'lost:desc' : 'measured:desc');
}

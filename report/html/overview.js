/* SPDX-License-Identifier: Apache-2.0 */
/* Overview: what the model costs, where, why, and what to change first. */

const maxParts = 10; /* rows of the comparison */

/* Returns the cost of the model, its largest part and the first change as a sentence. */
function overviewTitle(profile) {
  const totals = profile.totals;
  const name = fileName(profile.model.path).replace(/\.onnx$/, '');
  const batch = isKnown(profile.options.batch) ? ` at batch ${profile.options.batch}` : '';
  const first = dominant(profile, profile.metrics[0].key);
  const where = first ? `; ${first.text} of the ${profile.timed ? profile.timeWord + ' time' : profile.metrics[0].noun}` : '';
  if (!profile.timed)
    return `${name} needs ${short(totals.macs, 'macs')}${batch} and has ${short(totals.params, 'elements')} parameters${where}`;
  const split = splitTimes(profile);
  const isStep = split && split.isStep;
  const least = prefixOf(totals, 'latency_ps') === '' ? '' : 'at least ';
  const verb = profile.modelled ? 'is expected to take' : profile.measure.invented ? 'has an invented time of' : 'takes';
  const time = `${isStep ? 'A training step of ' : profile.training ? 'The forward pass of ' : ''}${name} ${verb} ${least}${short(split ? split.total : totals.latency_ps, 'ps')}${batch}`;
  const advice = (profile.advice || []).find(each => each.gain_ps > 0);
  const change = advice ? `; ${isStep ? 'in the forward pass, ' : ''}${remedyText(profile, advice)}` : '';
  const part = split && lossText(split);
  return `${time}${part ? `; ${part}` : where}${change}`;
}

function addTile(parent, name, value, unit, note, prefix) {
  const tile = add(parent, 'div', {class: 'tile'});
  tile.append('dt').text(name);
  addNumber(tile, 'dd', value, unit, prefix);
  if (note) add(tile, 'dd', {class: 'note'}, note);
}

/* Returns "fp16", or "fp16 and fp32": the types of most bytes of rows {dtype, bytes}. */
function dtypesText(rows) {
  const names = {float: 'fp32', float16: 'fp16', bfloat16: 'bf16', double: 'fp64'};
  const sums = d3.nest().key(row => row.dtype).rollup(some => d3.sum(some, row => +row.bytes || 0)).entries(rows)
    .sort((a, b) => b.value - a.value);
  const large = sums.filter(entry => entry.value > 0.1 * d3.sum(sums, each => each.value));
  return large.slice(0, 2).map(entry => names[entry.key] || entry.key).join(' and ');
}

/* Adds what limits the trust in all times: a busy machine, missing times. */
function addWarnings(parent, profile) {
  const {warning, problem} = profile.measure || {};
  for (const text of [warning, problem && `No times: ${problem}`].filter(Boolean))
    add(parent, 'p', {class: 'banner', role: 'note'}, text);
}

/* Returns "fits the 141 GB of the device"; "" if the need is not known well enough to tell. */
function deviceFit(profile) {
  const {required_bytes, peak_upper_bound} = profile.memory || {};
  const {unknown_shapes, bounded_shapes} = profile.coverage || {};
  const need = profile.device_memory ? profile.device_memory.bytes : required_bytes;
  const capacity = (profile.measure || {}).memory_bytes;
  if (!(need > 0 && capacity > 0)) return '';
  const isOver = +need > +capacity;
  if (isOver ? peak_upper_bound : unknown_shapes > (bounded_shapes || 0)) return '';
  return `${isOver ? 'does not fit' : 'fits'} the ${short(capacity, 'bytes')} of the device`;
}

function addTiles(parent, profile) {
  const totals = profile.totals;
  const memory = profile.memory || {};
  const tiles = add(parent, 'dl', {class: 'tiles'});
  const stored = dtypesText((memory.weights || []).filter(row => row.storage !== 'cast'));
  const activations = profile.options.precision && profile.options.precision !== profile.options.file_precision
    ? dtypesText([].concat(...profile.nodes.map(node => node.outputs))) : '';
  addTile(tiles, 'Parameters', totals.params, 'elements', isKnown(totals.weight_bytes) ? `${short(totals.weight_bytes, 'bytes')} of ${stored && `${stored} `}weights` : '', prefixOf(totals, 'params'));
  addTile(tiles, 'MACs', totals.macs, 'macs', isKnown(totals.flops) ? `${short(totals.flops, 'flops')} FLOPs` : '', prefixOf(totals, 'macs'));
  const device = profile.device_memory;
  const note = [device ? intervalText(device) : isKnown(memory.required_bytes) ? `${short(memory.required_bytes, 'bytes')} ${profile.training ? 'for a training step' : 'with weights'}` : '',
    fitText(memory) || deviceFit(profile)].filter(Boolean).join('; ');
  addTile(tiles, 'Peak activation memory', memory.peak_activation_bytes, 'bytes', [activations && `most in ${activations}`, device ? '' : note].filter(Boolean).join('; '), memory.peak_upper_bound ? atMost : '');
  if (device) addTile(tiles, 'Device memory to train', device.bytes, 'bytes', note);
  if (!profile.timed) return;
  const untimed = d3.sum(profile.measure.untimed || [], row => row.nodes);
  const isPartial = untimed > 0 || prefixOf(totals, 'latency_ps') !== '';
  const step = (profile.training || {}).iteration_ps > 0 ? profile.training : null;
  const error = profile.time_error || {};
  const [time, low, high, bound] = step
    ? [step.iteration_ps, error.iteration_low_ps, error.iteration_high_ps, step.iteration_lower_bound_ps]
    : [totals.latency_ps, error.latency_low_ps, error.latency_high_ps, totals.lower_bound_ps];
  const interval = isKnown(low) ? `${short(low, 'ps')} to ${short(high, 'ps')} in 8 of 10 networks; lower bound ${short(bound, 'ps')}` : '';
  addTile(tiles, step ? 'Expected time of a step' : profile.timeName, time, 'ps', untimed > 0 ? `time of ${plural(untimed, 'node')} is unknown: see \u201cNot included\u201d`
    : [interval, step && `forward takes ${short(totals.latency_ps, 'ps')}`, profile.modelled && `modelled, nothing was run${profile.measure.calibration ? '' : '; device not calibrated'}`]
      .filter(Boolean).join('; '), isPartial ? atLeast : '');
  const batch = profile.options.batch;
  if (profile.measure.other_shape) addTile(tiles, 'Throughput', null, 'ps', `unknown: ${profile.measure.other_shape}`);
  if (profile.measure.other_shape || !(batch > 0) || !(time > 0)) return;
  const tile = add(tiles, 'div', {class: 'tile'});
  const rate = batch / (time * 1e-12);
  const text = rate.toFixed(rate < 100 ? 2 : 0).replace(/\B(?=(\d{3})+$)/g, ',');
  tile.append('dt').text('Throughput');
  add(tile, 'dd', {title: `${rate} samples/s`}, `${isPartial ? atMost : ''}${text} /s`);
  add(tile, 'dd', {class: 'note'}, `samples per second at batch ${batch}${step ? ', training' : profile.training ? ', forward alone' : ''}`);
}

/* Returns the parts of a stacked bar of `key` by family of operators, the largest first. */
function partsByKind(profile, key) {
  const rows = (profile.operators || []).filter(row => row[key] > 0);
  const groups = d3.nest().key(row => kindColour(row.op)).entries(rows);
  return groups.map(group => {
    const names = group.values.sort((a, b) => b[key] - a[key]).map(row => fit(row.op, 30));
    const more = names.length > 2 ? ` and ${names.length - 2} more` : '';
    return {label: names.slice(0, 2).join(', ') + more, value: d3.sum(group.values, row => +row[key]), colour: group.key};
  }).sort((a, b) => b.value - a.value);
}

function addBreakdown(parent, profile) {
  const totals = profile.totals;
  if (!profile.timed) {
    const section = addSection(parent, 'Cost by operator type', '', 'h3');
    addStack(section, 'MACs', partsByKind(profile, 'macs'), 'macs', totals.macs);
    addStack(section, 'Bytes written', partsByKind(profile, 'bytes_written'), 'bytes', totals.bytes_written);
    add(section, 'p', {class: 'subtitle'}, 'Add --device NAME (modelled) or --measure (measured) for times, limiting resources and recommendations.');
    return;
  }
  const section = addSection(parent, `Where the ${short(totals.latency_ps, 'ps')}${profile.training ? ' of the forward pass' : ''} go`, '', 'h3');
  const host = [{label: 'host (the device waits)', value: profile.hostTime, colour: 'on-host'}];
  const whys = {occupancy: ' (fewer blocks than multiprocessors)', kernel: ' (far below the rates of the device)', unknown: ` (${profile.measure.device ? 'no rate of these products is known' : 'no --device gives rates'})`};
  const limits = (profile.measure.limiters || []).map(row => ({label: row.limited_by + (whys[row.limited_by] || ''), value: row.latency_ps, colour: `on-${row.limited_by}`}));
  if (!splitTimes(profile)) addStack(section, 'By limiting resource', limits.concat(host), 'ps', totals.latency_ps);
  const kinds = partsByKind(profile, 'latency_ps').concat(host);
  const rest = {label: 'work that no node has', value: totals.latency_ps - d3.sum(kinds, part => part.value), colour: 'on-unknown'};
  addStack(section, 'By operator type', kinds.concat(rest), 'ps', totals.latency_ps);
}

/* Adds links to the modules of a recommendation, most time first. */
function addAdviceLinks(parent, profile, advice) {
  if (advice.nodes.length === 0) return;
  const times = new Map();
  for (const node of advice.nodes.map(index => profile.nodes[index]))
    times.set(node.owner, (times.get(node.owner) || 0) + (+node.latency_ps || 0));
  const owners = [...times].sort((a, b) => b[1] - a[1]).map(entry => entry[0]);
  const links = add(parent, 'p', {class: 'links'}, 'Most time in ');
  owners.slice(0, 3).forEach((module, i) => {
    if (i > 0) links.append('span').text(', ');
    addModuleLink(links, module.path, moduleName(module));
  });
  if (owners.length > 3) links.append('span').text(` and ${plural(owners.length - 3, 'more module')}`);
}

/* Returns the text that replaces the recommendations if no rule applies. */
function noAdvice(profile) {
  const first = (profile.operators || [])[0];
  const totals = profile.totals;
  const most = first && first.latency_ps > 0
    ? ` ${first.op} takes the most time (${roughly(first.latency_ps / totals.latency_ps)}).` : '';
  const bound = totals.lower_bound_ps > 0 ? ` The expected time is ${(totals.latency_ps / totals.lower_bound_ps).toFixed(1)} times the lower bound.` : '';
  return `No rule finds an optimization.${most}${bound}`;
}

/* Returns the name of a recommendation within a sentence. */
function adviceNoun(advice) { return advice.name === 'tensorrt' ? 'TensorRT' : advice.name.replace(/-/g, ' '); }

function adviceName(advice) {
  const noun = adviceNoun(advice);
  return noun[0].toUpperCase() + noun.slice(1);
}

function addAdvice(parent, profile) {
  const list = profile.advice || [];
  const section = addSection(parent, list.length ? `What to change first: ${adviceNoun(list[0])}`
    : 'Recommendations', '', 'h3');
  if (list.length === 0) {
    section.append('p').text(profile.timed ? noAdvice(profile) : 'Recommendations need times: add --device NAME or --measure.');
    return;
  }
  const items = add(section, 'ol', {class: 'advice'});
  for (const advice of list) {
    const item = add(items, 'li', {'data-key': `advice-${advice.name}`, tabindex: -1});
    const head = add(item, 'p', {class: 'advice-head'});
    head.append('strong').text(adviceName(advice));
    if (isKnown(advice.gain_ps))
      add(head, 'span', {class: 'gain', 'data-value': String(advice.gain_ps), title: exact(advice.gain_ps, 'ps')},
        `saves ${profile.modelled ? '' : 'up to '}${short(advice.gain_ps, 'ps')} (${roughly(advice.gain_ps / profile.totals.latency_ps)}${profile.training ? ' of forward' : ''})`);
    item.append('p').text(advice.text);
    addAdviceLinks(item, profile, advice);
  }
}

/* Returns the rows {part, name, values} of the comparison; all small parts are one row without `part`. */
function comparisonRows(profile, columns) {
  const parts = partsOf(profile, profile.metrics[0].key);
  for (const column of columns) column.largest = new Set(largestParts(profile, parts, column.key));
  const rows = parts.map(part => {
    const values = {};
    for (const column of columns) values[column.key] = partValue(profile, part, column.key);
    return {part, name: partName(part), values, share: d3.max(columns,
      column => (+values[column.key] || 0) / (column.total || 1))};
  }).filter(row => row.share > 0);
  const shown = new Set(rows.slice().sort((a, b) => b.share - a.share).slice(0, maxParts));
  const rest = rows.filter(row => !shown.has(row));
  if (rest.length === 0) return rows;
  const values = {};
  for (const {key, total, isPeak} of columns)
    values[key] = Math.min(total, (isPeak ? d3.max : d3.sum)(rest, row => +row.values[key] || 0));
  return rows.filter(row => shown.has(row)).concat([{name: plural(rest.length, 'smaller module'), values}]);
}

/* Returns true if the part contains the node of the memory peak. */
function hasPeak(profile, part) {
  const peak = profile.nodes[(profile.memory || {}).peak_node];
  return peak && part.modules.some(module => part.own ? peak.owner === module : isInside(peak, module));
}

/* Returns "layer3: most time (32%), most MACs (36%); layer4: most parameters (59%)". */
function comparisonTitle(profile, columns, rows) {
  const findings = new Map();
  for (const column of columns) {
    const best = rows.find(row => row.part
      && (column.isPeak ? hasPeak(profile, row.part) : column.largest.has(row.part)));
    if (!best) continue;
    const finding = column.isPeak ? 'memory peak' : `most ${column.noun} (${roughly(best.values[column.key] / column.total)})`;
    findings.set(best.name, (findings.get(best.name) || []).concat([finding]));
  }
  return [...findings].map(entry => `${entry[0]}: ${entry[1].join(', ')}`).join('; ');
}

/* Adds a table with a bar for each module and metric; the largest of each metric is marked. */
function addComparison(parent, profile) {
  const columns = profile.metrics.filter(metric => ['latency_ps', 'macs', 'params'].includes(metric.key))
    .map(metric => Object.assign({total: +profile.totals[metric.key]}, metric));
  if (isKnown((profile.memory || {}).peak_activation_bytes))
    columns.push({key: 'peak_activation_bytes', unit: 'bytes', label: 'Peak of own tensors', isPeak: true,
      total: +profile.memory.peak_activation_bytes});
  const rows = comparisonRows(profile, columns);
  if (rows.length < 2) return;
  const section = addSection(parent, comparisonTitle(profile, columns, rows),
    'Each bar is a share of the model; the largest values of a column are marked.', 'h3');
  const box = add(section, 'div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Modules compared'});
  const table = add(box, 'table', {class: 'comparison'});
  const head = table.append('thead').append('tr');
  add(head, 'th', {scope: 'col'}, 'Module');
  for (const column of columns) add(head, 'th', {scope: 'col'}, column.label);
  const body = table.append('tbody');
  for (const row of rows) {
    const line = body.append('tr');
    const name = add(line, 'th', {scope: 'row'});
    if (row.part && !row.part.own) addModuleLink(name, row.part.modules[0].path, row.name);
    else name.text(row.name);
    for (const column of columns) {
      const value = row.values[column.key];
      const isFirst = column.largest.has(row.part);
      const cell = add(line, 'td', {'data-value': isKnown(value) ? value : '', title: exact(value, column.unit)});
      addShareBar(cell, +value, column.total, isFirst ? 'largest' : '');
      const share = column.isPeak || !(value > 0) ? '' : ` (${roughly(value / column.total)})`;
      add(cell, 'span', {class: isFirst ? 'value largest' : 'value'},
        !isKnown(value) ? '\u2013' : `${+value === 0 ? '0' : numberText(value, column.unit)}${share}`);
    }
  }
}

function addPeakSummary(parent, profile) {
  if (!(profile.memory || {}).curve || !isKnown(profile.memory.peak_node)) return;
  const range = [0, profile.order.length - 1];
  const peak = peakPosition(profile, range);
  const section = addSection(parent, peakTitle(profile, peak), '', 'h3');
  drawCurve(section, profile, {height: 130, isSmall: true, range});
  const live = profile.memory.live_at_peak || [];
  const list = add(section, 'ul', {class: 'live'});
  for (const value of liveAt(profile, peak).slice(0, 5))
    addOpenLink(list.append('li').text(`${numberText(value.bytes, 'bytes')} ${value.role}: `), `tensor:${value.value}`, value.value);
  if (live.length > 5) list.append('li').text(`and ${live.length - 5} smaller tensors`);
}

/* Returns a line for each reason why the numbers are incomplete, and for each diagnostic. */
function omissions(profile) {
  const coverage = profile.coverage || {};
  const lines = Object.keys(coverage.unknown_ops || {})
    .map(op => `Unknown operator ${op}, ${plural(coverage.unknown_ops[op], 'node')}: costs not included.`);
  if (coverage.unknown_shapes > 0)
    lines.push(`${plural(coverage.unknown_shapes, 'output')} of unknown shape` + (coverage.bounded_shapes > 0 ? `, ${coverage.bounded_shapes} counted at an upper bound (\u2264).` : ': costs not included.'));
  for (const row of (profile.measure || {}).untimed || [])
    lines.push(`No time for ${plural(row.nodes, row.op + ' node')}: ${row.reason}.`);
  for (const diagnostic of profile.diagnostics || [])
    lines.push(`${diagnostic.severity}: ${diagnostic.message}${diagnostic.hint ? ` (${diagnostic.hint})` : ''}`);
  return lines;
}

function drawOverview(parent, report) {
  const profile = report.profile;
  parent.append('h2').text(overviewTitle(profile));
  addTiles(parent, profile);
  drawLadder(parent, profile);
  addTraining(parent, profile);
  const columns = add(parent, 'div', {class: 'columns'});
  addBreakdown(columns, profile);
  addAdvice(columns, profile);
  addComparison(parent, profile);
  addPeakSummary(parent, profile);
  const lines = omissions(profile);
  const section = addSection(parent, lines.length ? 'Not included, and notes' : 'Nothing is left out', '', 'h3');
  if (lines.length === 0) section.append('p').text('Every operator and every shape is known.');
  const list = section.append('ul');
  for (const line of lines.slice(0, 20).concat(lines.length > 20 ? `and ${lines.length - 20} more` : []))
    list.append('li').text(line);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The loss ladder: from the time down to its lower bound, with the nodes and the changes behind each step. */

const lossKinds = [
  {key: 'host', label: 'Waiting for the host', noun: 'waiting for the host', colour: 'on-host',
    about: 'no kernel runs, because the host has not launched it yet; and the start of the run and copies of its inputs and outputs'},
  {key: 'launch', label: 'Kernel launches', noun: 'launch overhead', colour: 'on-launch', about: 'the device starts and ends kernels'},
  {key: 'traffic', label: 'Avoidable traffic', noun: 'memory traffic that fusion avoids', colour: 'on-memory',
    about: 'bytes that kernels move because they are not fused, casts and changes of layout'},
  {key: 'utilization', label: 'Low utilization', noun: 'low utilization', colour: 'on-kernel',
    about: 'tiles, waves and kernels that do not reach the peak rates of the device'},
  {key: 'above', label: 'Above the bound', noun: 'above the lower bound', colour: 'on-kernel',
    about: 'launches, traffic and utilization together: a measurement does not tell them apart'},
  {key: 'unknown', label: 'No bound known', noun: 'without a known bound', colour: 'on-unknown',
    about: 'work whose rate on the device is not known, or that belongs to no node'},
  {key: 'bound', label: 'Lower bound', noun: 'the lower bound', colour: 'on-bound',
    about: 'no kernels take less: published peak rates, compulsory traffic'},
];

/* Names of recommendations (timing/advice.c, timing/changes.c): what to do, and the losses that it avoids. */
const remedies = {
  'graph': ['replay the kernels as a CUDA graph', 'host launch above'],
  'launches': ['fuse kernels or replay them as a graph', 'host launch above'],
  'tensorrt': ['run it in an inference engine', 'host launch traffic'],
  'torch-compile': ['compile the model', 'host launch traffic'],
  'batch': ['take twice the batch', 'host launch utilization'],
  'half-precision': ['use fp16 or bf16', 'utilization bound'],
  'tensor-cores': ['use tensor cores', 'utilization above bound'],
  'channels-last': ['use channels-last', 'traffic above'],
  'fusion': ['fuse elementwise nodes', 'traffic above'],
  'copies': ['avoid transposes and copies', 'launch traffic above'],
  'channels': ['pad the channels', 'utilization above'],
  'tiny-grids': ['fill the device with a larger batch', 'utilization above'],
  'utilisation': ['find out why kernels are slow', 'utilization above'],
};

function remedyText(profile, advice) {
  const batch = profile.options.batch;
  const text = (remedies[advice.name] || [advice.name.replace(/-/g, ' ')])[0];
  const sign = profile.modelled ? '\u2212' : 'up to \u2212';
  return `${text}: ${sign}${short(advice.gain_ps, 'ps')}${advice.name === 'batch' ? ` per ${batch === 1 ? 'sample' : `${batch} samples`}` : ''}`;
}

/* Returns the row of a node: its time, bound and losses. */
function lossRow(node) {
  const achieved = (node.primitive || {}).achieved || {};
  const losses = (node.primitive || {}).losses;
  const row = {node, time: +node.latency_ps, host: 0, launch: 0, traffic: 0, utilization: 0, above: 0, unknown: 0};
  const {import: layer, median_ps: layerTime} = node.primitive || {};
  /* Whether no other node of the imported layer has time. */
  const isLayer = Boolean(layer) && isKnown(layer.lower_bound_ps) && +layerTime === row.time;
  const roof = isKnown(node.lower_bound_ps) ? +node.lower_bound_ps
    : isKnown(achieved.roofline) && isLayer ? +layer.lower_bound_ps
      : isKnown(achieved.roofline) ? Math.round(achieved.roofline * row.time) : null;
  row.lower = roof;
  row.bound = Math.min(roof || 0, row.time);
  row.loss = roof === null ? 0 : row.time - row.bound;
  const runs = losses ? Math.round(row.time / node.primitive.median_ps) : 0;
  for (const key of losses ? ['launch', 'traffic', 'utilization'] : []) row[key] = runs * losses[`${key}_ps`];
  if (roof === null) row.unknown = row.time;
  else if (!losses) row.above = row.loss;
  row.what = lossKinds.reduce((best, kind) => kind.key !== 'bound' && row[kind.key] > row[best.key] ? kind : best);
  return row;
}

/* Returns {rows, steps, total, isStep} of the time of the model, or of the training step; null if no bound is known. */
function splitTimes(profile) {
  if (profile.split !== undefined || !profile.timed) return profile.split || null;
  const rows = profile.order.filter(node => node.latency_ps > 0).map(lossRow);
  const step = profile.training || {};
  const isStep = Boolean(step.losses) && step.iteration_ps > 0;
  const total = isStep ? +step.iteration_ps : +profile.totals.latency_ps;
  const losses = isStep ? step.losses : profile.losses;
  const values = {};
  for (const {key} of lossKinds) values[key] = losses ? +losses[`${key}_ps`] || 0 : d3.sum(rows, row => row[key]);
  const sum = d3.sum(lossKinds, kind => values[kind.key]);
  values[losses ? 'host' : 'unknown'] += total - sum;
  const steps = lossKinds.map(kind => Object.assign({value: values[kind.key]}, kind))
    .filter(each => each.value > 0 || each.key === 'bound');
  profile.split = losses || values.bound > 0 ? {rows, steps, total, isStep} : null;
  return profile.split;
}

/* Returns the largest part of the time: "57% of it is launch overhead"; "" if it has no known bound. */
function lossText(split) {
  const first = split.steps.reduce((best, step) => step.value > best.value ? step : best);
  return first.key === 'unknown' ? '' : `${roughly(first.value / split.total)} of it is ${first.noun}`;
}

function addRung(parent, split, label, value, pieces) {
  add(parent, 'span', {class: 'name'}, label);
  const track = add(parent, 'span', {class: 'track'});
  for (const piece of pieces)
    add(track, 'i', {class: piece.colour, 'data-value': piece.value}).style('left', `${100 * piece.from / split.total}%`)
      .style('width', `${100 * piece.value / split.total}%`);
  const text = add(parent, 'span', {class: 'value', title: exact(value, 'ps'), 'data-value': value}, numberText(value, 'ps'));
  if (pieces.length === 1) add(text, 'span', {class: 'faint'}, ` ${roughly(value / split.total)}`);
}

/* Adds links to the recommendations whose gain this step can explain: it is the largest of them, or a quarter of it. */
function addRemedies(parent, profile, split, step) {
  const links = add(parent, 'span', {class: 'links'});
  const fitting = (profile.advice || []).filter(advice => {
    const keys = (remedies[advice.name] || ['', ''])[1].split(' ');
    const most = d3.max(split.steps.filter(each => keys.includes(each.key)), each => each.value);
    return advice.gain_ps > 0 && keys.includes(step.key) && (step.value === most || step.value >= advice.gain_ps / 4);
  });
  const key = step.key;
  for (const advice of fitting.slice(0, 2))
    addButton(links, `remedy-${key}-${advice.name}`, remedyText(profile, advice), () => {
      focusKey(`advice-${advice.name}`);
    }).attr('class', 'link');
}

function drawLadder(parent, profile) {
  const split = splitTimes(profile);
  if (!split) return;
  const unknown = split.steps.find(step => step.key === 'unknown');
  const lost = split.total - split.steps[split.steps.length - 1].value - (unknown ? unknown.value : 0);
  const noun = `${profile.modelled ? 'expected' : 'measured'} ${short(split.total, 'ps')}${split.isStep ? ' of a training step' : profile.training ? ' of the forward pass' : ''}`;
  const most = split.steps.filter(step => step.key !== 'bound')
    .reduce((best, step) => step.value > best.value ? step : best, {value: 0});
  const section = addSection(parent, `${roughly(lost / split.total)} of the ${noun} is above the lower bound${profile.modelled && most.noun ? `, most of it ${most.noun}` : ''}${unknown ? `; no bound is known for ${roughly(unknown.value / split.total)}` : ''}`,
    `The parts add up to the time.${profile.modelled ? '' : ' How much of it are launches is unknown for measured times.'} Select a part to list its nodes.`, 'h3');
  const ladder = add(section, 'div', {class: 'ladder', role: 'group', 'aria-label': 'Loss ladder'});
  let from = split.total;
  const pieces = split.steps.map(step => {
    from -= step.value;
    return Object.assign({from}, step);
  });
  const first = add(ladder, 'div', {class: 'rung'});
  const whole = add(first, 'div', {class: 'whole'});
  if ((profile.advice || []).length) add(first, 'span', {class: 'faint'}, 'Changes, each on top of those listed first');
  addRung(whole, split, split.isStep ? 'Expected time of a step' : profile.timeName, split.total, pieces);
  if (pieces.length === 1) whole.select('.value .faint').remove();
  for (const piece of pieces) {
    const rung = add(ladder, 'div', {class: 'rung'});
    const button = addButton(rung, `loss-${piece.key}`, '', () => setState({loss: state.loss === piece.key ? '' : piece.key}))
      .attr('aria-pressed', String(state.loss === piece.key)).attr('title', `${piece.label}: ${piece.about}`);
    addRung(button, split, piece.label, piece.value, [piece]);
    addRemedies(rung, profile, split, piece);
  }
  drawLossTable(section, profile, split);
}

/* Returns "12 of 106 nodes have 80% of it; the most has layer1.0 (Conv)". */
function lossTableTitle(rows, key, noun) {
  const sorted = rows.slice().sort((a, b) => b[key] - a[key]);
  const total = d3.sum(rows, row => row[key]);
  let n = 0;
  for (let sum = 0; n < sorted.length && sum < 0.8 * total; n++) sum += sorted[n][key];
  if (n === 0) return `No node has a part in ${noun}`;
  return `${n} of ${plural(rows.length, 'node')} ${n === 1 ? 'has' : 'have'} 80% of ${noun}; the first is ${nodeLabel(sorted[0].node)} with ${short(sorted[0][key], 'ps')}`;
}

function drawLossTable(parent, profile, split) {
  const kind = split.steps.find(step => step.key === state.loss);
  /* No node waits for the host: those that it launches cause the wait. */
  const key = !kind ? 'loss' : kind.key === 'host' ? 'launch' : kind.key;
  const noun = !kind ? 'the time above the bound' : kind.key === 'host' ? 'the launches' : kind.noun;
  const rows = split.rows.filter(row => row[key] > 0);
  const total = d3.sum(rows, row => row[key]);
  const section = addSection(parent, lossTableTitle(rows, key, noun), split.isStep ? 'Nodes of the forward pass.' : '', 'h4');
  addTable(section, 'Nodes by loss', [
    field('name', 'Node', {isName: true, value: row => nodeLabel(row.node), open: row => openNode(row.node)}),
    field('time', profile.timeName, {unit: 'ps', value: row => row.time}),
    field('lower', 'Lower bound', {isNumber: true, value: row => row.lower, draw: (cell, row) =>
      cell.attr('data-value', row.lower).attr('title', exact(row.lower, 'ps')).text(isKnown(row.lower) ? numberText(row.lower, 'ps') : '\u2013')}),
    field('loss', !kind || kind.key === 'bound' ? 'Above the bound' : lossKinds.find(each => each.key === key).label, {unit: 'ps', value: row => row[key === 'bound' ? 'loss' : key]}),
    shareColumn(row => row[key], total, row => kind ? kind.colour : row.what.colour, 'ps'),
    field('what', 'Mostly', {value: row => row.what.label}),
  ], rows, key === 'bound' ? 'lower:desc' : 'loss:desc', 10);
}

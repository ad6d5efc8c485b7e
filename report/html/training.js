/* SPDX-License-Identifier: Apache-2.0 */
/* Training step: forward, backward and update on one axis, and the memory that is alive over it. */

/* Parts of the memory, bottom first: [member of training or kind of tensors, label, colour]. */
const stepParts = [
  ['weight_bytes', 'weights', 'kind-0'], ['master_bytes', 'fp32 copies of the weights', 'on-compute'],
  ['gather_bytes', 'gathered weights and gradients', 'on-leaf'], ['optimizer_bytes', 'optimizer state', 'kind-2'],
  ['gradients', 'gradients', 'kind-1'], ['saved', 'saved activations', 'on-memory'],
  ['cast copies', 'saved copies in 16 bits', 'kind-4'], ['inputs and outputs', 'inputs and outputs', 'on-launch'],
  ['activations', 'temporaries: activations and their gradients', 'kind-3'],
];
const phaseColours = {forward: 'on-none', recompute: 'recompute', backward: 'on-leaf', update: 'kind-2', host: 'on-launch'};

/* Returns " (16 bits)" if the bytes are exactly so many bits for each element; used where a page mixes precisions. */
function stepBits(profile, bytes, n) {
  const bits = 8 * bytes / n;
  return /^(amp|fp16|bf16)$/.test(profile.options.precision) && (bits === 16 || bits === 32) ? ` (${bits} bits)` : '';
}

/* Returns the label of a part with the precision of its bytes, where it is known. */
function stepPartLabel(profile, key, label, isDivided) {
  const training = profile.training;
  const hasCopies = training.master_bytes > 0;
  if (key === 'optimizer_bytes' && hasCopies && !/8bit/.test(training.optimizer)) return `fp32 ${label}`;
  if (key === 'gradients' && hasCopies) return training.zero_stage > 2 ? `${label} (32 bits)` : `${label} (16 and 32 bits)`;
  if (key === 'gradients') return label + stepBits(profile, training.gradient_bytes, training.learned);
  if (key === 'weight_bytes' && !isDivided) return label + stepBits(profile, training.weight_bytes, profile.totals.params + profile.totals.buffers);
  return label;
}

/* Fills step.start: the axis position of each position and of the end; in ps, else the positions themselves. */
function placeStep(profile, step) {
  const {n, forward, order} = step;
  const {backward_ps: backward, iteration_ps: total} = profile.training;
  step.hasTimes = total > 0;
  step.isTime = step.hasTimes && state.across !== 'order';
  step.start = d3.range(n + 1);
  step.start.push(n + Math.max(1, n / 40));
  if (!step.isTime) return;
  const weights = order.map(node => +node.latency_ps || 0);
  const place = (from, to, start, end) => {
    const sum = d3.sum(weights.slice(from, to));
    let now = 0;
    for (let i = from; i < to; i++) {
      step.start[i] = start + (sum > 0 ? now / sum : (i - from) / (to - from)) * (end - start);
      now += weights[i];
    }
  };
  place(0, forward, 0, +profile.totals.latency_ps);
  place(forward, n, +profile.totals.latency_ps, profile.totals.latency_ps + backward);
  step.start[n] = profile.totals.latency_ps + backward;
  step.start[n + 1] = Math.max(total, step.start[n] + profile.training.update_ps);
}

/*
 * Returns the step, computed once: nodes by position (position n is the update), and the bytes of each part by
 * position. Null if the page has no curve of the step.
 */
function indexStep(profile) {
  const curve = (profile.training || {}).curve;
  if (!curve || curve.order.some(index => !profile.nodes[index])) return null;
  if (!profile.step) profile.step = sumStep(profile, curve);
  placeStep(profile, profile.step);
  return profile.step;
}

function sumStep(profile, curve) {
  const training = profile.training;
  const n = curve.order.length;
  const order = curve.order.map(index => profile.nodes[index]);
  const step = {n, forward: curve.forward, order, tensors: [], total: new Array(n + 1).fill(0), repeats: new Set()};
  const seen = new Set();
  for (let i = n; i-- > step.forward;) if (seen.has(order[i])) step.repeats.add(i); else seen.add(order[i]);
  const held = curve.held_bytes - training.weight_bytes - (training.master_bytes || 0) - (training.gather_bytes || 0)
    - training.optimizer_bytes; /* gradients that a sharded step holds */
  step.parts = stepParts.map(([key, label, colour]) => {
    const bytes = new Array(n + 1).fill(key.endsWith('_bytes') ? +training[key] || 0 : key === 'gradients' ? held : 0);
    const change = new Array(n + 2).fill(0);
    const list = curve.tensors.find(each => each.kind === key) || {nodes: []};
    list.nodes.forEach((index, i) => {
      const [from, to] = [list.from[i], Math.min(list.to[i], n - 1)];
      const tensor = {key, node: profile.nodes[index], from, to, bytes: +list.bytes[i]};
      if (!tensor.node || tensor.from > tensor.to) return;
      step.tensors.push(tensor);
      change[tensor.from] += tensor.bytes;
      change[tensor.to + 1] -= tensor.bytes;
    });
    for (let i = 0, now = 0; i < n; i++) bytes[i] += now += change[i];
    if (key === 'gradients') bytes[n] = +training.gradient_bytes;
    bytes.forEach((value, i) => { step.total[i] += value; });
    return {key, colour, bytes, label: stepPartLabel(profile, key, label, training.shard_gpus > 0)};
  }).filter(part => d3.max(part.bytes) > 0);
  const isStep = training.peak_phase === 'step';
  step.peak = isStep ? n : step.total.findIndex(bytes => bytes === +training.peak_bytes);
  if (step.peak < 0) step.peak = d3.scan(step.total, (a, b) => b - a);
  return step;
}

function stepPhase(step, position) {
  if (position === step.n) return 'update';
  return position < step.forward ? 'forward' : step.repeats.has(position) ? 'recompute' : 'backward';
}

/* Returns "backward of layer4.2.relu_2 (Relu)". */
function stepPlace(step, position) {
  const phase = stepPhase(step, position);
  return phase === 'update' ? 'the optimizer update' : `${phase === 'recompute' ? 'recomputation' : phase} of ${nodeLabel(step.order[position])}`;
}

function stepTitle(profile, step) {
  const training = profile.training;
  const shard = training.shard_gpus > 0 ? ` on one of ${training.shard_gpus} GPUs (ZeRO ${training.zero_stage})` : '';
  const largest = step.parts.reduce((best, part) => part.bytes[step.peak] > best.bytes[step.peak] ? part : best);
  return `A training step with ${training.optimizer}${shard} peaks at ${short(training.peak_bytes, 'bytes')} in ${stepPlace(step, step.peak)}; ${roughly(largest.bytes[step.peak] / training.peak_bytes)} are ${largest.label}`;
}

/* Returns sentences on what the picture shows and what it leaves out. */
function stepNotes(profile, step) {
  const training = profile.training;
  const device = profile.device_memory;
  const notes = [];
  if (device) notes.push(`The stack has tensors only. A process needs ${short(device.bytes, 'bytes')} (${intervalText(device)}): its bar adds workspace, what the allocator keeps, and the context.`);
  if (step.isTime) notes.push('The times of forward, backward and update are expected ones; within backward, those of the nodes are not modelled: they are the times of forward, scaled to the total.');
  else notes.push(step.hasTimes ? 'One position for each node that runs.' : 'The axis is the order in which nodes run; --device NAME gives times.');
  if (training.micro_batches > 1) notes.push(`One of ${training.micro_batches} micro-batches is drawn, in which the gradients of those before are alive; the times are those of all.`);
  return notes.join(' ');
}

/* Returns the limit {bytes, label} of the memory; null if none is known. */
function stepLimit(profile) {
  const fits = (profile.memory || {}).fit;
  const measure = profile.measure || {};
  if (fits) return {bytes: +fits.limit_bytes, label: `limit of ${short(fits.limit_bytes, 'bytes')}`};
  return measure.memory_bytes > 0 ? {bytes: +measure.memory_bytes, label: `${short(measure.memory_bytes, 'bytes')} of ${measure.device}`} : null;
}

/* Returns whether the step fits: the verdict of --memory-limit, else of the device's memory. */
function stepVerdict(profile) {
  const verdict = fitText(profile.memory);
  const limit = stepLimit(profile);
  const device = profile.device_memory;
  if (verdict) return verdict[0].toUpperCase() + verdict.slice(1);
  if (!limit || !device) return '';
  return `${device.high_bytes <= limit.bytes ? 'Fits' : device.low_bytes > limit.bytes ? 'Does not fit' : 'May not fit'} the ${limit.label}`;
}

/* Draws the phases as a band at the top, 22 px high. */
function drawPhases(svg, profile, step, x) {
  const {update_ps: update, backward_ps: backward} = profile.training;
  const ends = [0, step.start[step.forward], step.start[step.n], step.start[step.n + 1]];
  const pieces = ['forward', 'backward', 'update'].map((phase, i) => ({phase, from: ends[i], to: ends[i + 1],
    value: step.hasTimes ? [profile.totals.latency_ps, backward, update][i] : null}));
  const host = step.isTime ? ends[3] - ends[2] - update : 0;
  if (host > ends[3] / 200) {
    pieces[2].to -= host;
    pieces.push({phase: 'host', from: pieces[2].to, to: ends[3], value: host});
  }
  const cells = svg.append('g').selectAll('g').data(pieces).join('g').attr('class', 'phase')
    .attr('transform', piece => `translate(${x(piece.from)},0)`).attr('data-value', piece => isKnown(piece.value) ? piece.value : '');
  add(cells, 'rect', {class: piece => phaseColours[piece.phase], width: piece => Math.max(1, x(piece.to) - x(piece.from) - 1), height: 22});
  const name = piece => piece.phase === 'host' ? 'waits' : piece.phase;
  cells.append('text').attr('class', piece => `on ${phaseColours[piece.phase]}`).attr('x', 6).attr('y', 15).text(piece => {
    const room = (x(piece.to) - x(piece.from) - 10) / charWidth;
    const text = isKnown(piece.value) ? `${name(piece)} ${short(piece.value, 'ps')}` : name(piece);
    return text.length <= room ? text : name(piece).length <= room ? name(piece) : '';
  });
  addTip(cells, piece => [piece.phase === 'host' ? 'the device waits for the host' : piece.phase,
    isKnown(piece.value) ? exact(piece.value, 'ps') : '']);
  add(svg, 'path', {class: phaseColours.recompute, d: [...step.repeats].map(i =>
    `M${x(step.start[i])},17h${Math.max(0.3, x(step.start[i + 1]) - x(step.start[i]))}v4H${x(step.start[i])}z`).join('')});
  for (const end of ends.slice(1, 3)) add(svg, 'line', {class: 'boundary', x1: x(end), x2: x(end), y1: 22, y2: x.bottom});
}

/* Returns the parts {name, source, bytes, colour} of the bar of the process, the stack of tensors first. */
function processParts(device) {
  const extra = ['workspace', 'allocator', 'context'];
  const own = device.parts.filter(part => extra.includes(part.name));
  return [{name: 'tensors', source: 'the stack at its peak, in blocks of the allocator', bytes: device.bytes - d3.sum(own, part => +part.bytes), colour: 'on-leaf'}]
    .concat(own.map(part => Object.assign({colour: partColours[part.name]}, part)));
}

/* Draws the parts of the device memory as a bar at x, with the interval as a bracket. */
function drawProcess(svg, device, y, left, isLabelled) {
  let now = 0;
  for (const part of processParts(device)) {
    const height = y(now) - y(now + +part.bytes);
    now += +part.bytes;
    const cell = add(svg, 'g', {class: 'process', 'data-value': String(part.bytes), transform: `translate(${left},${y(now)})`});
    add(cell, 'rect', {class: part.colour, width: 26, height: Math.max(0.5, height - 0.5)});
    if (isLabelled && height > 15 && Math.abs(y(now) + height / 2 - (y(device.high_bytes) + y(device.low_bytes)) / 2) > 16) add(cell, 'text', {class: 'faint', x: 38, y: height / 2 + 4}, `${part.name} ${short(part.bytes, 'bytes')}`);
    addTip(cell, () => [`${part.name}: ${exact(part.bytes, 'bytes')}`, part.source || '']);
  }
  const [high, low] = [y(device.high_bytes), y(device.low_bytes)];
  if (isLabelled) add(svg, 'text', {class: 'strong', x: left + 38, y: (high + low) / 2 + 4}, `process ${short(device.bytes, 'bytes')}`);
  add(svg, 'path', {class: 'bracket', d: `M${left + 28},${high}h5V${low}h-5`});
}

/* Draws the phases and the stack. Returns {svg, step, x, at: position below a pixel}. */
function drawStep(parent, profile, step, options) {
  const device = profile.device_memory;
  const limit = stepLimit(profile);
  const width = widthOf(parent);
  const height = options.height;
  const isWide = width > 560;
  const isProcess = Boolean(device) && options.scale === 'process';
  const right = !isProcess ? 12 : isWide ? 178 : 46;
  const svg = addChart(parent, width, height, `Memory over the ${step.n + 1} positions of a training step`).classed('step-chart', true);
  const x = d3.scaleLinear().domain([0, step.start[step.n + 1]]).range([66, width - right]);
  const peak = step.total[step.peak];
  const full = isProcess ? d3.max([peak, +device.high_bytes]) : peak;
  const isLimitDrawn = limit && limit.bytes < 1.6 * full;
  const y = d3.scaleLinear().domain([0, Math.max(full, isLimitDrawn ? limit.bytes : 0) || 1]).range([height - 24, 46]);
  x.bottom = height - 24;
  addAxis(svg, y, 'bytes', 66, width - 66 - right, options.isSmall ? 3 : 6);
  const points = stepPoints(step, x);
  const base = points.map(() => 0);
  for (const part of step.parts) {
    const area = d3.area().curve(d3.curveStepAfter).x(point => point[0]).y0((point, i) => y(base[i]))
      .y1((point, i) => y(base[i] += part.bytes[point[1]]));
    add(svg, 'path', {class: `part ${part.colour}`, 'data-part': part.key, d: area(points)});
  }
  drawPhases(svg, profile, step, x);
  const middle = (66 + width - right) / 2;
  const at = x((step.start[step.peak] + step.start[step.peak + 1]) / 2);
  const isRight = at > middle;
  const room = Math.floor((isRight ? at - 80 : width - right - at - 20) / charWidth);
  add(svg, 'circle', {class: 'peak', cx: at, cy: y(peak), r: 5});
  add(svg, 'text', {class: 'strong halo', x: at + (isRight ? -9 : 9), y: y(peak) - 6, 'text-anchor': isRight ? 'end' : 'start'},
    `peak ${short(peak, 'bytes')}${options.isSmall ? '' : fit(` ${stepPlace(step, step.peak)}`, room - 14)}`);
  if (isLimitDrawn) {
    const above = y(limit.bytes);
    add(svg, 'line', {class: 'limit', x1: 66, x2: width - right + (isProcess ? 40 : 0), y1: above, y2: above});
    add(svg, 'text', {class: 'faint halo', x: isRight ? 72 : width - right - 6, y: above < 62 ? above + 16 : above - 6, 'text-anchor': isRight ? 'start' : 'end'}, limit.label);
  }
  if (isProcess) drawProcess(svg, device, y, width - right + 12, isWide);
  if (isProcess && !isWide) addLegend(parent, processParts(device).map(part => [part.colour, `process: ${part.name} ${short(part.bytes, 'bytes')}`]));
  drawStepAxis(svg, step, x, height);
  const starts = step.start;
  return {svg, step, x, at: pixel => Math.max(0, Math.min(step.n, d3.bisectRight(starts, x.invert(pixel)) - 1))};
}

/* Returns points [x, position] of the stack: at most two for each pixel, the position with most bytes and the last. */
function stepPoints(step, x) {
  const points = [];
  for (let i = 0; i < step.n;) {
    const left = x(step.start[i]);
    let best = i;
    for (; i + 1 < step.n && x(step.start[i + 1]) < left + 1; i++)
      if (step.total[i + 1] > step.total[best]) best = i + 1;
    points.push([left, best]);
    if (best !== i && x(step.start[i + 1]) > left + 1) points.push([left + 1, i]);
    i++;
  }
  return points.concat([[x(step.start[step.n]), step.n], [x(step.start[step.n + 1]), step.n]]);
}

function drawStepAxis(svg, step, x, height) {
  const y = height - 7;
  if (!step.isTime) {
    add(svg, 'text', {class: 'faint', x: 66, y}, `execution order: ${plural(step.n, 'position')} and the update`);
    return;
  }
  const end = x.range()[1];
  for (const tick of x.ticks(Math.max(2, Math.floor((end - 66) / 110))))
    add(svg, 'text', {class: 'faint', x: x(tick), y, 'text-anchor': x(tick) < 90 ? 'start' : x(tick) > end - 30 ? 'end' : 'middle'}, short(tick, 'ps'));
}

/* Returns what a tensor is: its value's name if the node has one output of this size. */
function stepTensorText(step, tensor) {
  const {key, node, from} = tensor;
  const outputs = node.outputs.filter(value => +value.bytes === tensor.bytes);
  const isGradient = key === 'activations' && from >= step.forward && !(step.repeats.has(from) && step.order[from] === node);
  const name = (key === 'saved' || key === 'activations') && outputs.length === 1 ? outputs[0].name : '';
  const what = {gradients: 'gradient of the weights', 'cast copies': 'copy in 16 bits', 'inputs and outputs': 'input or output of the model',
    saved: 'saved for backward'}[key] || (isGradient ? 'gradient' : from >= step.forward ? 'recomputed' : 'activation');
  return {name, what};
}

/* Lists what is alive at a position: parts with exact bytes, then the largest tensors. */
function fillStep(parent, profile, step, position) {
  const total = step.total[position];
  parent.selectAll('*').remove();
  add(parent, 'h3', {}).text(`${short(total, 'bytes')} alive in ${stepPlace(step, position)}`);
  const when = step.isTime ? `, ${short(step.start[position], 'ps')} after the start` : '';
  const note = add(parent, 'p', {class: 'subtitle'}, `Position ${position + 1} of ${step.n + 1}${when}. `);
  const open = node => setState({step: position, open: `node:${node.index}`}, true);
  if (position < step.n)
    addButton(note, 'step-node', 'Open the node', () => open(step.order[position])).attr('class', 'link');
  const list = add(parent, 'dl', {class: 'step-parts'});
  for (const part of step.parts.slice().reverse()) {
    const name = list.append('dt');
    add(name, 'span', {class: `swatch ${part.colour}`});
    name.append('span').text(part.label);
    add(list, 'dd', {'data-value': String(part.bytes[position]), 'data-part': part.key}, exact(part.bytes[position], 'bytes'));
  }
  list.append('dt').text('together');
  add(list, 'dd', {class: 'together', 'data-value': String(total)}, exact(total, 'bytes'));
  const alive = step.tensors.filter(tensor => tensor.from <= position && position <= tensor.to)
    .sort((a, b) => b.bytes - a.bytes);
  if (alive.length === 0) return;
  add(parent, 'h4', {}).text(`The largest of ${plural(alive.length, 'tensor')}`);
  const tensors = add(parent, 'ol', {class: 'tensors'});
  alive.slice(0, 8).forEach((tensor, i) => {
    const {name, what} = stepTensorText(step, tensor);
    const item = tensors.append('li');
    addNumber(item, 'strong', tensor.bytes, 'bytes');
    item.append('span').text(` ${what}: `);
    addButton(item, `step-tensor-${i}`, fit(name || nodeLabel(tensor.node), 60), () => open(tensor.node)).attr('class', 'link');
  });
  if (alive.length > 8) add(tensors, 'li', {class: 'faint'}, `and ${plural(alive.length - 8, 'smaller tensor')}, ${short(d3.sum(alive.slice(8), tensor => tensor.bytes), 'bytes')}`);
}

/* Adds a cursor, moved by the pointer or the arrow keys; a click keeps its position in the state. */
function addStepCursor(frame, profile, side) {
  const {svg, step, x} = frame;
  const line = add(svg, 'line', {class: 'cursor', y1: 22, y2: svg.attr('height') - 22});
  let position = -1;
  const move = to => {
    const next = Math.max(0, Math.min(step.n, to));
    if (next === position) return;
    position = next;
    const middle = x((step.start[position] + step.start[position + 1]) / 2);
    line.attr('x1', middle).attr('x2', middle);
    fillStep(side, profile, step, position);
    svg.attr('aria-valuenow', position + 1).attr('aria-valuetext', `${stepPlace(step, position)}: ${short(step.total[position], 'bytes')}`);
  };
  svg.attr('role', 'slider').attr('tabindex', 0).attr('data-key', 'step').attr('aria-valuemin', 1)
    .attr('aria-valuemax', step.n + 1)
    .on('mousemove', () => move(frame.at(d3.mouse(svg.node())[0])))
    .on('click', () => setState({step: position}))
    .on('keydown', () => {
      const all = step.n + 1;
      const change = {ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -all, End: all}[d3.event.key];
      if (!change) return;
      d3.event.preventDefault();
      move(position + change);
    });
  move(state.step === '' ? step.peak : +state.step || 0);
}

function addStepLegend(parent, profile, step) {
  const entry = part => [part.colour, `${part.label} ${short(part.bytes[step.peak], 'bytes')} at the peak`];
  addLegend(parent, step.parts.slice().reverse().map(entry)
    .concat(step.repeats.size > 0 ? [[phaseColours.recompute, 'recomputation (strip below the phases)']] : []));
}

/* Returns the scale of the y axis: "process" if the tensors are visible beside the needs of a process. */
function stepScale(profile, step) {
  if (!profile.device_memory) return 'tensors';
  return state.zoom || (profile.device_memory.high_bytes > 5 * step.total[step.peak] ? 'tensors' : 'process');
}

/* The picture without lists, for the overview and the memory view. */
function addTraining(parent, profile, level) {
  const step = indexStep(profile);
  if (!step) return;
  const section = addSection(parent, stepTitle(profile, step), '', level || 'h3');
  drawStep(section, profile, step, {height: 210, isSmall: true, scale: stepScale(profile, step)});
  addStepLegend(section, profile, step);
  const text = add(section, 'p', {class: 'subtitle'}, `${stepNotes(profile, step)} `);
  addButton(text, 'open-step', 'What is alive at each moment', () => openView('step')).attr('class', 'link');
}

function drawTraining(parent, report) {
  const profile = report.profile;
  const step = indexStep(profile);
  if (!step) {
    addMissing(parent, 'No curve of the step', 'The page was made without the memory at each node.', 'costmodel MODEL.onnx --optimizer adam --format html');
    return;
  }
  const section = addSection(parent, stepTitle(profile, step), [stepVerdict(profile), stepNotes(profile, step)].filter(Boolean).join('. '));
  const scale = stepScale(profile, step);
  const tools = add(section, 'div', {class: 'tools'});
  const axes = [{key: '', label: 'time'}, {key: 'order', label: 'order of nodes'}];
  const scales = [{key: 'process', label: 'what the process needs'}, {key: 'tensors', label: 'tensors'}];
  const axis = state.across === 'order' ? 'order' : '';
  if (step.hasTimes) addSwitch(tools, 'across', 'Axis', axes, axis, key => setState({across: key}));
  if (profile.device_memory) addSwitch(tools, 'zoom', 'Height', scales, scale, key => setState({zoom: key}));
  const columns = add(section, 'div', {class: 'with-side'});
  const chart = columns.append('div');
  const side = add(columns, 'div', {class: 'side'});
  const frame = drawStep(chart, profile, step, {height: 420, scale});
  addStepLegend(chart, profile, step);
  addStepCursor(frame, profile, side);
}

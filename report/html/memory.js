/* SPDX-License-Identifier: Apache-2.0 */
/* Memory: live bytes by node, the tensors that are live at a node, and the arena (offsets over time). */

/* Maximum number of tensors of the arena with a rectangle of their own; all others are merged into paths. */
const maxRectangles = 600;
const minArea = 24; /* px^2; smaller tensors are merged */
/* Colours of the parts of the device memory. */
const partColours = {weights: 'kind-0', 'master weights': 'on-compute', 'gathered weights': 'on-leaf', 'optimizer states': 'kind-2',
  'other activations': 'kind-3', 'saved activations': 'on-memory', 'cast copies': 'kind-4', gradients: 'kind-1', update: 'on-leaf',
  workspace: 'kind-6', allocator: 'on-none', context: 'on-host'};

/*
 * Returns the values of the memory plan, computed once. A value is live from position value.from
 * to value.to of the execution order. value.made: node that writes it, null for a graph input;
 * value.last: last node that reads it.
 */
function indexPlan(profile) {
  if (profile.values) return profile.values;
  profile.values = (profile.memory.plan || []).map(placed => {
    const made = isKnown(placed.made) ? profile.nodes[placed.made] : null;
    return {value: placed.value, bytes: placed.bytes, offset: placed.offset, made,
      from: made ? made.position : 0, to: profile.nodes[placed.last].position, last: profile.nodes[placed.last]};
  });
  return profile.values;
}

/* Returns the role of a live value while a node runs: "written now", "read now", "kept for layer1.0 (Add)". */
function roleOf(value, node) {
  if (value.made === node) return 'written now';
  if (node.inputs.indexOf(value.value) >= 0) return value.last === node ? 'read now'
    : `read now, and later by ${nodeLabel(value.last)}`;
  return value.last === node ? 'read now' : `kept for ${nodeLabel(value.last)}`;
}

/* Returns the values that are live at a position, the largest first, with their roles. */
function liveAt(profile, position) {
  const node = profile.order[position];
  const list = indexPlan(profile).filter(value => value.from <= position && position <= value.to)
    .map(value => Object.assign({role: roleOf(value, node)}, value)).sort((a, b) => b.bytes - a.bytes);
  if (list.length > 0 || profile.memory.plan) return list;
  return (profile.memory.live_at_peak || []).map(value => Object.assign({role: ''}, value));
}

/* Returns the positions [first, last] of the selected module's nodes; of all nodes if it has none. */
function shownRange(profile) {
  const module = selectedModule(profile);
  const inside = module ? profile.order.filter(node => isInside(node, module)) : [];
  if (inside.length === 0) return [0, profile.order.length - 1];
  return [inside[0].position, inside[inside.length - 1].position];
}

/* Returns the position of the peak in a range; that of memory.peak_node if the range is the whole model. */
function peakPosition(profile, range) {
  const curve = profile.memory.curve;
  if (range[0] === 0 && range[1] === curve.length - 1) return profile.nodes[profile.memory.peak_node].position;
  let best = range[0];
  for (let i = range[0]; i <= range[1]; i++) if (+curve[i].bytes > +curve[best].bytes) best = i;
  return best;
}

/* Returns "Memory peaks at 308 MB in layer1.0 (Add): it reads 206 MB and writes 103 MB". */
function peakTitle(profile, position) {
  const memory = profile.memory;
  const node = profile.order[position];
  const start = `Memory${profile.training ? ' of one inference pass' : ''} peaks at ${short(memory.curve[position].bytes, 'bytes')} in ${nodeLabel(node)}`;
  if (!memory.plan) return start;
  const sums = {read: 0, written: 0, kept: 0};
  for (const value of liveAt(profile, node.position)) sums[value.role.split(' ')[0]] += +value.bytes;
  const kept = sums.kept > 0 ? `, while ${short(sums.kept, 'bytes')} are kept for later nodes` : '';
  return `${start}: it reads ${short(sums.read, 'bytes')} and writes ${short(sums.written, 'bytes')}${kept}`;
}

/* Returns points [position, bytes] of the curve, at most one per pixel: the maximum of the nodes at this pixel. */
function curvePoints(curve, range, width) {
  const step = Math.max(1, Math.ceil((range[1] - range[0] + 1) / width));
  const points = [];
  for (let i = range[0]; i <= range[1]; i += step)
    points.push([i, d3.max(curve.slice(i, Math.min(range[1] + 1, i + step)), point => +point.bytes)]);
  points.push([range[1] + 1, points[points.length - 1][1]]);
  return points;
}

function addAxis(svg, scale, unit, x, width, ticks) {
  const axis = add(svg, 'g', {class: 'axis'});
  for (const tick of scale.ticks(ticks)) {
    const y = scale(tick);
    add(axis, 'line', {x1: x, x2: x + width, y1: y, y2: y});
    add(axis, 'text', {x: x - 6, y: y + 4, 'text-anchor': 'end'}, tick === 0 ? '0' : short(tick, unit));
  }
}

/* Draws the curve of live bytes and labels the peak. Returns {svg, x, width, height, margin, peak}. */
function drawCurve(parent, profile, options) {
  const width = widthOf(parent);
  const height = options.height;
  const margin = {left: 70, right: 12, top: 24, bottom: options.isSmall ? 20 : 8};
  const curve = profile.memory.curve;
  const range = options.range;
  const peak = peakPosition(profile, range);
  const svg = addChart(parent, width, height, `Live bytes at ${range[1] - range[0] + 1} nodes in execution order`);
  const x = d3.scaleLinear().domain([range[0], range[1] + 1]).range([margin.left, width - margin.right]);
  const y = d3.scaleLinear().domain([0, +curve[peak].bytes || 1]).range([height - margin.bottom, margin.top]);
  addAxis(svg, y, 'bytes', margin.left, width - margin.left - margin.right, options.isSmall ? 2 : 5);
  const area = d3.area().curve(d3.curveStepAfter).x(point => x(point[0])).y0(y(0)).y1(point => y(point[1]));
  add(svg, 'path', {class: 'curve', d: area(curvePoints(curve, range, width))});
  const at = x(peak + 0.5);
  const label = `peak ${short(curve[peak].bytes, 'bytes')}: ${nodeLabel(profile.order[peak])}`;
  const isRight = at + 10 + label.length * charWidth > width && at > width / 2;
  add(svg, 'circle', {class: 'peak', cx: at, cy: y(+curve[peak].bytes), r: 5});
  add(svg, 'text', {class: 'strong', x: at + (isRight ? -10 : 10), y: 13, 'text-anchor': isRight ? 'end' : 'start'},
    fit(label, Math.floor((isRight ? at : width - at) / (1.15 * charWidth)) - 2));
  if (options.isSmall)
    add(svg, 'text', {class: 'faint', x: margin.left, y: height - 4}, `execution order: ${plural(curve.length, 'node')}`);
  return {svg, x, height, margin, width, peak};
}

/* Draws each tensor of the arena as a rectangle: x is the time while it is live, y its offset. */
function drawArena(parent, profile, frame) {
  const memory = profile.memory;
  const height = 300;
  const values = indexPlan(profile);
  const title = `Arena: offset of each activation over time (${short(memory.arena_bytes, 'bytes')})`;
  addSection(parent, title, 'An arena is one allocation that holds all activations. A rectangle is a tensor: its height is its size, its width the time while it is live; tensors that are live together do not overlap.', 'h3');
  const svg = addChart(parent, frame.width, height, title);
  const y = d3.scaleLinear().domain([0, +memory.arena_bytes || 1]).range([height - 24, 22]);
  addAxis(svg, y, 'bytes', frame.margin.left, frame.width - frame.margin.left - frame.margin.right, 5);
  add(svg, 'text', {class: 'faint', x: 4, y: 12}, 'offset in the arena');
  const range = frame.x.domain();
  const box = value => {
    const left = frame.x(Math.max(range[0], value.from));
    const top = y(+value.offset + +value.bytes);
    return {x: left, y: top, width: frame.x(Math.min(range[1], value.to + 1)) - left, height: y(+value.offset) - top};
  };
  const sized = values.filter(value => value.to >= range[0] && value.from < range[1])
    .map(value => Object.assign({box: box(value)}, value))
    .sort((a, b) => b.box.width * b.box.height - a.box.width * a.box.height);
  const isLarge = (value, i) => i < maxRectangles && value.box.width * value.box.height > minArea;
  const isAtPeak = value => value.from <= frame.peak && frame.peak <= value.to;
  for (const atPeak of [false, true])
    add(svg, 'path', {class: atPeak ? 'tensor at-peak' : 'tensor', d: sized
      .filter((value, i) => !isLarge(value, i) && isAtPeak(value) === atPeak && value.box.height > 0.2)
      .map(value => `M${value.box.x},${value.box.y}h${Math.max(0.7, value.box.width)}v${value.box.height}h${-Math.max(0.7, value.box.width)}z`).join('')});
  const cells = svg.append('g').selectAll('g').data(sized.filter(isLarge)).join('g')
    .attr('transform', value => `translate(${value.box.x},${value.box.y})`);
  add(cells, 'rect', {class: value => isAtPeak(value) ? `tensor at-peak ${roleOf(value, profile.order[frame.peak]).split(' ')[0]}` : 'tensor',
    width: value => value.box.width > 4 ? value.box.width - 1 : Math.max(1, value.box.width),
    height: value => value.box.height > 4 ? value.box.height - 1 : value.box.height});
  cells.filter(value => value.box.width > 70 && value.box.height > 14).append('text').attr('x', 4).attr('y', 12)
    .text(value => fit(`${short(value.bytes, 'bytes')} ${value.made ? value.made.module || value.value : value.value}`,
    Math.floor((value.box.width - 6) / charWidth)));
  addTip(cells, value => [fit(value.value, 2 * maxName), `${exact(value.bytes, 'bytes')} at offset ${exact(value.offset, 'bytes')}`,
    `written by ${value.made ? nodeLabel(value.made) : 'the caller'}, last read by ${nodeLabel(value.last)}`]);
  addOpen(cells, value => `tensor:${value.value}`, value => `${fit(value.value, maxName)}: ${short(value.bytes, 'bytes')}`, value => `arena-${value.value}`);
  add(svg, 'text', {class: 'faint', x: frame.margin.left, y: height - 6},
    `execution order: ${plural(range[1] - range[0], 'node')}`);
  addLegend(parent, ['read', 'written', 'kept'].map(role => [role, `${role === 'kept' ? 'kept for later nodes' : role} at the peak`])
    .concat([['tensor', 'not live at the peak']]));
  return svg;
}

/* Lists the tensors that are live at a position. */
function fillLive(parent, profile, position) {
  const node = profile.order[position];
  const live = liveAt(profile, position);
  const total = +profile.memory.curve[position].bytes;
  parent.selectAll('*').remove();
  parent.append('h3').text(`${short(profile.memory.curve[position].bytes, 'bytes')} live in ${nodeLabel(node)}`);
  add(parent, 'p', {class: 'subtitle'}, `Node ${position + 1} of ${profile.order.length}; ${plural(live.length, 'live tensor')}`);
  const list = add(parent, 'ul', {class: 'tensors'});
  const large = live.filter((value, i) => i < 12 && +value.bytes >= 0.005 * total);
  for (const value of large) {
    const item = list.append('li');
    const head = item.append('div');
    addNumber(head, 'strong', value.bytes, 'bytes');
    addOpenLink(head, `tensor:${value.value}`, value.value);
    addShareBar(item, +value.bytes, total, value.role.split(' ')[0]);
    add(item, 'div', {class: 'faint'}, value.role);
  }
  if (live.length > large.length)
    add(list, 'li', {class: 'faint'}, `and ${plural(live.length - large.length, 'smaller tensor')}, ${short(d3.sum(live.slice(large.length), value => +value.bytes), 'bytes')}`);
}

/* Adds a cursor to the charts, moved by the pointer or the arrow keys. */
function addCursor(charts, frame, profile, side, start) {
  const lines = charts.map(svg => add(svg, 'line', {class: 'cursor', y1: 0, y2: svg.attr('height')}));
  const first = frame.x.domain()[0];
  const last = frame.x.domain()[1] - 1;
  let position = start;
  const move = to => {
    position = Math.max(first, Math.min(last, to));
    for (const line of lines) line.attr('x1', frame.x(position + 0.5)).attr('x2', frame.x(position + 0.5));
    fillLive(side, profile, position);
    charts[0].attr('aria-valuenow', position + 1)
      .attr('aria-valuetext', `${nodeLabel(profile.order[position])}: ${short(profile.memory.curve[position].bytes, 'bytes')} live`);
  };
  charts[0].attr('role', 'slider').attr('tabindex', 0).attr('data-key', 'curve').attr('aria-valuemin', first + 1)
    .attr('aria-valuemax', last + 1);
  for (const svg of charts) {
    svg.on('mousemove', function follow() { move(Math.floor(frame.x.invert(d3.mouse(this)[0]))); })
      .on('click', () => setState({node: position}));
  }
  charts[0].on('keydown', () => {
    const step = {ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: first - position,
      End: last - position}[d3.event.key];
    if (!step) return;
    d3.event.preventDefault();
    move(position + step);
  });
  move(start);
}

/* Returns "5.64 GB to 6.85 GB in 9 of 10 processes". */
function intervalText(device) {
  return `${short(device.low_bytes, 'bytes')} to ${short(device.high_bytes, 'bytes')} in 9 of 10 processes`;
}

/* Draws the parts as a bar, with the interval as a bracket and the limit as a line, and as a table. */
function addDeviceMemory(parent, profile) {
  const device = profile.device_memory;
  if (!device) return;
  const limit = ((profile.memory || {}).fit || {}).limit_bytes;
  const isDrawn = isKnown(limit) && limit < 4 * device.bytes;
  const section = addSection(parent, `Device memory of a training process: ${short(device.bytes, 'bytes')}, ${intervalText(device)}`,
    [`The bracket spans 9 of 10 processes${isDrawn ? ', the dashed line is the limit' : ''}`, fitText(profile.memory)].filter(Boolean).join('; '));
  const full = d3.max([device.bytes, device.high_bytes, isDrawn ? limit : 0], Number);
  const parts = device.parts.map(part => ({label: part.name, value: part.bytes, source: part.source,
    colour: partColours[part.name] || 'on-launch'}));
  const bar = addStack(section, 'When most bytes are allocated', parts, 'bytes', device.bytes, full).classed('bounded', true);
  const addMark = (name, text, from, to) => add(bar, 'div', {class: name, role: 'img', 'aria-label': text, title: text})
    .style('left', `${100 * from / full}%`).style('width', `${100 * (to - from) / full}%`);
  addMark('whisker', intervalText(device), device.low_bytes, device.high_bytes);
  if (isDrawn) addMark('mark', `limit ${short(limit, 'bytes')}`, limit, limit);
  addTable(section, 'Parts of the device memory', [field('label', 'Part', {isName: true}), field('value', 'Bytes', {unit: 'bytes'}),
    shareColumn(part => part.value, device.bytes, part => part.colour, 'bytes'), field('source', 'Source')], parts);
}

function drawMemory(parent, report) {
  const profile = report.profile;
  const memory = profile.memory || {};
  addDeviceMemory(parent, profile);
  addTraining(parent, profile, 'h2');
  if (!memory.curve || !isKnown(memory.peak_node)) {
    addMissing(parent, 'No memory curve', 'The page was made without the live bytes of each node.',
      'costmodel MODEL.onnx --format html');
    return;
  }
  const range = shownRange(profile);
  const peak = peakPosition(profile, range);
  const facts = [`Arena ${short(memory.arena_bytes, 'bytes')}`];
  if (!profile.training) facts.push(`with weights ${short(memory.required_bytes, 'bytes')}`);
  if (isKnown(memory.peak_in_place_bytes) && memory.peak_in_place_bytes < memory.peak_activation_bytes)
    facts.push(`in-place reuse would lower the peak to ${short(memory.peak_in_place_bytes, 'bytes')}`);
  const section = addSection(parent, peakTitle(profile, peak),
    facts.join('; ') + '. Point at the chart, or use the arrow keys, to list the live tensors.');
  const columns = add(section, 'div', {class: 'with-side'});
  const charts = columns.append('div');
  const side = add(columns, 'div', {class: 'side'});
  const frame = drawCurve(charts, profile, {height: 260, range});
  const drawn = [frame.svg];
  if (memory.plan && memory.plan.length > 0) drawn.push(drawArena(charts, profile, frame));
  addCursor(drawn, frame, profile, side, state.node === '' ? peak : +state.node || 0);
}

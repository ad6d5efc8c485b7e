/* SPDX-License-Identifier: Apache-2.0 */
/* The drawer beside every view: the details of the module, node, tensor or kernel of state.open, as "node:12". */

const maxNeighbours = 8; /* producers or consumers in a picture */
const maxChildren = 12; /* rows of a list */

/* The kinds of items: find(profile, id) returns an item, undefined if there is none; draw adds its sections. */
const details = {
  module: {find: (profile, id) => profile.byPath.get(id), draw: drawModuleDetails},
  node: {find: (profile, id) => profile.nodes[/^\d+$/.test(id) ? id : -1], draw: drawNodeDetails},
  tensor: {find: (profile, id) => tensorsOf(profile).get(id), draw: drawTensorDetails},
  kernel: {find: (profile, id) => profile.primitives[/^\d+$/.test(id) ? id : -1], draw: drawKernelDetails},
};

function openDetails(kind, id) { setState({open: `${kind}:${id}`}, true); }
function openNode(node) { return `node:${node.index}`; }
function openKernel(profile, primitive) { return `kernel:${profile.primitives.indexOf(primitive)}`; }

/* Returns {kind, id, item} of state.open; null if it is empty or of no kind. */
function openItem(profile) {
  const at = state.open.indexOf(':');
  const kind = state.open.slice(0, Math.max(0, at));
  const id = state.open.slice(at + 1);
  return profile && Object.keys(details).includes(kind) ? {kind, id, item: details[kind].find(profile, id)} : null;
}

/* Adds a link that opens the drawer; long names are shortened. `what`: "node:12". */
function addOpenLink(parent, what, text) {
  return add(parent, 'button', {type: 'button', class: 'link', 'data-open': what, 'data-key': `show-${what}`}, fit(text, maxName));
}

/* Makes shapes of a chart open the drawer; what(datum) returns "node:12". */
function addOpen(selection, what, label, key) {
  addAction(selection, label, key, datum => setState({open: what(datum)}, true));
  selection.attr('data-open', what);
}

/* Marks the elements of the view that open what the drawer shows, or the kernel that it runs in. */
function markOpen(profile) {
  const found = openItem(profile);
  const marked = new Set(found ? [state.open] : []);
  if (found && found.item && found.kind === 'node' && found.item.primitive) marked.add(openKernel(profile, found.item.primitive));
  if (found && found.item && found.kind === 'kernel') for (const index of found.item.nodes) marked.add(`node:${index}`);
  d3.selectAll('#view [data-open]').classed('marked', function isMarked() { return marked.has(this.getAttribute('data-open')); });
}

function drawDrawer(drawer, report) {
  const found = openItem(report.profile);
  drawer.property('hidden', !found).selectAll('*').remove();
  if (!found) return;
  const head = add(drawer, 'div', {class: 'drawer-head'});
  add(head, 'span', {class: 'chip'}, found.kind);
  addButton(head, 'close-drawer', 'Close', closeDrawer).attr('aria-keyshortcuts', 'Escape');
  if (found.item === undefined) drawer.append('h2').text(`The model has no ${found.kind} ${fit(found.id, maxName)}`);
  else details[found.kind].draw(drawer, report.profile, found.item);
}

function closeDrawer() {
  const key = openedBy;
  setState({open: ''}, true);
  focusKey(key);
}

/* Adds a list of figures with all digits, and rounded: rows [label, value, unit]. Unknown ones are omitted. */
function addFacts(parent, rows) {
  const list = add(parent, 'dl', {class: 'facts'});
  for (const [label, value, unit] of rows) {
    if (!isKnown(value) || value === '') continue;
    const row = list.append('div');
    row.append('dt').text(label);
    const text = unit === undefined ? String(value) : exact(value, unit);
    const rounded = unit === undefined ? '' : short(value, unit);
    const cell = add(row, 'dd', unit === undefined ? {} : {'data-value': String(value)}, fit(text, maxName));
    if (rounded !== '' && rounded.replace(/\D/g, '') !== text.replace(/\D/g, '')) add(cell, 'span', {class: 'faint'}, ` ${rounded}`);
  }
}

const figureKeys = [['latency_ps', 'Time', 'ps'], ['lower_bound_ps', 'Lower bound of the time', 'ps'], ['macs', 'MACs', 'macs'], ['flops', 'FLOPs', 'flops'],
  ['int_macs', 'Integer MACs', 'macs'], ['int_ops', 'Integer operations', 'flops'], ['params', 'Parameters', 'elements'], ['buffers', 'Buffers', 'elements'],
  ['bytes_read', 'Bytes read', 'bytes'], ['bytes_written', 'Bytes written', 'bytes'], ['weight_bytes', 'Weight bytes', 'bytes'],
  ['activation_bytes', 'Activation bytes', 'bytes'], ['peak_activation_bytes', 'Peak of own tensors', 'bytes']];

/* Returns the rows of addFacts for a module or node, without zeros. */
function figureRows(profile, item) {
  return figureKeys.filter(([key]) => item[key] > 0).map(([key, label, unit]) =>
    [`${prefixOf(item, key)}${key === 'latency_ps' ? profile.timeName : label}${unit === 'bytes' ? inPrecision(profile) : ''}`, item[key], unit]);
}

/* Adds the recommendations that include one of the nodes. */
function addDetailAdvice(parent, profile, nodes) {
  const inside = new Set(nodes.map(node => node.index));
  const list = (profile.advice || []).filter(each => each.nodes.some(index => inside.has(index)));
  if (list.length === 0) return;
  const section = addSection(parent, 'What to change', '', 'h3');
  for (const each of list.slice(0, 3)) {
    const line = section.append('p');
    line.append('strong').text(`${adviceName(each)} `);
    if (isKnown(each.gain_ps)) add(line, 'span', {class: 'gain', 'data-value': String(each.gain_ps)}, `saves ${short(each.gain_ps, 'ps')} in the model`);
    add(section, 'p', {class: 'note'}, each.text);
  }
}

/* Adds bars of the times [label, ps, class of the colour] on one scale. */
function addTimeBars(parent, rows) {
  const shown = rows.filter(row => row[1] > 0);
  const most = d3.max(shown, row => +row[1]);
  const list = add(parent, 'dl', {class: 'times'});
  for (const [label, value, colour] of shown) {
    const row = list.append('div');
    row.append('dt').text(label);
    const cell = row.append('dd');
    addShareBar(cell, +value, most, colour);
    add(cell, 'span', {'data-value': String(value)}, short(value, 'ps'));
  }
}

/* Adds how the time of a kernel arises: its work at the peak rates of the device, the bound and the time. */
function addWhy(parent, profile, primitive, value, bound) {
  if (!(value > 0)) return;
  const measure = profile.measure || {};
  const ceilings = measure.ceilings || {};
  const rate = (ceilings.flops_per_s || {})[primitive.algorithm];
  const bandwidth = measure.bandwidth || ceilings.copy_bytes_per_s;
  const achieved = primitive.achieved || {};
  const limit = primitive.limited === 'unknown' ? '' : `Limited by ${primitive.limited}`;
  const losses = primitive.losses || {};
  const counted = rate > 0 ? 1e12 * primitive.flops / rate : 0;
  const section = addSection(parent, limit || 'How the time arises', '', 'h3');
  addTimeBars(section, [
    [`Counted FLOPs at the peak of ${primitive.algorithm}`, counted, 'on-compute'],
    ['Bytes at the full bandwidth', bandwidth > 0 ? 1e12 * primitive.bytes / bandwidth : 0, 'on-memory'],
    ['Lower bound', bound, 'on-leaf'], ['Launch', losses.launch_ps, 'on-launch'], ['Traffic that fusion avoids', losses.traffic_ps, 'on-memory'],
    ['Low utilization', losses.utilization_ps, 'on-kernel'], [profile.timeName, value, 'total']]);
  const lines = [counted > value ? 'It computes fewer FLOPs than are counted (a Winograd algorithm).' : '', bound > 0 ? `${(value / bound).toFixed(1)} times the lower bound.` : '',
    achieved.flops_per_s > 0 ? `Achieves ${short(achieved.flops_per_s, 'flops_per_s')} and ${short(achieved.bytes_per_s, 'bytes_per_s')}${achieved.roofline > 0 ? `, ${roughly(achieved.roofline)} of the roofline` : ''}.` : '',
    primitive.reason ? `${primitive.reason[0].toUpperCase()}${primitive.reason.slice(1)}.` : ''];
  add(section, 'p', {class: 'note'}, lines.filter(Boolean).join(' '));
}

function elements(shape) { return shape && shape.every(dim => dim > 0) ? shape.reduce((a, b) => a * b, 1) : null; }

/* Returns the factors of the MACs of a node: those of --explain if the profile has them, else from its figures. */
function macsFormula(profile, node, outputs) {
  const own = [].concat(...(profile.explanations || []).map(each => each.nodes)).find(each => each.node === node.index);
  if (own && own.macs) return Object.keys(own.macs).map(name => `${exact(own.macs[name])} ${name}`).join(' \u00d7 ');
  const each = node.macs / outputs;
  const weight = (/^conv \S+ \S+ (\d+(?:x\d+)+)/.exec((node.primitive || {}).primitive) || [''])[1];
  const sizes = weight ? weight.split('x').map(Number) : [];
  const kernel = elements(sizes.slice(2));
  const factors = sizes[1] * kernel === each ? `${exact(sizes[1])} input channels of a group \u00d7 ${exact(kernel)} of the kernel` : `${exact(each)} multiplications each`;
  return Number.isInteger(each) ? `${exact(outputs)} output elements \u00d7 ${factors}` : '';
}

/* Returns the terms of the FLOPs of a node as text. */
function flopsFormula(node, outputs) {
  const rest = node.flops - 2 * node.macs;
  if (node.macs > 0 && +node.flops === +node.macs) return 'one for each MAC';
  if (node.macs > 0) return rest < 0 ? '' : `2 \u00d7 ${exact(node.macs)} MACs${rest > 0 ? ` + ${exact(rest)} others` : ''}`;
  const each = node.flops / outputs;
  return Number.isInteger(each) && each > 0 ? `${exact(outputs)} output elements \u00d7 ${exact(each)}` : '';
}

function addFormula(parent, profile, node) {
  const outputs = elements((node.outputs[0] || {}).shape);
  const bytes = +node.bytes_read + +node.bytes_written;
  const rows = [['MACs', outputs && node.macs > 0 ? macsFormula(profile, node, outputs) : '', node.macs, 'macs'],
    ['FLOPs', outputs && node.flops > 0 ? flopsFormula(node, outputs) : '', node.flops, 'flops'],
    ['Bytes', bytes > 0 ? `${exact(node.bytes_read)} read + ${exact(node.bytes_written)} written` : '', bytes, 'bytes']]
    .filter(row => row[1] !== '');
  if (rows.length === 0) return;
  const section = addSection(parent, 'How the figures arise', '', 'h3');
  const list = add(section, 'dl', {class: 'formula'});
  for (const [label, text, value, unit] of rows) {
    list.append('dt').text(label);
    const cell = list.append('dd').text(`${text} `);
    add(cell, 'strong', {'data-value': String(value)}, `\u003d\u00a0${exact(value, unit)}`);
  }
  const command = `costmodel ${fileName(profile.model.path)} --explain '#${node.index}'`;
  const line = add(section, 'p', {class: 'note'}, 'The rule of each term: ');
  line.append('code').text(fit(command, maxName));
  addCopy(line, 'explain', command, 'Copy the command');
}

/* Adds a table of tensors: name, type, shape, bytes. */
function addTensors(parent, profile, heading, names) {
  const known = names.filter(name => tensorsOf(profile).has(name));
  const others = names.filter(name => name !== '' && !known.includes(name));
  if (known.length + others.length === 0) return;
  const section = addSection(parent, heading, '', 'h3');
  const list = add(section, 'ul', {class: 'rows stacked'});
  for (const value of known.slice(0, maxChildren).map(name => tensorsOf(profile).get(name))) {
    const item = list.append('li');
    addOpenLink(item, `tensor:${value.name}`, value.name);
    add(item, 'span', {class: 'faint', 'data-value': isKnown(value.bytes) ? String(value.bytes) : ''},
      `${value.dtype} ${shapeText(value.shape)}${isKnown(value.bytes) ? `, ${exact(value.bytes, 'bytes')}` : ''}`);
  }
  for (const name of others.slice(0, maxChildren)) {
    const item = list.append('li');
    item.append('span').text(fit(name, maxName));
    add(item, 'span', {class: 'faint'}, 'constant');
  }
}

/* Draws producers, the item and its consumers in three columns; each is {name, text, open, colour}. */
function drawNeighbours(parent, producers, centre, consumers) {
  if (producers.length + consumers.length === 0) return;
  const section = addSection(parent, `${plural(producers.length, 'producer')}, ${plural(consumers.length, 'consumer')}`, '', 'h3');
  const width = widthOf(section);
  const gap = 26;
  const box = (width - 2 * gap) / 3;
  const row = 44;
  const columns = [producers, [centre], consumers].map(list => list.length <= maxNeighbours ? list
    : list.slice(0, maxNeighbours - 1).concat([{name: `and ${list.length - maxNeighbours + 1} more`, text: ''}]));
  const height = row * d3.max(columns, list => list.length);
  const svg = addChart(section, width, height, 'Producers and consumers');
  const y = (list, i) => (height - row * list.length) / 2 + row * i + 2;
  columns.forEach((list, column) => list.forEach((each, i) => {
    if (column === 1) return;
    const from = [column === 0 ? box : width - box, y(list, i) + 18];
    const to = [column === 0 ? box + gap : width - box - gap, height / 2 - 2];
    add(svg, 'path', {class: 'flow', d: `M${from}C${(from[0] + to[0]) / 2},${from[1]} ${(from[0] + to[0]) / 2},${to[1]} ${to}`});
  }));
  columns.forEach((list, column) => list.forEach((each, i) => {
    const cell = add(svg, 'g', {class: each.open ? 'cell' : 'cell fixed', transform: `translate(${column * (box + gap)},${y(list, i)})`});
    add(cell, 'rect', {class: column === 1 ? 'box centre' : 'box flow-box', width: box, height: 37, rx: 5});
    if (each.colour) add(cell, 'rect', {class: each.colour, width: 5, height: 37, rx: 2});
    const room = Math.floor((box - 14) / charWidth);
    add(cell, 'text', {x: 10, y: 16, class: column === 1 ? 'on inverse strong' : 'strong'}, fit(each.name, room));
    add(cell, 'text', {x: 10, y: 31, class: column === 1 ? 'on inverse second' : 'faint second'}, fit(each.text, room));
    if (column === 1 || !each.open) return;
    addOpen(cell.datum(each), () => each.open, `${column === 0 ? 'producer' : 'consumer'} ${fit(each.name, maxName)} ${each.text}`, `near-${column}-${i}`);
    addTip(cell, () => [each.name, each.text]);
  }));
}

/* Returns nodes as entries of drawNeighbours. */
function nodeEntries(profile, nodes) {
  return nodes.map(node => ({name: node.op, text: fit(node.module || nodeName(node), maxName), open: openNode(node),
    colour: profile.kindColour.get(node.kind)}));
}

/* Returns the producers of a node: nodes, and inputs of the model. */
function producersOf(profile, node) {
  const values = [...new Set(node.inputs)].map(name => tensorsOf(profile).get(name)).filter(Boolean);
  const makers = [...new Set(values.map(value => value.made).filter(Boolean))];
  return nodeEntries(profile, makers).concat(values.filter(value => !value.made).map(value =>
    ({name: value.name, text: 'model input', open: `tensor:${value.name}`})));
}

function isModelOutput(profile, name) { return (profile.model.outputs || []).some(value => value.name === name); }

/* Returns the consumers of tensors: nodes, and the caller for outputs of the model. */
function consumersOf(profile, values) {
  const readersOf = value => (tensorsOf(profile).get(value.name) || {readers: []}).readers;
  const readers = [...new Set([].concat(...values.map(readersOf)))];
  return nodeEntries(profile, readers).concat(values.filter(value => isModelOutput(profile, value.name))
    .map(value => ({name: 'model output', text: value.name})));
}

/* Adds a picture of the place on a line: a mark from `from` to `to`, as shares, and a button that opens the view. */
function addPlace(parent, key, view, text, from, to, changes) {
  const item = parent.append('li');
  addButton(item, `place-${key}`, view, () => openView(key, changes)).attr('class', 'link');
  const line = add(item, 'div', {class: 'line-place', 'aria-hidden': 'true'});
  if (isKnown(from)) add(line, 'span', {}).style('left', `${100 * Math.min(0.995, from)}%`).style('width', `${100 * Math.max(0.005, to - from)}%`);
  add(item, 'div', {class: 'faint'}, text);
}

/* Adds the places of a node in timeline, memory and roofline, with links to these views. */
function addPlaces(parent, profile, node) {
  const list = add(addSection(parent, 'Where it is', '', 'h3'), 'ul', {class: 'places'});
  const n = profile.order.length;
  if (profile.timed && isKnown(node.position)) {
    indexStarts(profile);
    const time = +node.latency_ps || 0;
    const margin = 3 * (time || profile.duration / n);
    addPlace(list, 'timeline', 'Timeline', `from ${short(node.start, 'ps')} to ${short(node.start + time, 'ps')}`, node.start / profile.duration, (node.start + time) / profile.duration,
      {module: '', zoom: `${Math.max(0, Math.round(node.start - margin))},${Math.round(node.start + time + margin)}`});
  }
  const memory = profile.memory || {};
  if (memory.curve && isKnown(node.position)) {
    const isPeak = memory.peak_node === node.index;
    addPlace(list, 'memory', 'Memory', `${exact(memory.curve[node.position].bytes, 'bytes')} live${isPeak ? ': the peak' : ''}`, node.position / n, (node.position + 1) / n,
      {module: '', node: node.position});
  }
  const {primitive} = node;
  if (primitive && primitive.flops > 0 && primitive.bytes > 0 && (primitive.achieved || {}).flops_per_s > 0)
    addPlace(list, 'roofline', 'Roofline', `${(primitive.flops / primitive.bytes).toFixed(2)} FLOP/byte, ${short(primitive.achieved.flops_per_s, 'flops_per_s')}`, 0, primitive.achieved.roofline || 0, {module: ''});
}

/* Adds the heading of the drawer, which states a finding, and the full name with a copy button. */
function addDetailHead(parent, finding, name) {
  parent.append('h2').text(finding);
  addName(add(parent, 'p', {class: 'full-name'}), name);
}

function shareOfTime(profile, value) {
  return profile.timed && value > 0 ? `${short(value, 'ps')} (${percent(value, profile.totals.latency_ps, 'ps')})` : '';
}

/* Adds a line "Label: link link". */
function addOpenLinks(parent, label, links) {
  if (links.length === 0) return;
  const line = add(parent, 'p', {class: 'links'}, `${label} `);
  links.forEach(([what, text], i) => {
    if (i > 0) line.append('span').text(', ');
    addOpenLink(line, what, text);
  });
}

function addModuleFilter(parent, path) {
  if (state.module !== path && path !== '')
    addButton(parent, 'only-module', 'Show only this module', () => setState({module: path, zoom: ''}, true));
}

function drawNodeDetails(parent, profile, node) {
  const time = shareOfTime(profile, node.latency_ps);
  const main = profile.nodes[node.kernel];
  addDetailHead(parent, `${node.op}${time ? ` takes ${time}` : node.macs > 0 ? `: ${short(node.macs, 'macs')}` : ''}`, nodeName(node));
  if (node.domain) add(parent, 'p', {class: 'note'}, `Operator ${node.kind}`);
  addOpenLinks(parent, 'Module', [[`module:${node.owner.path}`, moduleName(node.owner)]]);
  if (main) addOpenLinks(parent, 'Fused into the kernel of', [[openNode(main), nodeLabel(main)]]);
  if (node.fused.length) addOpenLinks(parent, 'Its kernel also runs', node.fused.slice(0, maxChildren).map(each => [openNode(each), nodeLabel(each)]));
  if (node.primitive) addOpenLinks(parent, 'Kernel', [[openKernel(profile, node.primitive), node.primitive.primitive]]);
  addDetailAdvice(parent, profile, [node]);
  addWhy(parent, profile, node.primitive || {limited: 'unknown'}, node.latency_ps, node.lower_bound_ps);
  const [centre] = nodeEntries(profile, [node]);
  drawNeighbours(parent, producersOf(profile, node), centre, consumersOf(profile, node.outputs));
  addTensors(parent, profile, 'Inputs', node.inputs);
  addTensors(parent, profile, 'Outputs', node.outputs.map(value => value.name));
  addFacts(addSection(parent, 'Figures', '', 'h3'), figureRows(profile, node));
  addFormula(parent, profile, node);
  addPlaces(parent, profile, node);
}

/* Adds a list of items with a share of a metric: rows {open, name, value}. */
function addShares(parent, heading, rows, total, unit) {
  if (rows.length === 0) return;
  const list = add(addSection(parent, heading, '', 'h3'), 'ul', {class: 'rows'});
  for (const row of rows.slice(0, maxChildren)) {
    const item = list.append('li');
    addOpenLink(item, row.open, row.name);
    const cell = item.append('span');
    addShareBar(cell, +row.value || 0, +total, row.colour);
    addNumber(cell, 'span', row.value, unit);
  }
  if (rows.length > maxChildren) add(list, 'li', {class: 'faint'}, `and ${rows.length - maxChildren} more`);
}

function drawModuleDetails(parent, profile, module) {
  const metric = profile.metrics[0] || allMetrics[1];
  const nodes = profile.nodes.filter(node => isInside(node, module));
  const of = metric.unit === 'ps' ? 'the time' : metric.noun;
  addDetailHead(parent, `${module.name || '(root)'} has ${percent(module[metric.key], profile.totals[metric.key], metric.unit)} of ${of} (${short(module[metric.key], metric.unit)})`, moduleName(module));
  if (module.class_known !== false) add(parent, 'p', {class: 'note'}, `${module.class}${module.arguments ? `(${fit(module.arguments, 2 * maxName)})` : ''}`);
  if (isKnown(module.parent)) addOpenLinks(parent, 'Part of', [[`module:${profile.modules[module.parent].path}`, moduleName(profile.modules[module.parent])]]);
  const tools = add(parent, 'div', {class: 'tools'});
  addModuleFilter(tools, module.path);
  addButton(tools, 'place-modules', 'Zoom to it in Modules', () => openView('modules', {module: module.path}));
  addDetailAdvice(parent, profile, nodes);
  addShares(parent, plural(module.children.length, 'child module'), sortRows(module.children.map(i => profile.modules[i]).map(child =>
    ({open: `module:${child.path}`, name: displayName(profile, child), value: child[metric.key]})), {value: row => row.value}), module[metric.key], metric.unit);
  addShares(parent, `Its ${plural(nodes.length, 'node')}, most expensive first`, sortRows(nodes.filter(node => node[metric.key] > 0).map(node =>
    ({open: openNode(node), name: nodeLabel(node), value: node[metric.key], colour: `on-${node.limited || 'leaf'}`})), {value: row => row.value}), module[metric.key], metric.unit);
  const shared = d3.sum(module.children, i => +profile.modules[i].params || 0) - module.params;
  const all = key => percent(module[key], profile.totals[key], key === 'latency_ps' ? 'ps' : '');
  addFacts(addSection(parent, 'Figures', '', 'h3'), [['Calls', module.calls, 'count'], ['Nodes', nodes.length, 'count'],
    ['Parameters that children share', shared > 0 ? shared : null, 'elements']].concat(
    figureRows(profile, module)).concat(profile.metrics.filter(each => module[each.key] > 0).map(each => [`Share of the ${each.noun}`, all(each.key)])));
  addTensors(parent, profile, 'Outputs', (module.outputs || []).map(value => value.name));
}

function drawTensorDetails(parent, profile, value) {
  const plan = (profile.memory || {}).plan ? indexPlan(profile).find(each => each.value === value.name) : null;
  addDetailHead(parent, `${shapeText(value.shape)}, ${isKnown(value.bytes) ? short(value.bytes, 'bytes') : 'unknown size'}${plan ? `, live during ${plural(plan.to - plan.from + 1, 'node')}` : ''}`, value.name);
  addFacts(parent, [['Type', value.dtype], ['Shape', shapeText(value.shape)], ['Bytes', value.bytes, 'bytes'],
    ['Offset in the arena', plan ? plan.offset : null, 'bytes'], ['Producer', value.made ? nodeLabel(value.made) : 'the caller: an input of the model'],
    ['Last read by', plan ? nodeLabel(plan.last) : null]]);
  drawNeighbours(parent, value.made ? nodeEntries(profile, [value.made]) : [],
    {name: fit(value.name, maxName), text: shapeText(value.shape)}, consumersOf(profile, [value]));
  if (!plan || !profile.memory.curve) return;
  const n = profile.order.length;
  const list = add(addSection(parent, 'Where it is', '', 'h3'), 'ul', {class: 'places'});
  addPlace(list, 'memory', 'Memory', `live from node ${plan.from + 1} to node ${plan.to + 1} of ${n}`, plan.from / n, (plan.to + 1) / n, {module: '', node: plan.from});
}

function drawKernelDetails(parent, profile, primitive) {
  const nodes = primitive.nodes.map(index => profile.nodes[index]);
  const time = d3.sum(nodes, node => +node.latency_ps || 0);
  const fused = nodes.filter(node => isKnown(node.kernel)).length;
  addDetailHead(parent, `${plural(nodes.length, 'node')}${time > 0 ? ` with this kernel take${nodes.length === 1 ? 's' : ''} ${shareOfTime(profile, time)}` : ''}`, primitive.primitive);
  addDetailAdvice(parent, profile, nodes);
  addWhy(parent, profile, primitive, primitive.median_ps, d3.max(nodes, node => +node.lower_bound_ps || 0) || 0);
  addShares(parent, 'Nodes', sortRows(nodes.map(node => ({open: openNode(node), name: nodeLabel(node), value: node.latency_ps, colour: `on-${node.limited || 'leaf'}`})), {value: row => row.value}), time, 'ps');
  const parts = [...new Set([].concat(...nodes.map(node => node.fused)))];
  addOpenLinks(parent, 'Fused into it', parts.slice(0, maxChildren).map(node => [openNode(node), nodeLabel(node)]));
  addFacts(addSection(parent, 'Figures', '', 'h3'), [['Algorithm', primitive.algorithm || primitive.state], ['Tensor cores', primitive.tensor_cores],
    ['Nodes', nodes.length, 'count'], ['Of these fused into other kernels', fused || null, 'count'], ['Time of one run', primitive.median_ps, 'ps'],
    ['Time of all nodes', time || null, 'ps'], ['FLOPs of one run', primitive.flops, 'flops'], ['Bytes of one run', primitive.bytes, 'bytes'],
    ['Workspace', primitive.workspace_bytes || null, 'bytes'], ['Samples', primitive.samples || null, 'count'],
    ['FLOP/byte', primitive.bytes > 0 ? (primitive.flops / primitive.bytes).toFixed(3) : null]]);
  if (nodes.length > 0) addPlaces(parent, profile, nodes[0]);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Timeline: nodes in execution order with their durations, and the stack of their modules above. */

const rowHeight = 25;
const minWidth = 4; /* px; narrower neighbours share a box */

/*
 * Fills node.start, in ps, from the start of the forward pass, and node.launch, the launches at the start of its time.
 * Only the sum of the waits for the host is modelled: each launch has an equal part of it.
 */
function indexStarts(profile) {
  if (profile.duration !== undefined) return;
  const launches = new Map(((splitTimes(profile) || {}).rows || []).map(row => [row.node, row.launch]));
  const wait = (profile.hostTime || 0) / (d3.sum([...launches.values()]) || Infinity);
  let now = 0;
  for (const node of profile.order) {
    node.launch = launches.get(node) || 0;
    node.start = now += node.launch * wait;
    now += +node.latency_ps || 0;
  }
  profile.duration = wait > 0 ? now : now + (+profile.hostTime || 0);
}

/* Returns spans {module, depth, from, to} of consecutive nodes within one module. */
function moduleSpans(profile) {
  if (profile.spans) return profile.spans;
  const spans = [];
  const open = [];
  for (const node of profile.order) {
    const chain = [];
    for (let module = node.owner; isKnown(module.parent); module = profile.modules[module.parent])
      chain.unshift(module);
    let same = 0;
    while (same < chain.length && open[same] && open[same].module === chain[same]) same++;
    open.length = same;
    for (let depth = same; depth < chain.length; depth++) {
      const span = {module: chain[depth], depth, from: node.start, to: node.start};
      spans.push(span);
      open.push(span);
    }
    for (const span of open) span.to = node.start + (+node.latency_ps || 0);
  }
  profile.spans = spans;
  return spans;
}

/* Merges narrow neighbours into boxes {x, width, item: the longest, items: number of items, value: time of item}. */
function mergeNarrow(items, x, from, to) {
  const merged = [];
  let last = null;
  for (const item of items) {
    const start = from(item);
    const end = to(item);
    if (end <= x.domain()[0] || start >= x.domain()[1] || end <= start) continue;
    const left = x(Math.max(start, x.domain()[0]));
    const right = x(Math.min(end, x.domain()[1]));
    if (last && last.width < minWidth && left - last.x < minWidth && right - left < minWidth) {
      last.width = Math.max(last.width, right - last.x);
      last.items++;
      if (end - start > last.value) Object.assign(last, {item, value: end - start});
    } else {
      last = {x: left, width: right - left, item, items: 1, value: end - start};
      merged.push(last);
    }
  }
  return merged;
}

/* Returns the shown range in ps: state.zoom, else the selected module, else everything. */
function timelineRange(profile) {
  const zoom = state.zoom.split(',').map(Number);
  if (zoom.length === 2 && zoom[1] > zoom[0] && zoom[0] >= 0) return [zoom[0], Math.min(zoom[1], profile.duration)];
  const module = selectedModule(profile);
  const inside = module ? profile.order.filter(node => isInside(node, module) && node.latency_ps > 0) : [];
  if (inside.length === 0) return [0, profile.duration];
  return [inside[0].start, d3.max(inside, node => node.start + +node.latency_ps)];
}

function zoomTimeline(profile, factor, shift) {
  const range = timelineRange(profile);
  const size = Math.min(profile.duration, (range[1] - range[0]) * factor);
  const middle = (range[0] + range[1]) / 2 + shift * (range[1] - range[0]);
  const start = Math.max(0, Math.min(profile.duration - size, middle - size / 2));
  setState({zoom: size >= profile.duration ? '' : `${Math.round(start)},${Math.round(start + size)}`});
}

function timelineTitle(profile) {
  const module = selectedModule(profile);
  const nodes = module ? profile.order.filter(node => isInside(node, module)) : profile.order;
  if (nodes.length === 0) return 'No node in this module';
  const longest = nodes.reduce((best, node) => (+node.latency_ps || 0) > (+best.latency_ps || 0) ? node : best);
  const total = d3.sum(nodes, node => +node.latency_ps || 0);
  const sorted = nodes.map(node => +node.latency_ps || 0).sort((a, b) => b - a);
  let n = 0;
  for (let sum = 0; n < sorted.length && sum < 0.8 * total; n++) sum += sorted[n];
  const waits = module ? 0 : +profile.hostTime || 0;
  const share = (d3.sum(nodes, node => node.launch) + waits) / (total + waits);
  const launches = share >= 0.1 ? `; ${roughly(share)} of it is launches${waits > 0 ? ' and waits for the host' : ''}` : '';
  return `${n} of ${plural(nodes.length, 'node')} take 80% of the time${launches}; the longest is ${nodeLabel(longest)} with ${short(longest.latency_ps, 'ps')}`;
}

function drawTimeAxis(svg, x, height) {
  const axis = add(svg, 'g', {class: 'axis'});
  let end = 0; /* of the last label */
  for (const tick of x.ticks(ticksFor(x.range()[1]))) {
    add(axis, 'line', {x1: x(tick), x2: x(tick), y1: 18, y2: height});
    const text = short(tick, 'ps');
    const size = charWidth * text.length;
    const left = Math.max(0, Math.min(x.range()[1] - size, x(tick) - size / 2));
    if (left < end) continue;
    add(axis, 'text', {x: left, y: 12}, text);
    end = left + size + 4;
  }
}

function drawSpans(svg, profile, x, depths) {
  for (let depth = 0; depth < depths; depth++) {
    const boxes = mergeNarrow(moduleSpans(profile).filter(span => span.depth === depth), x, span => span.from,
      span => span.to);
    const cells = svg.append('g').selectAll('g').data(boxes).join('g').attr('class', 'cell')
      .attr('transform', box => `translate(${box.x},${20 + depth * rowHeight})`);
    add(cells, 'rect', {class: 'box module', width: box => Math.max(0.8, box.width - 1), height: rowHeight - 2});
    cells.filter(box => box.width > 30 && box.items === 1).append('text').attr('x', 4).attr('y', 16)
      .text(box => {
      const room = Math.floor((box.width - 6) / charWidth);
      const name = displayName(profile, box.item.module);
      return fit(name.length > room ? box.item.module.name : name, room);
    });
    addTip(cells, box => [moduleName(box.item.module),
      box.items > 1 ? `and ${box.items - 1} shorter modules here` : box.item.module.class, `${short(box.value, 'ps')} (${percent(box.value, profile.duration, 'ps')})`]);
    const wide = cells.filter(box => box.width > 8);
    wide.each(function button(box) {
      addAction(d3.select(this), `${moduleName(box.item.module)}: ${short(box.value, 'ps')}`,
        `span-${depth}-${Math.round(box.item.from)}`,
        () => setState({module: box.item.module.path, zoom: ''}, true));
    });
    addArrows(wide, (box, key) => key === 'ArrowDown' ? nearestSpan(profile, depth + 1, box) : key === 'ArrowUp'
      ? nearestSpan(profile, depth - 1, box)
      : sibling(wide.data(), box, key === 'ArrowRight' ? 1 : -1, depth));
  }
}

function sibling(boxes, box, step, depth) {
  const next = boxes[boxes.indexOf(box) + step];
  return next ? `span-${depth}-${Math.round(next.item.from)}` : null;
}

function nearestSpan(profile, depth, box) {
  const span = moduleSpans(profile).find(each => each.depth === depth && each.to > box.item.from
    && each.from < box.item.to);
  return span ? `span-${depth}-${Math.round(span.from)}` : null;
}

function drawNodes(svg, profile, x, top) {
  const boxes = mergeNarrow(profile.order, x, node => node.start, node => node.start + (+node.latency_ps || 0));
  const module = selectedModule(profile);
  const cells = svg.append('g').selectAll('g').data(boxes).join('g').attr('transform', box => `translate(${box.x},${top})`)
    .attr('class', box => module && !isInside(box.item, module) ? 'cell dim' : 'cell');
  add(cells, 'rect', {class: box => `box on-${box.item.limited || 'unknown'}`,
    width: box => Math.max(0.8, box.width - (box.width > 3 ? 1 : 0)), height: 2 * rowHeight});
  for (const box of boxes)
    box.launch = box.items > 1 ? 0 : Math.max(0, Math.min(box.width, x(box.item.start + box.item.launch) - box.x));
  add(cells.filter(box => box.launch > 1), 'rect', {class: 'launch-part', width: box => box.launch, height: 2 * rowHeight});
  const room = box => box.items > 1 ? 0 : box.width - box.launch;
  cells.filter(box => room(box) > 26).append('text')
    .attr('class', box => `on on-${box.item.limited || 'unknown'}`).attr('x', box => box.launch + 4).attr('y', 18)
    .text(box => fit(box.item.op, Math.floor((room(box) - 5) / charWidth)));
  cells.filter(box => room(box) > 52).append('text')
    .attr('class', box => `on on-${box.item.limited || 'unknown'} second`).attr('x', box => box.launch + 4).attr('y', 34)
    .text(box => short(box.item.latency_ps, 'ps'));
  addTip(cells, box => [nodeLabel(box.item), nodeName(box.item),
    `${short(box.item.latency_ps, 'ps')} (${percent(box.item.latency_ps, profile.duration, 'ps')}), limited by ${box.item.limited || 'unknown'}${box.item.launch > 0 ? `, ${short(box.item.launch, 'ps')} of it launches` : ''}`]
    .concat(box.items > 1 ? [`and ${box.items - 1} shorter nodes here`] : []));
  addOpen(cells, box => openNode(box.item), box => `${nodeLabel(box.item)}: ${short(box.item.latency_ps, 'ps')}`, box => `time-${box.item.index}`);
}

/* Adds panning by dragging, and zooming at the pointer by Ctrl + wheel. */
function addPointerZoom(svg, profile, x) {
  svg.on('wheel', () => {
    if (!d3.event.ctrlKey) return;
    d3.event.preventDefault();
    const factor = d3.event.deltaY > 0 ? 1.25 : 0.8;
    zoomTimeline(profile, factor, (1 - factor) * (d3.mouse(svg.node())[0] / x.range()[1] - 0.5));
  });
  let from = null;
  svg.call(d3.drag().clickDistance(4).on('start', () => { from = d3.event.x; }).on('end', () => {
    if (Math.abs(d3.event.x - from) > 4) zoomTimeline(profile, 1, (from - d3.event.x) / x.range()[1]);
  }));
}

function drawTimeline(parent, report) {
  const profile = report.profile;
  if (!profile.timed) {
    addMissing(parent, 'No timeline without times', 'Model the times of a device, or measure them on this machine (--measure).',
      'costmodel MODEL.onnx --device h200 --format html');
    return;
  }
  indexStarts(profile);
  const range = timelineRange(profile);
  const section = addSection(parent, timelineTitle(profile),
    `${profile.timeName} of ${short(profile.duration, 'ps')}, one node after another; modules above the nodes. Drag to pan, Ctrl + wheel to zoom, select a module to zoom to it.`);
  const tools = add(section, 'div', {class: 'tools'});
  addButton(tools, 'zoom-in', 'Zoom in', () => zoomTimeline(profile, 0.5, 0));
  addButton(tools, 'zoom-out', 'Zoom out', () => zoomTimeline(profile, 2, 0));
  addButton(tools, 'zoom-left', '\u2190 Earlier', () => zoomTimeline(profile, 1, -0.5));
  addButton(tools, 'zoom-right', 'Later \u2192', () => zoomTimeline(profile, 1, 0.5));
  addButton(tools, 'zoom-all', 'Show all', () => setState({zoom: '', module: ''}));
  add(tools, 'span', {class: 'faint'}, `${short(range[0], 'ps')} to ${short(range[1], 'ps')}`);
  const depths = Math.min(8, 1 + (d3.max(moduleSpans(profile), span => span.depth) || 0));
  const width = widthOf(section);
  const height = 20 + depths * rowHeight + 2 * rowHeight + 8;
  const svg = addChart(section, width, height, `Timeline of ${plural(profile.order.length, 'node')}`);
  const hatch = add(svg.append('defs'), 'pattern', {id: 'hatch', width: 5, height: 5, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)'});
  add(hatch, 'rect', {class: 'on-launch', width: 5, height: 5});
  add(hatch, 'rect', {class: 'on-host', width: 1.5, height: 5});
  const x = d3.scaleLinear().domain(range).range([0, width]);
  drawTimeAxis(svg, x, height);
  drawSpans(svg, profile, x, depths);
  drawNodes(svg, profile, x, 22 + depths * rowHeight);
  addPointerZoom(svg, profile, x);
  addResourceLegend(section, profile);
  const waits = profile.hostTime > 0 ? [['gap', `gap: the device waits for the host (${short(profile.hostTime, 'ps')} in all; its part of each launch is taken as equal)`]] : [];
  if (profile.losses) addLegend(section, [['launch-part', 'launch of a kernel']].concat(waits));
  drawLongest(section, profile);
}

function drawLongest(parent, profile) {
  const module = selectedModule(profile);
  const nodes = profile.order.filter(node => node.latency_ps > 0 && (!module || isInside(node, module)))
    .sort((a, b) => b.latency_ps - a.latency_ps).slice(0, 15);
  addTable(addSection(parent, 'The longest nodes', '', 'h3'), 'Longest nodes', [
    field('name', 'Node', {isName: true, value: nodeLabel, open: openNode}),
    field('shape', 'First input \u2192 output', {value: node => nodeShapes(profile, node)}),
    field('latency_ps', profile.timeName, {unit: 'ps'}),
    shareColumn(node => node.latency_ps, profile.duration, node => `on-${node.limited}`, 'ps'),
    field('limited', 'Limited by', {value: node => node.limited || 'unknown'}),
  ], nodes);
}

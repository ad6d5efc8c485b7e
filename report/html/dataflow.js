/* SPDX-License-Identifier: Apache-2.0 */
/* Dataflow: the graph of the model in layers. Boxes are modules, nodes, inputs, outputs; opened modules are frames. */

const maxItems = 40; /* boxes of a frame; more are folded into groups */
const maxFlowBoxes = 400;
const maxOpened = 30; /* opened modules, which are in the URL */
const maxEdges = 1500;
const firstBoxes = 26; /* boxes at first */
const boxWidth = 172;
const boxHeight = 42;
const titleHeight = 24; /* of a frame */
const shareSteps = [0.005, 0.02, 0.05, 0.1, 0.2, 0.4]; /* lower ends of the shares of the colours 1 to 6 */

/*
 * Graph of the profile. `points`: inputs, nodes and outputs in topological order; an edge {from, to, value} has indexes
 * of points; sizes[i]: points before a module of the preorder; inside: items by token of the item around them.
 */
let graph = null;

/* Constants and calculations of shapes, which have no cost, are left out. */
function indexGraph(profile) {
  if (graph && graph.profile === profile) return;
  const made = new Map();
  const points = [];
  const edges = [];
  const addPoint = (point, inputs, outputs) => {
    const sources = inputs.filter(name => made.has(name)).map(name => made.get(name));
    const {latency_ps, flops, bytes_written} = point.node || {};
    const isSmall = outputs.every(value => value.bytes <= 1024 && !/float|double/.test(value.dtype));
    if (point.node && (!sources.length || isSmall) && !(latency_ps > 0 || flops > 0 || bytes_written > 0)) return;
    for (const source of sources) edges.push({from: source.point, to: points.length, value: source.value});
    for (const value of outputs) made.set(value.name, {point: points.length, value});
    points.push(point);
  };
  profile.model.inputs.forEach((value, i) => addPoint({value, end: 'Input', key: `in${i}`}, [], [value]));
  for (const node of profile.nodes) addPoint({node, key: `node${node.index}`}, node.inputs, node.outputs);
  profile.model.outputs.forEach((value, i) => addPoint({value, end: 'Output', key: `out${i}`}, [value.name], []));
  const sizes = d3.range(profile.preorder.length + 1).map(() => 0);
  for (const {node} of points) if (node) sizes[node.owner.first + 1]++;
  sizes.forEach((size, i) => { sizes[i] += sizes[i - 1] || 0; });
  const root = {points: d3.range(points.length), module: profile.root, name: '', kind: '', token: '0'};
  graph = {profile, points, edges, sizes, root, inside: new Map(), nNodes: points.filter(({node}) => node).length};
}

function pointCost(i, key) { return graph.points[i].node ? +graph.points[i].node[key] || 0 : 0; }

/* Returns {value, edges}: the path through the graph with the largest sum of a metric. */
function longestChain(key) {
  const sums = graph.points.map((point, i) => pointCost(i, key));
  const last = [];
  for (const edge of graph.edges) {
    const sum = sums[edge.from] + pointCost(edge.to, key);
    if (last[edge.to] && sum <= sums[edge.to]) continue;
    sums[edge.to] = sum;
    last[edge.to] = edge;
  }
  const value = d3.max(sums);
  const edges = new Set();
  for (let edge = last[sums.indexOf(value)]; edge; edge = last[edge.from]) edges.add(edge);
  return {value, edges};
}

/* An item is what a box shows: {points, name, kind, token}; with `module` or `members`, items, it can be opened. */
function canOpen(item) { return Boolean(item.members || item.module && item.points.length > 1); }

function itemCost(item, key) {
  if (item.module && !item.isPart) return +item.module[key] || 0;
  return item.members ? d3.sum(item.members, each => itemCost(each, key)) : d3.sum(item.points, i => pointCost(i, key));
}

function groupItems(members, name, kind, token, end) {
  return {members, name, kind, token, end, points: d3.merge(members.map(each => each.points)).sort((a, b) => a - b)};
}

function spanName(items) { return `${items[0].name} \u2026 ${items[items.length - 1].name}`; }

/* Returns the child modules and own nodes of a module, or of a part of it. */
function partsOfModule(item) {
  const {profile, points, sizes} = graph;
  const children = item.module.children.map(i => profile.modules[i]);
  const firsts = children.map(child => child.first);
  const byChild = new Map();
  const items = [];
  for (const i of item.points) {
    const {node, value, end} = points[i];
    const module = node && node.owner !== item.module ? children[d3.bisectRight(firsts, node.owner.first) - 1] : null;
    if (module && byChild.has(module)) {
      byChild.get(module).points.push(i);
      continue;
    }
    const part = module ? {module, name: displayName(profile, module), token: String(module.index)}
      : node ? {name: node.op, kind: shapeText((node.outputs[0] || {}).shape)}
        : {name: value.name, kind: `${end} ${shapeText(value.shape)}`, end};
    items.push(Object.assign(part, {points: [i]}));
    if (module) byChild.set(module, part);
  }
  byChild.forEach((part, module) => {
    part.kind = module.class_known === false ? plural(part.points.length, 'node') : module.class;
    part.isPart = part.points.length < sizes[module.end] - sizes[module.first];
  });
  return d3.merge(d3.nest().key(part => part.end || '').entries(items).map(({key, values}) =>
    key && values.length > 3 ? [groupItems(values, `${values.length} ${key.toLowerCase()}s`, '', key, key)] : values));
}

/* Returns the items in topological order. Splits modules that are called several times if their edges make a cycle. */
function orderItems(items) {
  const at = graph.points.map(() => -1);
  items.sort((a, b) => a.points[0] - b.points[0]).forEach((item, i) => { for (const p of item.points) at[p] = i; });
  const links = graph.edges.map(({from, to}) => [at[from], at[to]]).filter(([a, b]) => a >= 0 && b >= 0 && a !== b);
  if (links.every(([a, b]) => a < b)) return items;
  const after = items.map(() => []);
  const waiting = items.map(() => 0);
  for (const [a, b] of links) waiting[after[a].push(b) && b]++;
  const ready = d3.range(items.length).filter(i => waiting[i] === 0);
  for (const i of ready) for (const j of after[i]) if (--waiting[j] === 0) ready.push(j);
  const ordered = ready.map(i => items[i]);
  const cyclic = items.filter((item, i) => waiting[i] > 0);
  if (cyclic.length === 0) return ordered;
  const runs = new Map(cyclic.map(item => [item, []]));
  let last = null;
  for (const p of d3.merge(cyclic.map(item => item.points)).sort((a, b) => a - b)) {
    const item = items[at[p]];
    if (item === last) runs.get(item)[runs.get(item).length - 1].push(p);
    else runs.get(item).push([p]);
    last = item;
  }
  runs.forEach((parts, item) => parts.forEach(part => ordered.push(parts.length === 1 ? item
    : Object.assign({}, item, {points: part, isPart: true, token: item.token && `${item.token}.${part[0]}`}))));
  return orderItems(ordered);
}

/* Of four or more successive modules with the same class, size and nearly the same cost, folds all but the first. */
function foldAlike(items, token) {
  const {key} = graph.profile.metrics[0];
  const look = item => canOpen(item) ? `${item.name.replace(/\d+/g, '*')} ${item.kind} ${item.points.length}` : null;
  const runs = [];
  for (const item of items) {
    const [first] = runs.length ? runs[runs.length - 1] : [item];
    const costs = [itemCost(first, key), itemCost(item, key)];
    if (first !== item && look(item) && look(item) === look(first) && d3.max(costs) <= alikeSpread * d3.min(costs))
      runs[runs.length - 1].push(item);
    else runs.push([item]);
  }
  return d3.merge(runs.map(([first, ...others]) => {
    if (others.length < 3) return [first, ...others];
    first.nAlike = others.length + 1;
    return [first, groupItems(others, spanName(others), `${others.length} \u00d7 ${first.kind}`, `${token}:${others[0].points[0]}`)];
  }));
}

/* Returns the items inside an item. More than maxItems are divided into groups, named like their largest member. */
function itemsInside(item) {
  if (!graph.inside.has(item.token)) graph.inside.set(item.token, findInside(item));
  return graph.inside.get(item.token);
}

function findInside(item) {
  const items = item.members || foldAlike(orderItems(partsOfModule(item)), item.token);
  if (items.length === 1 && canOpen(items[0])) return itemsInside(items[0]);
  if (items.length <= maxItems) return items;
  const {key} = graph.profile.metrics[0];
  const inner = items.filter(each => !each.end);
  const size = Math.ceil(inner.length / (maxItems / 2));
  const groups = d3.range(0, inner.length, size).map(i => {
    const some = inner.slice(i, i + size);
    const most = some[d3.scan(some, (a, b) => itemCost(b, key) - itemCost(a, key))];
    return some.length === 1 ? most
      : groupItems(some, `${most.name} +${some.length - 1}`, spanName(some), `${item.token}:${some[0].points[0]}`);
  });
  return items.filter(each => each.end === 'Input').concat(groups, items.filter(each => each.end === 'Output'));
}

/* Returns the tokens of the items that are open at first: those around the selected module, then the most expensive. */
function firstOpened(metric) {
  const selected = selectedModule(graph.profile);
  const isAround = item => Boolean(selected && item.module !== selected
    && item.points.some(i => graph.points[i].node && isInside(graph.points[i].node, selected)));
  const least = 0.08 * graph.profile.totals[metric.key];
  const opened = [];
  const closed = [{item: graph.root, weight: Infinity}];
  let shown = 0;
  while (closed.length > 0 && opened.length < maxOpened) {
    closed.sort((a, b) => a.isAround - b.isAround || a.weight - b.weight);
    const {item, weight, isAround: mustOpen} = closed.pop();
    if (!mustOpen && (item.members || weight < least)) continue;
    const items = itemsInside(item);
    if (!mustOpen && opened.length > 0 && shown + items.length > firstBoxes) continue;
    opened.push(item.token);
    shown += items.length;
    for (const each of items.filter(canOpen))
      closed.push({item: each, weight: itemCost(each, metric.key) * (each.nAlike || 1), isAround: isAround(each)});
  }
  return opened;
}

/*
 * Returns {frames, boxes, edges} with opened items. A frame is an item with `items`; `parent` is the frame of a box. An
 * edge {from, to, value, names, isChain, links} has the largest tensor between two boxes; edges[0] has the largest.
 */
function buildFlow(opened, metric, chain) {
  const total = +graph.profile.totals[metric.key];
  const boxAt = [];
  const frames = [Object.assign({depth: 0}, graph.root)];
  const boxes = [];
  for (const frame of frames) {
    const items = itemsInside(frame).map(each => Object.assign({}, each, {parent: frame, depth: frame.depth + 1}));
    Object.assign(frame, {items, ins: new Map(), outs: new Map(), links: new Map()});
    for (const item of items) {
      const cost = itemCost(item, metric.key);
      const key = item.token || graph.points[item.points[0]].key;
      Object.assign(item, {cost, key, share: total > 0 ? cost / total : 0});
      if (canOpen(item) && opened.has(item.token)) frames.push(item);
      else {
        Object.assign(item, {w: boxWidth, h: boxHeight, before: [], after: []});
        boxes.push(item);
        for (const i of item.points) boxAt[i] = item;
      }
    }
  }
  const byBoxes = new Map();
  for (const link of graph.edges) {
    const from = boxAt[link.from];
    const to = boxAt[link.to];
    const {value} = link;
    if (from === to) continue;
    const key = `${from.key} ${to.key}`;
    const edge = byBoxes.get(key) || {from, to, key, value, names: new Set(), links: []};
    byBoxes.set(key, edge);
    if (!(value.bytes <= edge.value.bytes)) edge.value = value;
    edge.names.add(value.name);
    edge.isChain = edge.isChain || chain.edges.has(link);
  }
  const all = [...byBoxes.values()].sort((a, b) => (+b.value.bytes || 0) - (+a.value.bytes || 0));
  const edges = all.slice(0, maxEdges);
  edges.forEach(addLinks);
  return {frames, boxes, edges, nEdges: all.length};
}

/* Adds the links of an edge to the frames around its boxes: from frame to frame, through ports at their borders. */
function addLinks(edge) {
  const source = edge.from;
  source.after.push(edge);
  edge.to.before.push(edge);
  const addLink = (frame, from, to) => {
    const key = `${from.key} ${to.key} ${source.key}`;
    if (!frame.links.has(key)) frame.links.set(key, {frame, from, to, source});
    return frame.links.get(key);
  };
  const port = (frame, side) => {
    if (!frame[side].has(source)) frame[side].set(source, {key: `${side}-${source.key}`, w: 8, h: 0, isPort: true});
    return frame[side].get(source);
  };
  const down = [];
  let a = source;
  let b = edge.to;
  while (a.parent !== b.parent)
    if (a.depth >= b.depth) {
      edge.links.push(addLink(a.parent, a, port(a.parent, 'outs')));
      a = a.parent;
    } else {
      down.unshift(addLink(b.parent, port(b.parent, 'ins'), b));
      b = b.parent;
    }
  edge.links.push(addLink(a.parent, a, b), ...down);
}

/* Returns where a source leaves a vertex or enters it, px right of its middle. */
function portOffset(vertex, side, source) { return vertex.items ? vertex[side].get(source).x - vertex.w / 2 : 0; }

function joinVertices(upper, lower, source) {
  const shift = portOffset(upper, 'outs', source) - portOffset(lower, 'ins', source);
  upper.below.push({vertex: lower, shift: -shift});
  lower.above.push({vertex: upper, shift});
}

/* Returns the layers of a frame: each vertex is below its sources, dummy vertices are where a link crosses a layer. */
function makeLayers(frame) {
  const [ins, outs] = [[...frame.ins.values()], [...frame.outs.values()]];
  const vertices = [...ins, ...frame.items, ...outs];
  for (const vertex of vertices)
    Object.assign(vertex, {out: [], above: [], below: [], isTarget: false, layer: +!(vertex.isPort || !ins.length)});
  for (const link of frame.links.values()) link.from.out.push(link);
  for (const vertex of vertices)
    for (const {to} of vertex.out) Object.assign(to, {layer: Math.max(to.layer, vertex.layer + 1), isTarget: true});
  const last = 1 + d3.max(frame.items, item => item.layer);
  for (const vertex of outs) vertex.layer = last;
  for (const item of frame.items.slice().reverse())
    if (!item.isTarget && item.out.length > 0) item.layer = d3.min(item.out, ({to}) => to.layer) - 1;
  const layers = d3.range(last + (outs.length > 0)).map(() => []);
  for (const vertex of vertices) layers[vertex.layer].push(vertex);
  for (const vertex of vertices)
    for (const {values} of d3.nest().key(link => link.source.key).entries(vertex.out)) {
      const path = [vertex]; /* the links of a source share their dummies */
      for (let i = vertex.layer + 1; i < d3.max(values, ({to}) => to.layer); i++) {
        const dummy = {w: 6, h: 0, isDummy: true, above: [], below: []};
        layers[i].push(dummy);
        joinVertices(path[path.length - 1], dummy, values[0].source);
        path.push(dummy);
      }
      for (const link of values) {
        link.via = path.slice(1, link.to.layer - vertex.layer);
        joinVertices(path[link.via.length], link.to, link.source);
      }
    }
  return layers;
}

function countCrossings(layers) {
  return d3.sum(layers, layer => {
    const seen = [];
    return d3.sum(layer, upper => d3.sum(upper.below.map(({vertex}) => vertex.place).sort((a, b) => b - a), to => {
      const i = d3.bisectRight(seen, to);
      seen.splice(i, 0, to);
      return seen.length - 1 - i;
    }));
  });
}

/* Orders layers by the mean place of the neighbours above, then below; returns the order with the fewest crossings. */
function orderLayers(layers) {
  const number = layer => layer.forEach((vertex, i) => { vertex.place = i; });
  layers.forEach(number);
  let best = layers.map(layer => layer.slice());
  let least = countCrossings(layers);
  for (let round = 0; round < 8 && least > 0; round++) {
    for (const layer of round % 2 ? layers.slice().reverse() : layers) {
      for (const vertex of layer)
        vertex.mean = d3.mean(round % 2 ? vertex.below : vertex.above, each => each.vertex.place) ?? vertex.place;
      number(layer.sort((a, b) => a.mean - b.mean));
    }
    const n = countCrossings(layers);
    if (n < least) best = layers.map(layer => layer.slice());
    least = Math.min(n, least);
  }
  return best;
}

/* Moves the vertices of a layer as near as possible to where they want to be, without overlap (isotonic regression). */
function placeLayer(layer) {
  const blocks = [];
  const isAfter = (a, b) => a.sum / a.weight > b.sum / b.weight;
  let shift = 0;
  layer.forEach((vertex, i) => {
    if (i > 0) shift += (layer[i - 1].w + vertex.w) / 2 + (layer[i - 1].isDummy && vertex.isDummy ? 8 : 18);
    vertex.shift = shift;
    const {length} = vertex.chain;
    let block = {sum: (vertex.want - shift) * length, weight: length, vertices: [vertex]};
    while (blocks.length > 0 && isAfter(blocks[blocks.length - 1], block)) {
      const last = blocks.pop();
      for (const vertices of [last.vertices.concat(block.vertices)])
        block = {sum: last.sum + block.sum, weight: last.weight + block.weight, vertices};
    }
    blocks.push(block);
  });
  for (const {sum, weight, vertices} of blocks) for (const vertex of vertices) vertex.x = sum / weight + vertex.shift;
}

/* Sets vertex.x. Vertices that only have each other above and below, and dummies of a link, form straight chains. */
function placeVertices(layers) {
  const all = d3.merge(layers);
  for (const vertex of all) {
    const [up] = vertex.above;
    const isNext = vertex.above.length === 1 && (up.vertex.below.length === 1 || vertex.isDummy && up.vertex.isDummy);
    const chain = isNext ? up.vertex.chain : [];
    chain.push(vertex);
    Object.assign(vertex, {chain, inChain: isNext ? up.vertex.inChain + up.shift : 0, x: 0});
  }
  for (let round = 0; round < 16; round++) {
    for (const chain of new Set(all.map(vertex => vertex.chain))) {
      const pulls = d3.merge(chain.map(vertex => vertex.above.concat(vertex.below)
        .filter(each => each.vertex.chain !== chain).map(each => each.vertex.x + each.shift - vertex.inChain)));
      const now = d3.mean(chain, vertex => vertex.x - vertex.inChain);
      for (const vertex of chain) vertex.want = vertex.inChain + (now + (d3.mean(pulls) ?? now)) / 2;
    }
    layers.forEach(placeLayer);
  }
}

/* Sets the places of the items of a frame, relative to it, and its size; frames inside it have theirs. */
function layOutFrame(frame) {
  const layers = orderLayers(makeLayers(frame));
  placeVertices(layers);
  const all = d3.merge(layers);
  const isInner = frame.depth > 0;
  const pad = isInner ? 14 : 2;
  const left = d3.min(all, vertex => vertex.x - vertex.w / 2) - pad;
  frame.w = d3.max(all, vertex => vertex.x + vertex.w / 2) + pad - left;
  for (const vertex of all) vertex.x -= left;
  let y = isInner && frame.ins.size === 0 ? titleHeight + 14 : 0;
  layers.forEach((layer, i) => {
    const h = d3.max(layer, vertex => vertex.h);
    const reach = d3.max(layer, ({below, x}) => d3.max(below, each => Math.abs(each.vertex.x + each.shift - x)));
    for (const vertex of layer) Object.assign(vertex, {top: y, bottom: y + h});
    y += i === 0 && frame.ins.size > 0 ? titleHeight + 18 : h + Math.max(26, Math.min(64, 20 + (reach || 0) / 9));
  });
  frame.h = frame.outs.size > 0 ? layers[layers.length - 1][0].top : d3.max(frame.items, item => item.bottom) + pad;
  const intoBoxes = [...frame.links.values()].filter(({to}) => !to.items && !to.isPort);
  for (const {values} of d3.nest().key(link => link.to.key).entries(intoBoxes)) {
    const x = ({via, from}) => (via[via.length - 1] || from).x;
    values.sort((a, b) => x(a) - x(b)).forEach((link, i) => {
      link.offset = (i - (values.length - 1) / 2) * Math.min(18, boxWidth / 2 / values.length);
    });
  }
}

/* Sets the absolute places of frames and boxes, and the route and path of each edge. */
function layOutFlow({frames, edges}) {
  frames.slice().reverse().forEach(layOutFrame);
  Object.assign(frames[0], {left: 0, y: 0});
  for (const frame of frames)
    for (const item of frame.items)
      Object.assign(item, {left: frame.left + item.x - item.w / 2, y: frame.y + item.top});
  for (const edge of edges) {
    edge.route = d3.merge(edge.links.map(({frame, from, to, via, source, offset}) => {
      const start = from.x + portOffset(from, 'outs', source);
      const end = to.x + (offset || portOffset(to, 'ins', source));
      const through = d3.merge(via.map(({x, top, bottom}) => [[x, top], [x, bottom]]));
      return [[start, from.top + from.h], [start, from.bottom], ...through, [end, to.top]]
        .map(([x, y]) => [frame.left + x, frame.y + y]);
    }));
    edge.path = edge.route.map(([x, y], i) => {
      if (i === 0) return `M${x},${y}`;
      const [x0, y0] = edge.route[i - 1];
      return Math.abs(x - x0) < 0.5 ? `L${x},${y}` : `C${x0},${(y0 + y) / 2},${x},${(y0 + y) / 2},${x},${y}`;
    }).join('');
  }
}

function openedItems(metric) {
  return state.expand === '' ? firstOpened(metric) : state.expand.split(',').slice(-maxOpened);
}

let flowAnchor = null; /* {token, x, y}: an item that stays where it is on the screen when the picture is drawn again */

/* Opens or closes an item. At maxOpened items, and while there are too many boxes, the item opened first is closed. */
function toggleItem(metric, item, x, y) {
  const opened = openedItems(metric).filter(token => token !== item.token);
  flowAnchor = {token: item.token, x, y};
  if (!item.items) opened.push(item.token);
  setState({expand: opened.slice(-maxOpened).join(',')}, true);
}

function currentFlow(metric, chain) {
  const opened = openedItems(metric);
  let flow = buildFlow(new Set(opened), metric, chain);
  while (flow.boxes.length > maxFlowBoxes && opened.shift()) flow = buildFlow(new Set(opened), metric, chain);
  layOutFlow(flow);
  return flow;
}

function tensorText({value, names}) {
  return `${shapeText(value.shape)} ${value.dtype || ''}, ${short(value.bytes, 'bytes')}${names.size > 1 ? ` and ${plural(names.size - 1, 'more tensor')}` : ''}`;
}

function describeItem(item, metric) {
  const ends = (edges, word, side) => (edges || []).slice(0, 5).map(edge => `${word} ${edge[side].name}: ${tensorText(edge)}`);
  return [`${item.name}, ${item.kind}`].concat(item.end ? [] : `${short(item.cost, metric.unit)}, ${roughly(item.share)} of the ${metric.noun}`,
    ends(item.before, 'from', 'from'), ends(item.after, 'to', 'to'));
}

function itemDetails({module, isPart, points}) {
  const {node, value} = graph.points[points[0]];
  return module && (points.length > 1 || !isPart) ? `module:${module.path}` : node ? `node:${node.index}` : `tensor:${value.name}`;
}

/* Returns the key of the item that an arrow key leads to: along an edge, else the nearest in that direction. */
function nextItem(flow, item, key) {
  const near = key === 'ArrowDown' ? (item.after || []).map(edge => edge.to) : key === 'ArrowUp' ? (item.before || []).map(edge => edge.from) : [];
  const distance = each => {
    const [x, y] = [each.left + each.w / 2 - item.left - item.w / 2, each.y - item.y];
    const ahead = {ArrowDown: y, ArrowUp: -y, ArrowLeft: -x, ArrowRight: x}[key];
    return ahead > 1 ? ahead + 3 * Math.abs(ahead === x || ahead === -x ? y : x) : Infinity;
  };
  const all = near.length > 0 ? near
    : flow.boxes.concat(flow.frames.slice(1)).filter(each => distance(each) < Infinity);
  return all.length > 0 ? `flow-${all[d3.scan(all, (a, b) => distance(a) - distance(b))].key}` : null;
}

function drawItems(svg, flow, metric, open) {
  const selected = selectedModule(graph.profile);
  const cells = svg.selectAll('.item').data(flow.frames.slice(1).concat(flow.boxes)).join('g')
    .attr('transform', item => `translate(${item.left},${item.y})`)
    .attr('class', item => `item cost-${item.items || item.end ? 'end' : item.share > 0 ? d3.bisectRight(shareSteps, item.share) : 'none'}`)
    .classed('selected', item => selected && item.module === selected);
  const closed = cells.filter(item => !item.items);
  for (const back of [6, 3, 0])
    add(back ? closed.filter(item => item.members) : cells, 'rect', {class: 'box', x: back, y: back, width: item => item.w,
      height: item => item.items ? titleHeight : item.h, rx: item => item.end ? 20 : 5});
  const room = item => Math.floor((item.w - 24) / (charWidth + 0.5));
  const share = item => item.share > 0 ? roughly(item.share) : '';
  add(cells, 'text', {class: 'strong', x: item => item.items ? 24 : 10, y: 17},
    item => fit(item.name, room(item) - share(item).length - (item.items ? 3 : 1)));
  add(cells, 'text', {x: item => item.w - 10, y: 17, 'text-anchor': 'end'}, share);
  add(cells.filter(item => item.items), 'text', {x: 8, y: 17}, '\u25be');
  add(closed, 'text', {class: 'second', x: 10, y: 34}, item => fit(item.kind, room(item)));
  add(closed.filter(canOpen), 'text', {class: 'second', x: boxWidth - 10, y: 34, 'text-anchor': 'end'}, '\u25b8');
  cells.each(function button(item) {
    const cell = d3.select(this);
    addAction(cell, describeItem(item, metric).join('; '), `flow-${item.key}`, () =>
      canOpen(item) && !d3.event.shiftKey ? open(item) : setState({open: itemDetails(item)}, true));
    cell.attr('data-open', itemDetails(item));
    if (canOpen(item)) cell.attr('aria-expanded', Boolean(item.items));
  });
  addTip(cells, item => describeItem(item, metric).concat(canOpen(item) ? `Click to ${item.items ? 'close' : 'open'}` : []));
  addArrows(cells, (item, key) => nextItem(flow, item, key));
  const mark = item => svg.selectAll('.edge').classed('on', edge => edge.from === item || edge.to === item);
  cells.on('mouseenter', mark).on('mouseleave', () => mark(null));
  return cells.attr('tabindex', (item, i) => i > 0 ? -1 : 0).attr('data-value', item => item.end ? null : item.cost);
}

/* Draws the edges, and their sizes where there is room beside a straight end. */
function drawEdges(svg, flow) {
  const most = flow.edges.length > 0 ? +flow.edges[0].value.bytes : 0;
  const lines = svg.selectAll('.edge').data(flow.edges.slice().reverse()).join('path').attr('marker-end', 'url(#flow-arrow)')
    .attr('class', edge => `edge${edge.isChain ? ' chain' : ''}`).attr('d', edge => edge.path)
    .attr('stroke-width', edge => 1 + 5 * Math.sqrt((+edge.value.bytes || 0) / (most || 1)))
    .attr('data-edge', edge => edge.key).attr('data-value', edge => edge.value.bytes);
  addTip(lines, edge => [`${edge.from.name} \u2192 ${edge.to.name}`, edge.value.name, tensorText(edge)]);
  const taken = flow.boxes.concat(flow.frames.slice(1).map(({left, y, w}) => ({left, y, w, h: titleHeight})));
  for (const {route, value} of flow.edges) {
    const text = short(value.bytes, 'bytes');
    const isDown = i => Math.abs(route[i][0] - route[i + 1][0]) < 2;
    const at = isDown(1) ? 0 : route.length - 1;
    const place = {left: route[at][0] + 7, y: route[at][1] + (at ? -20 : 5), w: 7 * text.length, h: 14};
    const covers = ({left, y, w, h}) => left < place.left + place.w && place.left < left + w
      && y < place.y + 14 && place.y < y + h;
    if (at > 0 && !isDown(at - 1) || taken.some(covers)) continue;
    taken.push(place);
    add(svg, 'text', {class: 'second faint halo', x: place.left, y: place.y + 11}, text);
  }
}

function flowTitle(metric, chain) {
  const {profile} = graph;
  const total = +profile.totals[metric.key];
  const noun = metric.unit === 'ps' ? `${profile.timeWord} time` : metric.noun;
  if (!(chain.value > 0) || profile.nodes.some(node => /^(If|Loop|Scan)$/.test(node.op))) {
    const first = dominant(profile, metric.key);
    return first ? `${sentence(first.text)} of the ${noun}` : `Graph of ${plural(profile.nodes.length, 'node')}`;
  }
  const rest = d3.sum(profile.nodes, node => +node[metric.key] || 0) - chain.value;
  return !(rest > 0) ? `All of the ${noun} is on one chain: no branch can run in parallel`
    : `The longest chain has ${roughly(chain.value / total)} of the ${noun}: branches in parallel save at most ${roughly(rest / total)}`;
}

function drawDataflow(parent, report) {
  indexGraph(report.profile);
  const metric = currentMetric(report.profile);
  const chain = /^(latency_ps|macs|flops)$/.test(metric.key) ? longestChain(metric.key) : {edges: new Set()};
  const flow = currentFlow(metric, chain);
  const largest = graph.edges[d3.scan(graph.edges, (a, b) => (+b.value.bytes || 0) - (+a.value.bytes || 0))];
  const {node, value} = largest ? graph.points[largest.from] : {};
  const {hostTime, totals} = report.profile;
  const waits = metric.unit === 'ps' && hostTime > 0 ? ` No node has the waits for the host, ${roughly(hostTime / totals.latency_ps)} of the time.` : '';
  const section = addSection(parent, flowTitle(metric, chain), `${largest ? `The largest tensor has ${short(largest.value.bytes, 'bytes')}, the output of ${node ? nodeLabel(node) : value.name}. ` : ''}`
    + `The width of a line is the size of its tensor${chain.value > 0 ? '; orange lines are the longest chain' : ''}. Select a module to open or close it, a node for its details.${waits}`);
  addMetricSwitch(section, report.profile);
  const tools = add(section, 'div', {class: 'tools'});
  const [root] = flow.frames;
  const width = widthOf(section);
  const fitted = Math.max(0.6, Math.min(1, width / root.w));
  const height = Math.ceil(Math.min(root.h * fitted + 14, Math.max(360, window.innerHeight - 150)));
  const svg = add(section, 'svg', {class: 'chart graph', width, height, role: 'group',
    'aria-label': `Graph of ${flow.boxes.length} boxes. Arrow keys follow the edges, Enter opens or closes a module, Shift + Enter shows its details`});
  add(add(svg.append('defs'), 'marker', {id: 'flow-arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 8, markerHeight: 8,
    orient: 'auto', markerUnits: 'userSpaceOnUse'}), 'path', {d: 'M0,0.5L8,4L0,7.5z'});
  const all = svg.append('g');
  const zoom = d3.zoom().scaleExtent([0.1, 2]).filter(() => !d3.event.button && (d3.event.type !== 'wheel' || d3.event.ctrlKey))
    .on('zoom', () => { all.attr('transform', d3.event.transform); });
  const move = (x, y, k) => svg.call(zoom.transform, d3.zoomIdentity.translate(x, y).scale(k));
  const [x0, y0, k0] = state.zoom.split(',').map(Number);
  const k = k0 / 100 || fitted;
  const items = flow.frames.concat(flow.boxes);
  const held = flowAnchor && items.find(item => item.token === flowAnchor.token);
  const selected = selectedModule(report.profile) && items.find(item => item.module === selectedModule(report.profile));
  const clamp = (at, most) => Math.max(8, Math.min(most, at));
  const put = (item, x, y) => move(clamp(x, width - item.w * k) - item.left * k,
    Math.min(6, clamp(y, height - boxHeight) - item.y * k), k);
  if (held) put(held, flowAnchor.x, flowAnchor.y);
  else if (k0 > 0) move(x0, y0, k);
  else if (selected) put(selected, (width - selected.w * k) / 2, 40);
  else move((width - root.w * k) / 2, 6, k);
  flowAnchor = null;
  svg.call(zoom.on('end', () => {
    const {x, y, k: scale} = d3.event.transform;
    state.zoom = [x, y, 100 * scale].map(Math.round).join(',');
    window.history.replaceState(null, '', writeFragment());
  })).on('dblclick.zoom', null);
  for (const {left, y, w, h} of flow.frames.slice(1)) add(all, 'rect', {class: 'frame', x: left, y, width: w, height: h, rx: 6});
  drawEdges(all, flow);
  const onScreen = (x, y) => d3.zoomTransform(svg.node()).apply([x, y]);
  const cells = drawItems(all, flow, metric, item => toggleItem(metric, item, ...onScreen(item.left, item.y)));
  cells.on('focus', function focus(item) {
    const middle = [item.left + item.w / 2, item.y + boxHeight / 2];
    const [x, y] = onScreen(...middle);
    cells.attr('tabindex', -1);
    this.setAttribute('tabindex', 0);
    all.selectAll('.edge').classed('on', edge => edge.from === item || edge.to === item);
    if (x < 0 || y < 0 || x > width || y > height) svg.call(zoom.translateTo, ...middle);
  });
  addButton(tools, 'flow-in', 'Zoom in', () => svg.call(zoom.scaleBy, 1.25));
  addButton(tools, 'flow-out', 'Zoom out', () => svg.call(zoom.scaleBy, 0.8));
  addButton(tools, 'flow-fit', 'Fit width', () => move(0, 6, width / root.w));
  addButton(tools, 'flow-close', 'Close all', () => setState({expand: '0', zoom: ''}, true));
  addButton(tools, 'flow-reset', 'Reset', () => setState({expand: '', zoom: ''}, true));
  add(tools, 'span', {class: 'faint'}, `${flow.boxes.length} boxes for ${plural(graph.nNodes, 'node')}${flow.nEdges > maxEdges ? `, the ${maxEdges} largest of ${flow.nEdges} edges` : ''}`);
  addLegend(section, [['cost-0', `<${100 * shareSteps[0]}%`]].concat(shareSteps.map((step, i) => [`cost-${i + 1}`, `\u2265 ${100 * step}%`])));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Roofline: achieved FLOP/s against FLOP/byte on logarithmic axes, under the device's ceilings. */

const maxPoints = 1500;

/* Returns points {kernel, x: FLOP/byte, y: FLOP/s, first: first node, time} of the kernels with FLOPs and time. */
function rooflinePoints(kernels) {
  return kernels.filter(kernel => kernel.nodes.length > 0 && kernel.flops > 0 && kernel.bytes > 0 && kernel.mean_ps > 0
    && (kernel.primitive.achieved || {}).flops_per_s > 0)
    .map(kernel => ({kernel, x: kernel.flops / kernel.bytes, y: kernel.flops / (kernel.mean_ps * 1e-12),
      first: kernel.nodes[0], time: kernel.total_ps})).sort((a, b) => b.time - a.time);
}

/*
 * Returns the ceilings [{name, rate, isMain}], highest first. The main ceiling is the rate of the algorithm with most
 * time; higher rates of matrix units are listed to show what another precision would give.
 */
function computeCeilings(profile) {
  const rates = (profile.measure.ceilings || {}).flops_per_s || {};
  const times = new Map();
  for (const primitive of profile.primitives)
    times.set(primitive.algorithm, (times.get(primitive.algorithm) || 0) + d3.sum(primitive.nodes,
      index => +profile.nodes[index].latency_ps || 0));
  const names = Object.keys(rates).filter(name => rates[name] > 0);
  const main = names.reduce((best, name) => (times.get(name) || 0) > (times.get(best) || 0) ? name : best,
    (profile.options.precision || 'fp32').replace('fp', 'f'));
  return names.filter(name => name === main || rates[name] > rates[main] && /^(matrix_)?(tf32|f16|fp16)$/.test(name))
    .map(name => ({name, rate: +rates[name], isMain: name === main})).sort((a, b) => b.rate - a.rate);
}

function rooflineTitle(profile, ceilings, bandwidth) {
  const module = selectedModule(profile);
  const parts = timeByResource(profile, module ? profile.nodes.filter(node => isInside(node, module)) : profile.nodes);
  const total = module ? d3.sum(parts, part => part.value) : +profile.totals.latency_ps;
  const shares = parts.slice(0, 2).map(part => `${part.resource} limits ${roughly(part.value / total)}`).join(', ');
  const used = ceilings.find(ceiling => ceiling.isMain);
  const ridge = used && bandwidth > 0 ? `; ridge of ${used.name}: ${(used.rate / bandwidth).toFixed(0)} FLOP/byte` : '';
  return total > 0 ? `${boundText(parts, total)}: ${shares} of the time${ridge}` : 'Roofline';
}

function drawCeilings(svg, x, y, ceilings, bandwidth) {
  const right = x.domain()[1];
  const group = add(svg, 'g', {class: 'ceilings'});
  for (const ceiling of ceilings) {
    const ridge = bandwidth > 0 ? ceiling.rate / bandwidth : x.domain()[0];
    add(group, 'line', {x1: x(Math.max(ridge, x.domain()[0])), x2: x(right), y1: y(ceiling.rate), y2: y(ceiling.rate),
      class: ceiling.isMain ? 'used' : ''});
    add(group, 'text', {x: x(right) - 4, y: y(ceiling.rate) - 6, 'text-anchor': 'end'},
      `${ceiling.name}: ${short(ceiling.rate, 'flops_per_s')}`);
  }
  if (!(bandwidth > 0)) return;
  const top = ceilings.length ? ceilings[0].rate : y.domain()[1];
  const from = Math.max(x.domain()[0], y.domain()[0] / bandwidth);
  const to = Math.min(right, top / bandwidth);
  add(group, 'line', {class: 'used', x1: x(from), y1: y(from * bandwidth), x2: x(to), y2: y(to * bandwidth)});
  const at = from * Math.pow(to / from, 0.12);
  const angle = -Math.atan2(y(from * bandwidth) - y(to * bandwidth), x(to) - x(from)) * 180 / Math.PI;
  add(group, 'text', {transform: `translate(${x(at)},${y(at * bandwidth) - 8}) rotate(${angle})`},
    `memory: ${short(bandwidth, 'bytes_per_s')}`);
}

function drawLogAxes(svg, x, y, frame) {
  const axis = add(svg, 'g', {class: 'axis'});
  const powers = scale => d3.range(Math.ceil(Math.log10(scale.domain()[0]) - 1e-9),
    Math.floor(Math.log10(scale.domain()[1]) + 1e-9) + 1).map(power => Math.pow(10, power));
  for (const tick of powers(x)) {
    add(axis, 'line', {x1: x(tick), x2: x(tick), y1: frame.top, y2: frame.bottom});
    add(axis, 'text', {x: x(tick), y: frame.bottom + 16, 'text-anchor': 'middle'}, tick >= 1 ? tick : tick.toPrecision(1));
  }
  for (const tick of powers(y)) {
    add(axis, 'line', {x1: frame.left, x2: frame.right, y1: y(tick), y2: y(tick)});
    add(axis, 'text', {x: frame.left - 6, y: y(tick) + 4, 'text-anchor': 'end'}, short(tick, 'flops_per_s'));
  }
  add(axis, 'text', {x: (frame.left + frame.right) / 2, y: frame.bottom + 34, 'text-anchor': 'middle'}, 'FLOP per byte that the kernel moves');
  add(axis, 'text', {x: 4, y: frame.top - 4}, 'achieved FLOP/s');
}

/* Labels up to 7 of the largest points where a label covers no other label and no large disc. */
function labelPoints(svg, points, x, y, radius, frame) {
  const taken = points.slice(0, 60).map(point => ({point, left: x(point.x) - radius(point),
    right: x(point.x) + radius(point), top: y(point.y) - radius(point), bottom: y(point.y) + radius(point)}));
  let n = 0;
  for (const point of points.slice(0, 30)) {
    const text = fit(nodeLabelOf(point), 40);
    const width = text.length * charWidth;
    const r = radius(point) + 5;
    const places = [[r, 4], [-r - width, 4], [-width / 2, r + 11], [-width / 2, -r - 2], [-width / 2, r + 28],
      [-width / 2, -r - 19]];
    const boxes = places.map(place => ({left: x(point.x) + place[0], right: x(point.x) + place[0] + width,
      top: y(point.y) + place[1] - 11, bottom: y(point.y) + place[1] + 3}));
    const free = boxes.find(box => box.left > frame.left && box.right < frame.right && box.bottom < frame.bottom
      && !taken.some(other => other.point !== point && other.left < box.right && box.left < other.right
      && other.top < box.bottom && box.top < other.bottom));
    if (!free) continue;
    taken.push(free);
    add(svg, 'text', {class: 'halo', x: free.left, y: free.bottom - 3}, text);
    if (++n === 7) return;
  }
}

function nodeLabelOf(point) {
  const n = point.kernel.nodes.length;
  const path = point.first.module || point.first.op;
  return `${path.length < 24 ? path : path.split('.').slice(-2).join('.')}${n > 1 ? ` \u00d7${n}` : ''}`;
}

function addKindFilter(parent, profile, points) {
  const hidden = new Set(state.hide.split(',').filter(Boolean));
  const group = add(parent, 'div', {class: 'switch kinds', role: 'group', 'aria-label': 'Operators shown'});
  add(group, 'span', {class: 'label'}, 'Show');
  for (const kind of profile.kinds.filter(each => points.some(point => point.first.kind === each)).slice(0, 12)) {
    const button = addButton(group, `kind-${kind}`, '', () => {
      if (hidden.has(kind)) hidden.delete(kind);
      else hidden.add(kind);
      setState({hide: [...hidden].join(',')});
    }).attr('aria-pressed', String(!hidden.has(kind)));
    add(button, 'span', {class: `swatch ${profile.kindColour.get(kind)}`});
    button.append('span').text(kind);
  }
  return point => !hidden.has(point.first.kind);
}

function drawRoofline(parent, report) {
  const profile = report.profile;
  if (!profile.timed || profile.measure.other_shape) {
    addMissing(parent, profile.timed ? 'No roofline for times of other shapes' : 'No roofline without times',
      'Model the times of a device, or measure them.', 'costmodel MODEL.onnx --device h200 --format html');
    return;
  }
  const measure = profile.measure;
  const bandwidth = +(measure.bandwidth || (measure.ceilings || {}).copy_bytes_per_s) || 0;
  const ceilings = computeCeilings(profile);
  const section = addSection(parent, rooflineTitle(profile, ceilings, bandwidth),
    'Each disc is a distinct kernel; its area is its share of the time. Under the slope memory limits it, under a flat line compute does.');
  const kernels = distinctKernels(profile);
  const all = rooflinePoints(kernels);
  const points = all.filter(addKindFilter(section, profile, all)).slice(0, maxPoints);
  const width = widthOf(section);
  const height = 520;
  const frame = {left: 92, right: width - 12, top: 22, bottom: height - 44};
  const svg = addChart(section, width, height, 'Roofline: FLOP/s against FLOP/byte');
  const xs = all.map(point => point.x).concat(ceilings.map(each => 2 * each.rate / (bandwidth || each.rate)));
  const ys = all.map(point => point.y).concat(ceilings.map(each => 1.6 * each.rate));
  const decade = (values, step) => 10 ** step(Math.log10(step === Math.floor ? d3.min(values) : d3.max(values)));
  const x = d3.scaleLog().domain([decade(xs.length ? xs : [1], Math.floor), 1.3 * d3.max(xs.length ? xs : [10])])
    .range([frame.left, frame.right]);
  const y = d3.scaleLog().domain([decade(ys.length ? ys : [1], Math.floor), d3.max(ys.length ? ys : [10])])
    .range([frame.bottom, frame.top]);
  const total = d3.sum(all, point => point.time) || 1;
  const radius = point => Math.max(3, 60 * Math.sqrt(point.time / total));
  drawLogAxes(svg, x, y, frame);
  const discs = svg.selectAll('circle').data(points).join('circle').attr('class',
    point => `disc ${profile.kindColour.get(point.first.kind)}`)
    .attr('cx', point => x(point.x)).attr('cy', point => y(point.y)).attr('r', radius);
  addTip(discs, point => [`${nodeLabel(point.first)}${point.kernel.nodes.length > 1 ? ` and ${point.kernel.nodes.length - 1} like it` : ''}`, point.kernel.name, `${short(point.time, 'ps')} (${percent(point.time, profile.totals.latency_ps, 'ps')}), limited by ${point.kernel.limited || 'unknown'}`,
    `${short(point.y, 'flops_per_s')} at ${point.x.toFixed(2)} FLOP/byte, ${short(point.kernel.bytes / (point.kernel.mean_ps * 1e-12), 'bytes_per_s')}`]);
  discs.each(function button(point) {
    addAction(d3.select(this), `${nodeLabelOf(point)}: ${short(point.time, 'ps')}, ${short(point.y, 'flops_per_s')} at ${point.x.toFixed(2)} FLOP/byte`,
      `disc-${point.first.index}`, () => setState({module: point.first.module}, true));
  });
  drawCeilings(svg, x, y, ceilings, bandwidth);
  labelPoints(svg, points, x, y, radius, frame);
  const used = ceilings.find(ceiling => ceiling.isMain);
  if (used && points.some(point => point.y > 1.02 * Math.min(used.rate, point.x * bandwidth)))
    add(section, 'p', {class: 'subtitle'}, 'Work above a line does fewer operations than are counted (Winograd convolutions) or reads operands that are still in the cache.');
  if (kernels.length > all.length) add(section, 'p', {class: 'subtitle'}, `Not shown: ${plural(kernels.length - all.length, 'kernel')} without FLOPs or without a time, such as copies.`);
}

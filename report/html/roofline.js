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

/* Returns the FLOP/s of the roof above a point. */
function roofAbove(point, rate, bandwidth) {
  return Math.min(rate || Infinity, bandwidth > 0 ? point.x * bandwidth : Infinity);
}

/* Returns the time that a kernel loses under the roof; 0 if no rate of the device is known. */
function lostUnder(point, roof) { return isFinite(roof(point)) ? point.time * (1 - point.y / roof(point)) : 0; }

/* Returns the points with the one that loses most time under the roof first, which the heading names. */
function worstFirst(points, roof) {
  const most = d3.scan(points, (a, b) => lostUnder(b, roof) - lostUnder(a, roof));
  return isKnown(most) ? [points[most]].concat(points.filter(point => point !== points[most])) : [];
}

/* Returns "layer1.0.conv2 x3 reaches 28% of the roof and loses 168 us under it", of the kernel that loses most. */
function gapText(points, roof) {
  const [most] = worstFirst(points, roof);
  const lost = most ? lostUnder(most, roof) : 0;
  return !(lost > 0) ? '' : `${nodeLabelOf(most)} reaches ${roughly(most.y / roof(most))} of the roof and loses ${short(lost, 'ps')} under it; `;
}

function rooflineTitle(profile, points, roof) {
  const module = selectedModule(profile);
  const parts = timeByResource(profile, module ? profile.nodes.filter(node => isInside(node, module)) : profile.nodes);
  const total = module ? d3.sum(parts, part => part.value) : +profile.totals.latency_ps;
  const shares = parts.filter(part => part.resource !== 'unknown').slice(0, 2).map(part => `${part.resource} limits ${roughly(part.value / total)}`).join(', ');
  const title = gapText(points, roof) + (shares ? `${shares} of the time` : '');
  return total > 0 && title ? title.replace(/; $/, '') : 'Roofline: no rates of a device are known';
}

/* Returns true if a line {x1, y1, x2, y2} with x1 < x2 crosses the box {left, right, top, bottom}. */
function crosses(line, box) {
  const from = Math.max(line.x1, box.left);
  const to = Math.min(line.x2, box.right);
  const at = left => line.y1 + (line.y2 - line.y1) * (left - line.x1) / (line.x2 - line.x1);
  return from <= to && Math.max(at(from), at(to)) >= box.top && Math.min(at(from), at(to)) <= box.bottom;
}

/* Returns the box of the first place [left, baseline] of a text with no line or box in it; undefined: none. */
function freePlace(text, places, frame, lines, taken) {
  const width = text.length * charWidth;
  return places.map(place => ({left: place[0], right: place[0] + width, top: place[1] - 12, bottom: place[1] + 4}))
    .find(box => box.left >= frame.left && box.right <= frame.right && box.top >= 0 && box.bottom <= frame.bottom
      && !lines.some(line => crosses(line, box)) && !taken.some(other => other.left < box.right
      && box.left < other.right && other.top < box.bottom && box.top < other.bottom));
}

/* Returns the lines of the roof in px, each with the text and possible places of its label. */
function roofLines(x, y, ceilings, bandwidth) {
  const right = x.domain()[1];
  const lines = ceilings.map(ceiling => {
    const from = Math.max(bandwidth > 0 ? ceiling.rate / bandwidth : 0, x.domain()[0]);
    const line = {isMain: ceiling.isMain, text: `${ceiling.name}: ${short(ceiling.rate, 'flops_per_s')}`,
      x1: x(from), x2: x(right), y1: y(ceiling.rate), y2: y(ceiling.rate)};
    const at = x(right) - 4 - line.text.length * charWidth;
    line.places = [[at, line.y1 - 6], [at, line.y1 + 17], [at - 190, line.y1 - 6], [at - 190, line.y1 + 17]];
    return line;
  });
  if (!(bandwidth > 0)) return lines;
  const top = ceilings.length ? ceilings[0].rate : y.domain()[1];
  const from = Math.max(x.domain()[0], y.domain()[0] / bandwidth);
  const to = Math.min(right, top / bandwidth);
  const text = `memory: ${short(bandwidth, 'bytes_per_s')}`;
  const places = [0.6, 0.75, 0.45, 0.9].map(part => from * Math.pow(to / from, part))
    .map(at => [x(at) - 14 - text.length * charWidth, y(at * bandwidth) - 4]);
  return lines.concat([{isMain: true, text, places,
    x1: x(from), y1: y(from * bandwidth), x2: x(to), y2: y(to * bandwidth)}]);
}

/* Draws the roof and its labels; returns the boxes of the labels. */
function drawRoof(svg, lines, frame) {
  const group = add(svg, 'g', {class: 'ceilings'});
  for (const {x1, x2, y1, y2, isMain} of lines) add(group, 'line', {x1, x2, y1, y2, class: isMain ? 'used' : ''});
  const taken = [];
  for (const line of lines) {
    const box = freePlace(line.text, line.places, frame, lines, taken);
    if (!box) continue;
    taken.push(box);
    add(group, 'text', {x: box.left, y: box.bottom - 4}, line.text);
  }
  return taken;
}

function drawLogAxes(svg, x, y, frame) {
  const axis = add(svg, 'g', {class: 'axis'});
  const powers = scale => d3.range(Math.floor(Math.log10(scale.domain()[0]) - 1e-9),
    Math.floor(Math.log10(scale.domain()[1]) + 1e-9) + 1).map(power => Math.pow(10, power));
  const inside = (scale, value) => value >= scale.domain()[0] * 0.999 && value <= scale.domain()[1] * 1.001;
  const minor = scale => [].concat(...powers(scale).map(power => d3.range(2, 10).map(n => n * power)))
    .filter(value => inside(scale, value));
  for (const tick of minor(x)) add(axis, 'line', {x1: x(tick), x2: x(tick), y1: frame.bottom, y2: frame.bottom + 4});
  for (const tick of minor(y)) add(axis, 'line', {x1: frame.left - 4, x2: frame.left, y1: y(tick), y2: y(tick)});
  for (const tick of powers(x).filter(value => inside(x, value))) {
    add(axis, 'line', {x1: x(tick), x2: x(tick), y1: frame.top, y2: frame.bottom + 6});
    add(axis, 'text', {x: x(tick), y: frame.bottom + 19, 'text-anchor': 'middle'}, tick >= 1 ? tick : tick.toPrecision(1));
  }
  for (const tick of powers(y).filter(value => inside(y, value))) {
    add(axis, 'line', {x1: frame.left - 6, x2: frame.right, y1: y(tick), y2: y(tick)});
    add(axis, 'text', {x: frame.left - 9, y: y(tick) + 4, 'text-anchor': 'end'}, short(tick, 'flops_per_s'));
  }
  add(axis, 'text', {class: 'title', x: (frame.left + frame.right) / 2, y: frame.bottom + 38, 'text-anchor': 'middle'}, 'FLOP/byte of the kernel, after fusion (log)');
  add(axis, 'text', {class: 'title', x: 4, y: 12}, 'Achieved FLOP/s (log)');
}

/* Labels up to 7 of the first points where a label covers no line, no other label and no large disc. */
function labelPoints(svg, points, x, y, radius, frame, lines, labels) {
  const discs = points.slice(0, 60).map(point => ({point, left: x(point.x) - radius(point),
    right: x(point.x) + radius(point), top: y(point.y) - radius(point), bottom: y(point.y) + radius(point)}));
  const taken = labels.slice();
  let n = 0;
  for (const point of points.slice(0, 30)) {
    const text = fit(nodeLabelOf(point), 40);
    const width = text.length * charWidth;
    const r = radius(point) + 5;
    const places = [[r, 4], [-r - width, 4], [-width / 2, r + 11], [-width / 2, -r - 2], [-width / 2, r + 28],
      [-width / 2, -r - 19], [r - width, -r - 2], [r - width, r + 11], [r - width, r + 28]]
      .map(place => [x(point.x) + place[0], y(point.y) + place[1]]);
    const free = freePlace(text, places, frame, lines, taken.concat(discs.filter(disc => disc.point !== point)));
    if (!free) continue;
    taken.push(free);
    add(svg, 'text', {class: 'halo', x: free.left, y: free.bottom - 4}, text);
    if (++n === 7) return;
  }
}

function nodeLabelOf(point) {
  const n = point.kernel.nodes.length;
  const path = point.first.module || point.first.op;
  return `${path.length < 24 ? path : fit(path.split('.').slice(-2).join('.'), maxName)}${n > 1 ? ` \u00d7${n}` : ''}`;
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
  const kernels = distinctKernels(profile);
  const all = rooflinePoints(kernels);
  const used = ceilings.find(ceiling => ceiling.isMain);
  const roof = point => roofAbove(point, used && used.rate, bandwidth);
  const worst = worstFirst(all, roof).find(point => lostUnder(point, roof) > 0);
  const ridge = used && bandwidth > 0 ? ` The slope meets the line of ${used.name} at ${(used.rate / bandwidth).toFixed(0)} FLOP/byte.` : '';
  const section = addSection(parent, rooflineTitle(profile, all, roof),
    `Each disc is a distinct kernel; its area is its share of the time${worst ? '; the outlined one loses most under the roof' : ''}. Under the slope memory limits it, under a flat line compute does.${ridge}`);
  const points = all.filter(addKindFilter(section, profile, all)).slice(0, maxPoints);
  const width = widthOf(section);
  const height = 520;
  const frame = {left: 92, right: width - 12, top: 26, bottom: height - 48};
  const svg = addChart(section, width, height, 'Roofline: FLOP/s against FLOP/byte');
  const xs = all.map(point => point.x).concat(ceilings.map(each => 2 * each.rate / (bandwidth || each.rate)));
  const ys = all.map(point => point.y).concat(ceilings.map(each => 1.6 * each.rate));
  const decade = (values, step) => 10 ** step(Math.log10(step === Math.floor ? d3.min(values) : d3.max(values)));
  const x = d3.scaleLog().domain([decade(xs.length ? xs : [1], Math.floor), 1.3 * d3.max(xs.length ? xs : [10])])
    .range([frame.left, frame.right]);
  const y = d3.scaleLog().domain([decade(ys.length ? ys : [1], Math.floor), d3.max(ys.length ? ys : [10])])
    .range([frame.bottom, frame.top]);
  const total = d3.sum(all, point => point.time) || 1;
  const radius = point => Math.max(3, Math.min(60, width / 14) * Math.sqrt(point.time / total));
  drawLogAxes(svg, x, y, frame);
  const discs = svg.selectAll('circle').data(points).join('circle').attr('class',
    point => `disc ${profile.kindColour.get(point.first.kind)}`)
    .attr('cx', point => x(point.x)).attr('cy', point => y(point.y)).attr('r', radius);
  addTip(discs, point => [`${nodeLabel(point.first)}${point.kernel.nodes.length > 1 ? ` and ${point.kernel.nodes.length - 1} like it` : ''}`, point.kernel.name, `${short(point.time, 'ps')} (${percent(point.time, profile.totals.latency_ps, 'ps')}), limited by ${point.kernel.limited || 'unknown'}`,
    `${short(point.y, 'flops_per_s')} at ${point.x.toFixed(2)} FLOP/byte, ${short(point.kernel.bytes / (point.kernel.mean_ps * 1e-12), 'bytes_per_s')}`]);
  discs.classed('worst', point => point === worst).attr('data-open', point => openKernel(profile, point.kernel.primitive)).each(function button(point) {
    addAction(d3.select(this), `${nodeLabelOf(point)}: ${short(point.time, 'ps')}, ${short(point.y, 'flops_per_s')} at ${point.x.toFixed(2)} FLOP/byte`,
      `disc-${point.first.index}`, () => openDetails('kernel', profile.primitives.indexOf(point.kernel.primitive)));
  });
  const lines = roofLines(x, y, ceilings, bandwidth);
  labelPoints(svg, worstFirst(points, roof), x, y, radius, frame, lines, drawRoof(svg, lines, frame));
  if (used && points.some(point => point.y > 1.02 * Math.min(used.rate, point.x * bandwidth)))
    add(section, 'p', {class: 'subtitle'}, 'Work above a line does fewer operations than are counted (Winograd convolutions) or reads operands that are still in the cache.');
  if (kernels.length > all.length) add(section, 'p', {class: 'subtitle'}, `Not shown: ${plural(kernels.length - all.length, 'kernel')} without FLOPs or without a time, such as copies.`);
}

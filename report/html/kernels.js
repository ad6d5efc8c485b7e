/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: measured kernels, planned algorithms, or the modelled work of distinct layers. */

/* Returns true if a primitive has a node in the selected module. */
function inSelection(profile, primitive) {
  const module = selectedModule(profile);
  return !module || primitive.nodes.some(index => isInside(profile.nodes[index], module));
}

/* Returns the measured kernels of the primitives in the selected module. */
function measuredKernels(profile) {
  const shown = profile.primitives.filter(primitive => inSelection(profile, primitive));
  return profile.measure.kernels.filter(kernel => shown.some(primitive =>
    profile.primitives[kernel.primitive] === primitive
    || (primitive.kernels || []).some(run => run.name === kernel.name)));
}

/*
 * Returns true if a modelled primitive is fused into another kernel: it moves fewer bytes than its node reads. False
 * for copies (no algorithm), which may read only a part of an operand, and products, which have their own kernels.
 */
function isFused(profile, primitive) {
  const node = profile.nodes[primitive.nodes[0]];
  return isCompiled(profile) && Boolean(node) && !primitive.product && primitive.algorithm !== ''
    && +primitive.bytes < +node.bytes_read;
}

function isCompiled(profile) { return profile.modelled && ['torch-compile', 'tensorrt', 'openvino'].includes(profile.measure.runtime); }
function fusedNote(profile) {
  return isCompiled(profile) ? ' Fused nodes share the time of their kernel: tensors between them stay out of memory, so a fused elementwise node takes little time of its own.' : '';
}

/* Returns a table row for each primitive; planned ones have no time. `calls` includes repeated runs of a node. */
function primitiveKernels(profile) {
  return profile.primitives.filter(primitive => inSelection(profile, primitive)).map(primitive => {
    const mean = primitive.median_ps;
    const total = isKnown(mean) ? d3.sum(primitive.nodes, index => +profile.nodes[index].latency_ps || 0) : null;
    return {name: primitive.primitive, state: primitive.state, algorithm: primitive.algorithm || primitive.state,
      isFused: isFused(profile, primitive), total_ps: total, mean_ps: mean,
      calls: mean > 0 ? Math.round(total / mean) : primitive.nodes.length,
      tensor_cores: primitive.tensor_cores, limited: primitive.limited === 'unknown' ? '' : primitive.limited};
  });
}

function kernelTitle(rows, total) {
  const planned = rows.filter(row => row.state === 'planned').length;
  if (!(total > 0)) return `${planned} of ${plural(rows.length, 'distinct kernel')} planned, none timed`;
  const first = rows.reduce((best, row) => (+row.total_ps || 0) > (+best.total_ps || 0) ? row : best, rows[0]);
  const ten = rows.map(row => +row.total_ps || 0).sort((a, b) => b - a).slice(0, 10);
  const top = rows.length > 10 ? `; ten of ${rows.length} take ${roughly(d3.sum(ten) / total)}` : '';
  return `The slowest of ${plural(rows.length, 'distinct kernel')} takes ${roughly(first.total_ps / total)} of the time in ${plural(first.calls, 'call')}${top}`;
}

function ratioField(key, heading) {
  return field(key, heading, {isNumber: true, draw: (cell, row) => cell.text(isKnown(row[key]) ? percent(row[key], 1) : '\u2013')});
}

function kernelColumns(profile, rows, total) {
  const has = key => rows.some(row => isKnown(row[key]) && row[key] !== '');
  return [
    field('name', profile.measure.kernels ? 'Kernel' : 'Work', {isName: true}),
    field('algorithm', 'Algorithm'), field('calls', 'Calls', {isNumber: true}),
    field('mean_ps', 'Mean', {unit: 'ps'}), field('total_ps', 'Total', {unit: 'ps'}),
    shareColumn(row => row.total_ps, total, row => row.limited ? `on-${row.limited}` : '', 'ps'),
    field('limited', 'Limited by'), field('tensor_cores', 'Tensor cores'),
    ratioField('occupancy', 'Occupancy'), ratioField('theoretical_occupancy', 'Theoretical occupancy'),
    ratioField('unit_efficiency', 'SM efficiency'),
  ].filter(each => has(each.key) || (each.key === 'share' && total > 0));
}

function drawKernels(parent, report) {
  const profile = report.profile;
  if (profile.primitives.length === 0) {
    addMissing(parent, 'No kernels', 'Kernels need times or cuDNN plans: model a device, measure on this machine, or plan without running.',
      'costmodel MODEL.onnx --device h200 --format html');
    return;
  }
  const isMeasured = Boolean(profile.measure.kernels);
  const isSplit = profile.primitives.some(primitive => (primitive.kernels || []).some(run => isKnown(run.share)));
  const splitNote = isSplit ? ' The time of a layer with several kernels is split in proportion to the times between events.' : '';
  const listed = isMeasured ? measuredKernels(profile) : primitiveKernels(profile);
  const sum = rows => d3.sum(rows, row => +row.total_ps || 0);
  const total = sum(listed);
  const all = listed.filter(row => !row.isFused);
  const fused = listed.filter(row => row.isFused);
  const rest = {name: `fused into other kernels: ${plural(d3.sum(fused, row => row.calls), 'node')}`, total_ps: sum(fused)};
  const rows = all.concat(fused.length ? [rest] : []).filter(row => matches(row.name));
  const section = addSection(parent, all.length ? kernelTitle(all, total) : 'No kernel in this module',
    isMeasured ? 'Kernels that ran, over one forward pass.' + splitNote
      : 'Distinct work, each listed once; calls count the layers that repeat it.' + fusedNote(profile));
  addSearch(add(section, 'div', {class: 'tools'}), 'Search kernels');
  addTable(section, 'Kernels', kernelColumns(profile, rows, total), rows, total > 0 ? 'total_ps:desc' : 'calls:desc');
}

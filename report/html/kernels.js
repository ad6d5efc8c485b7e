/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: measured kernels, planned algorithms, or modelled kernels. */

/* Returns the measured kernels of the primitives in the selected module. */
function measuredKernels(profile) {
  const module = selectedModule(profile) || profile.root;
  const shown = profile.primitives.filter(each => each.nodes.some(index => isInside(profile.nodes[index], module)));
  return profile.measure.kernels.filter(kernel => shown.some(primitive =>
    profile.primitives[kernel.primitive] === primitive
    || (primitive.kernels || []).some(run => run.name === kernel.name)));
}

function fusedNote(profile) {
  return profile.nodes.some(node => isKnown(node.kernel)) ? ' Fused nodes share the time of their kernel: tensors between them stay out of memory, so a fused elementwise node takes little time of its own.' : '';
}

/* Returns the kernels that run a node of the selected module, with the nodes fused into them. */
function distinctKernels(profile) {
  const module = selectedModule(profile);
  const rows = new Map();
  for (const primitive of profile.primitives) {
    if (primitive.nodes.length === 0 && !module) rows.set(primitive, {primitive, nodes: [], parts: []});
    for (const node of primitive.nodes.map(index => profile.nodes[index])) {
      const parts = [node].concat(node.fused);
      const isFused = (profile.nodes[node.kernel] || {}).primitive;
      if (isFused || module && !parts.some(part => isInside(part, module))) continue;
      const key = parts.map(part => part.primitive ? part.primitive.nodes[0] : part.op).join();
      if (!rows.has(key)) rows.set(key, {primitive, nodes: [], parts});
      rows.get(key).nodes.push(node);
    }
  }
  const sum = nodes => d3.sum(nodes, node => +node.latency_ps || 0);
  const work = (parts, key) => d3.sum(parts, part => part.primitive ? +part.primitive[key] : 0);
  return [...rows.values()].map(({primitive, nodes, parts}) => {
    const mean = primitive.median_ps;
    const total = isKnown(mean) ? sum(nodes) + d3.sum(nodes, node => sum(node.fused)) : null;
    const calls = mean > 0 ? Math.round(sum(nodes) / mean) : nodes.length;
    const {limited} = parts.reduce((best, part) => best.latency_ps > part.latency_ps ? best : part, primitive);
    return {name: [primitive.primitive].concat(parts.slice(1).map(part => part.op)).join(' + '), primitive, nodes, calls, total_ps: total, mean_ps: total > 0 && calls > 0 ? total / calls : mean,
      flops: work(parts, 'flops'), bytes: work(parts, 'bytes'), state: primitive.state, algorithm: primitive.algorithm || primitive.state,
      tensor_cores: primitive.tensor_cores, limited: limited === 'unknown' ? '' : limited};
  });
}

function kernelTitle(rows, total, where) {
  const planned = rows.filter(row => row.state === 'planned').length;
  if (!(total > 0)) return `${planned} of ${plural(rows.length, 'distinct kernel')} planned, none timed`;
  const first = rows.reduce((best, row) => (+row.total_ps || 0) > (+best.total_ps || 0) ? row : best, rows[0]);
  const ten = rows.map(row => +row.total_ps || 0).sort((a, b) => b - a).slice(0, 10);
  const top = rows.length > 10 ? `; ten of ${rows.length} take ${roughly(d3.sum(ten) / total)}` : '';
  return `The slowest of ${plural(rows.length, 'distinct kernel')} takes ${roughly(first.total_ps / total)} of the time${where} in ${plural(first.calls, 'call')}${top}`;
}

/* Returns what the drawer shows for a row: "kernel:12". */
function kernelOf(profile, row) {
  return isKnown(row.primitive) ? row.primitive.nodes ? openKernel(profile, row.primitive) : `kernel:${row.primitive}` : '';
}

function ratioField(key, heading) {
  return field(key, heading, {isNumber: true, draw: (cell, row) => cell.text(isKnown(row[key]) ? percent(row[key], 1) : '\u2013')});
}

function kernelColumns(profile, rows, total) {
  const has = key => rows.some(row => isKnown(row[key]) && row[key] !== '');
  return [
    field('name', profile.measure.kernels ? 'Kernel' : 'Work', {isName: true, open: row => kernelOf(profile, row)}),
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
  const all = isMeasured ? measuredKernels(profile) : distinctKernels(profile);
  const total = +profile.totals.latency_ps || 0;
  const rows = all.filter(row => matches(row.name));
  const section = addSection(parent, all.length ? kernelTitle(all, total, selectedModule(profile) ? ' of the model' : '') : 'No kernel in this module',
    isMeasured ? 'Kernels that ran, over one forward pass.' + splitNote
      : 'Distinct kernels, each listed once; calls count the layers that repeat it; \u201c+\u201d lists fused nodes.' + fusedNote(profile)
        + (profile.hostTime > 0 ? ` For ${short(profile.hostTime, 'ps')} no kernel runs: the device waits for the host.` : ''));
  addSearch(add(section, 'div', {class: 'tools'}), 'Search kernels');
  addTable(section, 'Kernels', kernelColumns(profile, rows, total), rows, total > 0 ? 'total_ps:desc' : 'calls:desc');
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Operators by type, or by type and shape: sortable, searchable. */

/* Returns the shape of each value by name, as far as the profile lists values. */
function valueShapes(profile) {
  if (profile.shapes) return profile.shapes;
  profile.shapes = new Map();
  for (const value of profile.model.inputs) profile.shapes.set(value.name, value.shape);
  for (const node of profile.nodes) for (const value of node.outputs) profile.shapes.set(value.name, value.shape);
  return profile.shapes;
}

/* Returns "32x64x56x56 -> 32x256x56x56": the first operand with a known shape and the output. */
function nodeShapes(profile, node) {
  const shapes = valueShapes(profile);
  const input = node.inputs.find(name => shapes.has(name));
  const output = node.outputs.length ? shapeText(node.outputs[0].shape) : '';
  return `${input === undefined ? '' : shapeText(shapes.get(input))} \u2192 ${output}`;
}

const summedKeys = ['latency_ps', 'macs', 'flops', 'bytes_read', 'bytes_written'];

/* Returns sums by operator (and shape) of the nodes in the selected module. A figure that no node has is unknown. */
function operatorRows(profile, byShape) {
  const module = selectedModule(profile);
  const rows = new Map();
  for (const node of profile.nodes) {
    if (module && !isInside(node, module)) continue;
    const shape = byShape ? nodeShapes(profile, node) : '';
    const key = `${node.kind} ${shape}`;
    if (!rows.has(key)) rows.set(key, {kind: node.kind, shape, nodes: 0, products: 0, used: 0});
    const row = rows.get(key);
    row.nodes++;
    row.products += node.primitive && (node.primitive.product || node.cores !== '') ? 1 : 0;
    row.used += node.cores === 'used' ? 1 : 0;
    for (const each of summedKeys) if (isKnown(node[each])) row[each] = (row[each] || 0) + +node[each];
    addBounds(row, node);
    if (!isKnown(node.latency_ps)) row.partial.push('latency_ps');
  }
  return [...rows.values()];
}

function intensity(row) {
  const bytes = (+row.bytes_read || 0) + (+row.bytes_written || 0);
  return bytes > 0 && isKnown(row.flops) ? row.flops / bytes : null;
}

function coresText(row) {
  if (row.products === 0) return 'not eligible';
  if (row.used === row.products) return 'used';
  return row.used === 0 ? 'eligible, not used' : `${row.used} of ${row.products} use them`;
}

function operatorColumns(profile, byShape) {
  const macs = field('macs', 'MACs', {unit: 'macs'});
  const first = profile.timed ? field('latency_ps', profile.timeName, {unit: 'ps'}) : macs;
  const columns = [field('kind', 'Operator', {isName: true})];
  if (byShape) columns.push(field('shape', 'First input \u2192 output'));
  columns.push(field('nodes', 'Nodes', {isNumber: true}), first,
    shareColumn(first.value, operatorTotal(profile, first.key), row => profile.kindColour.get(row.kind), first.unit));
  if (profile.timed) columns.push(macs);
  columns.push(field('flops', 'FLOPs', {unit: 'flops'}),
    field('bytes', `Bytes moved${inPrecision(profile)}`, {unit: 'bytes', value: row => (row.bytes_read || 0) + (row.bytes_written || 0)}),
    field('intensity', 'FLOP/byte before fusion', {isNumber: true, value: intensity,
      draw: (cell, row) => cell.text(isKnown(intensity(row)) ? intensity(row).toFixed(2) : '\u2013')}));
  if (profile.primitives.length > 0 && (profile.measure || {}).has_tensor_cores)
    columns.push(field('cores', 'Tensor cores', {value: coresText}));
  return columns;
}

/* Returns the total of the model or of the selected module, which includes the waits for the host. */
function operatorTotal(profile, key) { return +(selectedModule(profile) || profile.totals)[key]; }

function operatorTitle(profile, rows, key) {
  const total = operatorTotal(profile, key);
  const first = rows.reduce((best, row) => (row[key] || 0) > (best[key] || 0) ? row : best, rows[0] || {});
  const noun = key === 'latency_ps' ? `${profile.timeWord} time` : 'MACs';
  const where = selectedModule(profile) ? ' of the module' : '';
  return total > 0 ? `${first.kind} takes ${roughly(first[key] / total)} of the ${noun}${where} in ${plural(first.nodes, 'node')}` : 'Operators';
}

function drawOperators(parent, report) {
  const profile = report.profile;
  const byShape = state.group === 'shape';
  const rows = operatorRows(profile, byShape);
  const key = profile.timed ? 'latency_ps' : 'macs';
  const section = addSection(parent, operatorTitle(profile, rows, key),
    'Sums over the nodes of each operator, which read and write memory as if no node were fused. Select a heading to sort.' + (profile.timed ? fusedNote(profile) : ''));
  const tools = add(section, 'div', {class: 'tools'});
  addSwitch(tools, 'group', 'Group by', [{key: 'type', label: 'type'}, {key: 'shape', label: 'type and shape'}],
    byShape ? 'shape' : 'type', group => setState({group: group === 'type' ? '' : group}, true));
  addSearch(tools, 'Search operators');
  addTable(section, `Operators by ${byShape ? 'type and shape' : 'type'}`, operatorColumns(profile, byShape),
    rows.filter(row => matches(`${row.kind} ${row.shape}`)), `${key}:desc`);
}

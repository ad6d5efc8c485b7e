/* SPDX-License-Identifier: Apache-2.0 */
/* Modules: zoomable icicle, tree table, and DeepSpeed's profile by depth. */

const maxColumns = 5; /* depths that the icicle shows at once */
const minExtent = 3; /* minimum height of a box, px */
const screenRows = 32; /* maximum rows of the tree at first */

/* Returns the selected module; null: the whole model. */
function selectedModule(profile) {
  const module = state.module === '' ? null : profile.byPath.get(state.module);
  return module && module !== profile.root ? module : null;
}

/* Returns the metric of state.metric, else the first one. */
function currentMetric(profile) {
  return profile.metrics.find(metric => metric.key === state.metric) || profile.metrics[0];
}

/*
 * Returns boxes {module, x, y, width, height} of a module and the modules below it. Children are right of their parent;
 * the height of a box is the module's share of its parent. Children whose sum exceeds their parent (shared parameters)
 * are scaled down; boxes smaller than minExtent are omitted. The first column has one box and is half as wide.
 */
function icicleBoxes(profile, top, key, width, height) {
  const below = d3.max(d3.range(top.first, top.end), i => profile.preorder[i].depth) - top.depth;
  const column = width / (Math.min(maxColumns, Math.max(2, Math.floor(width / 100)), 1 + below) - 0.5);
  const boxes = [];
  const pending = [{module: top, x: 0, y: 0, width: column / 2, height}];
  while (pending.length) {
    const box = pending.pop();
    boxes.push(box);
    const children = box.module.children.map(i => profile.modules[i]);
    const whole = Math.max(+box.module[key] || 0, d3.sum(children, child => +child[key] || 0));
    const x = box.x + box.width;
    if (x + column > width + 1 || !(whole > 0)) continue;
    let y = box.y;
    for (const child of children) {
      const extent = box.height * (+child[key] || 0) / whole;
      if (extent >= minExtent) pending.push({module: child, x, y, width: column, height: extent});
      y += extent;
    }
  }
  return boxes;
}

/* Returns the colour of a module: by its limiting resource if it has no children, else light. */
function moduleColour(profile, module) {
  if (module.children.length > 0) return 'on-none';
  return profile.timed ? `on-${limitedBy(module)}` : 'on-leaf';
}

/* Returns the module that an arrow key leads to. */
function neighbour(profile, module, key) {
  if (key === 'ArrowRight') return profile.modules[module.children[0]];
  const parent = isKnown(module.parent) ? profile.modules[module.parent] : null;
  if (key === 'ArrowLeft' || !parent) return parent;
  return profile.modules[parent.children[parent.children.indexOf(module.index) + (key === 'ArrowDown' ? 1 : -1)]];
}

function drawIcicle(parent, profile, metric, options) {
  const selected = profile.byPath.get(options.path) || profile.root;
  const top = selected.children.length > 0 || !isKnown(selected.parent) ? selected : profile.modules[selected.parent];
  const width = widthOf(parent);
  const total = +top[metric.key];
  const svg = addChart(parent, width, options.height, `${options.label}: ${metric.label} by module`);
  const boxes = icicleBoxes(profile, top, metric.key, width, options.height);
  const cells = svg.selectAll('g').data(boxes).join('g').attr('transform', box => `translate(${box.x},${box.y})`)
    .attr('class', box => box.module === selected && selected !== profile.root ? 'cell selected' : 'cell');
  const colour = box => options.colour ? options.colour(box.module) : moduleColour(profile, box.module);
  add(cells, 'rect', {class: box => `box ${colour(box)}`, width: box => box.width - 1,
    height: box => box.height > 4 ? box.height - 1 : box.height});
  if (profile.timed && !options.colour)
    cells.filter(box => box.module.children.length > 0 && box.height > 4).append('rect')
      .attr('class', box => `strip on-${limitedBy(box.module)}`).attr('width', 4).attr('height', box => box.height - 1);
  const label = box => `${box.module.path === '' ? '(root)' : box.module === top ? box.module.path : displayName(profile, box.module)}`;
  const room = box => Math.floor((box.width - 12) / charWidth);
  cells.filter(box => box.height >= 12).append('text').attr('class', box => `on ${colour(box)}`).attr('x', 8)
    .attr('y', box => Math.min(16, box.height / 2 + 4.5))
    .text(box => {
      const share = roughly((+box.module[metric.key] || 0) / total);
      const name = fit(label(box), room(box) - share.length - 1);
      return name === '' && share.length > room(box) ? '' : `${name} ${share}`;
    });
  cells.filter(box => box.height >= 34).append('text').attr('class', box => `on ${colour(box)} second`).attr('x', 8).attr('y', 31)
    .text(box => {
      const value = short(box.module[metric.key], metric.unit);
      const named = `${value}  ${box.module.class_known === false ? '' : box.module.class}`;
      return named.length <= room(box) ? named : value.length <= room(box) + 1 ? value : '';
    });
  addTip(cells, box => [moduleName(box.module),
    `${box.module.class}${box.module.arguments ? `(${fit(box.module.arguments, 70)})` : ''}`]
    .concat(profile.metrics.map(each => `${each.label}: ${short(box.module[each.key], each.unit)} (${percent(box.module[each.key], profile.totals[each.key], each.unit)})`))
    .concat(profile.timed ? [`limited by ${limitedBy(box.module)}`] : []));
  cells.each(function button(box) {
    addAction(d3.select(this), `${moduleName(box.module)}: ${short(box.module[metric.key], metric.unit)}, ${percent(box.module[metric.key], total, metric.unit)}`,
      `${options.prefix || 'box'}-${box.module.index}`, () =>
        setState({module: box.module === top && isKnown(top.parent) ? profile.modules[top.parent].path
          : box.module.path}, true));
  });
  addArrows(cells, (box, key) => {
    const next = neighbour(profile, box.module, key);
    return next ? `${options.prefix || 'box'}-${next.index}` : null;
  });
}

function addBreadcrumb(parent, profile) {
  const trail = [];
  for (let module = selectedModule(profile); module; module = profile.modules[module.parent]) trail.unshift(module);
  const line = add(parent, 'nav', {class: 'trail', 'aria-label': 'Path of the selected module'});
  trail.forEach((module, i) => {
    if (i > 0) line.append('span').text(' \u203a ');
    if (i + 1 < trail.length) addButton(line, `path-${module.path}`, module.path === '' ? '(root)' : fit(module.name, maxName), () => setState({module: module.path}, true)).attr('class', 'link');
    else line.append('strong').text(fit(module.name, maxName));
  });
}

/* Maps modules that the user opened or closed to whether they are open; all others are open down to a depth. */
const toggled = new Map();

function isOpen(module, top, depth) {
  return toggled.has(module) ? toggled.get(module) : module === top || module.depth < depth;
}

/* Returns a depth: modules of smaller depth are open at first. Opens as many levels as fit into screenRows. */
function openDepth(profile, top) {
  const counts = [];
  for (let i = top.first; i < top.end; i++) {
    const depth = profile.preorder[i].depth;
    counts[depth] = (counts[depth] || 0) + 1;
  }
  let depth = top.depth + 1;
  for (let n = counts[depth]; n + counts[depth + 1] <= screenRows; depth++) n += counts[depth + 1];
  return depth;
}

function treeRows(profile, top, depth) {
  const rows = [];
  const pending = [top];
  while (pending.length) {
    const module = pending.pop();
    rows.push(module);
    if (!isOpen(module, top, depth)) continue;
    for (let i = module.children.length; i-- > 0;) pending.push(profile.modules[module.children[i]]);
  }
  return rows;
}

function addTreeName(cell, profile, module, top, depth) {
  cell.style('padding-left', `${14 * (module.depth - top.depth) + (module.children.length > 0 ? 8 : 28)}px`);
  if (module.children.length > 0)
    addButton(cell, `open-${module.index}`, isOpen(module, top, depth) ? '\u25be' : '\u25b8', () => {
      toggled.set(module, !isOpen(module, top, depth));
      setState({});
    }).attr('class', 'twist').attr('aria-expanded', String(isOpen(module, top, depth)))
      .attr('aria-label', `${moduleName(module)}: modules below`);
  addModuleLink(cell, module.path, module.path === '' ? '(root)' : displayName(profile, module));
  if (module.class_known !== false) add(cell, 'span', {class: 'faint'}, ` ${module.class}`);
}

function drawTree(parent, profile, metric) {
  const top = selectedModule(profile) || profile.root;
  const depth = openDepth(profile, top);
  const total = top[metric.key];
  const columns = [
    field('path', 'Module', {isName: true, draw: (cell, module) => addTreeName(cell, profile, module, top, depth)}),
    field(metric.key, metric.label, {unit: metric.unit}),
    shareColumn(module => module[metric.key], total, null, metric.unit),
  ];
  if (isKnown(profile.root.peak_activation_bytes))
    columns.push(field('peak_activation_bytes', 'Peak of own tensors', {unit: 'bytes'}));
  addTable(parent, 'Module tree', columns, treeRows(profile, top, depth));
}

/* Returns the classes at a depth, each with the sums over its modules, as DeepSpeed's flops profiler lists them. */
function classesAt(profile, depth) {
  const rows = new Map();
  for (const module of profile.modules) {
    if (module.depth !== depth) continue;
    if (!rows.has(module.class))
      rows.set(module.class, {class: `${module.class_known === false ? 'named ' : ''}${module.class}`, modules: 0});
    const row = rows.get(module.class);
    row.modules++;
    addBounds(row, module);
    for (const {key} of profile.metrics) row[key] = Math.min(profile.totals[key], d3.sum([row[key], module[key]]));
  }
  return [...rows.values()];
}

/* Returns the depth at which modules of known classes hold the most of the first metric. */
function depthOfClasses(profile) {
  const sums = new Array(profile.depths + 1).fill(0);
  for (const module of profile.modules)
    if (module.class_known !== false) sums[module.depth] += +module[profile.metrics[0].key] || 0;
  return sums.indexOf(d3.max(sums));
}

function drawDepth(parent, profile) {
  const depth = state.depth === '' ? depthOfClasses(profile) : Math.min(+state.depth || 0, profile.depths);
  const section = addSection(parent, 'Profile by depth',
    'Modules of one class summed at each depth of the whole model, as DeepSpeed\'s flops profiler lists them.', 'h3');
  const line = add(section, 'p', {class: 'slider'});
  const label = line.append('label');
  const text = label.append('span');
  const body = add(section, 'div', {class: 'depths'});
  const fill = value => {
    text.text(`Depth ${value} of ${profile.depths} `);
    body.selectAll('*').remove();
    const rows = classesAt(profile, value);
    for (const metric of profile.metrics.filter(each => each.key !== 'flops')) {
      const most = rows.filter(row => row[metric.key] > 0).sort((a, b) => b[metric.key] - a[metric.key]).slice(0, 6);
      if (most.length === 0) continue;
      const table = body.append('table');
      table.append('caption').text(metric.label);
      for (const row of most) {
        const cells = table.append('tr');
        add(cells, 'th', {scope: 'row'}, row.modules > 1 ? `${row.modules} \u00d7 ${row.class}` : row.class);
        addNumber(cells, 'td', row[metric.key], metric.unit, prefixOf(row, metric.key)).attr('class', 'number');
        addShare(add(cells, 'td', {class: 'number'}), row[metric.key], profile.totals[metric.key], '', metric.unit);
      }
    }
  };
  add(label, 'input', {type: 'range', min: 0, max: profile.depths, step: 1, 'data-key': 'depth'})
    .property('value', depth).on('input', function slide() { fill(+this.value); })
    .on('change', function stay() { setState({depth: this.value}); });
  fill(depth);
}

function addMetricSwitch(parent, profile) {
  addSwitch(parent, 'metric', 'Metric', profile.metrics, currentMetric(profile).key, key => setState({metric: key}, true));
}

function addResourceLegend(parent, profile) {
  if (!profile.timed) return;
  const used = new Set(profile.modules.map(limitedBy));
  addLegend(parent, resources.concat('unknown').filter(each => used.has(each))
    .map(resource => [`on-${resource}`, resource === 'unknown' ? 'no time' : `limited by ${resource}`]));
}

function drawModules(parent, report) {
  const profile = report.profile;
  const metric = currentMetric(profile);
  const first = dominant(profile, metric.key);
  const total = short(profile.totals[metric.key], metric.unit);
  const noun = metric.unit === 'ps' ? `${profile.timeWord} time` : metric.noun;
  const module = selectedModule(profile);
  const title = module ? `${moduleName(module)} has ${percent(module[metric.key], profile.totals[metric.key], metric.unit)} of the ${noun} (${short(module[metric.key], metric.unit)})`
    : first ? `${sentence(first.text)} of the ${noun} (${total})` : `Modules by ${noun}`;
  const section = addSection(parent, title,
    `Height is the share of ${module ? 'the module' : 'the model'}, depth runs to the right. Select a module to zoom and to filter the other views.`);
  addMetricSwitch(section, profile);
  addBreadcrumb(section, profile);
  const columns = add(section, 'div', {class: 'columns wide'});
  const left = columns.append('div');
  const right = columns.append('div');
  drawIcicle(left, profile, metric, {path: state.module, height: 560, label: 'Icicle'});
  addResourceLegend(left, profile);
  drawTree(right, profile, metric);
  drawDepth(section, profile);
}

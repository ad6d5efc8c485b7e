/* SPDX-License-Identifier: Apache-2.0 */
/* Diff of two profiles: a waterfall of changes by module, two icicles, tables; verdicts of the regression gate. */

const maxSteps = 12; /* steps of the waterfall */

/* Returns the paths of the children of a module in either profile. */
function childPaths(report, path) {
  const paths = new Set();
  for (const profile of [report.profile, report.old]) {
    const module = profile.byPath.get(path);
    if (module) for (const i of module.children) paths.add(profile.modules[i].path);
  }
  return [...paths];
}

function changeOf(report, path, key) {
  return (+(report.profile.byPath.get(path) || {})[key] || 0) - (+(report.old.byPath.get(path) || {})[key] || 0);
}

/*
 * Returns {steps, cause}. steps: [{name, path, change}], largest first; their sum is the change of the model. A module
 * with more than openShare of this sum is replaced by its parts. cause: the last such module, else the first step.
 */
function changeSteps(report, key) {
  const total = changeOf(report, '', key);
  let steps = [{name: '(root)', path: '', change: total, isOpen: false}];
  let cause = null;
  for (;;) {
    const at = steps.findIndex(step => step.path !== null && (step.path === ''
      || Math.abs(step.change) > openShare * Math.abs(total)) && childPaths(report, step.path).length > 0);
    if (at < 0) break;
    const opened = steps[at];
    if (opened.path !== '') cause = opened;
    const parts = childPaths(report, opened.path).map(path => ({name: path, path, change: changeOf(report, path, key)}))
      .filter(step => step.change !== 0);
    const rest = opened.change - d3.sum(parts, step => step.change);
    if (rest !== 0) parts.push({name: opened.path === '' ? 'outside of modules' : `${opened.path} itself`, path: null,
      change: rest});
    steps = steps.slice(0, at).concat(parts, steps.slice(at + 1));
  }
  steps.sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
  const rest = d3.sum(steps.slice(maxSteps), step => step.change);
  if (steps.length > maxSteps) steps = steps.slice(0,
    maxSteps).concat([{name: `${steps.length - maxSteps} smaller changes`, path: null, change: rest}]);
  return {steps, cause: cause || steps.find(step => step.path !== null) || null};
}

function diffTitle(report, metric, cause) {
  const old = +report.old.totals[metric.key];
  const change = +report.profile.totals[metric.key] - old;
  if (change === 0) return `${metric.label}: no change (${short(old, metric.unit)})`;
  const isPlural = metric.label.endsWith('s');
  const verb = (change > 0 ? 'grow' : 'shrink') + (isPlural ? '' : 's');
  const where = cause && cause.change / change > 0.2 ? `; ${cause.path} accounts for ${roughly(cause.change / change)}` : '';
  return `${metric.label} ${verb} by ${old > 0 ? percent(Math.abs(change), old) : '?'} (${signed(change, metric.unit)})${where}`;
}

function drawWaterfall(parent, report, metric, steps) {
  const section = addSection(parent, `Change of ${metric.unit === 'ps' ? metric.label.toLowerCase() : metric.noun} by module`, '', 'h3');
  const width = widthOf(section);
  const labels = 190;
  const row = 26;
  let at = +report.old.totals[metric.key];
  const bars = [{name: 'old', from: 0, to: at, kind: 'total'}];
  for (const step of steps) {
    bars.push({name: step.name, path: step.path, from: at, to: at + step.change, change: step.change,
      kind: step.change > 0 ? 'grows' : 'shrinks'});
    at += step.change;
  }
  bars.push({name: 'new', from: 0, to: +report.profile.totals[metric.key], kind: 'total'});
  const low = 0.98 * d3.min(bars.filter(bar => bar.kind !== 'total'), bar => Math.min(bar.from, bar.to)) || 0;
  const base = low > 0.5 * at ? low : 0;
  const x = d3.scaleLinear().domain([base, d3.max(bars, bar => Math.max(bar.from, bar.to)) || 1])
    .range([labels, width - 130]);
  const svg = addChart(section, width, bars.length * row + 22, section.select('h3').text());
  bars.forEach((bar, i) => {
    const y = i * row + 2;
    const end = Math.max(x(Math.max(base, bar.from)), x(Math.max(base, bar.to)));
    add(svg, 'text', {x: labels - 8, y: y + 16, 'text-anchor': 'end'}, fit(bar.name, 27));
    add(svg, 'rect', {class: `step ${bar.kind}`, y, height: row - 5, x: Math.min(x(Math.max(base, bar.from)),
      x(Math.max(base, bar.to))), width: Math.max(1, Math.abs(x(bar.to) - x(Math.max(base, bar.from))))});
    add(svg, 'text', {x: end + 6, y: y + 16, class: bar.kind === 'total' ? 'strong' : ''},
      bar.kind === 'total' ? short(bar.to, metric.unit) : signed(bar.change, metric.unit));
  });
  add(svg, 'text', {class: 'faint', x: labels, y: bars.length * row + 16},
    base > 0 ? `the axis starts at ${short(base, metric.unit)}` : '');
}

/* Returns a function that returns the colour of a module by the sign of its change. */
function changeColour(report, key) {
  return module => {
    const old = report.old.byPath.get(module.path);
    const now = report.profile.byPath.get(module.path);
    const change = (+(now || {})[key] || 0) - (+(old || {})[key] || 0);
    if (change === 0) return 'on-none';
    return change > 0 ? 'on-grows' : 'on-shrinks';
  };
}

function drawTwoIcicles(parent, report, metric) {
  const columns = add(parent, 'div', {class: 'columns wide'});
  for (const side of [['Old', report.old, 'old'], ['New', report.profile, 'new']]) {
    const half = addSection(columns, `${side[0]}: ${fileName(side[1].model.path)}, ${short(side[1].totals[metric.key], metric.unit)}`, '', 'h3');
    drawIcicle(half, side[1], metric, {path: state.module, height: 360, label: side[0], prefix: side[2],
      colour: changeColour(report, metric.key)});
  }
  addLegend(parent, [['on-grows', 'larger or added'], ['on-shrinks', 'smaller or removed'], ['on-none', 'unchanged']]);
}

/* Returns the columns old, new and change; figures(row) returns an object with these keys. */
function changeColumns(figures, unit) {
  return [['old', 'Old'], ['new', 'New'], ['change', 'Change']].map(each =>
    field(each[0], each[1], {unit, isChange: each[0] === 'change', value: row => figures(row)[each[0]]}));
}

/* Returns change / old of a row: "+8.05%". */
function relative(row) {
  if (!isKnown(row.change) || !(row.old > 0)) return '\u2013';
  return (row.change < 0 ? '-' : row.change > 0 ? '+' : '') + percent(Math.abs(row.change), row.old);
}

function unitOf(key) {
  const units = {nodes: 'count', params: 'elements', buffers: 'elements', macs: 'macs', flops: 'flops',
    int_macs: 'macs', int_ops: 'flops'};
  return units[key] || (key.endsWith('_ps') ? 'ps' : 'bytes');
}

function drawDiffTables(parent, report, metric) {
  const totals = report.diff.totals;
  const name = key => key === 'latency_ps' ? report.profile.timeName.toLowerCase() : key.replace(/_ps$/, '').replace(/_/g, ' ');
  addTable(addSection(parent, 'Totals', '', 'h3'), 'Totals of both models', [
    field('name', 'Figure', {isName: true}), ...changeColumns(row => row, row => unitOf(row.key)),
    field('relative', 'Relative', {isNumber: true, value: relative}),
  ], Object.keys(totals).map(key => Object.assign({key, name: name(key)}, totals[key])));
  const section = addSection(parent, `${plural(report.diff.modules.length, 'module')} changed`, '', 'h3');
  addSearch(add(section, 'div', {class: 'tools'}), 'Search changed modules');
  addTable(section, 'Changed modules', [
    field('path', 'Module', {isName: true, draw: (cell, row) => addModuleLink(cell, row.path)}),
    field('status', 'Status'), ...changeColumns(row => row.metrics[metric.key] || {}, metric.unit),
    field('arguments', 'Arguments', {value: row =>
      row.old_arguments === undefined ? '' : `${row.old_arguments} \u2192 ${row.arguments}`}),
  ], report.diff.modules.filter(row => matches(row.path)), 'change:desc');
}

const verdictText = {pass: 'passes', regression: 'REGRESSION', ambiguous: 'ambiguous', 'not-compared': 'not compared'};

function drawVerdicts(parent, check) {
  const bad = check.cases.filter(row => row.state !== 'pass');
  const section = addSection(parent, check.state === 'pass' ? `All ${check.cases.length} limits hold`
    : `${bad.length} of ${plural(check.cases.length, 'limit')} ${bad.length === 1 ? 'does' : 'do'} not hold`,
    check.baseline ? `Compared with the baseline of ${check.baseline}.` : '');
  const unit = row => ({MACs: 'macs', ps: 'ps', bytes: 'bytes', elements: 'elements', flops: 'flops'})[row.unit];
  const worst = row => row.findings[0] || {};
  const number = (key, label) => field(key, label, {unit,
    value: row => isKnown(worst(row)[key]) ? worst(row)[key] : undefined});
  addTable(section, 'Limits', [
    field('state', 'Verdict', {isName: true, draw: (cell, row) =>
      add(cell, 'span', {class: `verdict ${row.state}`}, verdictText[row.state] || row.state)}),
    field('limit', 'Limit'), field('batch', 'Batch', {isNumber: true}),
    field('module', 'Worst module', {value: row => worst(row).path || '(root)'}),
    number('old', 'Baseline'), number('new', 'New'), number('allowed', 'Allowed'), number('over', 'Excess'),
    field('blame', 'Caused by', {draw: (cell, row) => (row.blame || []).forEach((blame, i) => {
      if (i > 0) cell.append('span').text(', ');
      addModuleLink(cell, blame.path);
      cell.append('span').text(` ${signed(blame.by, unit(row))}`);
    })}),
  ], check.cases);
  if (check.accept) section.append('p').text('Accept the changes with ').append('code').text(check.accept);
}

function drawDiff(parent, report) {
  if (report.check) drawVerdicts(parent, report.check);
  if (!report.old || !report.diff) return;
  const metric = currentMetric(report.profile);
  const {steps, cause} = changeSteps(report, metric.key);
  const section = addSection(parent, diffTitle(report, metric, cause),
    `From ${fileName(report.old.model.path)} to ${fileName(report.profile.model.path)}.`);
  for (const condition of report.diff.conditions) add(section, 'p', {class: 'subtitle'},
    typeof condition === 'string' ? condition : Object.values(condition).join(' '));
  addMetricSwitch(section, report.profile);
  drawWaterfall(section, report, metric, steps);
  drawTwoIcicles(section, report, metric);
  drawDiffTables(section, report, metric);
}

views.unshift({key: 'diff', label: 'Changes', draw: drawDiff, isWhole: true, isFor: report => report.diff || report.check});

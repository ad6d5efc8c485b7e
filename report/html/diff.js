/* SPDX-License-Identifier: Apache-2.0 */
/* Diff of two profiles: two icicles and tables, below the first screen (review.js); verdicts of the regression gate. */

/* Returns a function that returns the colour of a module; others: the modules of the other side, by module. */
function changeColour(key, others, sign) {
  return module => {
    const change = sign * ((+module[key] || 0) - (+(others.get(module) || {})[key] || 0));
    return change === 0 ? 'on-none' : change > 0 ? 'on-grows' : 'on-shrinks';
  };
}

function drawTwoIcicles(parent, report, metric) {
  const columns = add(parent, 'div', {class: 'columns wide'});
  const {was, now} = pairModules(report);
  for (const side of [['Old', report.old, 'old', now, -1], ['New', report.profile, 'new', was, 1]]) {
    const half = addSection(columns, `${side[0]}: ${fileName(side[1].model.path)}, ${short(side[1].totals[metric.key], metric.unit)}`, '', 'h3');
    drawIcicle(half, side[1], metric, {path: state.module, height: 360, label: side[0], prefix: side[2],
      colour: changeColour(metric.key, side[3], side[4])});
  }
  addLegend(parent, [['on-grows', 'larger or added'], ['on-shrinks', 'smaller or removed'], ['on-none', 'unchanged']]);
}

/* Returns the columns old, new and change; figures(row) returns an object with these keys. */
function changeColumns(figures, unit) {
  return [['old', 'Old'], ['new', 'New'], ['change', 'Change']].map(each =>
    field(each[0], each[1], {unit, isChange: each[0] === 'change', value: row => figures(row)[each[0]]}));
}

function drawDiffTables(parent, report, metric) {
  const totals = report.diff.totals;
  addTable(addSection(parent, 'Totals', '', 'h3'), 'Totals of both models', [
    field('name', 'Figure', {isName: true}), ...changeColumns(row => row, row => unitOf(row.key)),
    field('relative', 'Relative', {isNumber: true, value: row => relativeText(row.old, row.new)}),
  ], Object.keys(totals).map(key => Object.assign({key, name: figureName(report, key)}, totals[key])));
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
  const counts = [[check.regressions, 'exceeded'], [check.ambiguous, 'ambiguous'], [check.not_compared, 'not compared'],
    [check.passed, 'not exceeded']].filter(count => count[0] > 0).map(count => count.join(' '));
  const section = addSection(parent, `${plural(check.cases.length, 'limit')}: ${counts.join(', ')}`,
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
  ].concat(check.cases.some(row => worst(row).because) ? [field('because', 'Reason', {value: row => worst(row).because})] : []),
  check.cases);
  if (check.accept) section.append('p').text('Accept the changes with ').append('code').text(check.accept);
}

function drawDiff(parent, report) {
  const figure = drawReview(parent, report);
  if (report.check) drawVerdicts(parent, report.check);
  if (!report.old || !report.diff || !figure) return;
  const metric = {key: figure.key, unit: figure.unit, label: figure.name};
  drawTwoIcicles(addSection(parent, `${figure.name} of both models`), report, metric);
  drawDiffTables(parent, report, metric);
}

views.unshift({key: 'diff', label: 'Changes', guide: 'what-made-it-slower', draw: drawDiff, isWhole: true, isFor: report => report.diff || report.check});

/* SPDX-License-Identifier: Apache-2.0 */
/* The first screen of a diff or check: the verdict, each figure before and after, and the modules that changed it. */

const maxSteps = 8; /* steps of a waterfall */
const figureNames = {params: 'Parameters', macs: 'MACs', flops: 'FLOPs', weight_bytes: 'Weights',
  peak_activation_bytes: 'Peak activations', latency_ps: '', 'training.iteration_ps': 'Training step',
  device_memory: 'Device memory'}; /* the figures of every comparison, in this order */
/* Figures that modules do not add up to. */
const notSums = /^(peak_.*|arena_.*|required_bytes|device_memory.*|nodes|.*\..*)$/;
/* Positional arguments of classes, by the beginning of their name. */
const argumentNames = {Conv: ['in channels', 'out channels'], Linear: ['in features', 'out features'],
  BatchNorm: ['channels'], LayerNorm: ['features'], Embedding: ['rows', 'columns']};
const verdictMarks = {regression: '\u2717', pass: '\u2713', undecided: '?', neutral: '\u0394'};

function unitOf(key) {
  if (/(params|buffers)$/.test(key)) return 'elements';
  if (key === 'nodes') return 'count';
  const suffix = /(macs|flops|ops|ps)$/.exec(key);
  return suffix ? suffix[0].replace(/^ops$/, 'flops') : 'bytes';
}

function figureName(report, key) {
  if (key === 'latency_ps') return report.profile ? report.profile.timeName : 'Time';
  const text = figureNames[key] || key.replace(/_ps$/, '').replace(/[._]/g, ' ').replace(/^kv /, 'KV ');
  return text[0].toUpperCase() + text.slice(1);
}

/* Returns a verb that agrees with the name of a figure: "MACs grow", "Training step grows". */
function agree(name, verb) {
  return `${name} ${verb}${/s\b/.test(name) ? '' : 's'}`;
}

/* Returns "+8.05%"; "new" if the old value is 0; "=" without a change. */
function relativeText(old, now) {
  if (!isKnown(old) || !isKnown(now)) return '\u2013';
  if (+old === +now) return '=';
  const share = percent(Math.abs(now - old), old);
  return +old === 0 ? 'new' : share.startsWith('<') ? share : `${now < old ? '-' : '+'}${share}`;
}

/* Returns the batch of the profile; null: none. */
function firstBatch(report) { return (report.profile ? report.profile.options.batch : null) ?? null; }

function batchText(batch) { return isKnown(batch) ? ` at batch ${batch}` : ''; }

/*
 * Returns the figures {key, name, unit, old, now, allowed, state} of a batch: those of figureNames, which are known for
 * the first batch, and those with a limit for the whole model. allowed: the smallest limit; undefined without one.
 */
function reviewFigures(report, batch) {
  const totals = report.diff && batch === firstBatch(report) ? report.diff.totals : {};
  const rows = new Map(Object.keys(figureNames).filter(key => totals[key]).map(key => [key,
    {key, name: figureName(report, key), unit: unitOf(key), old: totals[key].old, now: totals[key].new}]));
  for (const each of report.check ? report.check.cases : []) {
    const found = each.findings[0];
    if (!found || found.path !== '' || !isKnown(found.allowed) || (each.batch ?? null) !== batch) continue;
    const row = rows.get(each.metric) || {key: each.metric, name: figureName(report, each.metric),
      unit: unitOf(each.metric), old: found.old, now: found.new};
    if (!(row.allowed <= found.allowed)) Object.assign(row, {allowed: found.allowed, state: each.state});
    rows.set(each.metric, row);
  }
  return [...rows.values()].filter(row => isKnown(row.now));
}

/* Returns the arguments of "256, bias=False" as a map of position or name to value. */
function splitArguments(text) {
  const parts = (text || '').match(/(?:\([^()]*\)|\[[^[\]]*\]|[^,])+/g) || [];
  return new Map(parts.map((part, i) => {
    const named = /^\s*([A-Za-z_]\w*)=(.*)$/.exec(part);
    return named ? [named[1], named[2].trim()] : [i, part.trim().replace(/^\((\w+),\)$/, '$1')];
  }));
}

/* Returns the words that differ between two texts of arguments: "256 \u2192 320 out channels, bias=False added". */
function differingArguments(before, after, type) {
  const old = splitArguments(before);
  const now = splitArguments(after);
  const names = argumentNames[Object.keys(argumentNames).find(each => type.startsWith(each))] || [];
  const words = [...new Set([...old.keys(), ...now.keys()])].filter(key => old.get(key) !== now.get(key)).map(key => {
    const name = typeof key === 'number' ? names[key] || '' : key;
    const assigned = value => typeof key === 'number' ? value : `${key}=${value}`;
    if (!now.has(key)) return `${assigned(old.get(key))} removed`;
    if (!old.has(key)) return `${assigned(now.get(key))} added`;
    const change = `${old.get(key)} \u2192 ${now.get(key)}`;
    const isSize = typeof key === 'number' || /^(in|out|num)_/.test(key);
    return isSize ? `${change} ${name.replace(/_/g, ' ')}`.trim() : `${name} ${change}`;
  });
  const both = words.find(word => / in /.test(word) && words.includes(word.replace(' in ', ' out ')));
  return words.filter(word => !both || word !== both.replace(' in ', ' out '))
    .map(word => word === both ? word.replace(' in ', ' ') : word).join(', ');
}

/* Returns {was: new to old modules, now: old to new ones, lost: old ones without a match}; caches for changeSteps. */
function pairModules(report) {
  if (report.pairs) return report.pairs;
  const renamed = new Map(report.diff.modules.filter(row => row.old_path !== undefined)
    .map(row => [row.path, row.old_path]));
  const added = new Set(report.diff.modules.filter(row => row.status === 'added').map(row => row.path));
  const taken = new Set(renamed.values());
  const was = new Map();
  for (const module of report.profile.modules) {
    const around = isKnown(module.parent) ? report.profile.modules[module.parent] : null;
    const moved = was.has(around) ? was.get(around).path + module.path.slice(around.path.length) : module.path;
    const isFree = path => report.old.byPath.has(path) && !taken.has(path) && !added.has(module.path);
    const path = renamed.has(module.path) ? renamed.get(module.path) : [moved, module.path].find(isFree);
    if (!report.old.byPath.has(path)) continue;
    taken.add(path);
    was.set(module, report.old.byPath.get(path));
  }
  const now = new Map([...was].map(pair => [pair[1], pair[0]]));
  const lost = report.old.modules.filter(module => !now.has(module));
  report.pairs = {was, now, lost, texts: new Map(), steps: new Map()};
  return report.pairs;
}

/* Returns the number of nodes directly in a module, by operator. */
function operatorsOf(profile, module) {
  if (!profile.operatorCounts) {
    profile.operatorCounts = new Map(profile.modules.map(each => [each, new Map()]));
    for (const {owner, kind} of profile.nodes) {
      const counts = profile.operatorCounts.get(owner);
      counts.set(kind, (counts.get(kind) || 0) + 1);
    }
  }
  return profile.operatorCounts.get(module);
}

/* Returns what differs between two versions of a module: "256 \u2192 320 channels". */
function changeText(report, was, now) {
  if (was.class_known && now.class_known && was.class !== now.class) return `${was.class} \u2192 ${now.class}`;
  const words = differingArguments(was.arguments, now.arguments, now.class);
  if (words !== '') return words;
  const before = operatorsOf(report.old, was);
  const after = operatorsOf(report.profile, now);
  const fewer = (counts, other) => [...counts.keys()].filter(kind => counts.get(kind) > (other.get(kind) || 0));
  const gone = fewer(before, after);
  const fresh = fewer(after, before);
  if (report.old.nodes.length > 0 && gone.length + fresh.length > 0)
    return gone.length === 0 ? `${fresh.join(', ')} added` : fresh.length === 0 ? `${gone.join(', ')} removed`
      : `${gone.join(', ')} \u2192 ${fresh.join(', ')}`;
  const shape = module => (module.outputs || []).length > 0 ? shapeText(module.outputs[0].shape) : '';
  return shape(was) === '' || shape(was) === shape(now) ? '' : `output ${shape(was)} \u2192 ${shape(now)}`;
}

/*
 * Returns the steps {name, text, change, modules} from the old to the new total, largest first. A step is the change of
 * modules without their children, so that the steps add up; an added or removed module counts with its children.
 * Alike modules ("layer3.*.conv2") are one step.
 */
function changeSteps(report, key) {
  const {was, lost, texts, steps: known} = pairModules(report);
  if (known.has(key)) return known.get(key);
  const own = (profile, module) => (+module[key] || 0) - d3.sum(module.children, i => +profile.modules[i][key] || 0);
  const groups = new Map();
  const put = (module, text, change) => {
    const parts = module.path.split('.').map((part, i, all) => i + 1 < all.length ? part.replace(/\d+/g, '*')
      : part.replace(/^\d+$/, '*'));
    const id = [parts.join('.'), module.class_known ? module.class : '', text].join(' ');
    const group = groups.get(id) || {modules: [], text, change: 0};
    group.change += change;
    groups.set(id, group);
    group.modules.push(module);
  };
  for (const module of report.profile.modules) {
    const before = was.get(module);
    const change = before ? own(report.profile, module) - own(report.old, before) : 0;
    if (change === 0) continue;
    if (!texts.has(module)) texts.set(module, changeText(report, before, module));
    put(module, texts.get(module), change);
  }
  const putTrees = (profile, modules, text, sign) => {
    const sums = new Map(); /* module without a match, to the outermost one around it */
    for (const module of modules) {
      const top = (isKnown(module.parent) && sums.get(profile.modules[module.parent])) || {module, change: 0, n: 0};
      top.change += sign * own(profile, module);
      top.n++;
      sums.set(module, top);
    }
    for (const top of new Set(sums.values()))
      if (top.change !== 0) put(top.module, top.n > 1 ? `${text}, ${plural(top.n, 'module')}` : text, top.change);
  };
  putTrees(report.profile, report.profile.modules.filter(module => !was.has(module)), 'added', 1);
  putTrees(report.old, lost, 'removed', -1);
  const steps = [...groups.values()].sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
  for (const step of steps) {
    step.name = step.modules[0].path === '' ? 'nodes outside of modules' : pattern(step.modules);
    if (step.modules.length > 1) step.name += ` (${step.modules.length} modules)`;
  }
  known.set(key, steps);
  return steps;
}

function stepLabel(step) { return fit(step.text === '' ? step.name : `${step.name}: ${step.text}`, 160); }

/* Returns the excess of a finding over its limit as a ratio; for limits of 0 infinite. */
function excess(finding) { return isKnown(finding.over) ? finding.over / finding.allowed : -1; }

/* Returns {case, finding} of the limit that is exceeded most; null if all hold. */
function worstLimit(check) {
  const all = check.cases.filter(each => each.state === 'regression').map(each => ({case: each,
    finding: each.findings.find(finding => finding.state === 'regression')}));
  return all.sort((a, b) => excess(b.finding) - excess(a.finding))[0] || null;
}

/* Returns the change of a figure as a share of the old value; infinite if that is 0. */
function relativeChange(row) { return +row.now === +row.old ? 0 : row.now / row.old - 1; }

function byRelativeChange(rows) {
  return rows.slice().sort((a, b) => d3.descending(Math.abs(relativeChange(a)), Math.abs(relativeChange(b))));
}

/* Returns "6 of 7 figures grow, most MACs: +13.63%". */
function changesText(figures) {
  const known = figures.filter(row => isKnown(row.old));
  const part = (rows, verb) => {
    const most = byRelativeChange(rows)[0];
    return most ? [`${rows.length} of ${plural(known.length, 'figure')} ${verb}${rows.length === 1 ? 's' : ''}, ${
      rows.length === 1 ? '' : 'most '}${most.name}: ${relativeText(most.old, most.now)}`] : [];
  };
  const parts = part(known.filter(row => +row.now > +row.old), 'grow');
  return parts.concat(part(known.filter(row => +row.now < +row.old), 'shrink')).join('; ') || 'no figure changed';
}

/* Returns {state, text} of a check; state: pass, regression or undecided. */
function checkVerdict(report, figures) {
  const check = report.check;
  const n = plural(check.cases.length, 'limit');
  const failing = check.cases.filter(each => each.state === 'regression'
    || each.state === 'ambiguous' && check.fail_ambiguous);
  const waived = check.cases.filter(each => each.state === 'waived');
  const open = check.cases.filter(each => each.state !== 'pass' && !waived.includes(each) && !failing.includes(each));
  const of = count => check.cases.length === 1 ? 'The limit' : `${count} of ${n}`;
  if (failing.length > 0) {
    const worst = worstLimit(check);
    const head = `${of(failing.length)} ${failing.length === 1 ? 'does not hold' : 'do not hold'}`;
    if (!worst) return {state: 'regression', text: `${head}: ${failing[0].findings[0].because}`};
    const {finding} = worst;
    const name = figureName(report, worst.case.metric) + (finding.path === '' ? '' : ` of ${fit(finding.path, 80)}`);
    const by = finding.allowed > 0 ? percent(finding.over, finding.allowed)
      : short(finding.over, unitOf(worst.case.metric));
    const blamed = (worst.case.blame || [])[0];
    const cause = blamed && blamed.path !== '' ? `, caused by ${fit(blamed.path, 80)}` : '';
    const at = new Set(check.cases.map(each => each.batch)).size > 1 ? batchText(worst.case.batch) : '';
    return {state: 'regression', text: `${head}: ${agree(name, 'exceed')} the limit by ${by}${at}${cause}`};
  }
  if (open.length > 0) {
    const because = (open[0].findings[0] || {}).because;
    const be = open.length === 1 ? 'is' : 'are';
    const what = open[0].state === 'ambiguous' ? 'ambiguous' : 'not compared';
    return {state: 'undecided', text: `${of(open.length)} ${be} ${what}${because ? `: ${because}` : ''}`};
  }
  const change = figures.some(row => isKnown(row.old)) ? `; ${changesText(figures)}` : '';
  if (waived.length > 0)
    return {state: 'pass', text: `${of(waived.length)} ${waived.length === 1 ? 'is' : 'are'} ${waived[0].findings[0].because}${change}`};
  return {state: 'pass', text: (check.cases.length === 1 ? 'The limit holds' : `All ${n} hold`) + change};
}

function diffVerdict(report, figures) {
  if (!report.diff.comparable) return {state: 'undecided', text: 'These two profiles are not comparable'};
  const text = changesText(figures);
  return {state: 'neutral', text: text[0].toUpperCase() + text.slice(1)};
}

/* Copies a text; `done` gets true, or false if the browser refuses. */
function copyText(text, done) {
  const select = () => {
    const area = add(d3.select(document.body), 'textarea', {class: 'copied', readonly: '', 'aria-hidden': 'true'})
      .property('value', text);
    area.node().select();
    const isDone = document.execCommand('copy');
    area.remove();
    done(isDone);
  };
  if (!navigator.clipboard || !navigator.clipboard.writeText) select();
  else navigator.clipboard.writeText(text).then(() => done(true), select);
}

/* Adds a button that copies the Markdown which the program embedded; if that is refused, shows it selected. */
function addCopyButton(parent) {
  const source = document.getElementById('costmodel-markdown');
  if (!source) return;
  const box = add(parent, 'div', {class: 'copy-box'});
  const button = addButton(box, 'copy-markdown', 'Copy as Markdown', () => copyText(source.textContent, isDone => {
    box.selectAll('textarea').remove();
    status.text(isDone ? 'Copied' : 'Press Ctrl+C to copy');
    if (isDone) button.node().focus();
    else add(box, 'textarea', {readonly: '', 'aria-label': 'Markdown'}).property('value', source.textContent).node().select();
  }));
  const status = add(box, 'span', {role: 'status', 'aria-live': 'polite'});
}

/* Returns the two versions that are compared: "resnet50.onnx (baseline, 1a2b3c4d) \u2192 resnet50_wide.onnx". */
function versionsText(report) {
  const check = report.check || {};
  const named = (name, facts) => {
    const known = facts.filter(fact => fact);
    return known.length > 0 ? `${name} (${known.join(', ')})` : name;
  };
  const short8 = commit => commit && commit.slice(0, 8);
  const now = named(fileName(report.profile ? report.profile.model.path : check.model), [short8(check.commit)]);
  if (!report.check) return `${fileName(report.old.model.path)} \u2192 ${now}`;
  return check.baseline ? `${named(check.baseline, ['baseline', short8(check.baseline_commit)])} \u2192 ${now}`
    : `${now}, without a baseline`;
}

function drawBanner(parent, report, verdict, cause) {
  const banner = add(parent, 'section', {class: `verdict-banner ${verdict.state}`});
  add(banner, 'div', {class: 'verdict-mark', 'aria-hidden': 'true'}, verdictMarks[verdict.state]);
  const words = add(banner, 'div', {class: 'words'});
  words.append('h2').text(verdict.text);
  if (cause) add(words, 'p', {class: 'cause'}, cause);
  const unchecked = (report.check || {}).unchecked || [];
  words.append('p').text(versionsText(report) + (unchecked.length > 0
    ? `; not checked: batch ${unchecked.join(', ')} of the baseline` : ''));
  for (const condition of report.diff ? report.diff.conditions.filter(each => each.breaks !== 'none') : [])
    words.append('p').text(`Different ${condition.key}: ${condition.old || '\u2013'} \u2192 ${condition.new || '\u2013'}${
      {times: '; times are not compared', incomplete: '; sums are incomplete'}[condition.breaks] || ''}`);
  addCopyButton(banner);
}

/* Returns the scale of relative changes, with room for every change and for limits that are not far beyond. */
function changeScale(rows, from, to) {
  const changes = rows.map(relativeChange).filter(isFinite);
  const limits = rows.map(row => row.allowed / row.old - 1).filter(isFinite);
  const far = 2 * d3.max(changes.concat(0.02), Math.abs);
  const all = changes.concat(limits.filter(limit => Math.abs(limit) <= far), [0]);
  const room = 0.06 * (d3.max(all) - d3.min(all)) || 0.05;
  return d3.scaleLinear().domain([d3.min(all) - room, d3.max(all) + room]).range([from, to]).clamp(true);
}

function figureLabel(row) {
  return `${row.name}: ${isKnown(row.old) ? `${short(row.old, row.unit)} \u2192 ` : ''}${short(row.now, row.unit)}, ${relativeText(row.old, row.now)}${
    isKnown(row.allowed) ? `, limit ${short(row.allowed, row.unit)} ${row.state === 'pass' ? 'holds' : 'does not hold'}` : ''}`;
}

function signedPercent(share) {
  return `${share < -1e-9 ? '-' : share > 1e-9 ? '+' : ''}${+(100 * Math.abs(share)).toPrecision(6)}%`;
}

/*
 * Draws a row for each figure: the old value as a ring, the new one as a disc, the limit as a tick, on one scale of
 * percent of the old value; without old values a bar of percent of the limit. Rows select the figure of the waterfall.
 */
function drawFigures(parent, report, figures, batch, current) {
  const hasOld = figures.some(row => isKnown(row.old));
  const rows = figures.filter(row => !hasOld || isKnown(row.old));
  const most = byRelativeChange(rows)[0];
  const near = rows.slice().sort((a, b) => b.now / b.allowed - a.now / a.allowed)[0];
  const heading = !hasOld ? `${agree(near.name, 'use')} ${relativeShare(near)} of the limit`
    : +most.old === +most.now ? 'Every figure is as before' : `${agree(most.name, 'change')} most: ${relativeText(most.old, most.now)}`;
  const section = addSection(parent, heading,
    `${hasOld ? 'Change in percent of the old value' : 'Percent of the limit'}${batchText(batch)}.`);
  const batches = [...new Set(report.check ? report.check.cases.map(each => each.batch) : [])].filter(isKnown);
  if (batches.length > 1) addSwitch(section, 'batch', 'Batch', batches.map(each => ({key: each, label: String(each)})), batch,
    key => setState({batch: key}));
  const width = widthOf(section);
  const isWide = width >= 540;
  const height = isWide ? 32 : 46;
  const left = isWide ? Math.min(190, 36 + charWidth * d3.max(rows, row => row.name.length)) : 10;
  const right = isWide ? width - 284 : width - 10;
  const x = hasOld ? changeScale(rows, left, right)
    : d3.scaleLinear().domain([0, 1.1 * d3.max(rows.map(row => row.now / row.allowed).concat(1))]).range([left, right]);
  const isFar = row => hasOld && Math.abs(row.allowed / row.old - 1) > 1.001 * d3.max(x.domain(), Math.abs);
  const svg = addChart(section, width, rows.length * height + 24, heading);
  const bottom = rows.length * height;
  const ticks = x.ticks(Math.max(2, Math.floor((right - left) / 75)));
  const axis = add(svg, 'g', {class: 'axis'});
  for (const tick of ticks) {
    add(axis, 'line', {x1: x(tick), x2: x(tick), y1: 0, y2: bottom + 4, class: tick === 0 ? 'origin' : ''});
    add(axis, 'text', {x: x(tick), y: bottom + 18, 'text-anchor': 'middle'}, hasOld ? signedPercent(tick) : `${roughly(tick)}`);
  }
  const cells = svg.selectAll('.figure').data(rows).join('g').attr('class', row => `figure ${row.key === current ? 'selected' : ''}`)
    .attr('transform', (row, i) => `translate(0,${i * height})`);
  add(cells, 'rect', {class: 'back', width, height: height - 2, rx: 4});
  cells.each(function draw(row) {
    const cell = d3.select(this);
    const y = isWide ? height / 2 - 1 : 32;
    const textY = isWide ? y + 4.5 : 16;
    const share = hasOld ? relativeChange(row) : row.now / row.allowed;
    const isWorse = hasOld ? +row.now > +row.old : row.state === 'regression';
    const isSame = hasOld && +row.now === +row.old;
    const tone = isSame ? 'same' : isWorse ? 'worse' : 'better';
    if (isKnown(row.allowed)) {
      const limit = hasOld ? x(relativeChange({old: row.old, now: row.allowed})) : x(1);
      add(cell, 'rect', {class: 'beyond', x: limit, y: y - 11, width: Math.max(0, right - limit + 4), height: 22});
      if (isFar(row)) add(cell, 'path', {class: 'far', d: `M${limit - 4},${y - 5}l6,5l-6,5`});
      else add(cell, 'line', {class: 'tick', x1: limit, x2: limit, y1: y - 11, y2: y + 11});
    }
    const from = x(0);
    const to = isFinite(share) ? x(share) : right;
    add(cell, 'line', {class: `reach ${tone}`, x1: from, x2: to, y1: y, y2: y});
    if (hasOld) add(cell, 'circle', {class: 'ring', cx: from, cy: y, r: 5.5});
    if (!isSame) add(cell, 'circle', {class: `dot ${tone}`, cx: to, cy: y, r: 5.5, 'data-value': String(row.now)});
    const mark = isKnown(row.allowed) ? verdictMarks[row.state] || verdictMarks.undecided : '';
    add(cell, 'text', {class: `limit-mark ${row.state === 'pass' ? 'better' : 'worse'}`, x: 6, y: textY}, mark);
    add(cell, 'text', {class: 'strong', x: 22, y: textY}, fit(row.name, 22));
    const values = hasOld && !isSame ? `${short(row.old, row.unit)} \u2192 ${short(row.now, row.unit)}` : short(row.now, row.unit);
    const arrow = isSame ? '' : hasOld ? isWorse ? '\u25b2 ' : '\u25bc ' : '';
    add(cell, 'text', {class: 'values', x: width - 96, y: textY, 'text-anchor': 'end'}, values);
    add(cell, 'text', {class: `strong ${tone}`, x: width - 6, y: textY, 'text-anchor': 'end'},
      arrow + (hasOld ? relativeText(row.old, row.now) : relativeShare(row)));
  });
  addTip(cells, row => [row.name, `new: ${exact(row.now, row.unit)}`]
    .concat(isKnown(row.old) ? [`old: ${exact(row.old, row.unit)}`] : [])
    .concat(isKnown(row.allowed) ? [`limit: ${exact(row.allowed, row.unit)}`] : []));
  const choices = cells.filter(row => hasOld && !notSums.test(row.key) && report.diff && batch === firstBatch(report));
  addActions(choices, rows, current);
  addLegend(section, (hasOld ? [['ring-swatch', 'old'], ['dot-swatch', 'new']] : []).concat(
    rows.some(row => isKnown(row.allowed)) ? [['tick-swatch', 'limit']] : [],
    rows.some(isFar) ? [['no-swatch', '\u203a limit beyond the axis']] : [],
    hasOld ? [['on-grows', '\u25b2 worse'], ['on-shrinks', '\u25bc better']] : []));
}

function relativeShare(row) { return percent(row.now, row.allowed); }

/* Makes rows select the figure of the waterfall; the arrow keys move among them. */
function addActions(choices, rows, current) {
  const keys = choices.data().map(row => row.key);
  choices.each(function button(row) {
    addAction(d3.select(this), figureLabel(row), `metric-${row.key}`, () => setState({metric: row.key}));
  }).attr('aria-pressed', row => String(row.key === current)).attr('tabindex', row => row.key === current ? 0 : -1);
  addArrows(choices, (row, key) => {
    const step = {ArrowDown: 1, ArrowUp: -1}[key];
    const next = keys[keys.indexOf(row.key) + step];
    return step && next ? `metric-${next}` : null;
  });
}

/*
 * Draws the totals as bars from 0, and below them the part of that axis in which they differ, magnified: a bar for each
 * step from the old to the new total.
 */
function drawWaterfall(parent, report, figure, steps) {
  const change = figure.now - figure.old;
  const first = steps[0];
  const share = first ? first.change / change : 0;
  const part = share > 1 ? 'mostly' : `${roughly(share)} of it`;
  const cause = first && share > 0.2 ? `, ${part} in ${fit(first.name, 80)}` : '';
  const heading = change === 0 ? `${agree(figure.name, 'do').replace(/dos$/, 'does')} not change (${short(figure.now, figure.unit)})`
    : `${agree(figure.name, change > 0 ? 'grow' : 'shrink')} by ${signed(Math.abs(change), figure.unit).slice(1)} (${relativeText(figure.old, figure.now)})${cause}`;
  const section = addSection(parent, heading, steps.length === 0 ? 'No module changes this figure.'
    : `Totals${batchText(firstBatch(report))} from 0; below, the part in which they differ, magnified.`);
  if (steps.length === 0) return;
  const shown = steps.slice(0, steps.length > maxSteps + 1 ? maxSteps : maxSteps + 1);
  const rest = steps.slice(shown.length);
  if (rest.length > 0) shown.push({name: plural(rest.length, 'smaller change'), text: '', modules: [], change: d3.sum(rest, step => step.change)});
  let at = 0;
  const bars = shown.map(step => Object.assign({from: at, to: (at += step.change)}, step));
  const low = Math.min(0, d3.min(bars, bar => bar.to));
  const high = Math.max(0, d3.max(bars, bar => bar.to));
  const width = widthOf(section);
  const x = d3.scaleLinear().domain([0, Math.max(+figure.old + high, +figure.now) || 1]).range([0, width - 2]);
  const zoom = d3.scaleLinear().domain([low, high]).range([10, width - 10]);
  const lens = 100; /* y of the magnified part */
  const isWide = width >= 540; /* else the text of a step is below its name */
  const row = isWide ? 38 : 53;
  const svg = addChart(section, width, lens + 26 + bars.length * row + 24, heading);
  const begin = x(+figure.old + low);
  const extent = Math.max(2, x(+figure.old + high) - begin);
  const factor = (width - 20) / extent;
  add(svg, 'path', {class: 'lens', d: `M${begin},14V68L0,${lens}H${width}L${begin + extent},68V14Z`});
  add(svg, 'text', {class: 'faint', x: 0, y: 79}, '0');
  add(svg, 'rect', {class: 'lens', y: lens, width, height: 26 + bars.length * row});
  [['Old', figure.old], ['New', figure.now]].forEach((side, i) => {
    const y = i * 34;
    const end = Math.min(+figure.old, +side[1]);
    add(svg, 'rect', {class: 'step total', y: y + 16, height: 12, width: x(end)});
    if (i === 1) add(svg, 'rect', {class: `step ${change > 0 ? 'grows' : 'shrinks gone'}`, y: y + 16, height: 12, x: x(end),
      width: x(Math.abs(change))});
    add(svg, 'text', {y: y + 11, x: 0, class: 'strong'}, side[0]);
    add(svg, 'text', {y: y + 11, x: width - 2, 'text-anchor': 'end', 'data-value': String(side[1])}, short(side[1], figure.unit));
  });
  add(svg, 'text', {class: 'faint', y: lens + 16, x: 16}, factor < 1.2 ? 'Changes'
    : `Changes, magnified ${factor < 100 ? +factor.toPrecision(2) : short(factor, '')} times`);
  const origin = zoom(0);
  add(svg, 'line', {class: 'origin', x1: origin, x2: origin, y1: lens + 24, y2: lens + 26 + bars.length * row});
  bars.slice(1).forEach((bar, i) => add(svg, 'line', {class: 'joint', x1: zoom(bar.from), x2: zoom(bar.from),
    y1: lens + 19 + (i + 1) * row, y2: lens + 7 + (i + 2) * row}));
  const cells = svg.selectAll('.step-row').data(bars).join('g').attr('class', 'step-row')
    .attr('transform', (bar, i) => `translate(0,${lens + 26 + i * row})`);
  cells.each(function draw(bar) {
    const cell = d3.select(this);
    const value = signed(bar.change, figure.unit);
    const room = Math.floor((width - 40) / charWidth);
    const beside = isWide ? Math.min(bar.text.length + 2, Math.floor(room / 2)) : 0;
    const name = fit(bar.name, room - value.length - beside);
    const label = add(cell, 'text', {x: 16, y: 13});
    add(label, 'tspan', {class: 'strong'}, name);
    const text = fit(bar.text, room - (isWide ? value.length + name.length + 2 : 0));
    if (text !== '' && isWide) add(label, 'tspan', {}, `: ${text}`);
    else if (text !== '') add(cell, 'text', {x: 16, y: 28}, text);
    const tone = bar.change > 0 ? 'worse' : 'better';
    add(cell, 'text', {x: width - 10, y: 13, 'text-anchor': 'end', class: `strong ${tone}`,
      'data-value': String(bar.change)}, value);
    add(cell, 'rect', {class: `step ${bar.change > 0 ? 'grows' : 'shrinks'}`, y: row - 19, height: 12,
      x: zoom(Math.min(bar.from, bar.to)), width: Math.max(1, Math.abs(zoom(bar.to) - zoom(bar.from)))});
  });
  const links = cells.filter(bar => bar.modules.some(module => report.profile.byPath.has(module.path)));
  links.each(function button(bar, i) {
    addAction(d3.select(this), `${stepLabel(bar)}: ${signed(bar.change, figure.unit)}`, `step-${i}`, () => setState({
      module: bar.modules.find(module => report.profile.byPath.has(module.path)).path}, true));
  }).attr('tabindex', (bar, i) => i === 0 ? 0 : -1);
  addArrows(links, (bar, key) => {
    const next = links.data().indexOf(bar) + ({ArrowDown: 1, ArrowUp: -1}[key] || 0);
    return links.data()[next] ? `step-${next}` : null;
  });
  addTip(cells, bar => [stepLabel(bar), exact(bar.change, figure.unit)]
    .concat(bar.modules.slice(0, 12).map(module => module.path)));
  const bottom = lens + 42 + bars.length * row;
  for (const tick of zoom.ticks(Math.floor(width / 130)).filter(each => Math.abs(zoom(each) - origin) > 70
    && zoom(each) > 40 && zoom(each) < width - 40))
    add(svg, 'text', {class: 'faint', x: zoom(tick), y: bottom, 'text-anchor': 'middle'}, signed(tick, figure.unit));
  add(svg, 'text', {class: 'faint', x: Math.min(width - 12, Math.max(12, origin)), y: bottom, 'text-anchor': 'middle'}, 'old');
}

/* Draws the first screen and returns the metric that is selected. */
function drawReview(parent, report) {
  const figures = reviewFigures(report, firstBatch(report));
  const batch = [+state.batch, firstBatch(report)].find(each => reviewFigures(report, each).length > 0);
  const sums = figures.filter(row => report.diff && report.old && !notSums.test(row.key));
  const verdict = report.check ? checkVerdict(report, figures) : diffVerdict(report, figures);
  const worst = report.check ? worstLimit(report.check) : null;
  const most = byRelativeChange(sums)[0];
  const main = sums.find(row => worst && row.key === worst.case.metric) || most;
  const metric = sums.find(row => row.key === state.metric) || main;
  const first = main ? changeSteps(report, main.key)[0] : null;
  const cause = first && first.text !== '' ? `${main.name}: ${signed(first.change, main.unit)} in ${stepLabel(first)}` : '';
  drawBanner(parent, report, verdict, cause);
  if (batch === undefined) return metric;
  const columns = add(parent, 'div', {class: 'review'});
  const isChanged = sums.some(row => +row.old !== +row.now);
  const halves = (isChanged ? [0, 1] : [0]).map(() => add(columns, 'div', {}));
  drawFigures(halves[0], report, reviewFigures(report, batch), batch, metric ? metric.key : '');
  if (isChanged) drawWaterfall(halves[1], report, metric, changeSteps(report, metric.key));
  return metric;
}

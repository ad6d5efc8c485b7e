/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of the page: title, tabs, module filter, and the view that the URL fragment selects. */

/* The folder of the guides as HTML (docs/site.md), ending in a slash; '': the page names a command. */
const guidesUrl = '';

/* `guide` is the guide of docs/guides/ that uses the view. */
const views = [
  {key: 'overview', label: 'Overview', guide: 'which-layers-first', draw: drawOverview, isWhole: true},
  {key: 'step', label: 'Training step', guide: 'will-my-training-run-fit', draw: drawTraining, isWhole: true, isFor: report => report.profile && report.profile.training},
  {key: 'modules', label: 'Modules', guide: 'which-layers-first', draw: drawModules},
  {key: 'dataflow', label: 'Dataflow', guide: 'which-layers-first', draw: drawDataflow, isWhole: true},
  {key: 'operators', label: 'Operators', guide: 'which-layers-first', draw: drawOperators},
  {key: 'kernels', label: 'Kernels', guide: 'which-layers-first', draw: drawKernels},
  {key: 'measured', label: 'Measured', guide: 'from-onnxruntime-profile', draw: drawMeasured, isFor: hasLayers},
  {key: 'timeline', label: 'Timeline', guide: 'from-onnxruntime-profile', draw: drawTimeline},
  {key: 'memory', label: 'Memory', guide: 'which-batch-size', draw: drawMemory},
  {key: 'roofline', label: 'Roofline', guide: 'another-gpu', draw: drawRoofline},
];

function pageTitle(report) {
  if (report.kind === 'sweep') return `Sweep of ${plural(new Set(report.sweep.sweep.map(row => row.model)).size, 'model')}`;
  return fileName(report.profile ? report.profile.model.path : report.check.model);
}

function pageSubtitle(report) {
  const profile = report.profile;
  if (report.kind === 'sweep') return campaignSubtitle(report.sweep);
  if (!profile) return '';
  if (report.variant && report.variant.isMissing) return report.variant.name;
  const measure = profile.measure || {};
  const facts = profile.options.precision ? [profile.options.precision] : [];
  if (isKnown(profile.options.batch)) facts.push(`batch ${profile.options.batch}`);
  for (const name of Object.keys(profile.options.dims || {}))
    if (profile.options.dims[name] !== profile.options.batch) facts.push(`${name}=${profile.options.dims[name]}`);
  if (measure.device) facts.push(`${measure.device}${measure.runtime ? `, ${measure.runtime}` : ''}`);
  if (profile.timed) facts.push(`times ${profile.modelled ? 'modelled, nothing was run' : measure.invented ? 'invented' : 'measured'}`);
  if (profile.modelled && !measure.calibration) facts.push('device not calibrated');
  facts.push(`FLOPs as ${profile.options.convention} counts them`);
  return facts.join(' \u00b7 ');
}

function drawTabs(parent, available, current) {
  const tabs = add(parent, 'div', {class: 'tabs', role: 'tablist', 'aria-label': 'Views'});
  for (const view of available)
    addButton(tabs, `view-${view.key}`, view.label, () => openView(view.key)).attr('role', 'tab').attr('id', `tab-${view.key}`)
      .attr('aria-selected', String(view === current)).attr('aria-controls', 'view')
      .attr('tabindex', view === current ? 0 : -1);
  tabs.on('keydown', () => {
    const step = {ArrowLeft: -1, ArrowRight: 1}[d3.event.key];
    if (!step) return;
    const next = available[(available.indexOf(current) + step + available.length) % available.length];
    d3.event.preventDefault();
    openView(next.key);
    focusKey(`view-${next.key}`);
  });
}

function drawGuide(parent, name) {
  const box = add(parent, 'details', {class: 'guide'});
  add(box, 'summary', {'aria-label': 'Guide to this view'}, '?');
  const line = box.append('p');
  line.append('span').text('This view answers ');
  if (guidesUrl) add(line, 'a', {href: `${guidesUrl}${name}.html`}, name.replace(/-/g, ' '));
  else line.append('strong').text(name.replace(/-/g, ' '));
  line.append('span').text(': ');
  line.append('code').text(`costmodel guide ${name}`);
}

function drawFilter(parent, report, view) {
  if (!report.profile || state.module === '') return;
  const module = selectedModule(report.profile);
  const line = add(parent, 'p', {class: 'filter', role: 'status'});
  line.append('span').text(!module ? `The ${report.old ? 'new ' : ''}model has no module ` : view.isWhole ? 'Selected module ' : 'Only module ');
  line.append('strong').text(module ? moduleName(module) : fit(state.module, maxName));
  line.append('span').text(!module || view.isWhole ? '; this view shows the whole model '
    : module.class_known === false ? ' ' : ` (${module.class}) `);
  if (module) addButton(line, 'filter-details', 'Details', () => openDetails('module', module.path));
  addButton(line, 'clear-filter', 'Show the whole model', () => setState({module: '', zoom: ''}, true));
}

const wide = 1200; /* px; at this width the drawer is beside the view, else over it */
let openedBy = ''; /* data-key of the element that opened the drawer */

/* Draws header, view and drawer from the state; the focus stays on the element with the same data-key. */
function drawPage(frame, report) {
  if (report.variants) selectVariant(report);
  const available = views.filter(view => view.isFor ? view.isFor(report) : report.profile);
  const current = available.find(view => view.key === state.view) || available[0];
  const focused = document.activeElement && document.activeElement.getAttribute('data-key');
  tip.property('hidden', true);
  frame.main.classed('exact', state.digits === 'all').style('min-height', `${frame.main.node().offsetHeight}px`); /* keeps the scroll position */
  frame.header.selectAll('*').remove();
  frame.main.selectAll('*').remove();
  d3.select(document.body).classed('with-drawer', Boolean(openItem(report.profile)));
  const title = add(frame.header, 'div', {class: 'title'});
  title.append('h1').text(fit(pageTitle(report), 2 * maxName));
  add(title, 'p', {class: 'subtitle'}, pageSubtitle(report));
  const tools = add(frame.header, 'div', {class: 'tools page-tools'});
  if (report.profile) {
    drawSearch(tools, report.profile);
    addButton(tools, 'digits', 'Exact numbers', () => setState({digits: state.digits === 'all' ? '' : 'all'}))
      .attr('aria-pressed', String(state.digits === 'all'));
  }
  drawGuide(tools, current.guide);
  if (report.profile) addWarnings(frame.header, report.profile);
  if (report.variants) drawVariantSwitches(frame.header, report);
  drawTabs(frame.header, available, current);
  const main = add(frame.main, 'div', {id: 'view', role: 'tabpanel', class: `view-${current.key}`,
    'aria-labelledby': `tab-${current.key}`, tabindex: -1});
  drawFilter(main, report, current);
  if (report.variants && current.key === 'overview') drawVariantStrip(main, report);
  if (report.variant && report.variant.isMissing && current.key !== 'sweep') drawMissingVariant(main, report.variant);
  else current.draw(main, report);
  frame.main.style('min-height', null);
  drawDrawer(frame.drawer, report);
  if (report.profile) markOpen(report.profile);
  if (focused) focusKey(focused);
}

/* Draws what changed: the drawer alone if only state.open did, unless this changes the width of the view. */
function drawChanges(frame, report, last) {
  const changed = stateKeys.filter(key => state[key] !== last[key]);
  const active = document.activeElement;
  const isOpened = state.open !== '' && changed.includes('open') && last.open !== undefined;
  if (isOpened && !frame.drawer.node().contains(active)) openedBy = active.getAttribute('data-key') || '';
  if (changed.length === 1 && isKnown(last.open) && changed[0] === 'open'
    && (window.innerWidth < wide || (last.open === '') === (state.open === ''))) {
    drawDrawer(frame.drawer, report);
    d3.select(document.body).classed('with-drawer', Boolean(openItem(report.profile)));
    markOpen(report.profile);
  } else drawPage(frame, report);
  if (isOpened && openItem(report.profile)) {
    frame.drawer.node().scrollTop = 0;
    frame.drawer.node().focus();
  }
  Object.assign(last, state);
}

/* Draws all views one below the other while the page is printed. */
function printAll(frame, report) {
  frame.main.selectAll('*').remove();
  for (const view of views.filter(each => each.isFor ? each.isFor(report) : report.profile)) {
    const part = add(frame.main, 'div', {class: `printed view-${view.key}`});
    add(part, 'p', {class: 'view-name'}, view.label);
    drawFilter(part, report, view);
    view.draw(part, report);
  }
}

/* Handles keys of the page: "/" searches, Escape closes the drawer, then shows the whole model. */
function handleKey(event) {
  if (event.key === '/' && !/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) {
    event.preventDefault();
    focusKey('find');
    return;
  }
  if (event.key !== 'Escape') {
    moveFocus(event);
    return;
  }
  tip.property('hidden', true);
  if (state.open !== '') closeDrawer();
  else if (state.module !== '') setState({module: '', zoom: ''}, true);
}

/* Opens the drawer for links to it, and shows all digits of a number that the user clicks. */
function handleClick(event) {
  const link = event.target.closest('button[data-open]');
  if (link) setState({open: link.getAttribute('data-open')}, true);
  const number = event.target.closest('[data-value][title]');
  if (number && !link) showTip(number, [number.getAttribute('title')]);
}

function startPage() {
  const report = loadReport();
  if (!report.profile && !report.check && report.kind !== 'sweep') return;
  document.getElementById('report').hidden = true;
  const app = d3.select('#app').property('hidden', false);
  const frame = {header: app.append('header'), main: app.append('main'),
    drawer: add(app, 'aside', {id: 'drawer', 'aria-label': 'Details', tabindex: -1}).property('hidden', true)};
  liveRegion = add(app, 'div', {class: 'hidden-text', role: 'status', 'aria-live': 'polite'});
  tip = add(app, 'div', {id: 'tip', role: 'tooltip'}).property('hidden', true);
  const last = {};
  const draw = () => drawChanges(frame, report, last);
  startState(draw);
  let width = frame.main.node().offsetWidth;
  const refit = () => {
    if (frame.main.node().offsetWidth === width) return;
    width = frame.main.node().offsetWidth;
    drawPage(frame, report);
  };
  window.addEventListener('resize', refit);
  window.requestAnimationFrame(refit); /* a page within another one may be drawn before it has a size */
  window.addEventListener('beforeprint', () => printAll(frame, report));
  window.addEventListener('afterprint', () => drawPage(frame, report));
  document.addEventListener('keydown', handleKey);
  document.addEventListener('focusin', moveStop);
  document.addEventListener('focusout', () => tip.property('hidden', true));
  document.addEventListener('click', handleClick);
}

/* Runs d3, which is embedded as base64 of gzip; the hash in the policy of the page is that of its text. */
async function runLibrary() {
  const packed = Uint8Array.from(atob(document.getElementById('packed-d3').textContent), sign => sign.charCodeAt(0));
  const text = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  const script = document.createElement('script');
  script.textContent = await new Response(text).text();
  document.head.append(script);
}

document.addEventListener('DOMContentLoaded', () => runLibrary().then(startPage));

/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of the page: title, tabs, module filter, and the view that the URL fragment selects. */

const views = [
  {key: 'overview', label: 'Overview', draw: drawOverview, isWhole: true},
  {key: 'modules', label: 'Modules', draw: drawModules},
  {key: 'dataflow', label: 'Dataflow', draw: drawDataflow, isWhole: true},
  {key: 'operators', label: 'Operators', draw: drawOperators},
  {key: 'kernels', label: 'Kernels', draw: drawKernels},
  {key: 'timeline', label: 'Timeline', draw: drawTimeline},
  {key: 'memory', label: 'Memory', draw: drawMemory},
  {key: 'roofline', label: 'Roofline', draw: drawRoofline},
  {key: 'sweep', label: 'Batch sweep', draw: drawSweep, isWhole: true, isFor: report => report.sweep && report.profile},
];

function pageTitle(report) {
  if (report.kind === 'sweep') return `Sweep of ${plural(new Set(report.sweep.sweep.map(row => row.model)).size, 'model')}`;
  return fileName(report.profile ? report.profile.model.path : report.check.model);
}

function pageSubtitle(report) {
  const profile = report.profile;
  if (report.kind === 'sweep') return campaignSubtitle(report.sweep);
  if (!profile) return '';
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

function drawFilter(parent, report, view) {
  if (!report.profile || state.module === '') return;
  const module = selectedModule(report.profile);
  const line = add(parent, 'p', {class: 'filter', role: 'status'});
  line.append('span').text(!module ? `The ${report.old ? 'new ' : ''}model has no module ` : view.isWhole ? 'Selected module ' : 'Only module ');
  line.append('strong').text(module ? moduleName(module) : state.module);
  line.append('span').text(!module || view.isWhole ? '; this view shows the whole model '
    : module.class_known === false ? ' ' : ` (${module.class}) `);
  addButton(line, 'clear-filter', 'Show the whole model', () => setState({module: '', zoom: ''}, true));
}

/* Draws the page from the state; the focus stays on the element with the same data-key. */
function drawPage(app, report) {
  const available = views.filter(view => view.isFor ? view.isFor(report) : report.profile);
  const current = available.find(view => view.key === state.view) || available[0];
  const focused = document.activeElement && document.activeElement.getAttribute('data-key');
  tip.property('hidden', true);
  app.selectAll('*').remove();
  const header = app.append('header');
  header.append('h1').text(pageTitle(report));
  add(header, 'p', {class: 'subtitle'}, pageSubtitle(report));
  if (report.profile) addWarnings(header, report.profile);
  drawTabs(header, available, current);
  const main = add(app, 'div', {id: 'view', role: 'tabpanel', class: `view-${current.key}`,
    'aria-labelledby': `tab-${current.key}`, tabindex: -1});
  drawFilter(main, report, current);
  current.draw(main, report);
  if (focused) focusKey(focused);
}

function startPage() {
  const report = loadReport();
  if (!report.profile && !report.check && report.kind !== 'sweep') return;
  tip = d3.select(document.body).append('div').attr('id', 'tip').attr('role', 'tooltip').property('hidden', true);
  document.getElementById('report').hidden = true;
  const app = d3.select('#app').property('hidden', false);
  const draw = () => drawPage(app, report);
  startState(draw);
  let width = window.innerWidth;
  window.addEventListener('resize', () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    draw();
  });
  document.addEventListener('keydown', event => {
    if (event.key === 'Escape' && state.module !== '') setState({module: '', zoom: ''}, true);
  });
}

document.addEventListener('DOMContentLoaded', startPage);

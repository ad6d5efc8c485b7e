/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the page, stored in the URL fragment: #view=modules&metric=macs&module=layer1.0. Attributes of the html
 * element are defaults: a notebook shows one view with data-view="memory".
 */

const stateKeys = ['view', 'metric', 'module', 'group', 'search', 'sort', 'depth', 'node', 'zoom', 'hide', 'across',
  'device', 'batch', 'precision', 'loss', 'step', 'open', 'expand', 'digits'];
const state = {};
let redraw = null; /* draws the page */

function readFragment() {
  const fragment = new URLSearchParams(window.location.hash.slice(1));
  for (const key of stateKeys)
    state[key] = fragment.get(key) || document.documentElement.getAttribute(`data-${key}`) || '';
}

function writeFragment() {
  const fragment = new URLSearchParams();
  for (const key of stateKeys) if (state[key] !== '') fragment.set(key, state[key]);
  return '#' + fragment.toString();
}

/* Changes the state and redraws the page. `isStep`: the back button returns to the previous state. */
function setState(changes, isStep) {
  for (const key of Object.keys(changes)) state[key] = String(changes[key]);
  try {
    if (isStep) window.history.pushState(null, '', writeFragment());
    else window.history.replaceState(null, '', writeFragment());
  } catch (fault) {
    /* a page within another one has no URL of its own */
  }
  redraw();
}

/* Opens a view and resets the search, order, grouping and zoom of the previous view; the selected module remains. */
function openView(view, changes) {
  setState(Object.assign({search: '', sort: '', group: '', zoom: '', hide: ''}, changes, {view}), true);
}

/* Draws the page now, and whenever the state changes. */
function startState(draw) {
  redraw = draw;
  const reread = () => {
    readFragment();
    draw();
  };
  for (const event of ['hashchange', 'popstate']) window.addEventListener(event, reread);
  reread();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the page, stored in the URL fragment: #view=modules&metric=macs&module=layer1.0 */

const stateKeys = ['view', 'metric', 'module', 'group', 'search', 'sort', 'depth', 'node', 'zoom', 'hide', 'across',
  'device', 'batch', 'precision'];
const state = {};
const listeners = [];

function readFragment() {
  const fragment = new URLSearchParams(window.location.hash.slice(1));
  for (const key of stateKeys) state[key] = fragment.get(key) || '';
}

function writeFragment() {
  const fragment = new URLSearchParams();
  for (const key of stateKeys) if (state[key] !== '') fragment.set(key, state[key]);
  return '#' + fragment.toString();
}

/* Changes the state and redraws the page. `isStep`: the back button returns to the previous state. */
function setState(changes, isStep) {
  for (const key of Object.keys(changes)) state[key] = String(changes[key]);
  if (isStep) window.history.pushState(null, '', writeFragment());
  else window.history.replaceState(null, '', writeFragment());
  for (const listener of listeners) listener();
}

/* Opens a view and resets the search, order, grouping and zoom of the previous view; the selected module remains. */
function openView(view, changes) {
  setState(Object.assign({search: '', sort: '', group: '', zoom: '', hide: ''}, changes, {view}), true);
}

function startState(listener) {
  listeners.push(listener);
  const reread = () => {
    readFragment();
    for (const each of listeners) each();
  };
  window.addEventListener('hashchange', reread);
  window.addEventListener('popstate', reread);
  readFragment();
}

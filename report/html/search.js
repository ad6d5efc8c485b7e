/* SPDX-License-Identifier: Apache-2.0 */
/* The search box of every view: finds modules, nodes, tensors and kernels by name. */

const maxFound = 12; /* listed results */
const searchKinds = ['module', 'node', 'tensor', 'kernel'];

/* Returns the inputs and all outputs of nodes by name: {name, dtype, shape, bytes, made: node or null, readers}. */
function tensorsOf(profile) {
  if (profile.tensors) return profile.tensors;
  profile.tensors = new Map();
  const put = (value, made) => {
    if (value.name !== '') profile.tensors.set(value.name, Object.assign({made, readers: []}, value));
  };
  for (const value of profile.model.inputs) put(value, null);
  for (const node of profile.nodes) for (const value of node.outputs) put(value, node);
  for (const node of profile.nodes)
    for (const name of new Set(node.inputs))
      if (profile.tensors.has(name)) profile.tensors.get(name).readers.push(node);
  return profile.tensors;
}

/* Returns the entries {kind, id, name, text, tail, value, unit}, built once. text.slice(tail) is the last part. */
function searchIndex(profile) {
  if (profile.entries) return profile.entries;
  const metric = profile.metrics[0] || allMetrics[1];
  const put = (kind, id, name, more, value, unit) => profile.entries.push({kind, id, name, value, unit,
    text: `${name}\u0000${more}`.toLowerCase(), tail: Math.max(name.lastIndexOf('.'), name.lastIndexOf('/')) + 1});
  profile.entries = [];
  for (const each of profile.modules.slice(1))
    put('module', each.path, each.path, each.class, each[metric.key], metric.unit);
  for (const node of profile.nodes)
    put('node', node.index, nodeName(node), `${node.kind} ${node.module}`, node[metric.key], metric.unit);
  for (const value of tensorsOf(profile).values()) put('tensor', value.name, value.name, '', value.bytes, 'bytes');
  profile.primitives.forEach((primitive, i) => put('kernel', i, primitive.primitive, primitive.algorithm || '',
    d3.sum(primitive.nodes, index => +profile.nodes[index].latency_ps || 0), 'ps'));
  return profile.entries;
}

/*
 * Returns the best entries that contain all words of a query, by kind: names equal to the query first, then last parts
 * that begin with it, then names that begin with it or contain it; among these the most expensive.
 */
function findEntries(profile, query) {
  const words = query.toLowerCase().split(' ').filter(Boolean);
  const first = words[0] || '';
  const best = new Map(searchKinds.map(kind => [kind, []]));
  for (const entry of searchIndex(profile)) {
    if (!words.every(word => entry.text.includes(word))) continue;
    const isName = entry.text.lastIndexOf(first, entry.name.length - first.length) >= 0;
    const rank = entry.text.startsWith(`${query.toLowerCase()}\u0000`) ? 0 : entry.text.startsWith(first, entry.tail) ? 1
      : entry.text.startsWith(first) ? 2 : isName ? 3 : 4;
    const list = best.get(entry.kind);
    const isBefore = other => rank < other.rank || rank === other.rank && +entry.value > +other.entry.value;
    if (list.length === maxFound && !isBefore(list[maxFound - 1])) continue;
    let at = list.length;
    while (at > 0 && isBefore(list[at - 1])) at--;
    list.splice(at, 0, {entry, rank});
    if (list.length > maxFound) list.pop();
  }
  const lists = [...best.values()];
  const n = lists.map(list => Math.min(3, list.length));
  for (let i = 0; i < maxFound; i++)
    lists.forEach((list, k) => { n[k] += n[k] < list.length && d3.sum(n) < maxFound ? 1 : 0; });
  return [].concat(...lists.map((list, k) => list.slice(0, n[k]))).map(each => each.entry);
}

/* Adds the search box: a combobox with a list of results. */
function drawSearch(parent, profile) {
  const box = add(parent, 'div', {class: 'find', role: 'search'});
  const label = 'Search modules, nodes, tensors and kernels';
  const input = add(box, 'input', {type: 'text', role: 'combobox', 'data-key': 'find', 'aria-label': label,
    'aria-expanded': 'false', 'aria-controls': 'found', 'aria-autocomplete': 'list', 'aria-keyshortcuts': '/', placeholder: 'Search (key /)',
    autocomplete: 'off', spellcheck: 'false'});
  const list = add(box, 'ul', {id: 'found', role: 'listbox', 'aria-label': 'Search results'}).property('hidden', true);
  let entries = [];
  let at = -1;
  const mark = to => {
    at = to;
    list.selectAll('[role=option]').attr('aria-selected', (entry, i) => String(i === at));
    input.attr('aria-activedescendant', at < 0 ? null : `found-${at}`);
  };
  const close = () => {
    list.property('hidden', true);
    input.attr('aria-expanded', 'false');
  };
  const choose = entry => {
    close();
    input.property('value', '');
    if (entry) openDetails(entry.kind, entry.id);
  };
  const search = () => {
    const query = input.property('value').trim();
    entries = findEntries(profile, query);
    list.selectAll('*').remove();
    const items = list.property('hidden', false).selectAll('li').data(entries).join('li').attr('role', 'option')
      .attr('id', (entry, i) => `found-${i}`).on('mousedown', entry => {
        d3.event.preventDefault();
        choose(entry);
      });
    add(items, 'span', {class: 'chip'}, entry => entry.kind);
    add(items, 'span', {class: 'name'}, entry => fit(entry.name, 58));
    add(items, 'span', {class: 'faint'}, entry => entry.value > 0 ? short(entry.value, entry.unit) : '');
    if (entries.length === 0) add(list, 'li', {role: 'option', 'aria-disabled': 'true', 'aria-selected': 'false'}, 'Nothing matches.');
    input.attr('aria-expanded', 'true');
    mark(entries.length > 0 ? 0 : -1);
    announce(plural(entries.length, 'result'));
  };
  input.on('input', search).on('blur', close).on('keydown', () => {
    const {key} = d3.event;
    const isClosed = list.property('hidden');
    if (key === 'Escape' && !isClosed) {
      d3.event.stopPropagation();
      close();
    } else if (key === 'Enter' && !isClosed) {
      choose(entries[at]);
    } else if (key === 'ArrowDown' || key === 'ArrowUp') {
      d3.event.preventDefault();
      if (isClosed) search();
      else mark((at + (key === 'ArrowDown' ? 1 : entries.length - 1)) % Math.max(1, entries.length));
    }
  });
}

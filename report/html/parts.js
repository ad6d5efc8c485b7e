/* SPDX-License-Identifier: Apache-2.0 */
/* Splits a model into parts to compare: wrappers are replaced by their parts, repeated modules are one part. */

const openShare = 0.6; /* parts with a smaller share of the model are never opened (replaced by their parts) */
const wrapperShare = 0.9; /* a part is opened if it has this share of the model, or a child this share of the part */
const alikeSpread = 1.1; /* modules are joined if their values differ by a smaller factor */
const outside = 'nodes outside of modules';

/* Returns the pattern of the paths of repeated modules: "encoder.layer_*". */
function pattern(modules) {
  return modules.length === 1 ? modules[0].path : modules[0].path.split('.').map((part, i) =>
    modules.every(module => module.path.split('.')[i] === part) ? part : part.replace(/\d+/g, '*')).join('.');
}

/* Returns a part: modules that are counted together, at most the value of the part around them (shared parameters). */
function makePart(modules, key, most) {
  return {modules, path: pattern(modules), value: Math.min(most, d3.sum(modules, module => +module[key] || 0))};
}

/* Joins three or more parts whose names differ only in a number and whose values are nearly equal. */
function joinAlike(parts, key, most) {
  const groups = d3.nest().key(part => {
    const module = part.modules[0];
    return `${module.name.replace(/\d+/g, '*')} ${module.children.length}`;
  }).entries(parts);
  return [].concat(...groups.map(group => {
    const values = group.values.map(part => part.value);
    const isAlike = values.length > 2 && d3.min(values) > 0 && d3.max(values) < alikeSpread * d3.min(values);
    return isAlike ? [makePart([].concat(...group.values.map(part => part.modules)), key, most)] : group.values;
  })).sort((a, b) => a.modules[0].first - b.modules[0].first);
}

/* Returns the parts inside a part: one for each name of a child, then the nodes outside of children. */
function openPart(profile, part, key) {
  const children = [].concat(...part.modules.map(module => module.children.map(i => profile.modules[i])));
  const byName = d3.nest().key(module => module.name).entries(children)
    .map(entry => makePart(entry.values, key, part.value));
  const parts = part.modules.length === 1 ? joinAlike(byName, key, part.value) : byName;
  const rest = part.value - d3.sum(parts, each => each.value);
  const isHost = key === 'latency_ps' && profile.hostTime > 0 && rest - profile.hostTime < 0.01 * part.value;
  const name = part.path !== '' ? `${part.path} itself` : isHost ? 'waits for the host' : outside;
  return rest > 0.01 * part.value ? parts.concat([{modules: part.modules, path: name, own: true, value: rest}]) : parts;
}

/* Returns the parts of a model by a metric, in the order of the modules. part.within: opened parts around it. */
function partsOf(profile, key) {
  const total = +profile.totals[key];
  const open = part => {
    if (part.own || !(total > 0) || part.value < openShare * total || !part.modules[0].children.length) return [part];
    const inner = openPart(profile, part, key);
    const most = d3.max(inner, each => each.value);
    if (part.value < wrapperShare * total && !(most >= wrapperShare * part.value)) return [part];
    for (const each of inner) each.within = (part.within || []).concat([part]);
    return [].concat(...inner.map(open));
  };
  return open(makePart([profile.root], key, total));
}

/* Returns the parts with the most of a metric. Compares the outermost opened parts, then those inside the largest. */
function largestParts(profile, parts, key, depth = 0) {
  const groups = new Map();
  for (const part of parts) {
    const chain = (part.within || []).concat([part]);
    const whole = chain[Math.min(depth, chain.length - 1)];
    groups.set(whole, (groups.get(whole) || []).concat([part]));
  }
  const value = whole => +partValue(profile, whole, key) || 0;
  const most = d3.max([...groups.keys()], value);
  return [].concat(...[...groups].filter(entry => most > 0 && value(entry[0]) === most)
    .map(entry => entry[1][0] === entry[0] ? entry[1] : largestParts(profile, entry[1], key, depth + 1)));
}

/* Returns a metric of a part, limited as by makePart; for peaks the maximum, null if unknown. */
function partValue(profile, part, key) {
  if (key === 'peak_activation_bytes') return part.own ? null : d3.max(part.modules, module => +module[key] || 0);
  if (part.modules.length === 1 && !part.own) return part.modules[0][key];
  const sum = d3.sum(part.modules, module => (+module[key] || 0)
    - (part.own ? d3.sum(module.children, i => +profile.modules[i][key] || 0) : 0));
  return Math.max(0, Math.min(sum, partValue(profile, part.within[part.within.length - 1], key) ?? sum));
}

function partName(part) {
  return part.modules.length === 1 || part.own ? fit(part.path, maxName) || '(root)' : `${fit(part.path, maxName)} (${part.modules.length} modules)`;
}

/* Returns {part, text} of the largest part, with the text "layer3 takes 36%"; null if the total is 0. */
function dominant(profile, key) {
  const total = +profile.totals[key];
  const parts = partsOf(profile, key);
  if (!(total > 0)) return null;
  const first = largestParts(profile, parts, key)[0] || parts[0];
  const path = fit(first.path, maxName);
  const name = first.modules.length > 1 && !first.own ? `the ${first.modules.length} modules ${path}` : path;
  const isPlural = name !== path || first.own && first.modules[0] === profile.root;
  const text = `${name || 'the root module'} ${isPlural ? 'take' : 'takes'} ${roughly(first.value / total)}`;
  return {part: first, text};
}

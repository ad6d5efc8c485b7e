/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes the embedded JSON and indexes a profile: module tree, execution order, times. */

/* Replaces each {digits: "9007199254740993"} in a value by a BigNumber. */
function restoreIntegers(value) {
  for (const key of Object.keys(value || 0))
    if (typeof value[key] === 'object') value[key] = restoreIntegers(value[key]);
  return value && typeof value.digits === 'string' ? new BigNumber(value.digits) : value;
}

/*
 * Returns JSON text whose names show control characters and changes of direction as escapes, for example "\u202e". The
 * program writes these characters, and only these, as \u escapes; those of HTML, below 80, remain as they are.
 */
function neutralise(text) {
  const unsafe = /\\u(?!00[2-7][\da-e])/;
  return unsafe.test(text) ? text.replace(/\\./g, (pair, at) =>
    pair === '\\u' && unsafe.test(text.slice(at, at + 6)) ? '\\\\u' : pair) : text;
}

/* Returns the JSON of a script element; null without it. Integers above 2^53 keep their digits. */
function readJson(id) {
  const element = document.getElementById(id);
  if (!element) return null;
  const isLarge = token => /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token));
  const hasLarge = text => (text.match(/(?<![\d.])\d{16,}(?![\d.eE])/g) || []).some(isLarge);
  const mark = line => hasLarge(line) ? line.replace(/"(?:[^"\\]|\\.)*"|[\d.eE+-]+/g,
    token => isLarge(token) ? `{"digits":"${token}"}` : token) : line;
  const text = neutralise(element.textContent);
  return hasLarge(text) ? restoreIntegers(JSON.parse(text.split(/\n/).map(mark).join(' '))) : JSON.parse(text);
}

/* Metrics of modules and nodes; a profile has those whose total is known. */
const allMetrics = [
  {key: 'latency_ps', unit: 'ps', noun: 'time'},
  {key: 'macs', unit: 'macs', label: 'MACs', noun: 'MACs'},
  {key: 'flops', unit: 'flops', label: 'FLOPs', noun: 'FLOPs'},
  {key: 'params', unit: 'elements', label: 'Parameters', noun: 'parameters'},
  {key: 'activation_bytes', unit: 'bytes', label: 'Activation bytes', noun: 'activation bytes'},
];
const resources = ['compute', 'memory', 'launch', 'occupancy', 'kernel', 'mixed'];
/* Families of operators, each with a fixed colour: class and pattern of operators. The first that matches applies. */
const families = [
  ['kind-0', /Conv/],
  ['kind-1', /MatMul|Gemm|Einsum|Attention|LSTM|GRU|RNN|Linear/],
  ['kind-3', /Norm|LRN|Softmax/],
  ['kind-4', /Pool|^(::)?(Reduce|Arg|TopK|CumSum|NonMax|RoiAlign)/],
  ['kind-6', /Reshape|Transpose|Concat|Split|Slice|Gather|Scatter|Pad$|Tile|Expand|Flatten|queeze|Identity|Cast|Shape|Constant|DepthToSpace|SpaceToDepth|Resize|Upsample|QuantizeLinear/],
  ['kind-2', /elu$|Relu|Elu|Sigmoid|Tanh|Swish|Mish|Softplus|Softsign|Clip|Add|Sub$|Mul|Div|Pow|Sqrt|Exp|Log|Erf|Abs|Neg|Min|Max|Sum|Mean|Sin|Cos|Equal|Less|Greater|And|Or$|Not|Where|Dropout/],
  ['kind-5', /^/],
];
function kindColour(kind) { return families.find(family => family[1].test(kind))[0]; }

/* Numbers and returns the modules in preorder: a module contains a node if first <= node.owner.first < end. */
function numberModules(modules) {
  const stack = modules.filter(module => !isKnown(module.parent)).map(module => module.index).reverse();
  const order = [];
  while (stack.length) {
    const module = modules[stack.pop()];
    module.first = order.length;
    module.end = order.push(module);
    for (let i = module.children.length; i-- > 0;) stack.push(module.children[i]);
  }
  for (let i = order.length; i-- > 1;) {
    const parent = modules[order[i].parent];
    if (parent) parent.end = Math.max(parent.end, order[i].end);
  }
  return order;
}

function indexModules(profile) {
  profile.modules.forEach((module, index) => { module.index = index; module.nodes = 0; });
  profile.preorder = numberModules(profile.modules);
  profile.byPath = new Map(profile.modules.map(module => [module.path, module]));
  for (const node of profile.nodes) {
    node.owner = profile.byPath.get(node.module) || profile.modules[0];
    node.kind = node.domain ? `${node.domain}::${node.op}` : node.op;
    node.owner.nodes++;
    node.fused = [];
  }
}

/* Fills node.primitive, node.limited, node.fused (nodes in its kernel) and node.cores: "used", "eligible" or "". */
function indexTimes(profile) {
  const measure = profile.measure || {};
  profile.timed = isKnown(profile.totals.latency_ps);
  profile.modelled = Boolean(measure.modelled);
  profile.hostTime = (profile.time_error || {}).host_ps;
  profile.timeWord = `${profile.modelled ? 'expected' : 'measured'}${profile.training ? ' forward' : ''}`;
  profile.timeName = `${profile.timeWord[0].toUpperCase()}${profile.timeWord.slice(1)} time`;
  profile.primitives = measure.primitives || [];
  for (const primitive of profile.primitives) {
    primitive.limited = (primitive.achieved || {}).limited_by || 'unknown';
    for (const index of primitive.nodes) {
      const node = profile.nodes[index];
      node.primitive = primitive;
      node.limited = primitive.limited;
      node.cores = primitive.tensor_cores === 'yes' ? 'used' : '';
    }
  }
  for (const node of profile.nodes) if (profile.nodes[node.kernel]) profile.nodes[node.kernel].fused.push(node);
  for (const advice of profile.advice || [])
    if (/^(tensor-cores|half-precision)$/.test(advice.name))
      for (const node of advice.nodes.map(index => profile.nodes[index])) if ((node.primitive || {}).product) node.cores = 'eligible';
}

/* Fills profile.order (nodes in execution order) and node.position. */
function indexOrder(profile) {
  const memory = profile.memory || {};
  const order = memory.curve ? memory.curve.map(point => point.node) : memory.schedule;
  profile.order = order ? order.map(index => profile.nodes[index]) : profile.nodes.slice();
  profile.order.forEach((node, position) => { node.position = position; });
}

/* Lists the operator kinds, the most expensive first, and their colours. */
function indexKinds(profile) {
  const sums = new Map();
  const weight = profile.timed ? node => +node.latency_ps || 0 : node => +node.macs || (+node.bytes_written || 0) / 1e3;
  for (const node of profile.nodes) sums.set(node.kind, (sums.get(node.kind) || 0) + weight(node));
  profile.kinds = [...sums].sort((a, b) => b[1] - a[1]).map(entry => entry[0]);
  profile.kindColour = new Map(profile.kinds.map(kind => [kind, kindColour(kind)]));
}

/* Removes references to nodes that the profile does not have, because the reader of JSON does not check them. */
function dropDangling(profile) {
  const exists = index => index >= 0 && index < profile.nodes.length;
  const memory = profile.memory || {};
  for (const row of ((profile.measure || {}).primitives || []).concat(profile.advice || []))
    row.nodes = row.nodes.filter(exists);
  if (memory.curve) memory.curve = memory.curve.filter(point => exists(point.node));
  if (memory.plan)
    memory.plan = memory.plan.filter(value => exists(value.last) && (!isKnown(value.made) || exists(value.made)));
  if (!exists(memory.peak_node) || memory.curve && !memory.curve.some(point => point.node === memory.peak_node))
    memory.peak_node = null;
}

/* Returns " in fp16" if bytes are those of another precision than fp32. */
function inPrecision(profile) {
  const precision = profile.options.precision;
  return precision && precision !== 'fp32' ? ` in ${precision}` : '';
}

/* Adds the indexes to a profile and returns it; its numbers remain as in the JSON. */
function indexProfile(profile) {
  if (!profile) return null;
  dropDangling(profile);
  indexModules(profile);
  indexTimes(profile);
  indexOrder(profile);
  indexKinds(profile);
  profile.root = profile.modules[0];
  profile.metrics = allMetrics.filter(metric => isKnown(profile.totals[metric.key]))
    .map(metric => metric.unit === 'ps' ? Object.assign({}, metric, {label: profile.timeName})
      : metric.unit === 'bytes' ? Object.assign({}, metric, {label: metric.label + inPrecision(profile)}) : metric);
  profile.depths = d3.max(profile.modules, module => module.depth) || 0;
  return profile;
}

function loadReport() {
  const report = {
    kind: document.documentElement.getAttribute('data-kind') || 'profile',
    sweep: readJson('costmodel-sweep'),
    old: indexProfile(readJson('costmodel-old')),
    diff: readJson('costmodel-diff'),
    check: readJson('costmodel-check'),
  };
  report.profile = indexProfile(readJson('costmodel-profile') || readJson('costmodel-new'));
  if (report.sweep && report.profile) indexVariants(report);
  return report;
}

function isInside(node, module) {
  return node.owner.first >= module.first && node.owner.first < module.end;
}

function moduleName(module) { return fit(module.path, maxName) || '(root)'; }

/* Returns the last part of the path; the last two, as "layer1.0", if the last is a number. */
function displayName(profile, module) {
  const parent = isKnown(module.parent) ? profile.modules[module.parent] : null;
  return fit(parent && parent.path !== '' && /^\d+$/.test(module.name) ? `${parent.name}.${module.name}` : module.name, maxName);
}
function nodeName(node) { return node.name || `${node.op} ${node.index}`; }
/* Returns "layer1.0.bn1 (BatchNormalization)". */
function nodeLabel(node) { return `${fit(node.module || nodeName(node), maxName)} (${fit(node.op, maxName)})`; }
function limitedBy(module) { return (module.achieved || {}).limited_by || 'unknown'; }
function fileName(path) { return path.replace(/^.*\//, ''); }

/* Returns the time by limiting resource: [{resource, value}], the largest first. */
function timeByResource(profile, nodes) {
  const sums = new Map();
  for (const node of nodes)
    if (node.latency_ps > 0) sums.set(node.limited || 'unknown', (sums.get(node.limited || 'unknown') || 0) + +node.latency_ps);
  return [...sums].map(entry => ({resource: entry[0], value: entry[1]})).sort((a, b) => b.value - a.value);
}

/* Returns "batch 65 is the largest that fits 4.29 GB; 51 fits with 90 % confidence"; "" without a limit. */
function fitText(memory) {
  const fits = (memory || {}).fit;
  if (!fits) return '';
  const confident = isKnown(fits.confident_batch) ? `; ${fits.confident_batch === 0 ? 'none' : exact(fits.confident_batch)} fits with 90 % confidence` : '';
  if (fits.largest_batch === 0) return `no batch fits ${short(fits.limit_bytes, 'bytes')}`;
  return isKnown(fits.largest_batch) ? `batch ${exact(fits.largest_batch)} is the largest that fits ${short(fits.limit_bytes, 'bytes')}${confident}`
    : `the batch that profiles show ${fits.fits ? 'fits' : 'does not fit'} ${short(fits.limit_bytes, 'bytes')}`;
}

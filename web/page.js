// SPDX-License-Identifier: Apache-2.0
/*
 * The page: takes files, runs the program in a worker with the options of the form, and shows the
 * HTML report that it writes. After the program is loaded, a second policy forbids connections.
 */
'use strict';

const SHOW_PROGRESS_AFTER = 150; // ms
const PEEK = 65536; // bytes of a JSON file that decide what it is

const state = {
  ready: null, // promise of the compiled program
  worker: null,
  current: null, // the run in progress: {id, resolve, reject, name}
  nextId: 1,
  model: null, // {path, file}
  other: null, // the same, compared with `model`
  companions: new Map(), // external data and descriptions: path to File
  opCosts: [], // paths of companions
  dims: new Map(), // sizes of symbolic dims as text, '' if not given yet
  report: null, // {blob, kind} of the page that is shown
  picking: 'model', // slot of the files that the picker returns
};

const byId = id => document.getElementById(id);
const form = byId('form');

function show(id, isShown) {
  byId(id).hidden = !isShown;
}

function add(parent, tag, text, attributes = {}) {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  parent.append(element);
  return element;
}

function formatBytes(n) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let i = 0;
  while (n >= 999.5 && i < units.length - 1) {
    n /= 1000;
    ++i;
  }
  return `${i === 0 ? n : n.toPrecision(3)} ${units[i]}`;
}

// The program

/* Returns the bytes of a script element with base64 of gzip. */
async function unpack(id) {
  const packed = Uint8Array.from(atob(byId(id).textContent), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function compile() {
  if (byId('program').textContent !== '') return WebAssembly.compile(await unpack('program'));
  const response = await fetch('costmodel.wasm');
  if (!response.ok) throw new Error(`costmodel.wasm: the server answers ${response.status} ${response.statusText}`);
  return WebAssembly.compile(await response.arrayBuffer());
}

/* Forbids connections from here on, also to workers and frames that are created later: hence the frame of the
 * reports. */
function forbidConnections() {
  add(document.head, 'meta', '', {'http-equiv': 'Content-Security-Policy', content: "connect-src 'none'"});
  const frame = add(document.querySelector('main'), 'iframe', '', {id: 'report', title: 'Report', hidden: ''});
  frame.addEventListener('load', () => { // a drag over the report reaches only its window
    if (frame.contentDocument) frame.contentWindow.addEventListener('dragenter', showDropTargets);
  });
}

/* Returns the compiled program; from then on, the page has no connections. */
async function load() {
  try {
    if (location.protocol === 'file:' && byId('program').textContent === '')
      throw new Error('a browser loads costmodel.wasm only from a server. Run "python3 -m http.server" in the ' +
        'folder of this page, then open http://localhost:8000/costmodel.html');
    const module = await compile();
    forbidConnections();
    document.documentElement.dataset.ready = 'true';
    return module;
  } catch (error) {
    byId('problem').textContent = `The program cannot be loaded: ${error.message}`;
    show('problem', true);
    for (const id of ['choose', 'example']) byId(id).disabled = true;
    return null;
  }
}

function endWorker() {
  if (state.worker) state.worker.terminate();
  state.worker = null;
  if (state.current) state.current.reject(new DOMException('The run was cancelled.', 'AbortError'));
  state.current = null;
}

function onMessage({data}) {
  const {current} = state;
  if (!current || data.id !== current.id) return;
  if (data.kind === 'progress') {
    showProgress(data);
    return;
  }
  state.current = null;
  if (data.kind === 'done') {
    current.resolve(data);
    return;
  }
  current.reject(new Error(data.message));
}

function startWorker() {
  const url = URL.createObjectURL(new Blob([byId('worker-script').textContent], {type: 'text/javascript'}));
  state.worker = new Worker(url);
  URL.revokeObjectURL(url);
  state.worker.addEventListener('message', onMessage);
}

/* Runs the program; ends a run in progress. Returns {status, out, errors, read, memory, seconds}. */
async function execute(args) {
  const module = await state.ready;
  if (state.current) endWorker();
  if (!state.worker) startWorker();
  const id = state.nextId++;
  const files = new Map(state.companions);
  for (const model of [state.model, state.other]) if (model) files.set(model.path, model.file);
  return new Promise((resolve, reject) => {
    state.current = {id, resolve, reject};
    state.worker.postMessage({id, module, args: ['costmodel', ...args], files});
  });
}

// Options

/* Splits text at spaces outside of quotes. */
function words(text) {
  return [...text.matchAll(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g)].map(([word]) => word.replace(/["']/g, ''));
}

function isServingReport() {
  return form.elements.command.value === 'llm' && !state.other;
}

function hasSecondDevice() {
  return form.elements.device.value !== '' && !state.other && !isServingReport();
}

/* Returns the arguments of the program without format. */
function programArguments() {
  const value = name => form.elements[name].value.trim();
  const isServing = isServingReport();
  const args = isServing ? ['llm'] : state.other ? ['diff'] : [];
  args.push(state.model.path);
  if (state.other) args.push(state.other.path);
  const batch = value('batch').split(/[\s,]+/).filter(part => part !== '').join(',');
  if (batch !== '') args.push('--batch', batch);
  for (const [name, size] of state.dims) if (size !== '') args.push('--dim', `${name}=${size}`);
  const devices = [value('device'), hasSecondDevice() ? value('device-2') : ''].filter(name => name !== '');
  if (devices.length > 0) args.push('--device', devices.join(','));
  for (const name of isServing ? [] : ['precision', 'convention', 'optimizer'])
    if (value(name) !== '') args.push(`--${name}`, value(name));
  for (const path of state.opCosts) args.push('--op-costs', path);
  return [...args, ...words(value('extra'))];
}

function quote(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function showCommand(args) {
  byId('command').textContent = ['costmodel', ...args, '--format', 'html', '-o', 'report.html'].map(quote).join(' ');
}

/* Stores the options in the fragment, so that the URL is a link to them. */
function writeFragment() {
  const fragment = new URLSearchParams();
  for (const [name, value] of new FormData(form))
    if (value !== '' && name !== 'dim' && `${name}=${value}` !== 'command=profile') fragment.set(name, value);
  for (const [name, size] of state.dims) if (size !== '') fragment.append('dim', `${name}=${size}`);
  history.replaceState(null, '', `#${fragment}`);
}

function readFragment() {
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    const control = form.elements[name];
    if (name === 'dim' && value.includes('='))
      state.dims.set(value.slice(0, value.lastIndexOf('=')), value.slice(value.lastIndexOf('=') + 1));
    else if (control && control.name === name && (control.localName === 'input' || hasOption(control, value)))
      control.value = value;
  }
}

function hasOption(select, value) {
  return [...select.options].some(option => option.value === value);
}

function deviceSelects() {
  return [form.elements.device, form.elements['device-2']];
}

function fillDevices() {
  for (const [kind, devices] of JSON.parse(byId('devices').textContent))
    for (const select of deviceSelects()) {
      const group = add(select, 'optgroup', '', {label: kind});
      for (const [name, text] of devices) add(group, 'option', text, {value: name});
    }
}

/* Offers a device description among the devices, and selects it. */
function addDevice(path) {
  for (const select of deviceSelects())
    if (!hasOption(select, path))
      select.insertBefore(add(select, 'option', `${path} (your file)`, {value: path}), select.children[1]);
  form.elements.device.value = path;
}

/* Shows the options that the report has. */
function showOptions() {
  for (const label of form.querySelectorAll('.of-profile')) label.hidden = isServingReport();
  form.querySelector('.of-one').hidden = state.other !== null;
  show('second-device', hasSecondDevice());
}

function showDims() {
  const place = byId('dims');
  const shown = [...place.children].map(label => label.firstChild.textContent);
  if (shown.join() === [...state.dims.keys()].join()) return; // keeps the focus
  place.replaceChildren();
  for (const [name, size] of state.dims) {
    const label = add(place, 'label', name);
    const input = add(label, 'input', '', {name: 'dim', inputmode: 'numeric', placeholder: 'size', size: 7});
    input.value = size;
    input.addEventListener('input', () => state.dims.set(name, input.value.trim()));
    if (size === '') input.classList.add('missing');
  }
}

// Files

async function isJsonOf(file, schema) {
  return file.name.endsWith('.json') && (await file.slice(0, PEEK).text()).includes(`"costmodel/${schema}/`);
}

/* Returns 'model', 'device', 'op-costs' or 'data'. */
async function kindOf(file) {
  if (/\.onnx$/i.test(file.name) || await isJsonOf(file, 'profile')) return 'model';
  for (const kind of ['device', 'op-costs']) if (await isJsonOf(file, kind)) return kind;
  return 'data';
}

/* Takes models, external data, device and operator descriptions. A model goes into the slot 'model' or
 * 'other'; of two, the second is compared with the first. Without a model, a single file is taken for one. */
async function takeFiles(entries, slot) {
  const models = [];
  const others = [];
  for (const entry of entries) {
    const kind = await kindOf(entry.file);
    if (kind === 'model') models.push(entry);
    else others.push({...entry, kind});
  }
  const count = models.length;
  if (count > 2) models.length = 1;
  if (models.length === 0 && others.length === 1 && others[0].kind === 'data' && (!state.model || slot === 'other'))
    models.push(others.pop());
  const isReplaced = state.model !== null; // dims of the fragment are for the first model
  if (models.length > 0 && (slot === 'model' || models.length > 1)) {
    state.model = models[0];
    state.other = null;
    if (isReplaced) state.dims.clear();
  }
  const second = slot === 'other' && models.length === 1 ? models[0] : models[1];
  if (second) state.other = second;
  if (state.other && state.other.path === state.model.path) state.other = {...second, path: `new/${second.path}`};
  for (const {path, file, kind} of others) {
    state.companions.set(path, file);
    if (state.other && state.other.path.startsWith('new/')) state.companions.set(`new/${path}`, file);
    if (kind === 'device') addDevice(path);
    if (kind === 'op-costs' && !state.opCosts.includes(path)) state.opCosts.push(path);
  }
  if (!state.model || !await state.ready) return;
  await run();
  if (count > 2) addNote(`${count} models were given; this is the report of the first, ${state.model.path}.`);
}

/* Returns the files of a drop with their paths; reads folders. */
async function droppedFiles(transfer) {
  const found = [];
  const visit = async entry => {
    if (entry.isFile) {
      const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
      found.push({path: entry.fullPath.replace(/^\/+/, ''), file});
      return;
    }
    const reader = entry.createReader();
    for (;;) { // at most 100 entries at a time
      const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (part.length === 0) return;
      for (const child of part) await visit(child);
    }
  };
  const entries = [...transfer.items].map(item => item.webkitGetAsEntry && item.webkitGetAsEntry());
  if (entries.length === 0 || entries.some(entry => !entry))
    return [...transfer.files].map(file => ({path: file.name, file}));
  for (const entry of entries) await visit(entry);
  return found;
}

function showModels() {
  const list = byId('models');
  list.replaceChildren();
  list.hidden = false;
  for (const [slot, role] of [['model', state.other ? 'Old' : 'Model'], ['other', 'New']]) {
    const model = state[slot];
    if (!model) continue;
    const item = add(list, 'li');
    add(item, 'span', role, {class: 'role'});
    add(item, 'span', model.path, {class: 'name', title: `${model.path}, ${formatBytes(model.file.size)}`});
    if (!state.other) continue;
    add(item, 'button', '×', {type: 'button', 'aria-label': `Remove ${model.path}`, class: 'remove'})
      .addEventListener('click', () => {
        if (slot === 'model') state.model = state.other;
        state.other = null;
        run();
      });
  }
}

// Results

/* Shows the messages of the program: each with its location and its hint. */
function showMessages(text, isFailure) {
  const place = byId('messages');
  place.replaceChildren();
  place.classList.toggle('failure', isFailure);
  let message = null;
  for (const line of text.split(/\n/).filter(each => each.trim() !== '')) {
    const head = /^(.*?): (error|warning|note)\[([^\]]*)\]:\s(.*)$/.exec(line);
    const hint = /^ +hint: (.*)$/.exec(line);
    if (head || !message) {
      message = add(place, 'div', '', {class: `message ${head ? head[2] : 'error'}`});
      add(message, 'p', head ? head[4] : line, {class: 'text'});
      if (head) add(message, 'p', `${head[1]}, ${head[2]}: ${head[3]}`, {class: 'faint'});
    } else if (hint) {
      add(message, 'p', hint[1], {class: 'hint'});
    } else {
      add(message, 'p', line, {class: 'location'});
    }
  }
  place.hidden = message === null;
}

/* Adds the dims that the program asks for to the form. Returns true if there is a new one. */
function askForDims(text) {
  const names = [...text.matchAll(/^ +hint: give --dim (.+)=SIZE/gm)].map(([, name]) => name);
  const isNew = names.some(name => !state.dims.has(name));
  for (const name of names) if (!state.dims.has(name)) state.dims.set(name, '');
  return isNew;
}

/* Adds a message of the page before those of the program. */
function addNote(text, more = '') {
  const box = document.createElement('div');
  box.className = 'message note';
  add(box, 'p', text, {class: 'text'});
  if (more !== '') add(box, 'p', more);
  byId('messages').prepend(box);
  show('messages', true);
}

function showProgress({read, position, size}) {
  const bar = byId('progress');
  bar.max = size;
  bar.value = position;
  byId('status').textContent = `Analysing: ${formatBytes(read)} read, ` +
    `${Math.floor(100 * Math.min(position, size) / Math.max(size, 1))}% of ${formatBytes(size)} passed`;
}

function setBusy(isBusy) {
  document.body.classList.toggle('busy', isBusy);
  show('progress', isBusy);
  show('cancel', isBusy);
  if (isBusy) byId('progress').removeAttribute('value');
}

function summary({read, seconds}) {
  const size = state.model.file.size + (state.other ? state.other.file.size : 0);
  return `Read ${formatBytes(read)} of ${formatBytes(size)} in ${seconds < 0.995 ? seconds.toFixed(2) : seconds.toPrecision(3)} s. ` +
    'Nothing was uploaded.';
}

/* Runs the program with the options and this format; shows progress. Returns its result; null if it was cancelled
 * or another run replaced it. */
async function runWithFormat(format) {
  const timer = setTimeout(setBusy, SHOW_PROGRESS_AFTER, true);
  byId('status').textContent = 'Analysing…';
  try {
    return await execute([...programArguments(), '--format', format]);
  } catch (error) {
    if (error.name === 'AbortError') return null;
    endWorker();
    return {status: 1, out: new Blob([]), errors: error.message, read: 0, seconds: 0};
  } finally {
    clearTimeout(timer);
    if (!state.current) setBusy(false);
  }
}

/* Shows a report, in the view of the previous one if it is of the same kind. A page on disk cannot read the view. */
function showReport(blob) {
  const frame = byId('report');
  const kind = state.other ? 'diff' : form.elements.command.value;
  const isSame = frame.contentDocument && state.report && state.report.kind === kind;
  const view = isSame ? frame.contentWindow.location.hash : '';
  if (state.report) URL.revokeObjectURL(state.report.url);
  const url = URL.createObjectURL(new Blob([blob], {type: 'text/html;charset=utf-8'}));
  state.report = {blob, kind, url};
  frame.hidden = false;
  frame.contentWindow.location.replace(url + view);
  frame.title = `Report of ${state.model.path}`;
  document.title = `${state.model.path}${state.other ? ` → ${state.other.path}` : ''} - costmodel`;
}

async function run() {
  show('start', false);
  for (const id of ['options', 'compare', 'open']) show(id, true);
  document.body.classList.add('opened');
  showModels();
  showOptions();
  showDims();
  writeFragment();
  showCommand(programArguments());
  const result = await runWithFormat('html');
  if (!result) return;
  const hasReport = result.out.size > 0;
  byId('status').textContent = hasReport ? summary(result) : 'No report.';
  Object.assign(document.body.dataset, {status: result.status, memory: result.memory});
  showMessages(result.errors, !hasReport);
  for (const id of ['report', 'save']) show(id, hasReport);
  if (hasReport) {
    const hasFocus = document.activeElement !== document.body;
    showReport(result.out);
    if (!hasFocus) byId('report').focus();
    byId('options').open = !narrow.matches;
  } else if (askForDims(result.errors)) {
    byId('options').open = true;
    showDims();
    addNote('Enter the sizes of the symbolic dims above.',
      'If it is a language model, the report “Language model serving” sets batch and tokens itself.');
    byId('dims').querySelector('.missing').focus();
  }
}

function save(blob, suffix) {
  const url = URL.createObjectURL(blob);
  const name = state.model.path.split('/').pop().replace(/\.(onnx|json)$/i, '');
  const link = add(document.body, 'a', '', {href: url, download: `${name}${state.other ? '-diff' : ''}.${suffix}`});
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

async function saveJson() {
  const result = await runWithFormat('json');
  if (!result) return;
  byId('status').textContent = result.out.size > 0 ? summary(result) : 'Nothing was saved.';
  if (result.out.size > 0) save(new Blob([result.out], {type: 'application/json'}), 'json');
  else showMessages(result.errors, false);
}

// Events

function pick(slot) {
  state.picking = slot;
  byId('picker').value = '';
  byId('picker').click();
}

function dropSlot(event) {
  const target = event.target.closest && event.target.closest('.target');
  return target ? target.dataset.slot : 'model';
}

function showDropTargets(event) {
  if (![...event.dataTransfer.types].includes('Files')) return;
  event.preventDefault();
  if (!state.model) {
    byId('zone').classList.add('over');
    return;
  }
  show('drop', true);
  byId('compare-name').textContent = `with ${state.model.path}`;
  for (const target of document.querySelectorAll('#drop .target'))
    target.classList.toggle('over', target === (event.target.closest && event.target.closest('.target')));
}

function hideDropTargets() {
  show('drop', false);
  byId('zone').classList.remove('over');
}

async function onDrop(event) {
  event.preventDefault();
  hideDropTargets();
  await takeFiles(await droppedFiles(event.dataTransfer), dropSlot(event));
}

const narrow = matchMedia('(max-width: 620px)');
narrow.addEventListener('change', () => { byId('options').open = !narrow.matches || !state.report; });

for (const [id, slot] of [['choose', 'model'], ['open', 'model'], ['compare', 'other']])
  byId(id).addEventListener('click', () => pick(slot));
byId('picker').addEventListener('change', () =>
  takeFiles([...byId('picker').files].map(file => ({path: file.name, file})), state.picking));
byId('example').addEventListener('click', async () => {
  for (const [name, value] of [['batch', '32'], ['device', 'h100-sxm']])
    if (form.elements[name].value === '') form.elements[name].value = value;
  const file = new File([await unpack('example-model')], 'resnet50.onnx');
  await takeFiles([{path: file.name, file}], 'model');
});
byId('cancel').addEventListener('click', () => {
  endWorker();
  setBusy(false);
  byId('status').textContent = 'Cancelled.';
});
for (const menu of document.querySelectorAll('.menu')) { // closed by Escape and by leaving it
  menu.addEventListener('keydown', event => {
    if (event.key !== 'Escape') return;
    menu.open = false;
    menu.querySelector('summary').focus();
  });
  menu.addEventListener('focusout', event => { if (event.relatedTarget && !menu.contains(event.relatedTarget)) menu.open = false; });
  window.addEventListener('pointerdown', event => { if (!menu.contains(event.target)) menu.open = false; });
  window.addEventListener('blur', () => { menu.open = false; }); // the focus is in the report
}
byId('save-report').addEventListener('click', () => save(new Blob([state.report.blob], {type: 'text/html'}), 'html'));
byId('save-json').addEventListener('click', saveJson);
byId('copy').addEventListener('click', () => {
  getSelection().selectAllChildren(byId('command'));
  if (navigator.clipboard) navigator.clipboard.writeText(byId('command').textContent);
  byId('copy').textContent = 'Copied';
  setTimeout(() => { byId('copy').textContent = 'Copy'; }, 1500);
});
form.addEventListener('change', run);
form.addEventListener('submit', event => event.preventDefault());
for (const [name, handler] of [['dragenter', showDropTargets], ['dragover', showDropTargets], ['drop', onDrop]])
  window.addEventListener(name, handler);
window.addEventListener('dragleave', event => { if (!event.relatedTarget) hideDropTargets(); });

fillDevices();
readFragment();
state.ready = load();
if (new URLSearchParams(location.hash.slice(1)).has('example')) byId('example').click();

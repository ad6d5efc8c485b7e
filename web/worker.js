// SPDX-License-Identifier: Apache-2.0
/*
 * The worker of the page: runs the program once for each message {id, module, args, files} and
 * answers with {id, kind: 'progress' | 'done' | 'failed', ...}. The page ends the worker to cancel.
 */
const REPORT_EVERY = 50; // ms

/* Posts how much of which file was read, at most every REPORT_EVERY ms. */
function makeProgress(id, total) {
  let last = 0;
  return (file, position, n) => {
    total.read += n;
    if (performance.now() - last < REPORT_EVERY) return;
    last = performance.now();
    self.postMessage({id, kind: 'progress', read: total.read, position, size: file.size});
  };
}

async function runProgram({id, module, args, files}) {
  const total = {read: 0};
  const begin = performance.now();
  const wasi = new Wasi(args, files, makeProgress(id, total));
  const errors = () => new TextDecoder().decode(wasi.errors.content());
  try {
    const status = await wasi.run(module);
    self.postMessage({id, kind: 'done', status, out: new Blob([wasi.out.content()]), errors: errors(), read: total.read,
      memory: wasi.memory.buffer.byteLength, seconds: (performance.now() - begin) / 1000});
  } catch (error) {
    self.postMessage({id, kind: 'failed', message: `${errors()}The program stopped: ${error}`});
  }
}

self.addEventListener('message', event => runProgram(event.data));

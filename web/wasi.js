// SPDX-License-Identifier: Apache-2.0
/*
 * WASI preview 1 for one run of the program: arguments, clock, random bytes, and a file system in
 * memory whose input files are Blobs. A Blob is read in blocks as the program asks for them, so
 * that a model's weights, which the program skips, are never loaded.
 */
/* eslint-env worker */
'use strict';

const ERROR = {ok: 0, badFile: 8, exists: 20, invalid: 28, isDirectory: 31, missing: 44, unsupported: 52,
  notDirectory: 54, notEmpty: 55, pipe: 70};
const KIND = {unknown: 0, directory: 3, file: 4};
const FIRST_BLOCK = 16 << 10; // bytes
const LARGEST_BLOCK = 1 << 20;
const ROOT = 3; // descriptor of the folder '/'

/* The program has called exit. */
class Exit {
  constructor(status) {
    this.status = status;
  }
}

/* A Blob, read through one block. The block doubles while the reads are sequential. */
class InputFile {
  constructor(blob, onRead) {
    this.blob = blob;
    this.onRead = onRead;
    this.size = blob.size;
    this.start = 0;
    this.block = new Uint8Array(0);
    this.length = FIRST_BLOCK;
  }

  /* Copies bytes at a position into `target`; returns how many, 0 at the end. */
  read(position, target) {
    const end = this.start + this.block.length;
    if (position >= this.size) return 0;
    if (position < this.start || position >= end) {
      this.length = position === end ? Math.min(2 * this.length, LARGEST_BLOCK) : FIRST_BLOCK;
      const slice = this.blob.slice(position, position + this.length);
      this.block = new Uint8Array(new FileReaderSync().readAsArrayBuffer(slice));
      this.start = position;
      this.onRead(this, position + this.block.length, this.block.length);
    }
    const from = position - this.start;
    const part = this.block.subarray(from, from + target.length);
    target.set(part);
    return part.length;
  }
}

/* A file in memory. */
class OutputFile {
  constructor() {
    this.size = 0;
    this.bytes = new Uint8Array(FIRST_BLOCK);
  }

  read(position, target) {
    const part = this.bytes.subarray(Math.min(position, this.size), Math.min(position + target.length, this.size));
    target.set(part);
    return part.length;
  }

  write(position, source) {
    const end = position + source.length;
    if (end > this.bytes.length) {
      const grown = new Uint8Array(Math.max(end, 2 * this.bytes.length));
      grown.set(this.bytes);
      this.bytes = grown;
    }
    this.bytes.set(source, position);
    this.size = Math.max(this.size, end);
  }

  content() {
    return this.bytes.subarray(0, this.size);
  }
}

/* One run. `args` start with the name of the program; `files` maps paths to Blobs. */
class Wasi {
  constructor(args, files, onRead) {
    this.args = args.map(text => new TextEncoder().encode(`${text}\0`));
    this.files = new Map([...files].map(([path, blob]) => [path, new InputFile(blob, onRead)]));
    this.folders = new Set(['', 'tmp']);
    for (const path of this.files.keys())
      for (let at = path.indexOf('/'); at > 0; at = path.indexOf('/', at + 1)) this.folders.add(path.slice(0, at));
    this.out = new OutputFile();
    this.errors = new OutputFile();
    this.opened = new Map([[0, {file: new OutputFile(), stream: true, position: 0}],
      [1, {file: this.out, stream: true, position: 0}], [2, {file: this.errors, stream: true, position: 0}],
      [ROOT, {folder: ''}]]);
    this.memory = null;
  }

  /* Runs the program; returns its exit status. */
  async run(module) {
    const imports = {};
    for (const {module: group, name} of WebAssembly.Module.imports(module)) {
      imports[group] = imports[group] || {};
      imports[group][name] = this[name] ? this[name].bind(this) : () => ERROR.unsupported;
    }
    const instance = await WebAssembly.instantiate(module, imports);
    this.memory = instance.exports.memory;
    try {
      instance.exports._start();
      return 0;
    } catch (error) {
      if (error instanceof Exit) return error.status;
      throw error;
    }
  }

  // Memory of the program

  view() {
    return new DataView(this.memory.buffer);
  }

  bytes(at, length) {
    return new Uint8Array(this.memory.buffer, at, length);
  }

  setSize(at, value) {
    this.view().setUint32(at, value, true);
    return ERROR.ok;
  }

  setLong(at, value) {
    this.view().setBigUint64(at, BigInt(value), true);
    return ERROR.ok;
  }

  /* Calls `move` with each buffer of a vector until it returns less than the buffer's length; stores the sum. */
  forEachBuffer(vector, count, sumAt, move) {
    let sum = 0;
    for (let i = 0; i < count; ++i) {
      const length = this.view().getUint32(vector + 8 * i + 4, true);
      const moved = length === 0 ? 0 : move(this.bytes(this.view().getUint32(vector + 8 * i, true), length), sum);
      sum += moved;
      if (moved < length) break;
    }
    return this.setSize(sumAt, sum);
  }

  /* Writes texts that end with 0, and their addresses. */
  putTexts(texts, list, at) {
    for (const text of texts) {
      this.setSize(list, at);
      this.bytes(at, text.length).set(text);
      list += 4;
      at += text.length;
    }
    return ERROR.ok;
  }

  putTextSizes(texts, countAt, sizeAt) {
    this.setSize(countAt, texts.length);
    return this.setSize(sizeAt, texts.reduce((sum, text) => sum + text.length, 0));
  }

  /* Returns a path below the root without '.', '..' and empty parts. */
  path(fd, at, length) {
    const parts = [];
    const given = new TextDecoder().decode(this.bytes(at, length));
    const base = given.startsWith('/') ? '' : this.opened.get(fd).folder;
    for (const part of `${base}/${given}`.split('/'))
      if (part === '..') parts.pop();
      else if (part !== '' && part !== '.') parts.push(part);
    return parts.join('/');
  }

  putFileStatus(at, kind, size) {
    this.bytes(at, 64).fill(0);
    this.view().setUint8(at + 16, kind);
    this.setLong(at + 24, 1);
    return this.setLong(at + 32, size);
  }

  isUsed(folder) {
    return [...this.files.keys(), ...this.folders].some(path => path.startsWith(`${folder}/`));
  }

  // Arguments, clock, random bytes, exit

  args_get(list, at) {
    return this.putTexts(this.args, list, at);
  }

  args_sizes_get(countAt, sizeAt) {
    return this.putTextSizes(this.args, countAt, sizeAt);
  }

  environ_get() {
    return ERROR.ok;
  }

  environ_sizes_get(countAt, sizeAt) {
    return this.putTextSizes([], countAt, sizeAt);
  }

  clock_res_get(clock, at) {
    return this.setLong(at, 1000000);
  }

  clock_time_get(clock, precision, at) {
    const ms = clock === 0 ? Date.now() : performance.now();
    return this.setLong(at, Math.round(ms * 1e6));
  }

  random_get(at, length) {
    for (let done = 0; done < length; done += 65536)
      crypto.getRandomValues(this.bytes(at + done, Math.min(65536, length - done)));
    return ERROR.ok;
  }

  sched_yield() {
    return ERROR.ok;
  }

  proc_exit(status) {
    throw new Exit(status);
  }

  // Descriptors

  fd_advise(fd) {
    return this.opened.has(fd) ? ERROR.ok : ERROR.badFile;
  }

  fd_sync(fd) {
    return this.fd_advise(fd);
  }

  fd_datasync(fd) {
    return this.fd_advise(fd);
  }

  fd_fdstat_set_flags(fd) {
    return this.fd_advise(fd);
  }

  fd_close(fd) {
    return this.opened.delete(fd) ? ERROR.ok : ERROR.badFile;
  }

  fd_prestat_get(fd, at) {
    if (fd !== ROOT) return ERROR.badFile;
    this.setSize(at, 0);
    return this.setSize(at + 4, 1);
  }

  fd_prestat_dir_name(fd, at, length) {
    if (fd !== ROOT || length < 1) return ERROR.badFile;
    this.bytes(at, 1)[0] = 0x2f; // '/'
    return ERROR.ok;
  }

  kindOf(opened) {
    if (opened.stream) return KIND.unknown;
    return opened.file ? KIND.file : KIND.directory;
  }

  fd_fdstat_get(fd, at) {
    const opened = this.opened.get(fd);
    if (!opened) return ERROR.badFile;
    this.bytes(at, 24).fill(0);
    this.view().setUint8(at, this.kindOf(opened));
    this.view().setUint16(at + 2, opened.append ? 1 : 0, true);
    this.setLong(at + 8, 0x1fffffff); // every right
    return this.setLong(at + 16, 0x1fffffff);
  }

  fd_filestat_get(fd, at) {
    const opened = this.opened.get(fd);
    if (!opened) return ERROR.badFile;
    return this.putFileStatus(at, this.kindOf(opened), opened.file ? opened.file.size : 0);
  }

  fd_filestat_set_size(fd, size) {
    const opened = this.opened.get(fd);
    if (!opened || !(opened.file instanceof OutputFile)) return ERROR.badFile;
    const missing = Number(size) - opened.file.size;
    if (missing > 0) opened.file.write(opened.file.size, new Uint8Array(missing));
    opened.file.size = Number(size);
    return ERROR.ok;
  }

  fd_seek(fd, offset, whence, at) {
    const opened = this.opened.get(fd);
    if (!opened) return ERROR.badFile;
    if (!opened.file || opened.stream) return ERROR.pipe;
    const position = Number(offset) + [0, opened.position, opened.file.size][whence];
    if (!(position >= 0)) return ERROR.invalid;
    opened.position = position;
    return this.setLong(at, position);
  }

  fd_tell(fd, at) {
    return this.fd_seek(fd, 0n, 1, at);
  }

  fd_read(fd, vector, count, sumAt) {
    const opened = this.opened.get(fd);
    if (!opened || !opened.file) return ERROR.badFile;
    return this.forEachBuffer(vector, count, sumAt, buffer => {
      const got = opened.file.read(opened.position, buffer);
      opened.position += got;
      return got;
    });
  }

  fd_pread(fd, vector, count, offset, sumAt) {
    const opened = this.opened.get(fd);
    if (!opened || !opened.file) return ERROR.badFile;
    return this.forEachBuffer(vector, count, sumAt, (buffer, sum) => opened.file.read(Number(offset) + sum, buffer));
  }

  fd_write(fd, vector, count, sumAt) {
    const opened = this.opened.get(fd);
    if (!opened || !(opened.file instanceof OutputFile)) return ERROR.badFile;
    return this.forEachBuffer(vector, count, sumAt, buffer => {
      if (opened.append) opened.position = opened.file.size;
      opened.file.write(opened.position, buffer);
      opened.position += buffer.length;
      return buffer.length;
    });
  }

  // Paths

  path_open(fd, lookup, at, length, create, rights, inherited, flags, fdAt) {
    const path = this.path(fd, at, length);
    const [isCreate, isFolder, isNew, isEmpty] = [1, 2, 4, 8].map(bit => (create & bit) !== 0);
    let file = this.files.get(path);
    const opened = {position: 0, append: (flags & 1) !== 0};
    if (this.folders.has(path)) {
      if (isCreate) return ERROR.isDirectory;
      opened.folder = path;
    } else {
      const parent = path.slice(0, Math.max(path.lastIndexOf('/'), 0));
      if (!this.folders.has(parent) || (!file && !isCreate)) return ERROR.missing;
      if (isFolder) return ERROR.notDirectory;
      if (file && isCreate && isNew) return ERROR.exists;
      if (!file || isEmpty) this.files.set(path, file = new OutputFile());
      opened.file = file;
    }
    let next = ROOT + 1;
    while (this.opened.has(next)) ++next;
    this.opened.set(next, opened);
    return this.setSize(fdAt, next);
  }

  path_filestat_get(fd, lookup, at, length, statusAt) {
    const path = this.path(fd, at, length);
    if (this.folders.has(path)) return this.putFileStatus(statusAt, KIND.directory, 0);
    const file = this.files.get(path);
    return file ? this.putFileStatus(statusAt, KIND.file, file.size) : ERROR.missing;
  }

  path_create_directory(fd, at, length) {
    const path = this.path(fd, at, length);
    if (this.folders.has(path) || this.files.has(path)) return ERROR.exists;
    this.folders.add(path);
    return ERROR.ok;
  }

  path_remove_directory(fd, at, length) {
    const path = this.path(fd, at, length);
    if (this.isUsed(path)) return ERROR.notEmpty;
    return this.folders.delete(path) ? ERROR.ok : ERROR.missing;
  }

  path_unlink_file(fd, at, length) {
    return this.files.delete(this.path(fd, at, length)) ? ERROR.ok : ERROR.missing;
  }

  path_rename(fd, at, length, newFd, newAt, newLength) {
    const path = this.path(fd, at, length);
    const file = this.files.get(path);
    if (!file) return ERROR.missing;
    this.files.delete(path);
    this.files.set(this.path(newFd, newAt, newLength), file);
    return ERROR.ok;
  }

  path_readlink() {
    return ERROR.invalid; // no file is a link
  }
}

// SPDX-License-Identifier: Apache-2.0
// Runs a program for WASI in node: wasi.mjs PROGRAM.wasm [ARGUMENT...]. The program sees the working folder.
import fs from 'node:fs';
import {WASI} from 'node:wasi';

const [, , program, ...words] = process.argv;
const wasi = new WASI({version: 'preview1', args: ['costmodel', ...words], env: process.env,
                       preopens: {'.': process.cwd()}, returnOnExit: true});
const module = await WebAssembly.compile(fs.readFileSync(program));
process.exitCode = wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject()));

/* SPDX-License-Identifier: Apache-2.0 */
/* Unpacks d3, which the page contains as deflate (RFC 1951) in base64, and runs it. It comes first: views use d3. */
'use strict';

/* Returns the bytes of a deflate stream whose last four bytes are the unpacked size, as at the end of gzip. */
function inflate(bytes) {
  const output = new Uint8Array(new DataView(bytes.buffer).getUint32(bytes.length - 4, true));
  let at = 0; /* in bytes */
  let n = 0; /* in output */
  let buffer = 0;
  let held = 0; /* bits in buffer */
  const fill = need => { for (; held < need; held += 8) buffer |= bytes[at++] << held; };
  const drop = (size, value) => {
    buffer >>>= size;
    held -= size;
    return value;
  };
  const bits = need => {
    fill(need);
    return drop(need, buffer & (1 << need) - 1);
  };
  /* Returns a table of a canonical Huffman code: the symbol and length (4 bits) of the code in the next bits. */
  const codeOf = lengths => {
    const most = Math.max(...lengths);
    const table = new Uint16Array(1 << most);
    let code = 0;
    for (let length = 1; length <= most; length++, code <<= 1)
      lengths.forEach((each, symbol) => {
        if (each !== length) return;
        let place = 0;
        for (let i = 0; i < length; i++) place |= (code >> i & 1) << length - 1 - i;
        for (; place < table.length; place += 1 << length) table[place] = symbol << 4 | length;
        code++;
      });
    return table;
  };
  const decode = table => {
    fill(15);
    const entry = table[buffer & table.length - 1];
    return drop(entry & 15, entry >> 4);
  };
  const lengthBase = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131,
    163, 195, 227, 258];
  const order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
  const readCodes = () => {
    const [nLengths, nDistances, nOrder] = [bits(5) + 257, bits(5) + 1, bits(4) + 4];
    const lengths = new Array(19).fill(0);
    for (let i = 0; i < nOrder; i++) lengths[order[i]] = bits(3);
    const code = codeOf(lengths);
    const all = [];
    while (all.length < nLengths + nDistances) {
      const symbol = decode(code);
      if (symbol < 16) all.push(symbol);
      else {
        const value = symbol === 16 ? all[all.length - 1] : 0;
        const more = symbol === 16 ? 3 + bits(2) : symbol === 17 ? 3 + bits(3) : 11 + bits(7);
        for (let k = 0; k < more; k++) all.push(value);
      }
    }
    return [codeOf(all.slice(0, nLengths)), codeOf(all.slice(nLengths))];
  };
  const repeat = (count, length) => new Array(count).fill(length);
  const fixed = () =>
    [[].concat(repeat(144, 8), repeat(112, 9), repeat(24, 7), repeat(8, 8)), repeat(30, 5)].map(codeOf);
  for (let isLast = 0; !isLast;) {
    isLast = bits(1);
    const kind = bits(2);
    if (kind === 0) {
      at -= held >> 3;
      buffer = held = 0;
      const size = bytes[at] + 256 * bytes[at + 1];
      output.set(bytes.subarray(at + 4, at + 4 + size), n);
      at += 4 + size;
      n += size;
      continue;
    }
    const [letters, distances] = kind === 1 ? fixed() : readCodes();
    for (let symbol = decode(letters); symbol !== 256; symbol = decode(letters)) {
      if (symbol < 256) {
        output[n++] = symbol;
        continue;
      }
      const place = symbol - 257;
      const length = lengthBase[place] + bits(place < 8 || place === 28 ? 0 : (place >> 2) - 1);
      const far = decode(distances);
      const distance = far < 2 ? far + 1 : (2 + far % 2 << (far >> 1) - 1) + 1 + bits((far >> 1) - 1);
      for (let k = 0; k < length; k++, n++) output[n] = output[n - distance];
    }
  }
  return output;
}

function runPacked(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), letter => letter.charCodeAt(0));
  const script = document.createElement('script');
  script.textContent = new TextDecoder().decode(inflate(bytes));
  document.head.append(script);
}

runPacked('packed-d3');

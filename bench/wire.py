# SPDX-License-Identifier: Apache-2.0
"""Protobuf's wire format, as much as the benchmarks need to write and rewrite ONNX files."""

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def varint(number):
    out = bytearray()
    while True:
        number, low = number >> 7, number & 0x7F
        out.append(low | (0x80 if number else 0))
        if not number:
            return bytes(out)


def integer(field, number):
    return varint(field << 3 | VARINT) + varint(number)


def message(field, *parts):
    body = b"".join(parts)
    return varint(field << 3 | BYTES) + varint(len(body)) + body


def text(field, string):
    return message(field, string.encode())


def read_varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7


def fields(data):
    """Yields (field, wire type, body of a length-delimited field or None, bytes of the field)."""
    at = 0
    while at < len(data):
        start, body = at, None
        key, at = read_varint(data, at)
        wire = key & 7
        if wire == BYTES:
            length, at = read_varint(data, at)
            body = data[at:at + length]
            at += length
        elif wire == VARINT:
            _, at = read_varint(data, at)
        else:
            at += {FIXED64: 8, FIXED32: 4}[wire]
        yield key >> 3, wire, body, data[start:at]

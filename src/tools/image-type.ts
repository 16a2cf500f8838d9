// The type of an image from its first bytes: what providers take, with the size where the header tells it. Names and endings are not trusted.

export type ImageReading = { ok: true; mime: string; width: number | null; height: number | null } | { ok: false; problem: string };

const ascii = (bytes: Uint8Array, start: number, end: number): string => Buffer.from(bytes.subarray(start, end)).toString('latin1');
const PNG = '\x89PNG\r\n\x1a\n';

function png(bytes: Buffer): ImageReading {
  if (bytes.length < 45 || ascii(bytes, 12, 16) !== 'IHDR') return { ok: false, problem: 'the PNG file is cut off' };
  if (!bytes.subarray(-16).includes('IEND')) return { ok: false, problem: 'the PNG file is cut off: its end is missing' };
  return { ok: true, mime: 'image/png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function jpeg(bytes: Buffer): ImageReading {
  for (let at = 2; at + 9 < bytes.length; ) {
    if (bytes[at] !== 0xff) break;
    const marker = bytes[at + 1];
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
      return { ok: true, mime: 'image/jpeg', height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    }
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return { ok: false, problem: 'the JPEG file is cut off or damaged' };
}

function gif(bytes: Buffer): ImageReading {
  if (bytes.length < 14) return { ok: false, problem: 'the GIF file is cut off' };
  return { ok: true, mime: 'image/gif', width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

function webp(bytes: Buffer): ImageReading {
  if (bytes.length < 30 || bytes.length < bytes.readUInt32LE(4)) return { ok: false, problem: 'the WebP file is cut off' };
  const kind = ascii(bytes, 12, 16);
  if (kind === 'VP8X') return { ok: true, mime: 'image/webp', width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  return { ok: true, mime: 'image/webp', width: null, height: null };
}

export function sniffImage(given: Uint8Array): ImageReading {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  if (bytes.length === 0) return { ok: false, problem: 'the file is empty' };
  if (ascii(bytes, 0, 8) === PNG) return png(bytes);
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return jpeg(bytes);
  if (/^GIF8[79]a/.test(ascii(bytes, 0, 6))) return gif(bytes);
  if (ascii(bytes, 0, 4) === 'RIFF' && ascii(bytes, 8, 12) === 'WEBP') return webp(bytes);
  return { ok: false, problem: 'unsupported or invalid image data; PNG, JPEG, GIF and WebP are taken' };
}

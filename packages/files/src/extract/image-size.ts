/**
 * Width times height of an image, from its header; undefined when the header does not have them.
 */
export function countPixels(bytes: Uint8Array): number | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return measure(view);
  } catch {
    // The header ends too early.
    return undefined;
  }
}

function measure(view: DataView): number | undefined {
  switch (view.getUint16(0)) {
    // PNG
    case 0x8950:
      return view.getUint32(16) * view.getUint32(20);
    // GIF
    case 0x4749:
      return view.getUint16(6, true) * view.getUint16(8, true);
    // JPEG
    case 0xffd8:
      return measureJpeg(view);
    // RIFF, so WebP
    case 0x5249:
      return measureWebp(view);
    default:
      return undefined;
  }
}

function measureJpeg(view: DataView): number | undefined {
  for (let at = 2; ; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint16(at);
    if (marker < 0xff00) return undefined;
    const isFrame = marker >= 0xffc0 && marker <= 0xffcf;
    const isTable = marker === 0xffc4 || marker === 0xffc8 || marker === 0xffcc;
    if (isFrame && !isTable) return view.getUint16(at + 5) * view.getUint16(at + 7);
  }
}

function measureWebp(view: DataView): number | undefined {
  switch (view.getUint32(12)) {
    // "VP8 "
    case 0x56503820:
      return (view.getUint16(26, true) & 0x3fff) * (view.getUint16(28, true) & 0x3fff);
    // "VP8L"
    case 0x5650384c: {
      const bits = view.getUint32(21, true);
      return ((bits & 0x3fff) + 1) * (((bits >> 14) & 0x3fff) + 1);
    }
    // "VP8X"
    case 0x56503858: {
      const width = (view.getUint32(24, true) & 0xffffff) + 1;
      return width * ((view.getUint32(26, true) >>> 8) + 1);
    }
    default:
      return undefined;
  }
}

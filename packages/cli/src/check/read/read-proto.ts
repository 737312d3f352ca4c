// Field numbers in AG-UI's Event message, whose one field is the event.
const runStarted = 12;
const terminals: ReadonlySet<number> = new Set([13, 14]);
const lengthBytes = 4;

/** What is wrong with a stream of protobuf events; undefined when nothing is. */
export function findProtoFault(bytes: Buffer): string | undefined {
  const fields: number[] = [];
  let at = 0;
  while (at < bytes.length) {
    const frame = readFrame(bytes, at);
    if (typeof frame === "string") return frame;
    fields.push(frame.field);
    at = frame.next;
  }
  const [first] = fields;
  if (first === undefined) return "The body is empty.";
  if (first !== runStarted && first !== 14) {
    return `The first event is field ${first}, not RUN_STARTED (${runStarted}).`;
  }
  if (terminals.has(fields.at(-1)!)) return undefined;
  return `The last event is field ${fields.at(-1)}, not RUN_FINISHED (13) or RUN_ERROR (14).`;
}

function readFrame(bytes: Buffer, at: number): { field: number; next: number } | string {
  const head = bytes.subarray(at, at + lengthBytes).toString("hex");
  if (bytes.length - at < lengthBytes) return `${bytes.length - at} bytes are left over: ${head}`;
  const length = bytes.readUInt32BE(at);
  const start = at + lengthBytes;
  if (length === 0) return `An empty frame at byte ${at}.`;
  if (start + length > bytes.length) {
    const left = bytes.length - start;
    return `A length of ${length} (bytes ${head}) where ${left} bytes follow, at byte ${at}.`;
  }
  const field = readOnlyField(bytes.subarray(start, start + length));
  if (field === undefined) return `No event in the frame at byte ${at}.`;
  return { field, next: start + length };
}

// One length-delimited field that fills the message.
function readOnlyField(message: Buffer): number | undefined {
  const tag = readVarint(message, 0);
  if (!tag || tag.value % 8 !== 2) return undefined;
  const length = readVarint(message, tag.next);
  if (!length || length.next + length.value !== message.length) return undefined;
  return Math.floor(tag.value / 8);
}

function readVarint(bytes: Buffer, at: number): { value: number; next: number } | undefined {
  let value = 0;
  for (let index = 0; index < 5; index++) {
    const byte = bytes[at + index];
    if (byte === undefined) return undefined;
    value += (byte % 128) * 2 ** (7 * index);
    if (byte < 128) return { value, next: at + index + 1 };
  }
}

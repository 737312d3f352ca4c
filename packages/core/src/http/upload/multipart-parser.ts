import { concatBytes } from "../../base/text-and-bytes.ts";
import { AgentError } from "../../contract/errors.ts";

/** The headers of a part. */
export interface PartHead {
  readonly name: string;
  /** Absent: an ordinary field. */
  readonly filename: string | undefined;
  readonly mediaType: string | undefined;
}

/** Called as a form is read, in the order in which it arrives. */
export interface PartListener {
  begin(head: PartHead): void;
  /** A view of what was written, mostly: copy it if the writer uses its memory again. */
  data(bytes: Uint8Array): void;
  end(): void;
}

const CR = 13;
const LF = 10;
const dash = 45;
const space = 32;
const tab = 9;
const maxPadding = 1024;
const KiB = 1024;
const maxHeaderBytes = 8 * KiB;
const headerEnd = Uint8Array.of(CR, LF, CR, LF);
const nearBytes = 32;
const nothing = new Uint8Array(0);
const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads `multipart/form-data` (RFC 7578) as it comes, whatever the pieces. It keeps no more than the
 * head of a part or a boundary that may go on in the next piece.
 */
export class MultipartParser {
  readonly #delimiter: Uint8Array;
  readonly #listener: PartListener;
  #state: "start" | "preamble" | "boundary" | "head" | "content" | "done" = "start";
  #skipped = 0;
  #rest: Uint8Array = nothing;

  constructor(boundary: string, listener: PartListener) {
    this.#delimiter = new TextEncoder().encode(`\r\n--${boundary}`);
    this.#listener = listener;
  }

  /** True once the last boundary was read. What comes after it means nothing. */
  get isDone(): boolean {
    return this.#state === "done";
  }

  /** Throws unless the last boundary was read. */
  assertDone(): void {
    if (this.isDone) return;
    if (this.#state === "preamble") throw withoutBoundary();
    throw malformedForm("it ends before its last boundary.");
  }

  write(chunk: Uint8Array): void {
    if (this.#state === "done") return;
    const bytes = this.#rest.length === 0 ? chunk : concatBytes([this.#rest, chunk]);
    let at = 0;
    for (let next = this.#step(bytes, at); next !== undefined; next = this.#step(bytes, at)) {
      at = next;
    }
    // A copy: the caller may use its buffer again.
    this.#rest = this.isDone ? nothing : bytes.slice(this.#consumed(bytes, at));
  }

  /** Where the next step begins; nothing when more bytes are needed. */
  #step(bytes: Uint8Array, at: number): number | undefined {
    switch (this.#state) {
      case "start":
        return this.#readStart(bytes, at);
      case "preamble":
        return this.#readPreamble(bytes, at);
      case "boundary":
        return this.#readBoundary(bytes, at);
      case "head":
        return this.#readHead(bytes, at);
      case "content":
        return this.#readContent(bytes, at);
      case "done":
        return undefined;
    }
  }

  #readStart(bytes: Uint8Array, at: number): number | undefined {
    // The first boundary needs no line break before it.
    const first = this.#delimiter.subarray(2);
    const seen = Math.min(first.length, bytes.length - at);
    if (!startsWith(bytes, first.subarray(0, seen), at)) {
      this.#state = "preamble";
      return at;
    }
    if (seen < first.length) return undefined;
    this.#state = "boundary";
    return at + first.length;
  }

  // The preamble before the first boundary is ignored (RFC 2046, 5.1.1), but is unbounded without one.
  #readPreamble(bytes: Uint8Array, at: number): number | undefined {
    const end = find(bytes, this.#delimiter, at);
    const next = end === -1 ? this.#consumed(bytes, at) : end;
    this.#skipped += next - at;
    if (this.#skipped > maxHeaderBytes) throw withoutBoundary();
    if (end === -1) return next > at ? next : undefined;
    this.#state = "boundary";
    return end + this.#delimiter.length;
  }

  #readBoundary(bytes: Uint8Array, at: number): number | undefined {
    if (bytes.length - at < 2) return undefined;
    if (bytes[at] === dash && bytes[at + 1] === dash) {
      this.#state = "done";
      return at + 2;
    }
    // Gateways may pad the line.
    let end = at;
    while (bytes[end] === space || bytes[end] === tab) end++;
    if (end - at > maxPadding)
      throw malformedForm("a boundary is followed by too much white space.");
    if (bytes.length - end < 2) return undefined;
    if (bytes[end] !== CR || bytes[end + 1] !== LF) {
      throw malformedForm("a boundary is followed by unexpected data.");
    }
    this.#state = "head";
    return end + 2;
  }

  #readHead(bytes: Uint8Array, at: number): number | undefined {
    const end = find(bytes, headerEnd, at);
    if ((end === -1 ? bytes.length : end) - at > maxHeaderBytes) {
      throw malformedForm(`a part has more than ${maxHeaderBytes} bytes of headers.`);
    }
    if (end === -1) return undefined;
    this.#listener.begin(readHead(bytes.subarray(at, end)));
    this.#state = "content";
    return end + headerEnd.length;
  }

  #readContent(bytes: Uint8Array, at: number): number | undefined {
    const end = find(bytes, this.#delimiter, at);
    if (end === -1) {
      const known = this.#consumed(bytes, at);
      if (known > at) this.#listener.data(bytes.subarray(at, known));
      return undefined;
    }
    if (end > at) this.#listener.data(bytes.subarray(at, end));
    this.#listener.end();
    this.#state = "boundary";
    return end + this.#delimiter.length;
  }

  // Content is passed on but for what may be the beginning of a boundary. Mostly there is none: what is
  // kept has to be joined with the next piece, all of which is copied then.
  #consumed(bytes: Uint8Array, at: number): number {
    if (this.#state !== "content" && this.#state !== "preamble") return at;
    const from = Math.max(at, bytes.length - this.#delimiter.length + 1);
    for (let start = bytes.indexOf(CR, from); start !== -1; start = bytes.indexOf(CR, start + 1)) {
      if (startsWith(bytes, this.#delimiter.subarray(0, bytes.length - start), start)) return start;
    }
    return bytes.length;
  }
}

function readHead(bytes: Uint8Array): PartHead {
  const headers = new Map<string, string>();
  for (const line of decodeField(bytes).split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  const disposition = headers.get("content-disposition") ?? "";
  if (!/^form-data\s*(;|$)/i.test(disposition)) {
    throw malformedForm("a part has no Content-Disposition: form-data header.");
  }
  const extended = /;\s*filename\*=utf-8''([^;]*)/i.exec(disposition)?.[1];
  return {
    name: parameter(disposition, "name") ?? "",
    filename: extended === undefined ? parameter(disposition, "filename") : unescapeUri(extended),
    mediaType: headers.get("content-type"),
  };
}

// Linear: neither alternative can start where the other one continues.
function parameter(header: string, name: string): string | undefined {
  const pattern = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s"]*))`, "i");
  const [, quoted, plain] = pattern.exec(header) ?? [];
  return quoted?.replaceAll(/\\(["\\])/g, "$1") ?? plain;
}

function unescapeUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw malformedForm("a filename is not valid UTF-8.");
  }
}

/** The boundary that a form's content type names. */
export function boundaryOf(contentType: string): string {
  const match = /;\s*boundary=(?:"([^"]+)"|([^;\s"]+))/i.exec(contentType);
  const boundary = match?.[1] ?? match?.[2] ?? "";
  if (/^[\x20-\x7e]{1,70}$/.test(boundary)) return boundary;
  throw malformedForm("its content-type has no boundary of 1 to 70 characters.");
}

/** The text of a field or of a part's headers. */
export function decodeField(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw malformedForm("a field or a header is not valid UTF-8.");
  }
}

/** An error that names what is wrong with a form. */
export function malformedForm(reason: string): AgentError {
  return new AgentError("invalid-request", `The multipart body is not valid: ${reason}`);
}

function withoutBoundary(): AgentError {
  return malformedForm("it does not begin with its boundary.");
}

// Both that are looked for begin with a carriage return.
function find(bytes: Uint8Array, wanted: Uint8Array, from: number): number {
  const last = bytes.length - wanted.length;
  for (let at = nextReturn(bytes, from); at <= last; at = nextReturn(bytes, at + 1)) {
    if (startsWith(bytes, wanted, at)) return at;
  }
  return -1;
}

// `indexOf` is fast over long distances; a call for each of many that are close together takes longer than a loop.
function nextReturn(bytes: Uint8Array, from: number): number {
  const near = Math.min(from + nearBytes, bytes.length);
  for (let at = from; at < near; at++) if (bytes[at] === CR) return at;
  const far = bytes.indexOf(CR, near);
  return far === -1 ? bytes.length : far;
}

function startsWith(bytes: Uint8Array, wanted: Uint8Array, at: number): boolean {
  for (let i = 0; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) return false;
  return true;
}

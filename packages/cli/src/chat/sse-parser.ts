/** One server-sent event. */
export interface SseFrame {
  readonly data: string;
  readonly id?: string;
}

// A server that never ends a frame must not cost the memory of this machine.
const maxChars = 32 * 1024 * 1024;

/**
 * Reads server-sent events from text that comes in pieces, with any line ending.
 *
 * @example
 * ```ts
 * const parser = createSseParser();
 * for (const { data } of parser.push("data: 1\n\n")) console.log(data);
 * ```
 */
export function createSseParser(): { push(text: string): SseFrame[] } {
  let rest = "";
  let data: string[] = [];
  let id: string | undefined;
  let isFirst = true;

  function take(line: string): SseFrame | undefined {
    if (line === "") {
      const frame = data.length === 0 ? undefined : { data: data.join("\n"), ...idOf(id) };
      data = [];
      id = undefined;
      return frame;
    }
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") data.push(value);
    else if (name === "id") id = value;
  }

  return {
    push(text) {
      rest += isFirst ? text.replace(/^\uFEFF/, "") : text;
      if (text !== "") isFirst = false;
      if (rest.length > maxChars) throw new Error("The server sent an event without an end.");
      // A CR at the end may be half of CRLF: it waits for what follows.
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? "";
      return lines.flatMap((line) => take(line) ?? []);
    },
  };
}

function idOf(id: string | undefined): { id?: string } {
  return id === undefined ? {} : { id };
}

import { protoMediaType } from "./proto-encoder.ts";

interface MediaRange {
  readonly type: string;
  readonly q: number;
  readonly hasParameters: boolean;
}

/**
 * Which binding answers a request with this `Accept`; undefined when the client refuses all we have.
 *
 * Protobuf only if it is named (never through a wildcard), its q is not below that of SSE, and
 * `binary` shows that the client can read it. Any other request gets SSE.
 */
export function negotiate(
  accept: string | undefined,
  options: { readonly binary: boolean },
): "sse" | "proto" | undefined {
  // What nearly every client sends.
  if (accept === undefined || accept === "text/event-stream" || accept === "*/*") return "sse";
  const ranges = splitUnquoted(accept, ",").flatMap(parseRange);
  const quality = (type: string): number | undefined => {
    const found = ranges.filter((range) => range.type === type);
    return found.length === 0 ? undefined : Math.max(...found.map((range) => range.q));
  };
  const sse = quality("text/event-stream") ?? quality("text/*") ?? quality("*/*");
  const named = ranges.filter((range) => range.type === protoMediaType && !range.hasParameters);
  const proto = options.binary ? Math.max(0, ...named.map((range) => range.q)) : 0;
  if (proto > 0 && proto >= (sse ?? 0)) return "proto";
  return sse === 0 ? undefined : "sse";
}

/** One entry of the header, or nothing if it makes no sense. */
function parseRange(text: string): MediaRange[] {
  const [name = "", ...parameters] = splitUnquoted(text, ";").map((part) => part.trim());
  const type = name.toLowerCase();
  if (!/^[^\s/]+\/[^\s/]+$/.test(type)) return [];
  // What follows the weight are extensions of Accept, not parameters of the type.
  const weightAt = parameters.findIndex((parameter) => /^q\s*=/i.test(parameter));
  const weight = weightAt < 0 ? "1" : (parameters[weightAt]?.replace(/^q\s*=\s*/i, "") ?? "");
  if (!/^(?:0(?:\.\d*)?|1(?:\.0*)?)$/.test(weight)) return [];
  return [
    {
      type,
      q: Number(weight),
      hasParameters: (weightAt < 0 ? parameters : parameters.slice(0, weightAt)).some(Boolean),
    },
  ];
}

function splitUnquoted(text: string, separator: string): string[] {
  const parts: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (isQuoted && char === "\\") at++;
    else if (char === '"') isQuoted = !isQuoted;
    else if (char === separator && !isQuoted) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

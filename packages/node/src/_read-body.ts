import { AgentError } from "@holodeck/agui-core";
import type { Readable } from "node:stream";
import type { NodeRequest } from "./types.ts";

/**
 * What a body parser made of the body, if one was here. Bytes and text are no result but a body to
 * be read; so is the `{}` that body-parser puts on requests it did not touch.
 */
export function parsedBodyOf(req: NodeRequest): unknown {
  const { body } = req;
  if (body === undefined || isUnparsed(body)) return undefined;
  return isEmptyObject(body) && !req.readableDidRead ? undefined : body;
}

/** The body as bytes. A consumer that stops early leaves the rest unread and the socket open. */
export async function* readBody(req: NodeRequest): AsyncGenerator<Uint8Array, void, undefined> {
  const { body } = req;
  if (isUnparsed(body)) {
    yield typeof body === "string" ? new TextEncoder().encode(body) : body;
    return;
  }
  // Not `for await (… of req)`: leaving that loop destroys the request, and whoever leaves in the
  // middle of it is not told apart from one who has sent everything.
  yield* readStream(req);
}

async function* readStream(stream: Readable): AsyncGenerator<Uint8Array, void, undefined> {
  if (stream.readableEnded) return;
  let failure: Error | undefined;
  let wake: (() => void) | undefined;
  const onEvent = (): void => wake?.();
  const onError = (error: Error): void => {
    failure = error;
    wake?.();
  };
  stream.on("readable", onEvent).on("end", onEvent).on("close", onEvent).on("error", onError);
  try {
    for (;;) {
      const chunk = stream.read() as Uint8Array | null;
      if (chunk !== null) {
        yield chunk;
      } else if (stream.readableEnded) {
        return;
      } else if (stream.destroyed) {
        throw new AgentError("disconnected", "The client left before its request was complete.", {
          cause: failure,
        });
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    stream.off("readable", onEvent).off("end", onEvent).off("close", onEvent);
    // `onError` stays: a client that leaves after an early answer must not crash the process.
  }
}

function isUnparsed(body: unknown): body is string | Uint8Array {
  return typeof body === "string" || body instanceof Uint8Array;
}

function isEmptyObject(body: unknown): boolean {
  return typeof body === "object" && body !== null && Object.keys(body).length === 0;
}

import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { isHttp2 } from "./_unread.ts";
import type { NodeResponse } from "./types.ts";

// More requests of one connection are not read until some of these are answered.
const most = 64;

const waiting = new WeakMap<Socket, number>();

/**
 * The socket of a response that is not the next of its connection: its client has sent the request behind others whose
 * responses it has not received. Node calls listeners for all of them, and keeps the responses that were made too early.
 */
export function socketBefore(response: NodeResponse): Socket | undefined {
  if (isHttp2(response) || response.socket) return undefined;
  const socket = response.req?.socket as (Socket & { _httpMessage?: unknown }) | undefined;
  // Set by Node while a response has the socket; requests that tests make up do not have it.
  return socket?._httpMessage && !socket.destroyed ? socket : undefined;
}

/** Calls `answer` when it is the turn of such a response. Never when the client leaves first. */
export function whenNext(response: NodeResponse, socket: Socket, answer: () => void): void {
  const count = (waiting.get(socket) ?? 0) + 1;
  waiting.set(socket, count);
  if (count === most) socket.pause();
  (response as ServerResponse).once("socket", () => {
    const left = waiting.get(socket)! - 1;
    waiting.set(socket, left);
    if (left === most - 1) socket.resume();
    answer();
  });
}

import type { Call } from "../contract/protocol.ts";

/**
 * The same call with other parameters, query or body. A spread would lose what a call makes on first
 * use: its request, its query and its signal.
 */
export function deriveCall(
  call: Call,
  changes: Partial<Pick<Call, "params" | "query" | "body">>,
): Call {
  return Object.create(
    call,
    Object.fromEntries(
      Object.entries(changes).map(([name, value]) => [name, { value, enumerable: true }]),
    ),
  ) as Call;
}

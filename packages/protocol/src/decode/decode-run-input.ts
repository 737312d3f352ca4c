import { isRecord, quoteText } from "@holodeck/agui-core/internal";
import { AgentError } from "@holodeck/agui-core";
import type { Fault, RunAgentInput } from "@holodeck/agui-core";
import { checkInput } from "./check-input.ts";
import { decodePlainInput } from "./decode-plain-input.ts";
import { normaliseInput } from "./normalise-input.ts";
import type { InputLimits } from "./normalise-input.ts";
import { maxFaults, warn } from "./shape.ts";
import type { Notes } from "./shape.ts";

/** A request for a run, understood. */
export interface DecodedRunInput {
  input: RunAgentInput;
  /** Which agent the client asked for. */
  agentId?: string;
  /** Absent for clients older than AG-UI 1.0. */
  protocolVersion?: string;
  /** What was ignored or changed in meaning, for the log. */
  warnings: string[];
}

/**
 * Reads a run input of AG-UI 1.0, 0.0.x or in snake_case; refuses a wrong one with the first twenty things that are
 * wrong with it.
 *
 * @example
 * ```ts
 * const { input, agentId } = await decodeRunInput(await request.json());
 * ```
 */
export async function decodeRunInput(
  body: unknown,
  limits: InputLimits = {},
): Promise<DecodedRunInput> {
  return decodePlainInput(body, limits) ?? decodeClosely(body, limits);
}

/** The same, looking at everything that a client may have written otherwise. */
export async function decodeClosely(body: unknown, limits: InputLimits): Promise<DecodedRunInput> {
  if (!isRecord(body)) {
    const message = "The body must be a JSON object.";
    throw new AgentError("invalid-request", message, { errors: [{ path: "", message }] });
  }
  const notes: Notes = { faults: [], warnings: new Set() };
  const { input, agentId, positions } = normaliseInput(body, limits, notes);
  const found = checkInput(input);
  const faults = found.map((one) => atOrigin(one, positions)).concat(notes.faults);
  if (faults.length > 0) throw refusal(faults);
  const decoded: DecodedRunInput = { input: input as unknown as RunAgentInput, warnings: [] };
  if (typeof agentId === "string") decoded.agentId = agentId;
  if (typeof input.protocolVersion === "string") {
    decoded.protocolVersion = input.protocolVersion;
    if (!/^\d+\.\d+$/.test(input.protocolVersion)) {
      const version = quoteText(input.protocolVersion);
      warn(notes, `protocolVersion ${version} is not a valid version; treated as a newer one.`);
    }
  }
  decoded.warnings.push(...notes.warnings);
  return decoded;
}

/** Messages that were left out shift the others; the client counts in what it sent. */
function atOrigin({ path, message }: Fault, positions: readonly number[]): Fault {
  const [list, index, ...rest] = path.split(".");
  const origin = positions[Number(index)];
  if (list !== "messages" || origin === undefined || String(origin) === index) {
    return { path, message };
  }
  const moved = ["messages", origin, ...rest].join(".");
  return { path: moved, message: moved + message.slice(path.length) };
}

function refusal(faults: Fault[]): AgentError {
  const errors = faults.slice(0, maxFaults);
  const more = errors.length - 1;
  const rest = more === 0 ? "" : ` ${more} more ${more === 1 ? "fault" : "faults"} in "errors".`;
  if (faults.length > maxFaults) errors.push({ path: "", message: "More faults are not listed." });
  const message = `The run input is not valid: ${faults[0]?.message}${rest}`;
  return new AgentError("invalid-request", message, { errors });
}

import { isRecord } from "@holodeck/agui-core/internal";
import type { Json } from "@holodeck/agui-core";

/** A call of a tool, as far as it is known. */
export interface KnownCall {
  readonly name: string;
  readonly args: string;
}

/**
 * An interrupt as TanStack AI can answer it. It shows approvals of a call by their `metadata`, and accepts an answer to
 * another question only if a binding names the run that has asked.
 */
export function toBoundInterrupt(
  interrupt: Json,
  { runId, call }: { runId: string; call: KnownCall | undefined },
): Json {
  const { responseSchema, ...rest } = interrupt;
  const metadata = isRecord(rest.metadata) ? rest.metadata : {};
  if (call && isYesOrNo(responseSchema)) {
    const about = { kind: "approval", toolName: call.name, input: inputOf(call) };
    return { ...rest, reason: "approval_required", metadata: { ...metadata, ...about } };
  }
  const binding = {
    v: 1,
    kind: "generic",
    interruptId: rest.id,
    interruptedRunId: runId,
    generation: 0,
  };
  return {
    ...rest,
    metadata: {
      ...metadata,
      // As a member of the interrupt it would need a hash that only TanStack's own server makes.
      ...(responseSchema !== undefined && { responseSchema }),
      "tanstack:interruptBinding": binding,
    },
  };
}

/** The arguments of a call as a value. */
export function inputOf({ args }: KnownCall): unknown {
  if (args.trim() === "") return {};
  try {
    return JSON.parse(args) as unknown;
  } catch {
    return args;
  }
}

// An approval has no other answers.
function isYesOrNo(responseSchema: unknown): boolean {
  if (!isRecord(responseSchema) || !Array.isArray(responseSchema.required)) return true;
  return responseSchema.required.every((key) => key === "approved" || key === "reason");
}

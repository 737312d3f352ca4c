import {
  describeValue,
  isRecord,
  isRequestBound,
  withDeadline,
} from "@holodeck/agui-core/internal";
import type { AgentObject, Awaitable, Clock, Json, Logger } from "@holodeck/agui-core";
import type { Agents, LoadedAgent } from "../runs/agents.ts";

/** What agents answer of themselves, as far as it is known. */
export interface Capabilities {
  /** What an agent has answered, if it has. */
  of(agentId: string): Json | undefined;
  /** Asks those that have not answered, and waits for them for a while. Never rejects. */
  ask(): Awaitable<void>;
}

interface Question {
  readonly loaded: LoadedAgent;
  answer?: Json;
  /** While it has neither answered nor failed. */
  asked?: { readonly at: number; readonly answered: Promise<void> } | undefined;
}

// Discovery is asked for by pages that load: what takes longer is left out.
const patienceMs = 2_000;
// So long an agent that does not answer is not asked again.
const restMs = 60_000;

/** Asks agents for their capabilities (`getCapabilities` of AG-UI's `AbstractAgent`) when discovery needs them. */
export function createCapabilities(
  agents: Agents,
  { logger, clock }: { logger: Logger; clock: Clock },
): Capabilities {
  const questions = agents.all.flatMap((loaded): Question[] =>
    typeof (loaded.agent as AgentObject).getCapabilities === "function" ? [{ loaded }] : [],
  );
  const byId = new Map(questions.map((one) => [one.loaded.id, one]));

  function fail({ id }: LoadedAgent, error: unknown): void {
    logger.warn({ agentId: id, error }, "An agent's capabilities were left out of discovery.");
  }

  async function put(question: Question): Promise<void> {
    const { loaded } = question;
    try {
      question.answer = toJson(await (loaded.agent as AgentObject).getCapabilities!());
    } catch (error) {
      fail(loaded, error);
    } finally {
      question.asked = undefined;
    }
  }

  async function wait(question: Question): Promise<void> {
    const { asked } = question;
    const isFirst = !asked || isRequestBound || clock.now() - asked.at >= restMs;
    const answered = isFirst ? put(question) : asked.answered;
    if (isFirst) question.asked = { at: clock.now(), answered };
    const late = (): Error => new Error(`getCapabilities did not return within ${patienceMs} ms.`);
    try {
      await withDeadline(answered, { ms: patienceMs, clock, late });
    } catch (error) {
      if (isFirst) fail(question.loaded, error);
    }
  }

  // One that is late is not waited for again, until it is asked again.
  function isWorthWaiting({ answer, asked }: Question): boolean {
    if (answer) return false;
    const age = asked ? clock.now() - asked.at : restMs;
    return age < patienceMs || age >= restMs;
  }

  return {
    of: (agentId) => byId.get(agentId)?.answer,
    ask() {
      const open = questions.filter(isWorthWaiting);
      if (open.length > 0) return Promise.all(open.map(wait)).then(() => undefined);
    },
  };
}

// As it goes over the wire: what JSON cannot hold would fail the whole of discovery.
function toJson(value: unknown): Json {
  const json: unknown = JSON.parse(JSON.stringify(value) ?? "null");
  if (isRecord(json)) return json;
  throw new TypeError(`getCapabilities must return an object, not ${describeValue(value)}.`);
}

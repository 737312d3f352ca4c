import type { AgentFunction } from "@holodeck/agui";

/** A gate that a test opens once. */
interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

function gate(): Gate {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** What a test can do with the agent below. */
export interface Stage {
  readonly agent: AgentFunction;
  /** Opens what "wait" and "silence" wait for. */
  readonly gate: Gate;
  /** Opened when "wait" waits. */
  readonly waiting: Gate;
  /** How its runs were aborted. */
  readonly aborted: string[];
  /** How often it was run. */
  runs: number;
}

/**
 * An agent that does what it is told: "wait" stops in the middle until its gate opens, "silence" before
 * its first word; "boom" fails with a secret, "ask" interrupts, "paint" calls the page's
 * tool; everything else is echoed.
 */
export function createStage(): Stage {
  const stage: Stage = { agent, gate: gate(), waiting: gate(), aborted: [], runs: 0 };

  async function* agent(...[input, context]: Parameters<AgentFunction>): AsyncGenerator<string> {
    stage.runs++;
    const { messages, tools } = input;
    const last = messages.at(-1);
    const said = textOf(messages.filter(({ role }) => role === "user").at(-1)?.content);
    if (said !== "wait" && tools.some(({ name }) => name === "copilotkitSuggest")) {
      const suggestions = [{ title: "More", message: "Tell me more" }];
      context.emit.toolCall("copilotkitSuggest", { suggestions });
      return;
    }
    if (last?.role === "tool") {
      yield `tool said: ${textOf(last.content)}`;
      return;
    }
    await context.state.set({ turns: messages.filter(({ role }) => role === "user").length });
    if (said === "boom") throw new Error("kaboom: secret=42");
    if (said === "ask") {
      context.emit.interrupt({ reason: "confirm", message: "Really?" });
      return;
    }
    if (said === "silence") {
      await stage.gate.opened;
      yield "spoken at last";
      return;
    }
    if (said === "wait") {
      yield "first ";
      const stopped = new Promise<void>((resolve) => {
        context.signal.addEventListener("abort", () => {
          stage.aborted.push((context.signal.reason as { code: string }).code);
          resolve();
        });
      });
      stage.waiting.open();
      await Promise.race([stage.gate.opened, stopped]);
      yield "second";
      return;
    }
    if (said === "paint" && tools.some(({ name }) => name === "setColor")) {
      yield "Let me see.";
      context.emit.toolCall("setColor", { color: "teal" });
      return;
    }
    yield "you said: ";
    yield said;
  }
  return stage;
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : JSON.stringify(content ?? "");
}

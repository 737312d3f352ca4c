import type { RunAgentInput, RunContext } from "@holodeck/agui";
import { pause, toWords } from "./pause.ts";
import { readQuestion } from "./question.ts";
import type { Question } from "./question.ts";

type ToolCallOutcome = Awaited<ReturnType<RunContext["callTools"]>>[number];
type Json = Record<string, unknown>;

/** One run, as a feature of the demo works with it. */
export interface Talk {
  readonly input: RunAgentInput;
  readonly context: RunContext;
  readonly question: Question;
  /** The run brings the answer to something that the last one asked. */
  readonly isContinued: boolean;
  /** Markdown, word by word. */
  say(markdown: string): Promise<void>;
  /** Reasoning, word by word. */
  think(text: string): Promise<void>;
  /** Calls a tool with arguments that grow piece by piece, as those of a model do. */
  call(name: string, args: Json): Promise<ToolCallOutcome>;
  pause(ms: number): Promise<void>;
  /** Adds a value to the state. */
  remember(key: string, value: unknown): Promise<void>;
  /** Words of text and reasoning so far. */
  readonly spent: { words: number; thoughts: number };
}

/** `pace` is what every pause is multiplied with. */
export function createTalk(input: RunAgentInput, context: RunContext, pace: number): Talk {
  const { emit, signal, state } = context;
  const spent = { words: 0, thoughts: 0 };
  const wait = (ms: number): Promise<void> => pause(ms * pace, signal);
  const isContinued = input.messages.at(-1)?.role === "tool" || context.session.answers.length > 0;

  async function* pieces(json: string): AsyncGenerator<string> {
    for (const piece of json.match(/[^]{1,6}/g) ?? []) {
      yield piece;
      await wait(25);
    }
  }

  return {
    input,
    context,
    question: readQuestion(input, context),
    isContinued,
    spent,
    pause: wait,
    async say(markdown) {
      for (const word of toWords(markdown)) {
        spent.words += 1;
        await emit.text(word);
        await wait(25);
      }
    },
    async think(text) {
      for (const word of toWords(text)) {
        spent.thoughts += 1;
        await emit.reasoning(word);
        await wait(25);
      }
    },
    async call(name, args) {
      // The answer belongs to the call sent then: matched by its name and arguments, not by an id.
      const known = isContinued
        ? {}
        : { id: await emit.toolCall(name, pieces(JSON.stringify(args))) };
      const [outcome] = await context.callTools([{ name, args, ...known }]);
      return outcome!;
    },
    async remember(key, value) {
      const now = state.get<Json | null | undefined>();
      await state.set({ ...now, [key]: value });
    },
  };
}

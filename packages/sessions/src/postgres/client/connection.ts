import { AgentError } from "@holodeck/agui-core";
import type { Clock } from "@holodeck/agui-core";
import { answerPatiently } from "../../kit/storage/deadline.ts";
import { storeRefuses, storeUnavailable } from "../../kit/storage/store-errors.ts";
import type { Database, SqlValue } from "./database.ts";

export interface Connection {
  /**
   * Calls a function of our schema. Answers before the deadline or fails with `store-unavailable`. May be sent twice
   * when a connection breaks: a function that writes recognizes its own work.
   */
  call(name: string, ...values: SqlValue[]): Promise<(string | null)[]>;
  /** The same for a function that returns one value. */
  one(name: string, ...values: SqlValue[]): Promise<string | null>;
}

export interface ConnectionOptions {
  readonly database: Database;
  readonly schema: string;
  readonly commandMs: number;
  readonly clock: Clock;
}

const pauseMs = 50;

export function createConnection(options: ConnectionOptions): Connection {
  const { database, schema, commandMs, clock } = options;
  const patience = { clock, ms: commandMs, pauseMs, isPassing };
  const texts = new Map<string, string>();

  function textOf(name: string, count: number): string {
    let text = texts.get(name);
    if (text === undefined) {
      const places = Array.from({ length: count }, (_, index) => `$${index + 1}`);
      text = `SELECT "${schema}".${name}(${places.join(", ")}) AS r`;
      texts.set(name, text);
    }
    return text;
  }

  async function call(name: string, ...values: SqlValue[]): Promise<(string | null)[]> {
    const text = textOf(name, values.length);
    try {
      return await answerPatiently(patience, () => database.query(text, values));
    } catch (error) {
      if (isUnprepared(error)) throw unprepared(schema, error);
      throw (refusesWrites(error) ? storeRefuses : storeUnavailable)(error);
    }
  }

  return {
    call,
    one: async (name, ...values) => (await call(name, ...values))[0] ?? null,
  };
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" ? code : "";
}

// Connections that break or cannot be had, a server that starts, stops or is a standby, locks taken crosswise or for
// too long, and a statement that was cancelled or took more time than the host gives it.
// Without a code of five characters the error is the client's own, about the connection.
function isPassing(error: unknown): boolean {
  const code = codeOf(error);
  if (!/^[0-9A-Z]{5}$/.test(code) || code === "EPIPE") return true;
  return /^(08...|57P0[1-3]|57014|53300|25006|40001|40P01|55P03)$/.test(code);
}

// A server that is read-only or a standby, and one whose disk is full.
function refusesWrites(error: unknown): boolean {
  return /^(25006|53100)$/.test(codeOf(error));
}

// No schema, table or function of this name.
function isUnprepared(error: unknown): boolean {
  return /^(3F000|42P01|42883)$/.test(codeOf(error));
}

function unprepared(schema: string, cause: unknown): AgentError {
  return new AgentError(
    "store-unavailable",
    `The schema "${schema}" is missing or of an older version: call migrate() of @holodeck/agui-sessions/postgres.`,
    { cause },
  );
}

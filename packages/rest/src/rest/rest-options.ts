import { SUPPORTED_MIME_TYPES } from "@holodeck/agui-core";
import { assertOptions, describeValue, essenceOf } from "@holodeck/agui-core/internal";
import type { Awaitable, InputFile, Message } from "@holodeck/agui-core";
import type { ComposeMessageOptions } from "./compose-message.ts";
import { idRules } from "../shared/ids.ts";
import type { IdFormat } from "../shared/ids.ts";

/** Where and within which bounds REST is served. */
export interface RestOptions {
  /**
   * Where agents are asked: `{path}/:name/chat` and `{path}/:name/chat/stream`. One path or several.
   * @default "/agent"
   */
  path?: string | readonly string[];
  /**
   * Where sessions are deleted: `{sessionsPath}/:id`. One path or several.
   * @default "/sessions"
   */
  sessionsPath?: string | readonly string[];
  /**
   * Code points of a message. `limits.messageChars` counts as well.
   * @default 10_000
   */
  messageChars?: number;
  /**
   * How the ids of sessions look.
   * @default "ulid"
   */
  idFormat?: IdFormat;
  /** Types of files that may be sent besides `SUPPORTED_MIME_TYPES`. */
  mimeTypes?: readonly string[];
  /** The message as the agent receives it, with its files. By default the result of `composeMessage`. */
  composeMessage?: (
    message: string,
    files: readonly InputFile[],
    options: ComposeMessageOptions,
  ) => Awaitable<Extract<Message, { role: "user" }>["content"]>;
}

const optionNames = [
  "path",
  "sessionsPath",
  "messageChars",
  "idFormat",
  "mimeTypes",
  "composeMessage",
];

/** Options with their defaults. */
export interface RestSettings {
  readonly paths: readonly string[];
  readonly sessionsPaths: readonly string[];
  readonly messageChars: number;
  readonly idFormat: IdFormat;
  readonly mimeTypes: ReadonlySet<string>;
  /** The host's own. */
  readonly compose: RestOptions["composeMessage"];
}

/** Every option with its default; a wrong one is refused with its name and value. */
export function resolveRestOptions(options: RestOptions): RestSettings {
  assertOptions("rest", options, optionNames);
  const settings = {
    paths: toPaths("path", options.path ?? "/agent"),
    sessionsPaths: toPaths("sessionsPath", options.sessionsPath ?? "/sessions"),
    messageChars: options.messageChars ?? 10_000,
    idFormat: options.idFormat ?? "ulid",
    mimeTypes: new Set([...SUPPORTED_MIME_TYPES, ...toTypes(options.mimeTypes ?? [])]),
    compose: options.composeMessage,
  };
  check(settings);
  return settings;
}

function toPaths(option: string, given: string | readonly string[]): string[] {
  const paths: unknown = typeof given === "string" ? [given] : given;
  if (!Array.isArray(paths) || paths.length === 0) {
    throw new TypeError(
      `rest({ ${option} }) must be one path or several, such as "/agent", not ${describeValue(given)}.`,
    );
  }
  return paths.map((path: unknown) => {
    if (typeof path === "string" && path.startsWith("/")) return path.replace(/\/+$/, "");
    throw new TypeError(`rest({ ${option}: ${describeValue(path)} }) must start with "/".`);
  });
}

function toTypes(given: readonly string[]): string[] {
  if (!Array.isArray(given)) {
    throw new TypeError(
      `rest({ mimeTypes }) must be a list of types, such as ["audio/wav"], not ${describeValue(given)}.`,
    );
  }
  return given.map((type: unknown) => {
    if (typeof type === "string" && /^[\w.+-]+\/[\w.+-]+$/.test(essenceOf(type)))
      return essenceOf(type);
    throw new TypeError(
      `rest({ mimeTypes: [${describeValue(type)}] }) must be a type like "audio/wav".`,
    );
  });
}

function check({ messageChars, idFormat, compose }: RestSettings): void {
  if (!(messageChars >= 1)) {
    throw new TypeError(`rest({ messageChars: ${String(messageChars)} }) must be at least 1.`);
  }
  if (!Object.hasOwn(idRules, idFormat)) {
    const known = Object.keys(idRules).map((name) => JSON.stringify(name));
    throw new TypeError(
      `rest({ idFormat: ${describeValue(idFormat)} }) must be one of ${known.join(", ")}.`,
    );
  }
  if (compose !== undefined && typeof compose !== "function") {
    throw new TypeError(
      `rest({ composeMessage }) must be a function, not ${describeValue(compose)}.`,
    );
  }
}

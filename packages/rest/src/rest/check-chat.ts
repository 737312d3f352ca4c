import { essenceOf, isRecord, sizeOfBase64 } from "@holodeck/agui-core/internal";
import type { Json, Limits } from "@holodeck/agui-core";
import { idRules } from "../shared/ids.ts";
import type { IdFormat } from "../shared/ids.ts";
import { isLonger } from "../shared/is-longer.ts";
import { refusal, unsupportedType } from "./refusal.ts";
import type { ChatFault } from "./refusal.ts";

/** What is asked of an agent over REST. */
export interface ChatRequest {
  message: string;
  /** A new session when there is none. */
  session_id?: string | null | undefined;
  files?: FileContent[] | null | undefined;
}

/** A file inside a JSON request. */
export interface FileContent {
  /** Base64. */
  content: string;
  mime_type: string;
  filename?: string | null | undefined;
}

/** What a request may hold. */
export interface ChatBounds extends Pick<Limits, "files"> {
  /** Code points of the message. */
  readonly messageChars: number;
  readonly idFormat: IdFormat;
  readonly mimeTypes: ReadonlySet<string>;
}

/** The body of a request, as JSON or as the fields of a form. Throws with everything that is wrong with it. */
export function checkChat(body: Json, bounds: ChatBounds): ChatRequest {
  const faults: ChatFault[] = [];
  const { message, session_id: sessionId, files } = body;
  const fault =
    textFault("message", message) ?? messageFault(message as string, bounds.messageChars);
  if (fault !== undefined) faults.push({ path: "message", message: fault });
  if (sessionId !== undefined && sessionId !== null) {
    const { isId, message: words } = idRules[bounds.idFormat];
    const wrong =
      textFault("session_id", sessionId) ?? (isId(sessionId as string) ? undefined : words);
    if (wrong !== undefined) faults.push({ path: "session_id", message: wrong });
  }
  if (Array.isArray(files)) {
    files.forEach((file, index) => faults.push(...fileFaults(file, `files.${index}`, bounds)));
  } else if (files !== undefined && files !== null) {
    faults.push({ path: "files", message: "files must be an array" });
  }
  if (faults.length > 0) throw refusal(faults);
  return body as unknown as ChatRequest;
}

function textFault(name: string, value: unknown): string | undefined {
  if (typeof value === "string") return undefined;
  return `${name} ${value === undefined ? "is required" : "must be a string"}`;
}

function messageFault(message: string, limit: number): string | undefined {
  if (!/\S/.test(message)) return "message cannot be blank";
  return isLonger(message, limit) ? `message must have at most ${limit} characters` : undefined;
}

function fileFaults(file: unknown, at: string, { mimeTypes }: ChatBounds): ChatFault[] {
  if (!isRecord(file)) {
    return [{ path: at, message: "a file must be an object with content and mime_type" }];
  }
  const { content, mime_type: type, filename } = file;
  const faults: ChatFault[] = [];
  const isBase64 = typeof content === "string" && sizeOfBase64(content) !== undefined;
  if (!isBase64) {
    const message = textFault("content", content) ?? "content must be valid base64";
    faults.push({ path: `${at}.content`, message });
  }
  const words = textFault("mime_type", type);
  if (words !== undefined) faults.push({ path: `${at}.mime_type`, message: words });
  else if (!mimeTypes.has(essenceOf(type as string))) {
    const message = unsupportedType(type as string);
    faults.push({ path: `${at}.mime_type`, message, isMimeType: true });
  }
  const unnamed = filename === undefined || filename === null;
  const wrong = unnamed ? undefined : textFault("filename", filename);
  if (wrong !== undefined) faults.push({ path: `${at}.filename`, message: wrong });
  return faults;
}

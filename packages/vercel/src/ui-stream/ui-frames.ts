import type { Json } from "@holodeck/agui-core";
import { toSafeJson } from "../shared/json.ts";

/** Gathers the frames that one event becomes, in `text`. */
export class UiFrames {
  text = "";

  /** A chunk, the AI SDK's name for the content of a frame. */
  write(chunk: Json): void {
    this.put(toSafeJson(chunk));
  }

  /** A part with an id: the client keeps the last one. */
  writeData(name: string, id: string, data: unknown): void {
    this.write({ type: `data-${name}`, id, data: data ?? null });
  }

  /** A chunk that is JSON already. */
  put(json: string): void {
    this.text += `data: ${json}\n\n`;
  }
}

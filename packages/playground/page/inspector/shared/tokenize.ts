import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import json from "highlight.js/lib/languages/json";
import typescript from "highlight.js/lib/languages/typescript";

hljs.registerLanguage("bash", bash);
hljs.registerLanguage("json", json);
hljs.registerLanguage("typescript", typescript);

export type Language = "bash" | "json" | "typescript";

/** A piece of code; `kind` is its class. */
export interface Token {
  readonly text: string;
  readonly kind: string;
}

/** Code in pieces, to be shown as text: nothing of it ever becomes markup. */
export function tokenize(code: string, language: Language): Token[] {
  const tokens: Token[] = [];
  const kinds: string[] = [];
  // highlight.js answers with spans around escaped text, and nothing else.
  for (const piece of hljs.highlight(code, { language }).value.split(/(<[^>]+>)/)) {
    if (piece === "</span>") kinds.pop();
    else if (piece.startsWith("<")) kinds.push(/class="([^"]*)"/.exec(piece)?.[1] ?? "");
    else if (piece !== "") tokens.push({ text: unescape(piece), kind: kinds.at(-1) ?? "" });
  }
  return tokens;
}

const entities: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#x27;": "'",
};

function unescape(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => entities[entity]!);
}

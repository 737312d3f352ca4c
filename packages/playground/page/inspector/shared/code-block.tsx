import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { formatCount } from "./format.ts";
import { tokenize } from "./tokenize.ts";
import type { Language } from "./tokenize.ts";

// More is nothing to read, and slow to colour.
const maxShown = 40_000;

export interface CodeBlockProps {
  readonly label: string;
  readonly code: string;
  readonly language: Language;
}

/** Highlighted code. Code that is too long to read is truncated and marked. */
export function CodeBlock({ label, code, language }: CodeBlockProps): JSX.Element {
  const shown = code.slice(0, maxShown);
  const tokens = useMemo(() => tokenize(shown, language), [shown, language]);
  const rest = code.length - shown.length;
  return (
    <>
      <pre class="source" role="region" aria-label={label} tabIndex={0}>
        <code>
          {tokens.map(({ text, kind }) => (kind ? <span class={kind}>{text}</span> : text))}
        </code>
      </pre>
      {rest > 0 && <p class="remark">{formatCount(rest, "more character")} when copied.</p>}
    </>
  );
}

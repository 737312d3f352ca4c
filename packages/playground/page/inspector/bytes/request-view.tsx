import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { SentRequest } from "../../model.ts";
import { CodeBlock } from "../shared/code-block.tsx";
import { CopyButton } from "../shared/copy-button.tsx";
import { formatBytes } from "../shared/format.ts";
import { prettify } from "../shared/json.ts";

/** What was sent: line, headers and body. */
export function RequestView({ request }: { request: SentRequest }): JSX.Element {
  const { method, url, headers, body } = request;
  const size = useMemo(() => new TextEncoder().encode(body ?? "").length, [body]);
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return (
    <details class="request">
      <summary>
        <strong>{method}</strong> <span class="url">{url}</span>{" "}
        <span class="count">{formatBytes(size)}</span>
      </summary>
      <dl class="headers">
        {Object.entries(headers).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {body !== undefined && (
        <CodeBlock label="Body of the request" code={prettify(body)} language="json" />
      )}
      <CopyButton
        what="request"
        text={() => [`${method} ${url}`, ...head, "", body ?? ""].join("\n")}
      />
    </details>
  );
}

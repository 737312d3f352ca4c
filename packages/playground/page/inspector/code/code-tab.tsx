import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { RecordedExchange } from "../../model.ts";
import { CodeBlock } from "../shared/code-block.tsx";
import { CopyButton } from "../shared/copy-button.tsx";
import type { Language } from "../shared/tokenize.ts";
import type { SampleRequest } from "./endpoints.ts";
import { toCopilotKitCode } from "./to-copilot-kit-code.ts";
import { toCurl } from "./to-curl.ts";
import { toHttpAgentCode } from "./to-http-agent-code.ts";
import { toUseChatCode } from "./to-use-chat-code.ts";

interface Kind {
  readonly name: string;
  readonly install: string;
  readonly language: Language;
  readonly write: (asked: SampleRequest) => string;
}

const kinds: readonly Kind[] = [
  { name: "curl", install: "", language: "bash", write: ({ request }) => toCurl(request) },
  {
    name: "HttpAgent",
    install: "npm install @ag-ui/client",
    language: "typescript",
    write: toHttpAgentCode,
  },
  {
    name: "useChat",
    install: "npm install ai@6 @ai-sdk/react@3 react",
    language: "typescript",
    write: toUseChatCode,
  },
  {
    name: "CopilotKit",
    install: "npm install @copilotkit/react-core react",
    language: "typescript",
    write: toCopilotKitCode,
  },
];

/** The same request, to be made by a program. */
export function CodeTab({ exchange }: { exchange: RecordedExchange }): JSX.Element {
  const chosen = useSignal(0);
  const { name, install, language, write } = kinds[chosen.value]!;
  const code = useMemo(() => {
    const { request, ...rest } = exchange;
    const url = new URL(request.url, document.baseURI).href;
    return write({ ...rest, request: { ...request, url } });
  }, [exchange, write]);
  return (
    <div class="code-tab">
      <div class="bar">
        <div class="family-chips" role="group" aria-label="Kind of code">
          {kinds.map((kind, index) => (
            <button
              key={kind.name}
              type="button"
              class="family-chip"
              aria-pressed={index === chosen.value}
              onClick={() => (chosen.value = index)}
            >
              {kind.name}
            </button>
          ))}
        </div>
        <CopyButton key={name} what={name} text={() => code} />
      </div>
      {install !== "" && (
        <p class="remark">
          <code>{install}</code>
        </p>
      )}
      <CodeBlock label={`The request with ${name}`} code={code} language={language} />
    </div>
  );
}

import { parseJsonText } from "../client/json.ts";
import { highlight } from "./highlight.ts";

/** JSON, indented and coloured; anything else as the text it is. */
export function JsonView({ text }: { text: string }) {
  const value = parseJsonText(text);
  if (typeof value !== "object" || value === null) return <pre tabIndex={0}>{text}</pre>;
  const pretty = JSON.stringify(value, null, 2);
  const coloured = highlight(pretty, "json");
  return (
    <pre tabIndex={0}>
      {coloured === undefined ? pretty : <code dangerouslySetInnerHTML={{ __html: coloured }} />}
    </pre>
  );
}

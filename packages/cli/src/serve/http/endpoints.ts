/** The part of an OpenAPI document that is read here. */
export interface ApiDocument {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly tags?: readonly string[];
  readonly parameters?: readonly { name: string; in: string; required?: boolean }[];
}

/** A callable endpoint. Parameters are in its URL as `:name`. */
export interface Endpoint {
  readonly method: string;
  readonly url: string;
}

/** The endpoints of each protocol, in the order of discovery. A shared one is listed with each. */
export function groupEndpoints(
  routes: readonly string[],
  { paths = {} }: ApiDocument,
  { url, basePath }: { url: string; basePath: string },
): Map<string, Endpoint[]> {
  const byShape = new Map(Object.entries(paths).map(([path, item]) => [shapeOf(path), item]));
  const groups = new Map<string, Endpoint[]>();
  for (const route of routes) {
    const [method = "", path = ""] = route.split(" ");
    const item = byShape.get(shapeOf(path.slice(basePath.length)));
    const { tags = ["other"], parameters = [] } = item?.[method.toLowerCase()] ?? {};
    const query = parameters.filter((one) => one.in === "query" && one.required);
    const asked = query.map(({ name }, index) => `${index === 0 ? "?" : "&"}${name}=:${name}`);
    const endpoint = { method, url: `${url}${path}${asked.join("")}` };
    for (const tag of tags) groups.set(tag, [...(groups.get(tag) ?? []), endpoint]);
  }
  return groups;
}

// Parameters have other signs in OpenAPI, and sometimes other names.
function shapeOf(path: string): string {
  return path.replaceAll(/:[^/]+|\{[^/]+\}/g, "*");
}

const messages = [{ role: "user", content: "hi" }];

/** What each protocol is asked with, the simplest to read first. */
const questions: readonly [tag: string, path: RegExp, body: object][] = [
  ["agui", /\/agui$/, { messages }],
  ["rest", /\/chat$/, { message: "hi" }],
  ["threads", /\/chat$/, { message: "hi" }],
  ["copilotkit", /\/run$/, { messages }],
  ["openai", /\/chat\/completions$/, { messages, stream: true }],
  ["vercel", /\/chat$/, { messages: [{ role: "user", parts: [{ type: "text", text: "hi" }] }] }],
];

/** A line that asks the agent with nothing but curl; empty when nothing can be asked that way. */
export function tryIt(groups: ReadonlyMap<string, readonly Endpoint[]>): string {
  for (const [tag, path, body] of questions) {
    const found = groups.get(tag)?.find(({ method, url }) => method === "POST" && path.test(url));
    if (!found) continue;
    const url = found.url.replace(/:[a-z]\w*/i, "default");
    return `Try it:\n\n  curl -N -X POST ${url} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
  }
  return "";
}

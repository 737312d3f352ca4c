import type { AgentHandler, Limits } from "@holodeck/agui";

export interface BannerOptions {
  readonly version: string;
  /** What is served: a file, or the demo. */
  readonly source: string;
  readonly handler: Pick<AgentHandler, "info" | "openapi">;
  readonly url: string;
  /** Where the handler stands below it. */
  readonly basePath: string;
  readonly hasPage: boolean;
  readonly sessions: string;
  readonly limits: Limits;
  readonly watch: boolean;
  readonly pid: number;
}

type Paths = Readonly<Record<string, Readonly<Record<string, { tags?: readonly string[] }>>>>;

interface Discovery {
  readonly agents: Readonly<Record<string, { readonly id: string; readonly name: string }>>;
  readonly protocols?: Readonly<Record<string, unknown>>;
  readonly routes: readonly string[];
}

/** What is printed when an agent is served: what can be called where, and within which bounds. */
export async function createBanner(options: BannerOptions): Promise<string> {
  const { handler, url } = options;
  const info = handler.info() as unknown as Discovery;
  const protocols = Object.keys(info.protocols ?? {});
  const rows: [string, string][] = [
    ...(options.hasPage ? [["Playground", `${url}/`] as [string, string]] : []),
    ["Agents", Object.values(info.agents).map(nameOf).join(", ")],
    ["Protocols", protocols.map(labelOf).join(", ")],
    ["Sessions", options.sessions],
    ...wrapRow("Limits", showLimits(options.limits)),
  ];
  const { paths = {} } = (await handler.openapi()) as { paths?: Paths };
  const groups = groupRoutes(info.routes, { paths, basePath: options.basePath });
  // What belongs to no protocol stands last.
  const tags = [...protocols, ...groups.keys()].filter((tag) => groups.has(tag));
  const title = `holodeck ${options.version} serves ${options.source}${options.watch ? ", and watches it" : ""}`;
  return [
    title,
    table(rows),
    ...[...new Set(tags)].map((tag) => `  ${labelOf(tag)}\n${showRoutes(groups.get(tag)!, url)}`),
    tryIt(info.routes, url),
    `Ctrl-C stops it (process ${options.pid}).`,
  ]
    .filter((part) => part !== "")
    .join("\n\n")
    .concat("\n");
}

function nameOf({ id, name }: { id: string; name: string }): string {
  return name === id ? id : `${name} (${id})`;
}

function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`).join("\n");
}

function wrapRow(name: string, words: readonly string[]): [string, string][] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < 76) {
      lines[lines.length - 1] = `${last} · ${word}`;
    } else lines.push(word);
  }
  return lines.map((line, index) => [index === 0 ? name : "", line]);
}

// Every limit there is, by its own name; the unit is the end of the name.
function showLimits(limits: Limits): string[] {
  return Object.entries(limits).map(([name, value]: [string, number]) => {
    if (!Number.isFinite(value)) return `${name} none`;
    if (name.endsWith("Bytes")) return `${name} ${showBytes(value)}`;
    if (name.endsWith("Ms")) return `${name.slice(0, -2)} ${showTime(value)}`;
    return `${name} ${value.toLocaleString("en")}`;
  });
}

function showBytes(value: number): string {
  const MiB = 1024 * 1024;
  if (value >= MiB) return `${Number((value / MiB).toFixed(1))} MiB`;
  return `${value.toLocaleString("en")} B`;
}

function showTime(ms: number): string {
  if (ms % 60_000 === 0) return `${ms / 60_000} min`;
  return ms % 1_000 === 0 ? `${ms / 1_000} s` : `${ms} ms`;
}

/** The routes of each protocol, in the order of discovery. One that several speak stands with each. */
function groupRoutes(
  routes: readonly string[],
  { paths, basePath }: { paths: Paths; basePath: string },
): Map<string, string[]> {
  const byShape = new Map(Object.entries(paths).map(([path, item]) => [shapeOf(path), item]));
  const groups = new Map<string, string[]>();
  for (const route of routes) {
    const [method = "", path = ""] = route.split(" ");
    const item = byShape.get(shapeOf(path.slice(basePath.length)));
    for (const tag of item?.[method.toLowerCase()]?.tags ?? ["other"]) {
      groups.set(tag, [...(groups.get(tag) ?? []), route]);
    }
  }
  return groups;
}

// Parameters have other signs in OpenAPI, and sometimes other names.
function shapeOf(path: string): string {
  return path.replaceAll(/:[^/]+|\{[^/]+\}/g, "*");
}

// As `--protocol` calls it.
function labelOf(tag: string): string {
  return tag === "agui" ? "ag-ui" : tag;
}

function showRoutes(routes: readonly string[], url: string): string {
  return routes
    .map((route) => {
      const [method = "", path = ""] = route.split(" ");
      return `    ${method.padEnd(6)} ${url}${path}`;
    })
    .join("\n");
}

// The first that a person can ask with nothing but curl.
function tryIt(routes: readonly string[], url: string): string {
  const agui = routes.find((route) => /^POST \S*\/agui$/.test(route));
  const rest = routes.find((route) => /^POST \S*\/chat$/.test(route));
  const path = (agui ?? rest)?.split(" ")[1]?.replaceAll(/:[^/]+/g, "default");
  if (path === undefined) return "";
  const body = agui ? { messages: [{ role: "user", content: "hi" }] } : { message: "hi" };
  return `Try it:\n\n  curl -N -X POST ${url}${path} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
}

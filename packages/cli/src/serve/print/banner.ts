import type { AgentHandler, Limits } from "@holodeck/agui";
import { groupEndpoints, tryIt } from "../http/endpoints.ts";
import type { Endpoint } from "../http/endpoints.ts";

export interface BannerOptions {
  readonly version: string;
  /** What is served: a file, or the demo. */
  readonly source: string;
  readonly handler: Pick<AgentHandler, "info" | "openapi">;
  readonly url: string;
  /** The path of the handler below it. */
  readonly basePath: string;
  readonly hasPage: boolean;
  readonly sessions: string;
  readonly limits: Limits;
  readonly watch: boolean;
  readonly pid: number;
}

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
  const groups = groupEndpoints(info.routes, await handler.openapi(), options);
  // Endpoints of no protocol come last.
  const tags = new Set([...protocols, ...groups.keys()].filter((tag) => groups.has(tag)));
  const title = `holodeck ${options.version} serves ${options.source}${options.watch ? ", and watches it" : ""}`;
  return [
    title,
    table(rows),
    ...[...tags].map(
      (tag) => `  ${labelOf(tag)}\n${groups.get(tag)!.map(showEndpoint).join("\n")}`,
    ),
    tryIt(groups),
    // Again, where it is seen without scrolling.
    `${options.hasPage ? `Open ${url}/ to talk to it. ` : ""}Ctrl-C stops it (process ${options.pid}).`,
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

// As `--protocol` calls it.
function labelOf(tag: string): string {
  return tag === "agui" ? "ag-ui" : tag;
}

function showEndpoint({ method, url }: Endpoint): string {
  return `    ${method.padEnd(6)} ${url}`;
}

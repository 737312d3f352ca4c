import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { chromium } from "playwright-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { chromiumFlags, findService } from "../../../scripts/test-support/services.ts";
import { sourceFlags } from "../../../scripts/test-support/source-flags.ts";

/** Where pictures of the page are kept; nothing of it is tracked. */
export const screenshots: string = fileURLToPath(new URL("./screenshots/", import.meta.url));
const cli = fileURLToPath(import.meta.resolve("@holodeck/agui-cli/package.json"));
const bin = join(dirname(cli), "src/bin.ts");
const root = fileURLToPath(new URL("../../../", import.meta.url));

/** A browser beside `holodeck serve`. */
export interface Site {
  readonly url: string;
  readonly browser: Browser;
  close(): Promise<void>;
}

export interface SiteOptions {
  /** What is served; by default the demo. */
  readonly file?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * A browser, and the page built for it. Returns undefined when there is no Chromium: the caller skips, and the
 * suite is reported as not run.
 */
export async function openBrowser(suite: string): Promise<Browser | undefined> {
  const executablePath = findService("chromium", suite);
  if (executablePath === undefined) return undefined;
  await buildPage();
  return chromium.launch({ executablePath, args: [...chromiumFlags] });
}

/** Starts the real binary on a free port, and a browser, or nothing when there is none. */
export async function openSite(
  suite: string,
  options: SiteOptions = {},
): Promise<Site | undefined> {
  const browser = await openBrowser(suite);
  if (!browser) return undefined;
  const server = await startHolodeck(options);
  return {
    url: server.url,
    browser,
    async close() {
      await browser.close();
      await server.close();
    },
  };
}

/** What a test is given: a page that is watched. */
export interface WatchedPage {
  readonly page: Page;
  /** Everything it asked for, by URL. */
  readonly requests: readonly string[];
  /** Errors on the console, exceptions, and what the page's policy forbade. */
  readonly faults: string[];
}

export interface VisitOptions extends BrowserContextOptions {
  /** Below the server's URL. */
  readonly path?: string;
  /** What is not to be held against the page: a 4xx that was meant is an error on the console. */
  readonly allow?: readonly RegExp[];
}

/**
 * Opens the page in a profile of its own. When the test is over, nothing may have left the origin and
 * nothing may have gone wrong unseen.
 */
export async function visit(site: Site, options: VisitOptions = {}): Promise<WatchedPage> {
  const { path = "/", allow = [], ...contextOptions } = options;
  const context = await site.browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: "reduce",
    ...contextOptions,
  });
  const requests: string[] = [];
  const faults: string[] = [];
  const blame = (fault: string): void => {
    if (!allow.some((pattern) => pattern.test(fault))) faults.push(fault);
  };
  context.on("request", (request) => requests.push(request.url()));
  context.on("weberror", (error) => blame(`exception: ${String(error.error())}`));
  context.on("console", (message) => {
    if (message.type() === "error") blame(`console: ${message.text()}`);
  });
  await context.exposeFunction("reportViolation", (what: string) => blame(`policy: ${what}`));
  await context.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) => {
      const { reportViolation } = globalThis as unknown as { reportViolation(what: string): void };
      reportViolation(`${violatedDirective} ${blockedURI}`);
    });
  });
  const page = await context.newPage();
  onTestFinished(async ({ task }) => {
    if (task.result?.state === "fail") {
      const name = task.name.replaceAll(/[^a-z0-9]+/gi, "-");
      await page.screenshot({ path: join(screenshots, `failed-${name}.png`) });
    }
    await context.close();
    const { origin } = new URL(site.url);
    const outside = requests.filter(
      (url) => !/^(data|blob):/.test(url) && !url.startsWith(`${origin}/`),
    );
    expect(outside).toEqual([]);
    expect(faults).toEqual([]);
  });
  await page.goto(`${site.url}${path}`);
  return { page, requests, faults };
}

// `npm test` has built it by now; this is for whoever runs one file.
async function buildPage(): Promise<void> {
  const script = "import('./scripts/test-support/page.mjs').then(({ buildPage }) => buildPage())";
  await promisify(execFile)(process.execPath, ["--eval", script], { cwd: root });
}

/** Starts the real binary on a free port, for a browser that is there. */
export async function startHolodeck({
  file,
  env,
}: SiteOptions): Promise<{ url: string; close(): Promise<void> }> {
  if (file !== undefined && !existsSync(file)) throw new Error(`There is no ${file}.`);
  const { PATH, HOME, TMPDIR } = process.env;
  const child = spawn(
    process.execPath,
    [...sourceFlags, bin, "serve", ...(file === undefined ? [] : [file]), "--port=0"],
    { cwd: root, env: { PATH, HOME, TMPDIR, NO_COLOR: "1", ...env }, stdio: "pipe" },
  );
  const ended = once(child, "close");
  let said = "";
  const url = new Promise<string>((resolve, reject) => {
    const read = (text: string): void => {
      said += text;
      const found = /Playground\s+(http:\/\/\S+?)\/?\s/.exec(said)?.[1];
      if (found) resolve(found);
    };
    child.stdout.setEncoding("utf8").on("data", read);
    child.stderr.setEncoding("utf8").on("data", read);
    child.once("close", () => reject(new Error(`holodeck serve ended early:\n${said}`)));
  });
  return {
    url: await url,
    async close() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

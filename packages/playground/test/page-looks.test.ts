import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openSite, screenshots, startHolodeck, visit } from "./_browser.ts";
import type { Site } from "./_browser.ts";
import { chatOf, poll } from "./_chat.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let site: Site | undefined;

beforeAll(async () => {
  const env = { HOLODECK_DEMO_PACE: "0.1" };
  site = await openSite("packages/playground/test/page-looks.test.ts", { env });
}, 300_000);
afterAll(() => site?.close());
beforeEach((context) => context.skip(!site));

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string | null;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/** What axe finds serious or critical, in words. */
async function faultsOf(page: Page, rules: readonly string[] | undefined): Promise<string[]> {
  const isThere = await page.evaluate(() => "axe" in globalThis);
  if (!isThere) await page.evaluate(axe);
  const { violations } = await page.evaluate((only) => {
    const { axe } = globalThis as unknown as {
      axe: { run(options: object): Promise<AxeResult> };
    };
    return axe.run({ resultTypes: ["violations"], ...(only && { runOnly: only }) });
  }, rules);
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}

describe.each([
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
])("at $width px", ({ width, height }) => {
  const isPhone = width < 900;

  test("has nothing serious for axe in either theme, and does not scroll sideways", async () => {
    const { page } = await visit(site!, {
      viewport: { width, height },
      // The page's policy does not let axe in.
      bypassCSP: true,
      ...(isPhone && { hasTouch: true, isMobile: true }),
    });
    const chat = chatOf(page);
    const faults: string[] = [];

    async function look(name: string): Promise<void> {
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        const at = `${width}-${colorScheme}-${name}`;
        await page.screenshot({ path: join(screenshots, `${at}.png`) });
        // A theme changes colours and nothing else.
        const rules = colorScheme === "dark" ? ["color-contrast"] : undefined;
        faults.push(...(await faultsOf(page, rules)).map((fault) => `${at}: ${fault}`));
      }
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (wide > 0) faults.push(`${width}-${name}: ${wide} px too wide`);
    }

    await page.getByRole("list", { name: "Questions to begin with" }).waitFor();
    await look("empty");
    await chat.ask("Show me Markdown");
    await chat.log.getByText("A quotation ends it.").waitFor();
    await chat.idle();
    await look("markdown");
    await chat.ask("Think about why the sky is blue");
    await chat.log.getByText("about five times as much").waitFor();
    await chat.idle();
    await chat.ask("Plan a trip");
    await page.getByText("4 of 4").waitFor();
    await chat.idle();
    await look("plan");
    await chat.ask("Send a mail to ada@example.com");
    await page.getByRole("group", { name: "Approval" }).waitFor();
    await look("approval");
    await page.getByRole("button", { name: "Deny" }).click();
    await poll(() => chat.answer()).toContain("I did not send");
    await chat.idle();
    await chat.ask("Let me pick a colour");
    await page.getByRole("group", { name: "Answer pick_color" }).waitFor();
    await look("palette");
    await page.getByRole("button", { name: "blue" }).click();
    await chat.idle();
    await chat.ask("Fail with an error");
    await page.getByRole("alert").waitFor();
    await look("error");
    await page.getByRole("button", { name: "Conversations" }).click();
    await page.getByRole("navigation", { name: "Conversations" }).locator("li").first().waitFor();
    await look("threads");
    await page.keyboard.press("Escape");
    await chat.ask("Plan a trip");
    await page.getByRole("list", { name: "Suggested questions" }).waitFor();
    if (isPhone) await page.getByRole("button", { name: "Inspector" }).click();
    for (const tab of ["Events", "State", "Timing", "Bytes", "Code"]) {
      await chat.tab(tab);
      await look(`inspector-${tab.toLowerCase()}`);
    }
    expect(faults).toEqual([]);
  }, 300_000);
});

describe("by keyboard alone", () => {
  /** Its story takes half a minute: there is time to find the button that stops it. */
  let slow: Site | undefined;
  beforeAll(async () => {
    if (!site) return;
    const server = await startHolodeck({ env: { HOLODECK_DEMO_PACE: "2" } });
    slow = { ...site, ...server };
  });
  afterAll(() => slow?.close());

  /** Tabs on until the element with this name has the focus. */
  async function tabTo(page: Page, name: string): Promise<void> {
    for (let presses = 0; presses < 60; presses += 1) {
      const focused = await page.evaluate(() => {
        const element = document.activeElement;
        return element?.getAttribute("aria-label") ?? element?.textContent?.trim() ?? "";
      });
      if (focused === name) return;
      await page.keyboard.press("Tab");
    }
    throw new Error(`Tab does not lead to "${name}".`);
  }

  test("sends, and stops", async () => {
    const { page } = await visit(slow!);
    const chat = chatOf(page);
    await chat.box.waitFor();
    await tabTo(page, "Your question");
    await page.keyboard.type("Tell me a long story");
    await page.locator("button[aria-label=Send]:enabled").waitFor();
    await page.keyboard.press("Enter");
    await chat.log.getByText("Day 2.").waitFor();
    await tabTo(page, "Stop");
    await page.keyboard.press("Enter");
    await chat.idle();
    expect(await chat.answer()).not.toContain("came home");
    await tabTo(page, "Your question");
    await page.keyboard.type("Tell me a long story");
    await page.locator("button[aria-label=Send]:enabled").waitFor();
    await page.keyboard.press("Enter");
    await chat.stop.waitFor();
    await page.keyboard.press("Escape");
    await chat.idle();
    expect(await chat.answer()).not.toContain("came home");
  });

  test.each([
    ["Approve", "is sent."],
    ["Deny", "I did not send the mail"],
  ])("can %s", async (name, said) => {
    const { page } = await visit(site!);
    const chat = chatOf(page);
    await chat.box.waitFor();
    await tabTo(page, "Your question");
    await page.keyboard.type("Send a mail");
    await page.locator("button[aria-label=Send]:enabled").waitFor();
    await page.keyboard.press("Enter");
    // The question takes the focus a frame after it is there.
    await page.locator('[aria-label="Approval"]:focus').waitFor();
    await tabTo(page, name);
    await page.keyboard.press("Enter");
    await poll(() => chat.answer()).toContain(said);
  });
});

import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

// Two cores may be busy with other suites.
const patience = 25_000;

/** The page as its user knows it. */
export function chatOf(page: Page): {
  readonly box: Locator;
  readonly log: Locator;
  readonly stop: Locator;
  readonly inspector: Locator;
  ask(question: string): Promise<void>;
  /** What was answered to the last question, as it reads. */
  answer(): Promise<string>;
  /** Waits until there is nothing under way. */
  idle(): Promise<void>;
  tab(name: string): Promise<void>;
} {
  page.setDefaultTimeout(patience);
  const box = page.getByRole("textbox", { name: "Your question" });
  const log = page.getByRole("log", { name: "Conversation" });
  const stop = page.getByRole("button", { name: "Stop", exact: true });
  const inspector = page.getByRole("complementary", { name: "Inspector" });
  return {
    box,
    log,
    stop,
    inspector,
    async ask(question) {
      await box.fill(question);
      await page.locator("button[aria-label=Send]:enabled").waitFor();
      await box.press("Enter");
      await log.getByText(question, { exact: true }).last().waitFor();
    },
    async answer() {
      const parts = await log
        .locator('article[aria-label="Question"]')
        .last()
        .locator('xpath=following-sibling::article[@aria-label="Answer"]')
        .allInnerTexts();
      return parts.join("\n").replaceAll(/\s+/g, " ").trim();
    },
    async idle() {
      await page.getByRole("button", { name: "Send", exact: true }).waitFor();
    },
    async tab(name) {
      await inspector.getByRole("tab", { name }).click();
    },
  };
}

/** Waits for a text that takes a run to appear. */
export function poll<T>(read: () => T | Promise<T>): ReturnType<typeof expect.poll<T>> {
  return expect.poll(read, { timeout: patience, interval: 25 });
}

/**
 * Lets something happen until it was seen: a browser that has much to do leaves out frames, and what
 * passes quickly may pass between two of them.
 */
export async function untilSeen(
  happen: () => Promise<void>,
  isSeen: () => Promise<boolean>,
): Promise<void> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    await happen();
    if (await isSeen()) return;
  }
  throw new Error("It was not seen in five attempts.");
}

/** Notes every text that an element shows, from now on: what passes too quickly to be waited for. */
export async function record(page: Page, selector: string): Promise<() => Promise<string[]>> {
  await page.evaluate((wanted) => {
    const seen: string[] = [];
    Object.assign(globalThis, { seen });
    new MutationObserver(() => {
      const text = document.querySelector(wanted)?.textContent;
      if (text && seen.at(-1) !== text) seen.push(text);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  }, selector);
  return () => page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen);
}

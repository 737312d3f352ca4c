import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createStage } from "./_agent.ts";
import type { Stage } from "./_agent.ts";
import { createHandler } from "./_host.ts";
import { openBrowser, servePage } from "./_page.ts";
import type { BrowserAndPage } from "./_page.ts";

let opened: BrowserAndPage | undefined;

beforeAll(async () => {
  opened = await openBrowser("a page with CopilotKit's components");
});
afterAll(() => opened?.browser.close());

async function open(stage: Stage): Promise<Page> {
  const { url, close } = await servePage(createHandler(stage), opened!.page);
  const page = await opened!.browser.newPage();
  onTestFinished(async () => {
    await page.close();
    await close();
  });
  // Its chat shows a text box at once, and drops what is sent before it has asked for the thread.
  const connects = page.waitForResponse(/\/connect$/u);
  await page.goto(`${url}?thread=t-page`);
  await (await connects).finished();
  await page.getByRole("textbox").waitFor();
  return page;
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox").fill(text);
  await page.getByRole("textbox").press("Enter");
}

/** How often a text is on the page. */
const count = (page: Page, text: string): Promise<number> =>
  page.getByText(text, { exact: true }).count();

describe("a page with CopilotKit's components", () => {
  test("chats", async (context) => {
    context.skip(!opened);
    const page = await open(createStage());
    await say(page, "hello");
    await page.getByText("you said: hello").waitFor();
    await expect.poll(() => count(page, "hello")).toBe(1);
    expect(await page.getByText("error:").count()).toBe(0);
  });

  test("runs a tool of the page and shows what comes of it", async (context) => {
    context.skip(!opened);
    const stage = createStage();
    const page = await open(stage);
    await say(page, "paint");
    await page.getByText("tool said: painted teal").waitFor();
    await expect.poll(() => page.locator("body").getAttribute("data-color")).toBe("teal");
    expect(stage.runs).toBe(2);
  });

  test("is reloaded in the middle of an answer and shows the rest of it, once", async (context) => {
    context.skip(!opened);
    const stage = createStage();
    const page = await open(stage);
    await say(page, "wait");
    await page.getByText("first").waitFor();
    await page.reload();
    await page.getByText("first").waitFor();
    await expect.poll(() => count(page, "wait")).toBe(1);
    stage.gate.open();
    await page.getByText("first second").waitFor();
    await expect.poll(() => count(page, "first second")).toBe(1);
    expect(stage.runs).toBe(1);
    expect(stage.aborted).toEqual([]);
    expect(await page.getByText("error:").count()).toBe(0);
  });
});

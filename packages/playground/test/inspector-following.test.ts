import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openBrowser } from "./_browser.ts";
import { frame } from "./_frames.ts";
import { begin, push, serveInspector } from "./_inspector-page.ts";
import type { InspectorPage } from "./_inspector-page.ts";

const browser = await openBrowser("the inspector's list in a browser");
let served: InspectorPage;
let page: Page;

beforeAll(async () => {
  if (!browser) return;
  served = await serveInspector();
  page = await browser.newPage({ viewport: { width: 640, height: 800 } });
});
afterAll(async () => {
  await browser?.close();
  await served?.close();
});

const list = () => page.getByRole("listbox");
const latest = () => page.getByRole("button", { name: "Latest" });
const event = (index: number) => page.getByRole("option").filter({ hasText: `event ${index}.` });
const fifty = (from: number) =>
  Array.from({ length: 50 }, (_, n) =>
    frame(from + n, from + n, { type: "CUSTOM", name: `event ${from + n}.` }),
  );
const more = (from: number) => push(page, fifty(from));
const scrollTop = () => list().evaluate((box) => box.scrollTop);
const isAtEnd = () =>
  list().evaluate((box) => box.scrollTop + box.clientHeight >= box.scrollHeight - 1);

/** Where the list stands when it has stood there for some frames: a turn of the wheel is not one jump. */
async function restingTop(): Promise<number> {
  let top = await scrollTop();
  for (let still = 0; still < 10; still += 1) {
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
    const now = await scrollTop();
    if (now !== top) still = 0;
    top = now;
  }
  return top;
}

/** A browser moves a list first and sends its scroll event a frame later; events may come in between. */
async function moveAsMoreCome(by: number): Promise<void> {
  await list().evaluate((box, pixels) => {
    const { inspector } = globalThis as any;
    const { push: arrive } = inspector;
    inspector.push = (given: string) => {
      inspector.push = arrive;
      box.scrollTop += pixels;
      arrive(given);
    };
  }, by);
}

/** As in a browser so busy that no scroll event arrives before all else is over. */
const withoutScrollEvents = () =>
  page.evaluate(() => {
    globalThis.addEventListener("scroll", (happened) => happened.stopPropagation(), true);
  });

describe.skipIf(!browser)("the list of events", () => {
  beforeEach(async () => {
    await page.goto(served.url);
    await begin(page);
    await more(0);
    await event(49).waitFor();
    await expect.poll(isAtEnd).toBe(true);
  });

  test("takes no reader back who scrolls up while more of them come", async () => {
    const top = (await restingTop()) - 200;
    await moveAsMoreCome(-200);
    await more(50);
    await page.getByText("100 events").waitFor();
    expect(await scrollTop()).toBe(top);
    await latest().waitFor();
  });

  test("follows for a reader who scrolls to the end while more of them come", async () => {
    await list().press("Home");
    await latest().waitFor();
    await restingTop();
    await moveAsMoreCome(100_000);
    await more(50);
    await event(99).waitFor();
    await expect.poll(isAtEnd).toBe(true);
    expect(await latest().count()).toBe(0);
  });

  test("follows after the key End, whenever its scroll event arrives", async () => {
    await list().press("Home");
    await latest().waitFor();
    await withoutScrollEvents();
    await list().press("End");
    await more(50);
    await event(99).waitFor();
    expect(await latest().count()).toBe(0);
  });

  test("keeps the last event in its place while a reader looks at it", async () => {
    await event(49).click();
    await page.getByRole("region", { name: "Raw event" }).waitFor();
    const top = await restingTop();
    await more(50);
    await page.getByText("100 events").waitFor();
    expect(await restingTop()).toBe(top);
    await latest().click();
    await event(99).waitFor();
  });

  test("stays at the end, unless a reader scrolls up", async () => {
    await more(50);
    await event(99).waitFor();
    // A line above the list takes some of its room when the run has ended.
    await page.setViewportSize({ width: 640, height: 500 });
    await expect.poll(isAtEnd).toBe(true);
    await page.setViewportSize({ width: 640, height: 800 });
    await list().hover();
    // A busy browser loses a turn of the wheel on a list that was resized just now.
    const turnUp = async () => {
      await page.mouse.wheel(0, -600);
      return latest().isVisible();
    };
    await expect.poll(turnUp).toBe(true);
    const before = await restingTop();
    await more(100);
    await page.getByText("150 events").waitFor();
    expect(await scrollTop()).toBe(before);
    await latest().click();
    await event(149).waitFor();
    await more(150);
    await event(199).waitFor();
    await event(198).click();
    await more(200);
    await page.getByText("250 events").waitFor();
    await expect.poll(() => event(198).count()).toBe(1);
    await list().press("End");
    await more(250);
    await event(299).waitFor();
  });
});

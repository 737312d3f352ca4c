import { encode } from "@ag-ui/proto";
import axe from "axe-core";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { RecordedFrame } from "../page/model.ts";
import { frame, text } from "./_frames.ts";
import { openBrowser } from "./_browser.ts";
import { begin, end, pictures, push, serveInspector } from "./_inspector-page.ts";
import type { InspectorPage } from "./_inspector-page.ts";

const browser = await openBrowser("the inspector in a browser");
let served: InspectorPage;
let page: Page;
const faults: string[] = [];

beforeAll(async () => {
  if (!browser) return;
  served = await serveInspector();
  const context = await browser.newContext({ viewport: { width: 640, height: 800 } });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  page = await context.newPage();
  // What the policy refuses is told on the console, too; a 404 of the repairs is no fault.
  page.on("console", (message) => {
    const isFault = message.type() === "error" && !message.text().includes("404");
    if (isFault) faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(String(error)));
});
afterAll(async () => {
  await browser?.close();
  await served?.close();
});

const tab = (name: string) => page.getByRole("tab", { name });
const options = () => page.getByRole("option");
const copied = () => page.evaluate(() => navigator.clipboard.readText());

const patch = (...delta: object[]) => ({ type: "STATE_DELTA", delta });
const trip: RecordedFrame[] = [
  frame(0, 38, { type: "RUN_STARTED", threadId: "thread-1", runId: "run-1" }),
  frame(1, 52, { type: "STEP_STARTED", stepName: "planning" }),
  frame(2, 90, { type: "REASONING_MESSAGE_START", messageId: "r", role: "reasoning" }),
  frame(3, 120, { type: "REASONING_MESSAGE_CONTENT", messageId: "r", delta: "Rome in May." }),
  frame(4, 160, { type: "REASONING_MESSAGE_END", messageId: "r" }),
  frame(5, 200, { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "weather" }),
  frame(6, 240, { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: '{"city":' }),
  frame(7, 260, { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: '"Rome"}' }),
  frame(8, 270, { type: "TOOL_CALL_END", toolCallId: "c" }),
  frame(9, 900, { type: "TOOL_CALL_RESULT", messageId: "t", toolCallId: "c", content: "24 °C" }),
  frame(10, 920, { type: "STATE_SNAPSHOT", snapshot: { plan: { title: "Rome", steps: [] } } }),
  frame(
    11,
    940,
    patch({ op: "add", path: "/plan/steps/-", value: { title: "Pack", done: false } }),
  ),
  frame(12, 960, patch({ op: "add", path: "/plan/steps/-", value: { title: "Fly", done: false } })),
  frame(13, 990, patch({ op: "replace", path: "/plan/steps/0/done", value: true })),
  frame(14, 995),
  frame(15, 1000, { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" }),
  ...Array.from({ length: 37 }, (_, n) => frame(16 + n, 1020 + n * 20, text("m", `word ${n} `))),
  frame(53, 1800, { type: "TEXT_MESSAGE_END", messageId: "m" }),
  frame(54, 1810, { type: "ACTIVITY_SNAPSHOT", messageId: "a", activityType: "map", content: {} }),
  frame(55, 1820, { type: "CUSTOM", name: "suggested_questions", value: ["When?"] }),
  frame(56, 1850, {
    type: "RUN_FINISHED",
    threadId: "thread-1",
    runId: "run-1",
    usage: [{ inputTokens: 9, outputTokens: 120 }],
  }),
];

async function show(over: Parameters<typeof begin>[1] = {}): Promise<void> {
  await begin(page, over);
  await push(page, trip);
  await end(page, "done");
}

describe.skipIf(!browser)("the inspector", () => {
  beforeEach(async () => {
    faults.length = 0;
    served.repairs.clear();
    await page.goto(served.url);
    return () => expect(faults).toEqual([]);
  });

  test("shows that there is nothing, and then follows an exchange to its end", async () => {
    await page.getByText("Nothing was sent yet.").waitFor();
    await begin(page, { runId: undefined });
    await page.getByText("No event yet.").waitFor();
    await expect.poll(() => page.getByRole("status").textContent()).toContain("Waiting");
    await push(page, trip.slice(0, 4));
    await expect.poll(() => page.getByRole("status").textContent()).toContain("Streaming");
    await expect.poll(() => options().count()).toBe(4);
    await end(page, "failed", "The agent gave up.");
    await page.getByText("The agent gave up.").waitFor();
    await expect.poll(() => page.getByRole("status").textContent()).toContain("Failed");
  });

  test("is led through its tabs by arrow keys", async () => {
    await show();
    await tab("Events").focus();
    await page.keyboard.press("ArrowRight");
    await page.getByRole("tree", { name: "State" }).waitFor();
    await page.keyboard.press("End");
    await expect.poll(() => tab("Code").getAttribute("aria-selected")).toBe("true");
    await page.keyboard.press("ArrowRight");
    await expect
      .poll(() => tab("Events").evaluate((node) => node === document.activeElement))
      .toBe(true);
    await expect
      .poll(() => page.getByRole("tab").evaluateAll((all) => all.map((one: any) => one.tabIndex)))
      .toEqual([0, -1, -1, -1, -1]);
  });

  describe("shows events", () => {
    test("folded, or each on its own", async () => {
      await show();
      const deltas = options().filter({ hasText: "TEXT_MESSAGE_CONTENT" });
      await expect
        .poll(() => deltas.allTextContents())
        .toEqual([expect.stringMatching(/37 × TEXT_MESSAGE_CONTENT286 chars · word 0 word 1/)]);
      await page.getByLabel("Fold deltas").uncheck();
      await expect.poll(() => deltas.count()).toBeGreaterThan(5);
      await page.getByRole("listbox").press("Home");
      await expect.poll(() => options().first().textContent()).toContain("RUN_STARTED");
    });

    test("that a filter lets through, by words and by kind", async () => {
      await show();
      const total = await page.getByText("56 events").count();
      expect(total).toBe(1);
      await page.getByLabel("Filter events").fill("tool rome");
      await expect
        .poll(() => options().allTextContents())
        .toEqual([expect.stringContaining("TOOL_CALL_ARGS")]);
      await page.getByText("1 of 56 events").waitFor();
      await page.getByLabel("Filter events").fill("");
      const chips = page.getByRole("group", { name: "Kinds of events" });
      for (const name of ["Text 39", "Tools 5", "Reasoning 3"]) {
        await chips.getByRole("button", { name }).click();
      }
      await expect
        .poll(async () => (await options().allTextContents()).join())
        .not.toMatch(/TEXT_|TOOL_|REASONING_/);
      await expect.poll(() => options().filter({ hasText: "STATE_DELTA" }).count()).toBe(3);
      await page.getByLabel("Filter events").fill("not there");
      await page.getByText("No event matches.").waitFor();
    });

    test("whole, by keyboard, to be copied", async () => {
      await show();
      const list = page.getByRole("listbox");
      await list.press("Home");
      for (let step = 0; step < 5; step++) await list.press("ArrowDown");
      await expect
        .poll(() => page.locator("[aria-selected=true][role=option]").textContent())
        .toContain("TOOL_CALL_START");
      await list.press("Enter");
      const detail = page.getByRole("region", { name: "Raw event" });
      await detail.getByText('"toolCallName"').waitFor();
      await detail.getByRole("button", { name: "Copy JSON" }).click();
      await expect.poll(copied).toBe(JSON.stringify(trip[5]!.events[0], undefined, 2));
      // Both rows of arguments are folded into one, and so is what is shown of them.
      await list.press("ArrowDown");
      await detail.getByRole("heading", { name: "2 × TOOL_CALL_ARGS" }).waitFor();
      await tab("Timing").click();
      await tab("Events").click();
      await detail.getByRole("heading", { name: "2 × TOOL_CALL_ARGS" }).waitFor();
      await list.press("Escape");
      await expect.poll(() => detail.count()).toBe(0);
      await list.press("Enter");
      await detail.getByRole("button", { name: "Close" }).press("Escape");
      await expect.poll(() => detail.count()).toBe(0);
      await expect.poll(() => list.evaluate((node) => node === document.activeElement)).toBe(true);
    });

    test("as text, whatever an agent sends", async () => {
      await begin(page);
      const evil = "<img src=x onerror=alert(1)><script>alert(2)</script>";
      await push(page, [frame(0, 1, text(evil, evil), { type: evil, name: evil })]);
      await options().first().click();
      await page.getByRole("region", { name: "Raw event" }).getByText(evil).first().waitFor();
      await tab("Bytes").click();
      await page.getByText(evil).first().waitFor();
      expect(await page.locator(".inspector img, .inspector script").count()).toBe(0);
    });

    test("by ten thousands, with a page's worth of them in the page", async () => {
      await begin(page);
      const many = Array.from({ length: 10_000 }, (_, n) =>
        frame(n, n, { type: "CUSTOM", name: `event ${n}` }),
      );
      await push(page, many);
      await options().filter({ hasText: "event 9999" }).waitFor();
      expect(await options().count()).toBeLessThan(60);
      await page.getByRole("listbox").press("Home");
      await options().filter({ hasText: "event 0" }).first().waitFor();
      await expect.poll(() => options().first().getAttribute("aria-setsize")).toBe("10000");
      await tab("Bytes").click();
      await page.getByText("10,000 frames").waitFor();
      expect(await page.locator(".byte-line").count()).toBeLessThan(60);
    });

    test("at a pace that does not depend on how many there are", async () => {
      const custom = (index: number) =>
        frame(index, index, { type: "CUSTOM", name: `event ${index}` });
      const fill = async (from: number, to: number) => {
        await push(
          page,
          Array.from({ length: to - from }, (_, n) => custom(from + n)),
        );
        await options()
          .filter({ hasText: `event ${to - 1}` })
          .waitFor();
      };
      await begin(page);
      await fill(0, 100);
      const few = await renderTime(page);
      await fill(100, 10_000);
      const many = await renderTime(page);
      // A hundred times as many; the browser's clock is no finer than a tenth of a millisecond.
      expect(many / Math.max(few, 0.5)).toBeLessThan(15);
    });
  });

  describe("shows repairs", () => {
    test("with what each of them means, and how many on its head", async () => {
      served.repairs.set("run-1", {
        repairs: [
          {
            stage: "agent",
            repairs: { "left-open": 2, "not-json": 1, "of-tomorrow": 1 },
            first: "left-open, TEXT_MESSAGE_START",
          },
        ],
      });
      await begin(page);
      await push(page, trip);
      expect(await page.getByText("repair").count()).toBe(0);
      await tab("Timing").click();
      await end(page, "done");
      await page.getByRole("button", { name: "4 repairs" }).click();
      const list = page.getByRole("listitem");
      await expect
        .poll(() => list.allTextContents())
        .toEqual([
          "left-open × 2Left open at the end of the run. It was closed.",
          expect.stringContaining("not-json × 1Cannot be written as JSON."),
          expect.stringContaining("of-tomorrow × 1A kind that this page does not know."),
        ]);
      await page.getByText("first: left-open, TEXT_MESSAGE_START").waitFor();
    });

    test("of an agent that went on after its run had ended", async () => {
      served.repairs.set("run-1", { repairs: [] });
      const before = served.asked();
      await show();
      await expect.poll(served.asked).toBeGreaterThan(before);
      served.repairs.set("run-1", { repairs: [{ stage: "agent", repairs: { "after-end": 1 } }] });
      await page.getByRole("button", { name: "1 repair" }).waitFor();
    });

    test("shows when there were none, and who would know", async () => {
      served.repairs.set("run-2", { repairs: [] });
      await show({ runId: "run-2" });
      await page.getByText("Nothing had to be repaired.").waitFor();
      await show({ runId: "run-3" });
      await page.getByText("only holodeck serve tells").waitFor();
    });
  });

  describe("shows the state", () => {
    test("as a tree in which the last change is marked, and each one before", async () => {
      await show();
      await tab("State").click();
      const marked = page.locator(".tree-line.is-changed, .tree-line.is-added");
      await expect.poll(() => marked.allTextContents()).toEqual(["~changed done:true"]);
      await page.getByText("Change 4 of 4 · STATE_DELTA").waitFor();
      await page.getByRole("button", { name: "Change before" }).click();
      await expect
        .poll(() => marked.allTextContents())
        .toEqual([expect.stringMatching(/added .*1:\{2\}/)]);
      await page.getByRole("slider").fill("1");
      await expect.poll(() => marked.allTextContents()).toEqual(['~changed title:"Rome"']);
      await page.getByRole("slider").fill("0");
      await page.getByText("as it was sent").waitFor();
      await expect.poll(() => page.getByText('"Nothing yet"').count()).toBe(1);
    });

    test("of a run that goes on, without being asked again", async () => {
      await begin(page);
      await push(page, trip.slice(0, 12));
      await tab("State").click();
      await page.getByText("Change 2 of 2").waitFor();
      await push(page, trip.slice(12, 13));
      await page.getByText("Change 3 of 3").waitFor();
      await page.getByRole("button", { name: "Change before" }).click();
      await push(page, trip.slice(13));
      await page.getByText("Change 2 of 4").waitFor();
    });

    test("to the keyboard", async () => {
      await show();
      await tab("State").click();
      const tree = page.getByRole("tree", { name: "State" });
      const active = () => page.locator("[role=treeitem][aria-selected=true]").textContent();
      await tree.press("End");
      await expect.poll(active).toContain("1:{2}");
      await tree.press("ArrowRight");
      await tree.press("ArrowRight");
      await expect.poll(active).toContain('title:"Fly"');
      await tree.press("ArrowLeft");
      await expect.poll(active).toContain("1:{2}");
      await tree.press("Enter");
      await expect.poll(() => page.getByRole("treeitem").last().textContent()).toContain("1:{2}");
      await tree.press("Home");
      await tree.press("ArrowLeft");
      await expect.poll(() => page.getByRole("treeitem").count()).toBe(1);
    });

    test("raw, to be copied, and what does not apply", async () => {
      await begin(page, { input: { messages: [], state: { a: 1 } } });
      await push(page, [frame(0, 1, patch({ op: "remove", path: "/b" }))]);
      await tab("State").click();
      await page.getByText("Changed nothing.").waitFor();
      await page.getByLabel("Raw JSON").check();
      await page.getByRole("button", { name: "Copy state" }).click();
      await expect.poll(copied).toBe('{\n  "a": 1\n}');
    });
  });

  test("shows how long everything took", async () => {
    await show();
    await tab("Timing").click();
    const figures = await page.locator(".figure").allTextContents();
    expect(figures).toEqual(
      expect.arrayContaining([
        "First byte38 ms",
        "First token120 mstext, reasoning or arguments",
        "Total1,850 msto the last byte",
        "Tokens120as reported at the end of the run",
        "Longest gap630 msbefore TOOL_CALL_RESULT",
        "Events56",
      ]),
    );
    await expect
      .poll(() => page.getByRole("img").getAttribute("aria-label"))
      .toContain("the first after 120 ms");
    await begin(page);
    await push(page, trip.slice(0, 20));
    await page.getByText("estimated: characters ÷ 4").first().waitFor();
  });

  test("shows the bytes of server-sent events with their ends", async () => {
    await show();
    await tab("Bytes").click();
    const lines = page.locator(".byte-line");
    await expect
      .poll(() => lines.first().textContent())
      .toMatch(/^#0 · 38 ms · \d+ B · RUN_STARTED$/);
    await expect.poll(() => lines.nth(2).textContent()).toContain(String.raw`\n`);
    await page.locator("details.request summary").click();
    await page.getByText("text/event-stream").waitFor();
    await page.getByRole("button", { name: "Copy answer" }).click();
    await expect
      .poll(copied)
      .toBe(trip.map(({ bytes }) => new TextDecoder().decode(bytes)).join(""));
  });

  test("shows the bytes of protobuf in hexadecimal", async () => {
    const event = { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "Hello" };
    const message = encode(event as Parameters<typeof encode>[0]);
    const bytes = new Uint8Array(4 + message.length);
    new DataView(bytes.buffer).setUint32(0, message.length);
    bytes.set(message, 4);
    await begin(page, { wire: "agui-proto" });
    await push(page, [
      { index: 3, at: 5, bytes, events: [event] as unknown as RecordedFrame["events"] },
    ]);
    await tab("Bytes").click();
    await page.getByText(`length 4 + ${message.length}`).waitFor();
    await page.getByText("The bytes of 3 frames were discarded.").waitFor();
    await page.getByText("00000000  00 00 00").waitFor();
    expect((await page.locator(".ascii").allTextContents()).join("")).toContain("Hello");
  });

  test("has the same request as code to copy", async () => {
    await show();
    await tab("Code").click();
    const said: Record<string, string> = {
      curl: "curl -N http://127.0.0.1:8000/agui",
      HttpAgent: "new HttpAgent({",
      useChat: "new DefaultChatTransport({",
      CopilotKit: "<CopilotKitProvider runtimeUrl={runtimeUrl}>",
    };
    for (const [name, part] of Object.entries(said)) {
      await page.getByRole("button", { name, exact: true }).click();
      await page.getByRole("button", { name: `Copy ${name}` }).click();
      await expect.poll(copied).toContain(part);
      await expect.poll(() => page.locator("pre.source").textContent()).toBe(await copied());
    }
  });

  test("leads back to earlier exchanges", async () => {
    await show();
    expect(await page.getByLabel("Exchange").count()).toBe(0);
    const input = { messages: [{ id: "1", role: "user", content: "And Paris?" }] };
    await begin(page, { wire: "vercel", runId: "run-9", input });
    await expect
      .poll(() => page.getByLabel("Exchange").locator("option").allTextContents())
      .toEqual(["1 · AG-UI, SSE · Plan a trip to Rome", "2 · Vercel · And Paris?"]);
    await page.getByText("run-9").waitFor();
    await page.getByLabel("Exchange").selectOption("0");
    await page.getByText("56 events").waitFor();
  });

  test.for([
    [390, "dark"],
    [1280, "light"],
  ] as const)("can be used by every user at %i px, %s", async ([width, colorScheme]) => {
    const runId = "01M7HRCP5XS3THTRK4821AY0QD";
    served.repairs.set(runId, { repairs: [{ stage: "agent", repairs: { "left-open": 1 } }] });
    await page.setViewportSize({ width, height: 844 });
    await page.emulateMedia({ colorScheme });
    await show({ runId });
    await show({ runId });
    await page.getByRole("button", { name: "1 repair" }).waitFor();
    await page.getByRole("listbox").press("Home");
    await page.getByRole("listbox").press("Enter");
    await page.evaluate(axe.source);
    for (const name of ["Events", "State", "Timing", "Bytes", "Code"]) {
      await tab(name).click();
      await page.getByRole("tabpanel", { name }).waitFor();
      await page.screenshot({ path: join(pictures, `${name}-${width}-${colorScheme}.png`) });
      const found = await page.evaluate(() =>
        (globalThis as any).axe.run("#root", { resultTypes: ["violations"] }),
      );
      const wrong = found.violations.map(({ id, nodes }: any) => [
        id,
        nodes.map((n: any) => n.html),
      ]);
      expect(wrong, name).toEqual([]);
      // Rows of lists are cut on purpose, at their own edge.
      const outside = await page.locator(".inspector *:not(.row *)").evaluateAll((all) =>
        all
          .filter((one) => !one.closest(".family-chips, .unseen"))
          .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
          .map((one) => one.outerHTML),
      );
      expect(outside, name).toEqual([]);
    }
  });
});

/** Milliseconds that one more event takes to be in the page when nothing else holds it up. */
function renderTime(page: Page): Promise<number> {
  return page.evaluate(async () => {
    const times: number[] = [];
    for (let round = 0; round < 15; round++) {
      const start = performance.now();
      const event = { type: "RAW", event: round };
      const one = { index: 1e6 + round, at: 1e6 + round, bytes: "", events: [event] };
      (globalThis as any).inspector.push(JSON.stringify([one]));
      await new Promise((resolve) => void setTimeout(resolve, 0));
      times.push(performance.now() - start);
      await new Promise((resolve) => void requestAnimationFrame(resolve));
    }
    return Math.min(...times);
  });
}

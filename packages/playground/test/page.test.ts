import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openSite, startHolodeck, visit } from "./_browser.ts";
import type { Site, VisitOptions } from "./_browser.ts";
import { chatOf, poll, record, untilSeen } from "./_chat.ts";

let site: Site | undefined;
/** Its agent tells a story that has no end. */
let endless: Site | undefined;

beforeAll(async () => {
  // A story of some seconds: long enough to reload the page in it.
  const env = { HOLODECK_DEMO_PACE: "0.4" };
  site = await openSite("packages/playground/test/page.test.ts", { env });
  if (!site) return;
  const file = fileURLToPath(new URL("./_endless-agent.ts", import.meta.url));
  endless = { ...(await startHolodeck({ file })), browser: site.browser };
}, 300_000);
afterAll(async () => {
  await endless?.close();
  await site?.close();
});
beforeEach((context) => context.skip(!site));

async function open(
  options?: VisitOptions,
  at = site!,
): Promise<Page & { chat: ReturnType<typeof chatOf> }> {
  const { page } = await visit(at, options);
  return Object.assign(page, { chat: chatOf(page) });
}

/** What the agent says to a question when nobody disturbs it, without Markdown. */
async function plainAnswer(message: string): Promise<string> {
  const response = await fetch(`${site!.url}/agent/demo/chat`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ message }),
  });
  const { content } = (await response.json()) as { content: string };
  return content
    .replaceAll(/\*+|^# /gm, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

describe("a conversation", () => {
  test("shows an answer while it is written", async () => {
    const { chat } = await open({}, endless);
    await chat.ask("Tell me a story");
    await chat.log.getByText("Day 2.").waitFor();
    expect(await chat.stop.isVisible()).toBe(true);
    await chat.stop.click();
    await chat.idle();
  });

  test("renders headings, lists, tables, code and links", async () => {
    const { chat } = await open();
    await chat.ask("Show me Markdown");
    await chat.log.getByText("A quotation ends it.").waitFor();
    await chat.idle();
    await chat.log.getByRole("heading", { name: "What I can write" }).waitFor();
    await poll(() => chat.log.getByRole("listitem").count()).toBe(4);
    await poll(() => chat.log.getByRole("cell").count()).toBe(6);
    await poll(() => chat.log.locator("pre code [class^=hljs]").count()).toBeGreaterThan(3);
    const link = chat.log.getByRole("link", { name: "links" });
    expect(await link.getAttribute("rel")).toContain("noopener");
    expect(await link.getAttribute("target")).toBe("_blank");
  });

  test("opens what the agent thinks while it does, and folds it afterwards", async () => {
    const { chat } = await open();
    await chat.ask("Think about why the sky is blue");
    const thoughts = chat.log.getByText("Sunlight has all colours in it.");
    await thoughts.waitFor();
    await chat.log.getByText("about five times as much").waitFor();
    await chat.idle();
    await poll(() => thoughts.isVisible()).toBe(false);
    await chat.log.getByText("Thoughts").click();
    await poll(() => thoughts.isVisible()).toBe(true);
  });

  test("stops, and keeps what was sent", async () => {
    const { chat } = await open({}, endless);
    await chat.ask("Tell me a story");
    await chat.log.getByText("Day 3.").waitFor();
    await chat.stop.click();
    await chat.idle();
    const kept = await chat.answer();
    expect(kept).toContain("Day 3.");
    await chat.ask("And now?");
    await chat.log.getByText("No more stories.").waitFor();
    expect(await chat.log.innerText()).toContain("Day 3.");
  });

  test("keeps its end in view on a phone, and leaves alone who reads above", async () => {
    const page = await open({ viewport: { width: 390, height: 700 } });
    const distance = (): Promise<number> =>
      page.chat.log.evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight);
    await page.chat.ask("Show me Markdown");
    await page.getByRole("list", { name: "Suggested questions" }).waitFor();
    await poll(distance).toBeLessThan(2);
    await page.chat.ask("Plan a trip");
    await page.getByRole("list", { name: "Suggested questions" }).waitFor();
    await poll(distance).toBeLessThan(2);
    await page.chat.ask("Send a mail");
    await page.getByRole("button", { name: "Approve" }).waitFor();
    await poll(distance).toBeLessThan(2);
    await page.getByRole("button", { name: "Deny" }).click();
    await page.chat.idle();
    await page.chat.ask("Tell me a long story");
    await page.chat.log.getByText("Day 2.").waitFor();
    await page.chat.log.hover();
    // A busy browser may lose a turn of the wheel.
    const turnUp = async (): Promise<number> => {
      await page.mouse.wheel(0, -600);
      return distance();
    };
    await poll(turnUp).toBeGreaterThan(300);
    await page.chat.log.getByText("Day 20.").waitFor();
    expect(await distance()).toBeGreaterThan(300);
  });

  test("answers once more instead of twice", async () => {
    const page = await open();
    const { chat } = page;
    await chat.ask("What is the weather in Paris?");
    await poll(() => chat.answer()).toContain("°C in Paris");
    await chat.idle();
    const before = await chat.answer();
    // The run may be over before its Stop button is seen.
    const asked = page.waitForResponse((response) => response.url().endsWith("/agui"));
    await chat.log.getByRole("button", { name: "Regenerate" }).click();
    await (await asked).finished();
    await chat.idle();
    await poll(() => chat.answer()).toBe(before);
    expect(await chat.log.getByRole("article", { name: "Question" }).count()).toBe(1);
  });

  test("goes on after a reload in mid-answer, and ends with the same text", async () => {
    const whole = plainAnswer("Tell me a long story");
    const page = await open();
    await page.chat.ask("Tell me a long story");
    await page.chat.log.getByText("Day 3.").waitFor();
    await page.reload();
    await page.chat.log.getByText("Day 3.").waitFor();
    await page.chat.log.getByText("And so we came home.").waitFor();
    await page.chat.idle();
    const text = await whole;
    await poll(() => page.chat.answer()).toBe(text);
    expect(await page.chat.log.getByRole("article", { name: "Question" }).count()).toBe(1);
  });

  test("shows that it failed, and on this machine why and where, and tries again", async () => {
    const page = await open();
    const first = page.waitForResponse((response) => response.url().endsWith("/agui"));
    await page.chat.ask("Fail with an error");
    const alert = page.getByRole("alert");
    await alert.waitFor();
    // What was sent to the client has no cause; the page asks the command for it.
    expect(await (await first).text()).not.toContain("db.internal");
    await poll(() => alert.innerText()).toMatch(/db\.internal[^]*at .*:\d+:\d+/);
    expect(await page.chat.answer()).toContain("I try something");
    const asked = page.waitForResponse((response) => response.url().endsWith("/agui"));
    await alert.getByRole("button", { name: "Try again" }).click();
    await (await asked).finished();
    await alert.waitFor();
    await alert.getByRole("button", { name: "Dismiss" }).click();
    await poll(() => alert.count()).toBe(0);
  });

  test("suggests questions before the first one and after each answer", async () => {
    const page = await open();
    const first = page.getByRole("list", { name: "Questions to begin with" });
    await first.getByRole("button", { name: "Plan a trip" }).click();
    const next = page.getByRole("list", { name: "Suggested questions" });
    await next.getByRole("button", { name: "Show me Markdown" }).click();
    await page.chat.log.getByText("A quotation ends it.").waitFor();
    await next.getByRole("button").first().waitFor();
    await poll(() => next.getByRole("button").count()).toBe(3);
  });

  test("is found again in the list of conversations", async () => {
    const page = await open();
    await page.chat.ask("Think about why the sky is blue");
    await page.chat.log.getByText("about five times as much").waitFor();
    await page.chat.idle();
    await page.getByRole("button", { name: "New chat" }).click();
    await poll(() => page.chat.log.count()).toBe(0);
    await page.getByRole("button", { name: "Conversations" }).click();
    const threads = page.getByRole("navigation", { name: "Conversations" });
    await threads.locator("li button").first().click();
    await page.chat.log.getByText("about five times as much").waitFor();
    await page.chat.log.getByText("Think about why the sky is blue").waitFor();
  });
});

describe("tools", () => {
  test("shows a call with its result", async () => {
    const page = await open();
    await page.chat.ask("What is the weather in San Francisco?");
    const tool = page.chat.log.getByRole("region", { name: "Tool get_weather" });
    await tool.getByText("Result").waitFor();
    await page.chat.idle();
    await poll(() => tool.innerText()).toMatch(/San Francisco[^]*Result[^]*celsius/);
    await poll(() => page.chat.answer()).toContain("°C in San Francisco");
  });

  test("shows arguments as they grow", async () => {
    const page = await open();
    const texts = await record(page, '[aria-label="Tool send_mail"] pre');
    const send = async (): Promise<void> => {
      await page.getByRole("button", { name: "New chat" }).click();
      await page.chat.ask("Send a mail to ada@example.com");
      await page.getByRole("group", { name: "Approval" }).waitFor();
    };
    await untilSeen(send, async () => {
      const lengths = (await texts()).map((text) => text.length);
      return lengths.some((length) => length < Math.max(...lengths));
    });
  });

  test("sends the mail when it is approved", async () => {
    const page = await open();
    await page.chat.ask("Send a mail to ada@example.com");
    const approval = page.getByRole("group", { name: "Approval" });
    await approval.waitFor();
    expect(
      await page.chat.log.getByRole("region", { name: "Tool send_mail" }).innerText(),
    ).toContain("ada@example.com");
    await approval.getByRole("button", { name: "Approve" }).click();
    await poll(() => page.chat.answer()).toContain("The mail to ada@example.com is sent.");
    await poll(() => approval.count()).toBe(0);
    expect(await page.chat.log.getByRole("region", { name: "Tool send_mail" }).count()).toBe(1);
  });

  test("does not send it when it is denied, and passes the reason to the agent", async () => {
    const page = await open();
    await page.chat.ask("Send a mail to ada@example.com");
    const approval = page.getByRole("group", { name: "Approval" });
    await approval.getByRole("textbox").fill("she is on holiday");
    await approval.getByRole("button", { name: "Deny" }).click();
    await poll(() => page.chat.answer()).toContain("You said: she is on holiday");
    await poll(() => page.chat.answer()).toContain("I did not send the mail");
  });

  test("answers with a colour in place", async () => {
    const page = await open();
    await page.chat.ask("Let me pick a colour");
    const palette = page.getByRole("group", { name: "Answer pick_color" });
    await palette.getByRole("button", { name: "violet" }).click();
    await poll(() => page.chat.answer()).toContain("violet it is. I have put it into the state.");
    await page.chat.tab("State");
    await page.chat.inspector.getByText("violet").first().waitFor();
  });

  test("answers with a place in place", async () => {
    const page = await open();
    await page.chat.ask("Where am I?");
    const form = page.getByRole("group", { name: "Answer get_location" });
    await form.getByRole("textbox").fill("Bern");
    await form.getByRole("textbox").press("Enter");
    await poll(() => page.chat.answer()).toContain("You are here: Bern.");
  });
});

describe("files", () => {
  test("are chosen, and read by the agent", async () => {
    const page = await open();
    await page.locator("input[type=file]").setInputFiles([
      { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("first line\nsecond") },
      { name: "unwanted.txt", mimeType: "text/plain", buffer: Buffer.from("no") },
    ]);
    await page.getByRole("button", { name: "Remove unwanted.txt" }).click();
    await page.chat.ask("What is in it?");
    await poll(() => page.chat.answer()).toContain("has 2 lines and 3 words.");
    await poll(() => page.chat.answer()).toContain("first line second");
    expect(await page.chat.answer()).not.toContain("unwanted");
    await page.chat.log.getByRole("article", { name: "Question" }).getByText("notes.txt").waitFor();
  });

  test("are dropped onto the chat", async () => {
    const page = await open();
    const transfer = await page.evaluateHandle(() => {
      const data = new DataTransfer();
      data.items.add(new File(["a,b\n1,2\n"], "table.csv", { type: "text/csv" }));
      return data;
    });
    const target = page.getByRole("region", { name: "Chat", exact: true }).locator(".drop-zone");
    for (const type of ["dragenter", "dragover", "drop"]) {
      await target.dispatchEvent(type, { dataTransfer: transfer });
    }
    await page.getByRole("list", { name: "Attached files" }).getByText("table.csv").waitFor();
    await page.chat.ask("And this?");
    await poll(() => page.chat.answer()).toContain("table.csv (text/csv, 8 bytes)");
  });
});

describe("the protocol", () => {
  const wires = [
    { wire: "agui-sse", shows: /data: \{"type":"RUN_STARTED"/, path: "/agui" },
    { wire: "agui-proto", shows: /00 00 00 [0-9a-f]{2}/, path: "/agui" },
    { wire: "vercel", shows: /data: \{"type":"start"/, path: "/api/chat" },
    { wire: "rest", shows: /event: |data: /, path: "/agent/" },
  ] as const;

  test.each(wires)("can be $wire, and its bytes are seen", async ({ wire, shows, path }) => {
    const { page, requests } = await visit(site!);
    const chat = chatOf(page);
    await page.getByRole("combobox", { name: "Protocol" }).selectOption(wire);
    await chat.ask("What is the weather in Paris?");
    await poll(() => chat.answer()).toContain("°C in Paris");
    await chat.idle();
    const asked = requests.filter((url) => new URL(url).pathname.startsWith(path));
    expect(asked.length).toBeGreaterThan(0);
    await chat.tab("Bytes");
    await poll(() => chat.inspector.innerText()).toMatch(shows);
    await poll(() => chat.inspector.innerText()).toContain("POST");
  });

  // REST has no word for it.
  test.each(["agui-proto", "vercel"])("asks for approval over %s", async (wire) => {
    const page = await open();
    await page.getByRole("combobox", { name: "Protocol" }).selectOption(wire);
    await page.chat.ask("Send a mail to ada@example.com");
    await page.getByRole("button", { name: "Approve" }).click();
    await poll(() => page.chat.answer()).toContain("The mail to ada@example.com is sent.");
  });
});

describe("the inspector", () => {
  test("has a timeline that is filtered, and opens raw JSON", async () => {
    const page = await open();
    await page.chat.ask("What is the weather in Paris?");
    await poll(() => page.chat.answer()).toContain("°C in Paris");
    await page.chat.idle();
    const events = page.chat.inspector.getByRole("listbox", { name: "Events" });
    await events.getByRole("option").filter({ hasText: "RUN_FINISHED" }).waitFor();
    await page.chat.inspector
      .getByRole("searchbox", { name: "Filter events" })
      .fill("tool_call_result");
    await poll(() => events.getByRole("option").count()).toBe(1);
    await events.getByRole("option").click();
    const detail = page.chat.inspector.getByRole("region", { name: "Raw event" });
    await poll(() => detail.innerText()).toContain('"toolCallId"');
  });

  test("shows a plan tick off, and what each delta changed in the state", async () => {
    const page = await open();
    const counts = await record(page, '[aria-label="Plan: A weekend away"] header span');
    const ask = async (): Promise<void> => {
      await page.getByRole("button", { name: "New chat" }).click();
      await page.chat.ask("Plan a trip");
      await page.chat.tab("State");
      const plan = page.getByRole("region", { name: "Plan: A weekend away" });
      await plan.getByText("4 of 4").waitFor();
      await page.chat.idle();
    };
    await untilSeen(ask, async () => (await counts()).some((count) => /[123] of 4/.test(count)));
    const changed = page.chat.inspector.getByRole("treeitem", { name: /changed .*status.*done/ });
    await changed.waitFor();
    const others = page.chat.inspector.getByRole("treeitem", { name: /title.*Pack a bag/ });
    const image = (one: Element): string => getComputedStyle(one).background;
    expect(await changed.evaluate(image)).not.toBe(await others.evaluate(image));
    await page.chat.inspector.getByText("/plan/steps/3/status").waitFor();
    await page.chat.inspector.getByRole("slider").press("ArrowLeft");
    await page.chat.inspector
      .getByRole("treeitem", { name: /changed .*status.*running/ })
      .waitFor();
  });

  test("shows what was repaired for a sloppy agent, and nothing for another", async () => {
    const page = await open();
    await page.getByRole("combobox", { name: "Agent" }).selectOption("sloppy");
    await page.chat.ask("Make a mess");
    await page.chat.log.getByText("Still you can read it.").waitFor();
    await page.chat.idle();
    await page.chat.inspector.getByText("repairs by the guard").waitFor();
    await poll(() => page.chat.inspector.textContent()).toContain("not-started");
    await page.getByRole("combobox", { name: "Agent" }).selectOption("echo");
    await page.chat.ask("Nothing to see");
    await page.chat.inspector.getByText("Nothing had to be repaired.").waitFor();
  });

  test("has the request as code in four forms, to copy", async () => {
    const page = await open({ permissions: ["clipboard-read", "clipboard-write"] });
    await page.chat.ask("Show me Markdown");
    await page.chat.log.getByText("A quotation ends it.").waitFor();
    await page.chat.idle();
    await page.chat.tab("Code");
    const forms = [
      ["curl", "curl -N"],
      ["HttpAgent", "new HttpAgent("],
      ["useChat", "useChat("],
      ["CopilotKit", "<CopilotKit"],
    ] as const;
    for (const [name, code] of forms) {
      await page.chat.inspector.getByText(name, { exact: true }).first().click();
      await page.chat.inspector.getByRole("button", { name: `Copy ${name}` }).click();
      await poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain(code);
    }
  });

  test("measures the run", async () => {
    const page = await open();
    await page.chat.ask("Think about why the sky is blue");
    await page.chat.log.getByText("about five times as much").waitFor();
    await page.chat.idle();
    await page.chat.tab("Timing");
    await poll(() => page.chat.inspector.innerText()).toMatch(/first token/i);
    await poll(() => page.chat.inspector.innerText()).toMatch(/tokens per second|tokens\/s/i);
  });
});

test("changes its theme, and keeps it", async () => {
  const page = await open({ colorScheme: "light" });
  const background = (): Promise<string> =>
    page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.getByRole("button", { name: "Theme: system" }).click();
  await page.getByRole("button", { name: "Theme: light" }).click();
  await page.getByRole("button", { name: "Theme: dark" }).waitFor();
  await poll(background).not.toBe(light);
  const dark = await background();
  await page.reload();
  await poll(background).toBe(dark);
});

import type { AgentFunction, ServerTool } from "@holodeck/agui";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openBrowser } from "./_browser.ts";
import { startServer } from "./_server.ts";
import type { TestServer } from "./_server.ts";

const found = await openBrowser("the chat in a browser");

/** Lets the agent that tells a story go on. */
let goOn: () => void;
let story: Promise<void>;
/** Lets the arguments of a call go on. */
let finish: () => void;
let rest: Promise<void>;
let browser: Browser;
let server: TestServer;
let page: Page;
const complaints: string[] = [];

const nasty = [
  "# Hi <img src=x onerror=\"document.title='owned'\">",
  "<script>document.title='owned'</script>",
  "[run](javascript:document.title='owned') [home](https://example.com/) ![far](https://example.com/a.png)",
  "<svg onload=\"document.title='owned'\"><a xlink:href='javascript:1'>x</a></svg>",
  '<p style="position:fixed;inset:0">over</p>',
  "```ts\nconst a: number = 1; // <b>bold</b>\n```",
].join("\n\n");

const agent: AgentFunction = async function* agent(input, { emit, callTool, state, files }) {
  const last = input.messages.findLast(({ role }) => role === "user")?.content;
  const asked = typeof last === "string" ? last : JSON.stringify(last);
  if (asked.includes("nasty")) yield nasty;
  else if (asked.includes("slow")) {
    await emit.reasoning("Hm, ");
    await story;
    const id = await emit.toolCall("look", args());
    await emit.toolResult(id, '{"found":true}');
  } else if (asked.includes("fail")) throw new Error("secret");
  else if (asked.includes("pay")) yield String(await callTool("pay", { amount: 50 }));
  else if (asked.includes("colour"))
    yield `You took ${JSON.stringify(await callTool("pick_color"))}.`;
  else if (asked.includes("measure")) yield `It is ${JSON.stringify(await callTool("measure"))}.`;
  else if (asked.includes("file")) yield `Files: ${asked.includes("note.txt")}, ${files.length}.`;
  else if (asked.includes("story")) {
    yield "# A story\n\nOnce upon a time";
    await story;
    yield ", the end.";
  } else if (asked.includes("voyage")) {
    yield days(1, 30);
    await story;
    yield days(31, 40);
    await rest;
  } else if (asked.includes("plan")) {
    await state.set({ plan: { title: "Trip", steps: [{ title: "Pack", status: "done" }] } });
    yield "Planned.";
  } else {
    await emit.reasoning("Let me think.");
    await emit.custom("suggested_questions", ["Tell me a story"]);
    yield `You said **${asked}**.`;
  }
};

function days(first: number, last: number): string {
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  return numbers.map((day) => `Day ${day}. The sea was calm, and we sailed on.\n\n`).join("");
}

/** Arguments that break off in the middle until the test has seen them. */
async function* args(): AsyncGenerator<string> {
  yield '{"place":"Be';
  await rest;
  yield 'rn"}';
}

const pay: ServerTool = {
  name: "pay",
  description: "Pays.",
  needsApproval: true,
  invoke: (args) => `Paid ${(args as { amount: number }).amount}.`,
};

const measure: ServerTool = {
  name: "measure",
  description: "Measures something where the user is.",
  location: "client",
  invoke: () => undefined,
};

describe.skipIf(found === undefined)("the chat", () => {
  beforeAll(async () => {
    server = await startServer(
      {
        main: { agent, name: "Main", suggestions: ["Hello"] },
        other: async () => "I am the other.",
      },
      { tools: [pay, measure] },
    );
    browser = found!;
    page = await browser.newPage();
    // Shorter than a test may take, so that it is told what was waited for.
    page.setDefaultTimeout(25_000);
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      // A server without the command has no such page, and the browser says so.
      const isExpected = message.location().url.includes("/_holodeck/");
      if (message.type() === "error" && !isExpected) complaints.push(message.text());
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(server.base)) complaints.push(request.url());
    });
    await page.goto(server.base);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });
  beforeEach(async () => {
    story = new Promise((resolve) => {
      goOn = resolve;
    });
    rest = new Promise((resolve) => {
      finish = resolve;
    });
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByLabel("Protocol").selectOption("agui-sse");
    await page.getByLabel("Agent").selectOption("main");
    await page.getByRole("button", { name: "New chat" }).click();
    await page.getByRole("heading", { name: "Talk to Main" }).waitFor();
  });
  afterEach(() => {
    goOn();
    finish();
    expect(complaints.splice(0)).toEqual([]);
  });

  test("answers a question, with thoughts folded and a question to go on with", async () => {
    await page.getByRole("button", { name: "Hello" }).click();
    await page.locator(".assistant strong", { hasText: "Hello" }).waitFor();
    const thoughts = page.locator("details.reasoning");
    await expect.poll(() => thoughts.getAttribute("open")).toBeNull();
    await expect.poll(() => thoughts.textContent()).toContain("Let me think.");
    await page.getByRole("button", { name: "Tell me a story" }).click();
    await answered("Once upon a time");
  });

  test("shows thoughts and arguments as they grow", async () => {
    await ask("Be slow");
    await page.locator("details.reasoning[open]", { hasText: "Hm," }).waitFor();
    goOn();
    const tool = page.getByRole("region", { name: "Tool look" });
    await tool.getByText('{"place":"Be').waitFor();
    await expect.poll(() => tool.getAttribute("data-status")).toBe("writing");
    finish();
    await page.locator(".tool[data-status=done]").waitFor();
    await expect
      .poll(() => tool.locator("pre").allTextContents())
      .toEqual(['{\n  "place": "Bern"\n}', '{\n  "found": true\n}']);
    await expect.poll(() => page.locator("details.reasoning[open]").count()).toBe(0);
  });

  test("renders only what grows", async () => {
    await ask("A story");
    await answered("Once upon a time");
    const heading = await page.locator(".markdown h1").elementHandle();
    goOn();
    await answered("Once upon a time, the end.");
    expect(await heading.evaluate((node) => node.isConnected)).toBe(true);
  });

  test("sends, stops and approves by keyboard alone", async () => {
    await page.getByLabel("Your question").focus();
    await page.keyboard.type("A story");
    await page.locator("button[aria-label=Send]:enabled").waitFor();
    await page.keyboard.press("Enter");
    await answered("Once upon a time");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Send" }).waitFor();
    await page.getByLabel("Your question").focus();
    await page.keyboard.type("Please pay");
    await page.locator("button[aria-label=Send]:enabled").waitFor();
    await page.keyboard.press("Enter");
    // The question takes the focus a frame after it is there.
    await page.locator('[aria-label="Approval"]:focus').waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await answered("Paid 50.");
  });

  test("a key pressed too early approves nothing", async () => {
    await ask("Please pay");
    await page.getByRole("group", { name: "Approval" }).waitFor();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Space");
    expect(await page.getByRole("button", { name: "Approve" }).isVisible()).toBe(true);
    await page.getByRole("button", { name: "Deny" }).click();
    await page.getByRole("alert").or(page.locator(".tool[data-status=failed]")).first().waitFor();
  });

  test("answers a tool of the page in place", async () => {
    await ask("A colour");
    await page.getByRole("button", { name: "green" }).click();
    await answered('You took {"name":"green","hex":"#2e933c"}.');
  });

  test("answers any other tool of the client with JSON", async () => {
    await ask("Please measure");
    const form = page.getByRole("group", { name: "Answer measure" });
    await form.getByRole("textbox").fill('{"metres": 3}');
    await form.getByRole("button", { name: "Send the answer" }).click();
    await answered('It is {"metres":3}.');
  });

  test("copies code", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await ask("Be nasty");
    await page.locator(".code-copy").click();
    await page.locator(".code-copy", { hasText: "Copied" }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(
      "const a: number = 1;",
    );
  });

  test("the inspector is made wider and put away by keyboard", async () => {
    const splitter = page.getByRole("separator", { name: "Width of the inspector" });
    const inspector = page.getByRole("complementary", { name: "Inspector" });
    const before = (await inspector.boundingBox())!.width;
    await splitter.focus();
    await page.keyboard.press("ArrowLeft");
    await expect.poll(async () => (await inspector.boundingBox())!.width).toBeGreaterThan(before);
    const toggle = page.getByRole("button", { name: "Inspector" });
    await toggle.press("Enter");
    await inspector.waitFor({ state: "hidden" });
    await toggle.press("Enter");
    await inspector.waitFor();
  });

  test("takes files by picker, by drop and by paste, and reports when they are too large", async () => {
    await page.getByLabel("Files", { exact: true }).setInputFiles({
      name: "note.txt",
      mimeType: "text/plain",
      buffer: Buffer.from("Hello"),
    });
    await page.getByText("5 B").waitFor();
    await drop("big.bin", 11 * 1024 * 1024);
    await page.getByText("The files have 11.0 MiB; the server takes 10.0 MiB").waitFor();
    await page.getByRole("button", { name: "Remove big.bin" }).click();
    await paste("pasted.txt");
    await page.getByText("pasted.txt").waitFor();
    await ask("Which file?");
    await answered("Files: true");
  });

  test.each(["agui-proto", "vercel", "rest"])("talks over %s", async (wire) => {
    await page.getByLabel("Protocol").selectOption(wire);
    await ask("Hello");
    await answered("You said Hello.");
  });

  test("comes back to an answer after a reload", async () => {
    await ask("A story");
    await answered("Once upon a time");
    await page.reload();
    await answered("Once upon a time");
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
    goOn();
    await answered("Once upon a time, the end.");
    await expect.poll(() => page.locator(".user").count()).toBe(1);
  });

  test("shows a plan out of the state, and it stays with its question", async () => {
    await ask("A plan");
    await page.getByRole("region", { name: "Plan: Trip" }).getByText("1 of 1").waitFor();
    await ask("Hello");
    await answered("You said Hello.");
    const order = (): Promise<string[]> =>
      page
        .locator(".column > .plan, .column > .user")
        .evaluateAll((all) => all.map((one) => one.className));
    await expect.poll(order).toEqual(["user", "plan", "user"]);
  });

  test("shows a failure without its cause, and tries again", async () => {
    await ask("Please fail");
    const alert = page.getByRole("alert");
    await alert.waitFor();
    expect(await alert.textContent()).not.toContain("secret");
    await alert.getByRole("button", { name: "Try again" }).click();
    await expect
      .poll(() => server.requests.filter((one) => one === "POST /agui").length)
      .toBeGreaterThan(1);
  });

  test("nothing that an agent sends runs, or reaches out", async () => {
    await ask("Be nasty");
    await page.locator(".code .hljs-keyword").waitFor();
    const links = await page
      .locator(".markdown a")
      .evaluateAll((all) =>
        all.map((one) => [one.textContent, one.getAttribute("href"), one.getAttribute("rel")]),
      );
    expect(links).toEqual([
      ["run", null, null],
      ["home", "https://example.com/", "noopener noreferrer"],
      ["far", "https://example.com/a.png", "noopener noreferrer"],
    ]);
    expect(await page.locator(".markdown :is(script, svg, img, [style], [onerror])").count()).toBe(
      0,
    );
    await expect.poll(() => page.title()).toBe("Main · Playground");
  });

  test("edits the last question, and answers again", async () => {
    await ask("One");
    await answered("You said One.");
    const asked = page.waitForResponse((response) => response.url().endsWith("/agui"));
    await page.getByRole("button", { name: "Regenerate" }).click();
    await (await asked).finished();
    await answered("You said One.");
    await page.getByRole("button", { name: "Edit" }).click();
    await ask("Two");
    await answered("You said Two.");
    await expect
      .poll(() => page.locator(".user").allTextContents())
      .toEqual([expect.stringContaining("Two")]);
  });

  test("lists the conversations, and opens one", async () => {
    await ask("Remember me");
    await answered("You said Remember me.");
    await page.getByRole("button", { name: "New chat" }).click();
    await page.getByRole("heading", { name: "Talk to Main" }).waitFor();
    const menu = page.getByRole("button", { name: "Conversations" });
    await menu.click();
    const drawer = page.getByRole("dialog", { name: "Conversations" });
    await drawer.waitFor();
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "hidden" });
    await expect.poll(() => menu.evaluate((one) => one === document.activeElement)).toBe(true);
    await page.keyboard.press("Enter");
    await drawer.getByRole("button", { name: /Remember me/ }).click();
    await answered("You said Remember me.");
  });

  test("talks to another agent, in another theme", async () => {
    await page.getByLabel("Agent").selectOption("other");
    await ask("Hello");
    await answered("I am the other.");
    const themes = page.getByRole("button", { name: "Theme" });
    await themes.click();
    await themes.click();
    await expect.poll(() => page.locator("html").getAttribute("data-theme")).toBe("dark");
  });

  test("waits for a server that is away", async () => {
    await page.route("**/agui/info", (route) => route.abort());
    await page.reload();
    await page.getByRole("alert").getByText("The server cannot be reached.").waitFor();
    await page.unroute("**/agui/info");
    await page.getByRole("heading", { name: "Talk to Main" }).waitFor();
    await expect.poll(() => page.getByRole("alert").count()).toBe(0);
    // The browser's own word for it.
    expect(complaints.splice(0).every((one) => one.includes("ERR_FAILED"))).toBe(true);
  });

  test("on a phone one half is seen at a time", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    const inspector = page.getByRole("complementary", { name: "Inspector" });
    await inspector.waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Inspector" }).click();
    await inspector.waitFor();
    await page.getByLabel("Your question").waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Chat", exact: true }).click();
    const name = `${"a-long-name-".repeat(8)}.txt`;
    await drop(name, 5);
    const remove = page.getByRole("button", { name: `Remove ${name}` });
    for (const one of [remove, page.getByRole("button", { name: "Send" })]) {
      const { x, width } = (await one.boundingBox())!;
      expect(x + width).toBeLessThanOrEqual(390);
    }
    await remove.click();
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  });

  test("leaves a reader alone who moves up, however late the scroll event arrives", async () => {
    await page.setViewportSize({ width: 390, height: 700 });
    await ask("A voyage");
    await answered("Day 30.");
    const list = page.locator(".messages");
    const distance = (): Promise<number> =>
      list.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
    await expect.poll(distance).toBeLessThan(2);
    // As in a busy browser: more text arrives between the move and its event. A finger moves a little at first.
    const top = await list.evaluate((box) => {
      const keep = (happened: Event): void => happened.stopPropagation();
      globalThis.addEventListener("scroll", keep, true);
      Object.assign(globalThis, { showScrolling: () => removeEventListener("scroll", keep, true) });
      box.scrollTop -= 40;
      return box.scrollTop;
    });
    expect(top).toBeGreaterThan(40);
    goOn();
    await answered("Day 40.");
    expect(await list.evaluate((box) => box.scrollTop)).toBe(top);
    await page.evaluate(() => (globalThis as unknown as Scrolling).showScrolling());
  });

  test("a user who asks sees the answer, wherever they had scrolled to", async () => {
    await page.setViewportSize({ width: 1280, height: 400 });
    for (const question of ["One", "Two", "Three"]) {
      await ask(question);
      await answered(`You said ${question}.`);
      await page.getByRole("button", { name: "Send" }).waitFor();
    }
    const list = page.locator(".messages");
    await list.evaluate((element) => {
      element.scrollTop = 0;
    });
    await list.evaluate(() => new Promise(requestAnimationFrame));
    await ask("Four");
    await answered("You said Four.");
    const answer = page.locator(".assistant").last();
    await expect.poll(() => isInView(answer)).toBe(true);
  });
});

interface Scrolling {
  showScrolling(): void;
}

async function ask(question: string): Promise<void> {
  await page.getByLabel("Your question").fill(question);
  // Not before the last run is over: what is typed then is not sent.
  await page.locator("button[aria-label=Send]:enabled").waitFor();
  await page.getByLabel("Your question").press("Enter");
}

async function answered(text: string): Promise<void> {
  await page.locator(".assistant .markdown").last().getByText(text).first().waitFor();
}

async function drop(name: string, size: number): Promise<void> {
  const transfer = await page.evaluateHandle(
    ([name, size]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([new Uint8Array(size)], name));
      return transfer;
    },
    [name, size] as const,
  );
  await page.dispatchEvent(".drop-zone", "drop", { dataTransfer: transfer });
}

async function isInView(one: Locator): Promise<boolean> {
  return one.evaluate((element) => {
    const list = element.closest(".messages")!.getBoundingClientRect();
    const { top } = element.getBoundingClientRect();
    return top >= list.top && top < list.bottom;
  });
}

async function paste(name: string): Promise<void> {
  await page.getByLabel("Your question").evaluate((box, name) => {
    const clipboardData = new DataTransfer();
    clipboardData.items.add(new File(["Pasted"], name, { type: "text/plain" }));
    box.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
  }, name);
}

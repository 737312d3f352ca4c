import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openSite, visit } from "./_browser.ts";
import type { Site } from "./_browser.ts";
import { chatOf } from "./_chat.ts";
import { tricks } from "./_mean-agent.ts";

let site: Site | undefined;

beforeAll(async () => {
  const file = fileURLToPath(new URL("./_mean-agent.ts", import.meta.url));
  site = await openSite("packages/playground/test/page-hostile.test.ts", { file });
}, 300_000);
afterAll(() => site?.close());
beforeEach((context) => context.skip(!site));

/** What on the page could run something or lead somewhere that no agent may choose. */
function dangers(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.body.querySelectorAll("*")].flatMap((element) => {
      const { localName } = element;
      const isForeign = !element.closest("svg[aria-hidden]");
      const found = [...element.attributes]
        .filter(
          ({ name, value }) =>
            name.startsWith("on") ||
            name === "srcdoc" ||
            (["href", "src", "action", "xlink:href"].includes(name) &&
              !/^(https?:|mailto:|data:image\/|blob:|\.?\/|#)/i.test(value)),
        )
        .map(({ name, value }) => `${localName} ${name}=${value}`);
      const tags = ["script", "iframe", "object", "embed", "base", "meta", "style", "math", "form"];
      // The box for questions is a form of our own.
      const isTag = tags.includes(localName) && !element.matches(".composer, .ask-form, .ask *");
      return [...found, ...(isTag && isForeign ? [localName] : [])];
    }),
  );
}

async function open(): Promise<{ page: Page; chat: ReturnType<typeof chatOf> }> {
  const { page, faults } = await visit(site!);
  await page.exposeFunction("pwned", () => faults.push("It ran."));
  page.on("dialog", (dialog) => faults.push(`dialog: ${dialog.message()}`));
  return { page, chat: chatOf(page) };
}

test("runs nothing that an agent sends, wherever it sends it", async () => {
  const { page, chat } = await open();
  await chat.ask("hello");
  await chat.idle();
  await chat.log.getByText("<script>pwned()</script>").first().waitFor();
  expect(await dangers(page)).toEqual([]);
  for (const tab of ["Events", "State", "Timing", "Bytes", "Code"]) {
    await chat.tab(tab);
    expect(await dangers(page)).toEqual([]);
  }
  for (const summary of await page.locator("summary").all()) await summary.click();
  expect(await dangers(page)).toEqual([]);
});

test("leads nowhere but to the web and the mail", async () => {
  const { page, chat } = await open();
  await chat.ask("hello");
  await chat.idle();
  const links = await chat.log
    .locator("a[href]")
    .evaluateAll((all) => all.map((one) => (one as HTMLAnchorElement).protocol));
  expect(links.filter((protocol) => !["http:", "https:", "mailto:"].includes(protocol))).toEqual(
    [],
  );
  const pictures = await page
    .locator(".messages img")
    .evaluateAll((all) =>
      all
        .map((one) => (one as HTMLImageElement).src)
        .filter((src) => !src.startsWith("data:image/")),
    );
  expect(pictures).toEqual([]);
});

test.each(["failing", "asking"])("runs nothing that an agent sends when it is %s", async (id) => {
  const { page, chat } = await open();
  await page.getByRole("combobox", { name: "Agent" }).selectOption(id);
  await chat.ask("hello");
  await chat.idle();
  const half = page.getByRole("region", { name: "Chat", exact: true });
  await half.getByText(`<img src=x onerror="pwned()">`).first().waitFor();
  expect(await dangers(page)).toEqual([]);
});

test("runs nothing that its user writes, nor that comes back with a conversation", async () => {
  const { page, chat } = await open();
  await chat.box.fill(tricks.join("\n"));
  await page.locator("button[aria-label=Send]:enabled").click();
  await chat.log.getByRole("article", { name: "Answer" }).first().waitFor();
  await chat.idle();
  expect(await dangers(page)).toEqual([]);
  await page.reload();
  await page.getByRole("button", { name: "Conversations" }).click();
  await page
    .getByRole("navigation", { name: "Conversations" })
    .locator("li button")
    .first()
    .click();
  await chat.log.getByText("<script>pwned()</script>").first().waitFor();
  expect(await dangers(page)).toEqual([]);
});

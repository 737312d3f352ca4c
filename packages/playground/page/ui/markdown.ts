import DOMPurify from "dompurify";
import { Marked } from "marked";
import type { Token } from "marked";
import { highlight } from "./highlight.ts";

/** One block of a text. Its `raw` shows whether it is unchanged. */
export type Block = Token;

const marked = new Marked({
  gfm: true,
  breaks: false,
  async: false,
  renderer: {
    // An agent's HTML is shown as the text it is. A line break is the one that tables need.
    html: ({ text }) => (/^<br\s*\/?>$/i.test(text.trim()) ? "<br>" : escapeHtml(text)),
    code({ text, lang = "" }) {
      const language = /^[\w+#-]*/.exec(lang)?.[0] ?? "";
      const inner = highlight(text, language) ?? escapeHtml(text);
      return (
        `<div class="code"><div class="code-head"><span>${escapeHtml(language || "text")}</span>` +
        `<button type="button" class="code-copy">Copy</button></div>` +
        `<pre tabindex="0"><code>${inner}</code></pre></div>`
      );
    },
    // Nothing is fetched from elsewhere: another picture is a link to it.
    image({ href, text }) {
      const label = escapeHtml(text || "image");
      return isInlineImage(href)
        ? `<img src="${escapeHtml(href)}" alt="${label}">`
        : `<a href="${escapeHtml(href)}">${label}</a>`;
    },
    table(token) {
      // Wide tables scroll by themselves, not the page.
      const cell = (one: (typeof token.header)[number], tag: "th" | "td"): string =>
        `<${tag}>${this.parser.parseInline(one.tokens)}</${tag}>`;
      const head = token.header.map((one) => cell(one, "th")).join("");
      const rows = token.rows
        .map((row) => `<tr>${row.map((one) => cell(one, "td")).join("")}</tr>`)
        .join("");
      return `<div class="table" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table></div>`;
    },
  },
});

/** Cuts a text into blocks, so that only the one that grows is rendered again. */
export function toBlocks(text: string): Block[] {
  return marked.lexer(text).filter(({ type }) => type !== "space" && type !== "def");
}

/** A block as HTML that can do no harm. */
export function renderBlock(block: Block): string {
  return purifier().sanitize(marked.parser([block]), rules);
}

const rules = {
  ALLOWED_TAGS: [
    ..."a b blockquote br button code del div em h1 h2 h3 h4 h5 h6 hr i img input".split(" "),
    ..."li ol p pre s span strong sub sup table tbody td th thead tr ul".split(" "),
  ],
  ALLOWED_ATTR: "href title class src alt type checked disabled start tabindex".split(" "),
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

let ready: typeof DOMPurify | undefined;

function purifier(): typeof DOMPurify {
  if (ready) return ready;
  DOMPurify.addHook("afterSanitizeAttributes", (node) => {
    if (node.nodeName === "A") keepLink(node);
    if (!isInlineImage(node.getAttribute("src") ?? "")) node.removeAttribute("src");
  });
  ready = DOMPurify;
  return ready;
}

function isInlineImage(address: string): boolean {
  return /^(?:data:image\/|blob:)/i.test(address);
}

function keepLink(node: Element): void {
  const href = node.getAttribute("href") ?? "";
  if (!/^(?:https?:|mailto:)/i.test(href)) {
    node.removeAttribute("href");
    return;
  }
  node.setAttribute("target", "_blank");
  node.setAttribute("rel", "noopener noreferrer");
}

function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

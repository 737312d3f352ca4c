/** Text of one form in a paragraph. */
export interface Span {
  readonly text: string;
  readonly isBold: boolean;
  readonly isItalic: boolean;
  /** Where it leads. */
  readonly href: string | undefined;
}

/** The text of a paragraph as Markdown. It is read by a model, not rendered: nothing in it is escaped. */
export function toInline(spans: readonly Span[]): string {
  let markdown = "";
  for (const group of groupsOf(spans, isSameLink)) {
    const { href } = group[0]!;
    const text = groupsOf(group, isSameForm).map(toMarked).join("");
    markdown += href === undefined ? text : wrap(text, "[", `](${href})`);
  }
  return markdown.trim();
}

function toMarked(spans: readonly Span[]): string {
  const { isBold, isItalic } = spans[0]!;
  const text = spans.map((span) => span.text).join("");
  const slanted = isItalic ? wrap(text, "_", "_") : text;
  return isBold ? wrap(slanted, "**", "**") : slanted;
}

// Marks stand next to a word: space at the ends of a text stays outside of them.
function wrap(text: string, before: string, after: string): string {
  const core = text.trim();
  if (core === "") return text;
  const start = text.length - text.trimStart().length;
  return text.slice(0, start) + before + core + after + text.slice(start + core.length);
}

function groupsOf(
  spans: readonly Span[],
  isSame: (one: Span, other: Span) => boolean,
): readonly (readonly Span[])[] {
  const groups: Span[][] = [];
  for (const span of spans) {
    const group = groups.at(-1);
    if (group && isSame(group[0]!, span)) group.push(span);
    else groups.push([span]);
  }
  return groups;
}

function isSameLink(one: Span, other: Span): boolean {
  return one.href === other.href;
}

function isSameForm(one: Span, other: Span): boolean {
  return one.isBold === other.isBold && one.isItalic === other.isItalic;
}

import { memo } from "preact/compat";
import { copyText } from "./copy-text.ts";
import { renderBlock, toBlocks } from "./markdown.ts";
import type { Block } from "./markdown.ts";

/** A text of an agent's. While it grows, only its last block is rendered again. */
export function MarkdownView({ text }: { text: string }) {
  return (
    <div class="markdown" onClick={copyCode}>
      {toBlocks(text).map((block, index) => (
        <BlockView key={index} block={block} />
      ))}
    </div>
  );
}

const BlockView = memo(
  ({ block }: { block: Block }) => (
    // What comes out of renderBlock was sanitised there.
    <div class="block" dangerouslySetInnerHTML={{ __html: renderBlock(block) }} />
  ),
  (before, after) => before.block.raw === after.block.raw && before.block.type === after.block.type,
);

function copyCode({ target }: MouseEvent): void {
  if (!(target instanceof HTMLButtonElement) || !target.classList.contains("code-copy")) return;
  const code = target.closest(".code")?.querySelector("code")?.textContent ?? "";
  void copyText(code).then((isCopied) => {
    target.textContent = isCopied ? "Copied" : "Not allowed";
    setTimeout(() => {
      target.textContent = "Copy";
    }, 1500);
  });
}

import { toTable } from "../table.ts";

/** A paragraph or a table; without text it is left out. */
export interface DocxBlock {
  text: string;
  /** Items of a list follow each other without a blank line. */
  isItem: boolean;
}

/** The blocks of a document, of a cell, or of a note: where the next one belongs depends on what is open. */
export interface DocxBlocks {
  /** A block at this place, to be filled when its end is reached. */
  add(): DocxBlock;
  openTable(): void;
  closeTable(): void;
  openRow(): void;
  openCell(): void;
  closeCell(): void;
  openNote(id: string): void;
  closeNote(): void;
  end(): { text: string; notes: ReadonlyMap<string, string> };
}

/** A table inside of a table is text of the outer cell: repeating it at every level would take too long. */
export function createDocxBlocks(maxChars: number): DocxBlocks {
  const notes = new Map<string, string>();
  const body: DocxBlock[] = [];
  let flow = body;
  let blocks = body;
  let rows: string[][] = [];
  let note: string | undefined;
  let noteDepth = 0;
  let tableDepth = 0;
  let cellDepth = 0;

  function endCell(): void {
    rows.at(-1)?.push(blocks.flatMap(({ text }) => (text === "" ? [] : text)).join(" "));
    blocks = flow;
  }

  function endTable(): void {
    blocks = flow;
    blocks.push({ text: toTable(rows, maxChars), isItem: false });
  }

  return {
    add() {
      const block = { text: "", isItem: false };
      blocks.push(block);
      return block;
    },
    openTable() {
      if (++tableDepth === 1) [rows, cellDepth] = [[], 0];
    },
    closeTable() {
      if (--tableDepth === 0) endTable();
    },
    openRow() {
      if (tableDepth === 1) rows.push([]);
    },
    openCell() {
      if (tableDepth === 1 && ++cellDepth === 1) blocks = [];
    },
    closeCell() {
      if (tableDepth === 1 && --cellDepth === 0) endCell();
    },
    openNote(id) {
      if (++noteDepth > 1 || tableDepth > 0) return;
      note = id;
      flow = blocks = [];
    },
    closeNote() {
      if (--noteDepth > 0 || note === undefined) return;
      notes.set(note, join(blocks));
      note = undefined;
      flow = blocks = body;
    },
    end() {
      // Where reading has stopped within a table.
      if (tableDepth > 0 && cellDepth > 0) endCell();
      if (tableDepth > 0) endTable();
      return { text: join(body), notes };
    },
  };
}

function join(blocks: readonly DocxBlock[]): string {
  let text = "";
  let last: DocxBlock | undefined;
  for (const block of blocks) {
    if (block.text === "") continue;
    if (last) text += last.isItem && block.isItem ? "\n" : "\n\n";
    text += block.text;
    last = block;
  }
  return text;
}

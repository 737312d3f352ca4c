import { Faulty } from "../job.ts";
import type { ExtractJob } from "../job.ts";
import { toTable } from "../table.ts";
import { openPackage } from "./package.ts";
import { readNumberStyles } from "./xlsx-formats.ts";
import { readSheet } from "./xlsx-sheet.ts";
import { readXml } from "./xml.ts";

const main = "xl/workbook.xml";

/** Every sheet of a workbook as a Markdown table. Each part is read once. */
export function extractXlsx(bytes: Uint8Array, job: ExtractJob): string {
  const office = openPackage(bytes, "xl/", job);
  if (!office.has(main)) throw new Faulty("damaged");
  const { maxChars } = job;
  const targets = office.relationsOf(main);
  const partOf = (kind: string): string => {
    for (const { type, target } of targets.values()) if (type.endsWith(`/${kind}`)) return target;
    return "";
  };
  const { sheets, is1904 } = readWorkbook(office.read(main));
  const book = {
    strings: readStrings(office.read(partOf("sharedStrings"))),
    kindOf: readNumberStyles(office.read(partOf("styles"))),
    is1904,
    maxChars,
  };
  const used = new Set<string>();
  const texts: string[] = [];
  let length = 0;
  for (const { name, id } of sheets) {
    const { type = "", target = "" } = targets.get(id) ?? {};
    if (!type.endsWith("/worksheet") || used.has(target) || length > maxChars) continue;
    used.add(target);
    if (!office.has(target)) throw new Faulty("damaged");
    const text = `### ${name}\n\n${toTable(readSheet(office.read(target), book), maxChars)}`;
    texts.push(text);
    length += text.length;
  }
  return texts.join("\n\n");
}

function readWorkbook(xml: string): {
  readonly sheets: readonly { readonly name: string; readonly id: string }[];
  readonly is1904: boolean;
} {
  const sheets: { name: string; id: string }[] = [];
  let is1904 = false;
  readXml(xml, {
    open({ name, get }) {
      if (name === "sheet") sheets.push({ name: get("name") ?? "", id: get("r:id") ?? "" });
      if (name === "workbookPr") is1904 = ["1", "true"].includes(get("date1904") ?? "");
    },
    text() {},
    close() {},
  });
  return { sheets, is1904 };
}

function readStrings(xml: string): readonly string[] {
  const strings: string[] = [];
  let isText = false;
  // How a word is pronounced is beside it.
  let isPhonetic = false;
  readXml(xml, {
    open({ name }) {
      if (name === "si") strings.push("");
      else if (name === "t") isText = true;
      else if (name === "rPh") isPhonetic = true;
    },
    text(text) {
      if (isText && !isPhonetic && strings.length > 0) strings[strings.length - 1] += text;
    },
    close(name) {
      if (name === "t") isText = false;
      else if (name === "rPh") isPhonetic = false;
    },
  });
  return strings;
}

import { readXml } from "./xml.ts";

/** What the numbers of a cell's style are shown as; undefined for plain numbers. */
export type NumberKind = "date" | "time" | "duration" | "percent" | undefined;

/** How the numbers of each style of a workbook are shown. */
export function readNumberStyles(xml: string): (style: string) => NumberKind {
  const own = new Map<string, string>();
  const styles: NumberKind[] = [];
  let isCell = false;
  readXml(xml, {
    open({ name, get }) {
      if (name === "numFmt") own.set(get("numFmtId") ?? "", get("formatCode") ?? "");
      else if (name === "cellXfs") isCell = true;
      else if (name === "xf" && isCell) styles.push(kindOf(get("numFmtId") ?? "", own));
    },
    text() {},
    close(name) {
      if (name === "cellXfs") isCell = false;
    },
  });
  return (style) => styles[Number(style)];
}

function kindOf(id: string, own: ReadonlyMap<string, string>): NumberKind {
  const format = own.get(id);
  return format === undefined ? builtIn(Number(id)) : kindOfFormat(format);
}

function builtIn(id: number): NumberKind {
  if (id === 9 || id === 10) return "percent";
  if (id === 46) return "duration";
  if ((id >= 18 && id <= 21) || id === 45 || id === 47) return "time";
  const isDate = (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 50 && id <= 58);
  return isDate ? "date" : undefined;
}

// The length that Excel allows.
const maxFormat = 255;

/** By the parts of a format outside of quoted text, colours and conditions. */
function kindOfFormat(format: string): NumberKind {
  const bare = format
    .slice(0, maxFormat)
    .replaceAll(/"[^"]*"|\\.|_.|\*./g, "")
    .replaceAll(/\[(?![hms]+\])[^\]]*\]/gi, "");
  if (/general/i.test(bare)) return undefined;
  if (/\[[hms]/i.test(bare)) return "duration";
  if (/[yd]/i.test(bare)) return "date";
  if (/[hs]/i.test(bare)) return "time";
  if (/m/i.test(bare)) return "date";
  return bare.includes("%") ? "percent" : undefined;
}

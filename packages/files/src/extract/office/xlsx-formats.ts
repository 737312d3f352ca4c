import { readXml } from "./xml.ts";

/** Whether the numbers of a cell's style are shown as dates or times. */
export function readDateStyles(xml: string): (style: string) => boolean {
  const own = new Map<string, string>();
  const styles: boolean[] = [];
  let isCell = false;
  readXml(xml, {
    open({ name, get }) {
      if (name === "numFmt") own.set(get("numFmtId") ?? "", get("formatCode") ?? "");
      else if (name === "cellXfs") isCell = true;
      else if (name === "xf" && isCell) styles.push(isDate(get("numFmtId") ?? "", own));
    },
    text() {},
    close(name) {
      if (name === "cellXfs") isCell = false;
    },
  });
  return (style) => styles[Number(style)] ?? false;
}

function isDate(id: string, own: ReadonlyMap<string, string>): boolean {
  const format = own.get(id);
  return format === undefined ? isBuiltIn(Number(id)) : isDateFormat(format);
}

function isBuiltIn(id: number): boolean {
  return (
    (id >= 14 && id <= 22) ||
    (id >= 27 && id <= 36) ||
    (id >= 45 && id <= 47) ||
    (id >= 50 && id <= 58)
  );
}

// The length that Excel allows.
const maxFormat = 255;

/** Whether a format has a part of a date, outside of quoted text, colours and conditions. */
function isDateFormat(format: string): boolean {
  const bare = format
    .slice(0, maxFormat)
    .replaceAll(/"[^"]*"|\\.|_.|\*./g, "")
    .replaceAll(/\[(?![hms]+\])[^\]]*\]/gi, "");
  return /[ymdhs]/i.test(bare) && !/general/i.test(bare);
}

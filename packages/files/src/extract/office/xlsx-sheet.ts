import { Faulty } from "../job.ts";
import type { NumberKind } from "./xlsx-formats.ts";
import { readXml } from "./xml.ts";
import type { XmlTag } from "./xml.ts";

/** What the cells of a sheet refer to. */
export interface Workbook {
  readonly strings: readonly string[];
  kindOf(style: string): NumberKind;
  readonly is1904: boolean;
  readonly maxChars: number;
}

type Value = string | number | boolean;

interface Cell {
  readonly column: number;
  readonly type: string;
  readonly style: string;
  text: string;
  inline: string;
}

interface Row {
  readonly number: number;
  readonly cells: (readonly [column: number, value: Value])[];
}

// What a sheet of Excel has at most.
const maxRows = 1_048_576;
const maxColumns = 16_384;

/** The rows of a sheet with their values, and with the empty ones between; no more than can be kept. */
export function readSheet(xml: string, book: Workbook): (Value | undefined)[][] {
  const rows: Row[] = [];
  let cell: Cell | undefined;
  let number = 0;
  let column = 0;
  let place: "text" | "inline" | undefined;
  let isPhonetic = false;
  let length = 0;

  function open({ name, get }: XmlTag): void {
    switch (name) {
      case "row":
        number = toNumber(get("r"), { after: number, most: maxRows });
        column = 0;
        rows.push({ number, cells: [] });
        return;
      case "c":
        column = toNumber(toColumn(get("r")), { after: column, most: maxColumns });
        cell = { column, type: get("t") ?? "n", style: get("s") ?? "", text: "", inline: "" };
        return;
      case "v":
        place = "text";
        return;
      case "t":
        place = "inline";
        return;
      case "rPh":
        isPhonetic = true;
    }
  }

  function close(name: string): void {
    if (name === "v" || name === "t") place = undefined;
    else if (name === "rPh") isPhonetic = false;
    else if (name === "c" && cell) {
      const value = toValue(cell, book);
      if (value !== undefined) rows.at(-1)?.cells.push([cell.column, value]);
      length += typeof value === "string" ? value.length : 1;
      cell = undefined;
    }
  }

  readXml(xml, {
    open,
    text(text) {
      if (cell && place && !isPhonetic) cell[place] += text;
    },
    close,
    isDone: () => length > book.maxChars,
  });
  return fill(rows, book.maxChars);
}

/** Each row has as many columns as there are; rows past what can be kept are left out. */
function fill(rows: readonly Row[], maxChars: number): (Value | undefined)[][] {
  const full = rows.filter(({ cells }) => cells.length > 0);
  const width = full.reduce((most, { cells }) => Math.max(most, cells.at(-1)![0]), 0);
  // A column takes three characters, even when it is empty.
  const most = Math.ceil(maxChars / (3 * Math.max(1, width))) + 1;
  const filled: (Value | undefined)[][] = [];
  for (const { number, cells } of full) {
    while (filled.length < Math.min(number - 1, most)) filled.push([]);
    if (filled.length >= most) break;
    const values: (Value | undefined)[] = Array.from({ length: width });
    for (const [column, value] of cells) values[column - 1] = value;
    filled.push(values);
  }
  return filled;
}

function toNumber(
  given: string | number | undefined,
  { after, most }: { after: number; most: number },
): number {
  const number = given === undefined ? after + 1 : Number(given);
  const isNext = Number.isInteger(number) && number > after && number <= most;
  if (!isNext) throw new Faulty("damaged");
  return number;
}

/** The number of the column in a reference such as `B12`. */
function toColumn(reference: string | undefined): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? "")?.[0];
  if (letters === undefined) return undefined;
  return Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
}

function toValue({ type, style, text, inline }: Cell, book: Workbook): Value | undefined {
  switch (type) {
    case "s": {
      const shared = text === "" ? "" : book.strings[Number(text)];
      if (shared === undefined) throw new Faulty("damaged");
      return toText(shared);
    }
    case "inlineStr":
      return toText(inline);
    case "b":
      return text === "" ? undefined : text === "1";
    case "n":
      return text === "" ? undefined : toQuantity(Number(text), book.kindOf(style), book.is1904);
    // Results of formulas, errors and dates in words.
    default:
      return toText(text);
  }
}

function toText(text: string): string | undefined {
  const trimmed = text.trim();
  return trimmed === "" ? undefined : trimmed;
}

const day = 86_400_000;

function toQuantity(number: number, kind: NumberKind, is1904: boolean): number | string {
  if (Number.isNaN(number)) throw new Faulty("damaged");
  if (!Number.isFinite(number)) return number;
  switch (kind) {
    case "date":
      // Days since the end of 1899, or since 1904, of a calendar in which 1900 is a leap year.
      return toDate(is1904 ? number + 1462 : number);
    case "time":
      return number < 0 ? number : toClock(number % 1);
    case "duration":
      return number < 0 ? number : toClock(number);
    case "percent":
      // As many digits as a number has.
      return `${Number((number * 100).toPrecision(15))}%`;
    default:
      return number;
  }
}

// A cell has no time zone.
function toDate(days: number): number | string {
  if (days >= 0 && days < 1) return toClock(days);
  const date = new Date(Math.round((days - 25_569) * day));
  if (Number.isNaN(date.getTime())) return days;
  return date.toISOString().replace(/(?:T00:00:00)?(?:\.000)?Z$/, "");
}

// More than a day is more than 24 hours.
function toClock(days: number): string {
  const seconds = Math.round((days * day) / 1_000);
  const parts = [seconds / 3_600, (seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(Math.floor(part)).padStart(2, "0")).join(":");
}

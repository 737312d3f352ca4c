import {
  AlignmentType,
  Document,
  ExternalHyperlink,
  FootnoteReferenceRun,
  HeadingLevel,
  InsertedTextRun,
  DeletedTextRun,
  LevelFormat,
  Packer,
  Paragraph,
  Tab,
  Table,
  TableCell,
  TableRow,
  TextRun,
} from "docx";
import { strToU8, zipSync } from "fflate";
import readXlsx from "read-excel-file/node";
import { describe, expect, test } from "vitest";
import { extractDocx } from "../src/extract/office/docx.ts";
import { extractXlsx } from "../src/extract/office/xlsx.ts";
import { toTable } from "../src/extract/table.ts";
import { makeDocx, makeXlsx } from "./_make.ts";
import { readWithMammoth, squeeze } from "./_mammoth.ts";

const job = {
  kind: "docx" as const,
  from: "",
  maxChars: 1_000_000,
  inflatedBytes: 100_000_000,
  ocr: { language: "eng" },
};

const text = (content: string, more: object = {}): TextRun =>
  new TextRun({ text: content, ...more });
const line = (...children: readonly TextRun[]): Paragraph => new Paragraph({ children });
const cell = (...children: (Paragraph | Table)[]): TableCell => new TableCell({ children });
const lists = {
  config: [
    {
      reference: "numbers",
      levels: [
        { level: 0, format: LevelFormat.DECIMAL, text: "%1.", alignment: AlignmentType.START },
        { level: 1, format: LevelFormat.LOWER_LETTER, text: "%2.", alignment: AlignmentType.START },
      ],
    },
  ],
};

async function write(children: (Paragraph | Table)[], more: object = {}): Promise<Uint8Array> {
  const document = new Document({ numbering: lists, sections: [{ children }], ...more });
  return new Uint8Array(await Packer.toBuffer(document));
}

const written: Record<string, () => Promise<Uint8Array>> = {
  headings: () =>
    write([
      new Paragraph({ text: "One", heading: HeadingLevel.HEADING_1 }),
      new Paragraph({ text: "Two & more", heading: HeadingLevel.HEADING_2 }),
      new Paragraph({ text: "Six", heading: HeadingLevel.HEADING_6 }),
      line(text("Text below <it> with “marks” and 日本語.")),
    ]),
  "bold and italic words": () =>
    write([
      line(
        text("Some "),
        text("bold", { bold: true }),
        text(" and "),
        text("slanted", { italics: true }),
      ),
      line(
        text("both ", { bold: true, italics: true }),
        text("plain"),
        text(" bold", { bold: true }),
      ),
      line(text("a", { bold: true }), text("b", { bold: true }), text("not", { bold: false })),
    ]),
  lists: () =>
    write([
      new Paragraph({ text: "first", bullet: { level: 0 } }),
      new Paragraph({ text: "inside", bullet: { level: 1 } }),
      new Paragraph({ text: "second", bullet: { level: 0 } }),
      line(text("between")),
      new Paragraph({ text: "one", numbering: { reference: "numbers", level: 0 } }),
      new Paragraph({ text: "a", numbering: { reference: "numbers", level: 1 } }),
      new Paragraph({ text: "two", numbering: { reference: "numbers", level: 0 } }),
    ]),
  tables: () =>
    write([
      line(text("before")),
      new Table({
        rows: [
          new TableRow({ children: [cell(line(text("Name"))), cell(line(text("Sum")))] }),
          new TableRow({
            children: [cell(line(text("a")), line(text("second line"))), cell(line(text("1")))],
          }),
        ],
      }),
      line(text("after")),
    ]),
  links: () =>
    write([
      new Paragraph({
        children: [
          text("See "),
          new ExternalHyperlink({
            link: "https://example.com/a?b=c&d=e",
            children: [text("this")],
          }),
          text("."),
        ],
      }),
    ]),
  notes: () =>
    write(
      [
        new Paragraph({ children: [text("A claim"), new FootnoteReferenceRun(1), text(" here.")] }),
        new Paragraph({ children: [text("Another"), new FootnoteReferenceRun(2)] }),
      ],
      {
        footnotes: {
          1: { children: [line(text("The source"))] },
          2: { children: [line(text("The other"))] },
        },
      },
    ),
  "line breaks and tabs": () =>
    write([
      new Paragraph({ children: [text("one"), new TextRun({ text: "two", break: 1 })] }),
      new Paragraph({ children: [new TextRun({ children: ["left", new Tab(), "right"] })] }),
    ]),
  "tracked changes": () => {
    const by = { id: 1, author: "Ann", date: "2024-01-01T00:00:00Z" };
    return write([
      new Paragraph({
        children: [
          text("Kept "),
          new InsertedTextRun({ text: "added", ...by }),
          new DeletedTextRun({ text: "removed", ...by, id: 2 }),
        ],
      }),
    ]);
  },
};

function inWord(body: string, more: Record<string, Uint8Array> = {}): Uint8Array {
  const w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
  const mc = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"';
  const wps = 'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"';
  const v = 'xmlns:v="urn:schemas-microsoft-com:vml"';
  const document = `<?xml version="1.0"?><w:document ${w} ${mc} ${wps} ${v}><w:body>${body}</w:body></w:document>`;
  return makeDocx({ text: "x", more: { "word/document.xml": strToU8(document), ...more } });
}

const run = (content: string): string => `<w:r><w:t xml:space="preserve">${content}</w:t></w:r>`;
const box = (content: string): string =>
  `<w:txbxContent><w:p>${run(content)}</w:p></w:txbxContent>`;

// As Word and LibreOffice write them.
const found: Record<string, Uint8Array> = {
  "fields that are links": inWord(
    `<w:p>${run("See ")}<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> HYPERLINK "https://example.com/" </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>${run("it")}<w:r><w:fldChar w:fldCharType="end"/></w:r>${run(" now")}</w:p>`,
  ),
  "fields with a result": inWord(
    `<w:p>${run("Page ")}<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>${run("7")}<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>`,
  ),
  "content controls": inWord(
    `<w:sdt><w:sdtPr><w:alias w:val="Name"/></w:sdtPr><w:sdtContent><w:p>${run("Inside")}</w:p></w:sdtContent></w:sdt><w:p>${run("a ")}<w:sdt><w:sdtContent>${run("b")}</w:sdtContent></w:sdt></w:p>`,
  ),
  "smart tags and bookmarks": inWord(
    `<w:p><w:bookmarkStart w:id="0" w:name="x"/><w:smartTag w:element="City">${run("Berlin")}</w:smartTag><w:bookmarkEnd w:id="0"/><w:proofErr w:type="spellStart"/>${run(" is large")}</w:p>`,
  ),
  "a text box in two forms": inWord(
    `<w:p>${run("Outside")}<w:r><mc:AlternateContent><mc:Choice Requires="wps"><wps:txbx>${box("Boxed")}</wps:txbx></mc:Choice><mc:Fallback><w:pict><v:textbox>${box("Boxed")}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>`,
  ),
  "cells that are merged": inWord(
    `<w:tbl><w:tblPr/><w:tblGrid/><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr><w:p>${run("wide")}</w:p></w:tc></w:tr><w:tr><w:tc><w:p>${run("a")}</w:p></w:tc><w:tc><w:p>${run("b")}</w:p></w:tc></w:tr></w:tbl>`,
  ),
  "properties before a change": inWord(
    `<w:p><w:r><w:rPr><w:rPrChange w:id="1" w:author="a"><w:rPr><w:b/></w:rPr></w:rPrChange></w:rPr><w:t>plain</w:t></w:r></w:p>`,
  ),
  "hyphens that do not break": inWord(
    `<w:p>${run("e")}<w:r><w:noBreakHyphen/></w:r>${run("mail")}</w:p>`,
  ),
  "white space around words": inWord(
    `<w:p>${run(" a ")}${run("  b")}<w:r><w:tab/></w:r>${run("c ")}</w:p>`,
  ),
  "entities and characters": inWord(`<w:p>${run("&lt;a&gt; &amp;amp; &#8364; &#x1F600;")}</w:p>`),
};

describe("a Word document has the text that mammoth reads, with", () => {
  test.each(Object.keys(written))("%s of docx", async (what) => {
    const bytes = await written[what]!();
    expect(squeeze(extractDocx(bytes, job))).toBe(squeeze(await readWithMammoth(bytes)));
  });

  test.each(Object.keys(found))("%s", async (what) => {
    const bytes = found[what]!;
    expect(squeeze(extractDocx(bytes, job))).toBe(squeeze(await readWithMammoth(bytes)));
  });
});

test("a Word document in other prefixes and in the strict form is read alike", () => {
  const strict = "http://purl.oclc.org/ooxml/wordprocessingml/main";
  const document = `<document xmlns="${strict}" xmlns:q="${strict}"><body><p><pPr><pStyle q:val="Heading1"/></pPr><r><t>Title</t></r></p><q:p><q:r><q:rPr><q:b q:val="0"/></q:rPr><q:t>Text</q:t></q:r></q:p></body></document>`;
  const bytes = makeDocx({ text: "x", more: { "word/document.xml": strToU8(document) } });
  expect(extractDocx(bytes, job)).toBe("# Title\n\nText");
});

test("a simple field is read, which mammoth leaves out", () => {
  const bytes = inWord(`<w:p><w:fldSimple w:instr="DATE">${run("today")}</w:fldSimple></w:p>`);
  expect(extractDocx(bytes, job)).toBe("today");
});

test("a document type, which could define entities, is not read", () => {
  const document = `<!DOCTYPE w:document [<!ENTITY a "secret">]><w:document><w:body>&a;</w:body></w:document>`;
  const bytes = makeDocx({ text: "x", more: { "word/document.xml": strToU8(document) } });
  expect(() => extractDocx(bytes, job)).toThrow("The file is damaged.");
});

const s = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

function makeBook(
  sheet: string,
  {
    strings = "",
    styles = "",
    properties = "",
  }: { strings?: string; styles?: string; properties?: string } = {},
): Uint8Array {
  const relation = (id: number, type: string, target: string): string =>
    `<Relationship Id="rId${id}" Type="${office}/${type}" Target="${target}"/>`;
  const files = {
    "[Content_Types].xml": "<Types/>",
    "xl/workbook.xml": `<workbook ${s} xmlns:r="${office}">${properties}<sheets><sheet name="One" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relation(1, "worksheet", "worksheets/sheet1.xml")}${relation(2, "sharedStrings", "sharedStrings.xml")}${relation(3, "styles", "styles.xml")}</Relationships>`,
    "xl/sharedStrings.xml": `<sst ${s}>${strings}</sst>`,
    "xl/styles.xml": `<styleSheet ${s}>${styles}</styleSheet>`,
    "xl/worksheets/sheet1.xml": `<worksheet ${s}><sheetData>${sheet}</sheetData></worksheet>`,
  };
  return zipSync(
    Object.fromEntries(Object.entries(files).map(([name, content]) => [name, strToU8(content)])),
  );
}

const formats = [
  "yyyy-mm-dd",
  "0.00",
  "[Red]0",
  '"days" 0',
  "[h]:mm",
  "d. mmm yyyy;@",
  "#,##0",
  "\\d0",
];
const styles = `<numFmts>${formats.map((code, at) => `<numFmt numFmtId="${200 + at}" formatCode="${code.replaceAll('"', "&quot;")}"/>`).join("")}</numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/>${formats.map((_, at) => `<xf numFmtId="${200 + at}"/>`).join("")}</cellXfs>`;

const books: Record<string, Uint8Array> = {
  "text and numbers": makeXlsx({
    One: [
      ["a", 1],
      ["b|c", 2.5],
    ],
    Two: [["x"]],
  }),
  "shared strings, also rich and with their pronunciation": makeBook(
    '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>',
    {
      strings: "<si><t>plain</t></si><si><r><t>ri</t></r><r><t>ch</t></r><rPh><t>no</t></rPh></si>",
    },
  ),
  "gaps between rows and columns": makeBook(
    '<row r="2"><c r="B2"><v>1</v></c><c r="D2"><v>2</v></c></row><row r="5"><c r="A5"><v>3</v></c></row>',
  ),
  "results of formulas, and what is true": makeBook(
    '<row r="1"><c r="A1" t="str"><f>A2</f><v>word</v></c><c r="B1" t="b"><v>1</v></c><c r="C1" t="b"><v>0</v></c><c r="D1"><f>1+1</f><v>2</v></c></row>',
  ),
  "dates and what only looks like them": makeBook(
    `<row r="1">${Array.from({ length: 11 }, (_, at) => `<c r="${String.fromCharCode(65 + at)}1" s="${at}"><v>45292.5</v></c>`).join("")}</row>`,
    { styles },
  ),
  "dates since 1904": makeBook('<row r="1"><c r="A1" s="1"><v>43830</v></c></row>', {
    styles,
    properties: '<workbookPr date1904="1"/>',
  }),
  "cells without references": makeXlsx({
    One: [
      ["a", "b"],
      ["c", "d"],
    ],
  }),
};

// A cell has no time zone, which read-excel-file takes for UTC.
const toPlain = (value: unknown): unknown =>
  value instanceof Date ? value.toISOString().replace(/(T00:00:00)?\.000Z$/, "") : value;

test.each(Object.keys(books))(
  "a workbook has what read-excel-file reads, with %s",
  async (what) => {
    const sheets = await readXlsx(Buffer.from(books[what]!));
    const expected = sheets.map(({ sheet, data }) => {
      const rows = data.map((row) => row.map(toPlain));
      return `### ${sheet}\n\n${toTable(rows, 100_000)}`;
    });
    const text = extractXlsx(books[what]!, { ...job, kind: "xlsx" });
    // Hours that are counted on, which read-excel-file takes for a date.
    expect(text.replace("1087020:00:00", "2024-01-01T12:00:00")).toBe(expected.join("\n\n"));
  },
);

test("a workbook has times, durations and shares as they are shown", () => {
  const formats = ["h:mm", "[h]:mm:ss", "0.0%", 'yyyy"%"', "mm:ss"];
  const own = formats.map((code, at) => `<numFmt numFmtId="${200 + at}" formatCode='${code}'/>`);
  const cells = [18, 46, 9, 10, 200, 201, 202, 203, 204];
  const sheet = [0.5, 1.25, 0.07].map((value, row) => {
    const list = cells.map(
      (_, at) => `<c r="${String.fromCharCode(65 + at)}${row + 1}" s="${at}"><v>${value}</v></c>`,
    );
    return `<row r="${row + 1}">${list.join("")}</row>`;
  });
  const xfs = cells.map((id) => `<xf numFmtId="${id}"/>`).join("");
  const made = makeBook(sheet.join(""), {
    styles: `<numFmts>${own.join("")}</numFmts><cellXfs>${xfs}</cellXfs>`,
  });
  expect(extractXlsx(made, { ...job, kind: "xlsx" })).toBe(
    `### One

| 12:00:00 | 12:00:00 | 50% | 50% | 12:00:00 | 12:00:00 | 50% | 12:00:00 | 12:00:00 |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
| 06:00:00 | 30:00:00 | 125% | 125% | 06:00:00 | 30:00:00 | 125% | 1899-12-31T06:00:00 | 06:00:00 |
| 01:40:48 | 01:40:48 | 7% | 7% | 01:40:48 | 01:40:48 | 7% | 01:40:48 | 01:40:48 |`,
  );
});

test("a workbook that claims cells far away is read as far as it can be kept", () => {
  const sheet =
    '<row r="1"><c r="XFD1"><v>1</v></c></row><row r="1048576"><c r="A1048576"><v>2</v></c></row>';
  const whole = extractXlsx(makeBook(sheet), { ...job, kind: "xlsx", maxChars: 1000 });
  expect(whole.length).toBeLessThan(300_000);
});

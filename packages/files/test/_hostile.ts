import { strToU8, zipSync } from "fflate";
import { makeDocx, makePptx, makeXlsx } from "./_make.ts";
import { unzipSync } from "fflate";

/** A file of about so many bytes, unpacked, that is made to take long. */
export type Hostile = (size: number) => Uint8Array;

function replaced(zip: Uint8Array, part: string, content: string): Uint8Array {
  return zipSync({ ...unzipSync(zip), [part]: strToU8(content) });
}

const repeated = (text: string, size: number): string => text.repeat(Math.ceil(size / text.length));
const slide = (content: string): string =>
  `<p:sld xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">${content}</p:sld>`;
const w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const s = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';

// Texts that make a pattern or a search start again and again, in whatever kind of file they are.
const texts: Record<string, (size: number) => string> = {
  "open tags": (size) => repeated("<a>", size),
  "closed tags": (size) => repeated("</a>", size),
  "nested elements": (size) => repeated("<a>", size / 2) + repeated("</a>", size / 2),
  "shapes without an end": (size) => repeated("<p:sp><p:graphicFrame>", size),
  "paragraphs without an end": (size) => `<p:sp>${repeated("<a:p><w:p>", size)}`,
  "comments without an end": (size) => repeated("<!--", size),
  "characters without an end": (size) => repeated("<![CDATA[", size),
  "instructions without an end": (size) => repeated("<?", size),
  "attributes without an end": (size) => `<a ${repeated("b='", size)}`,
  attributes: (size) => `<w:p ${repeated('b="c" ', size)}/>`,
  "an attribute without a value": (size) => `<a ${repeated("b ", size)}>`,
  "white space in a tag": (size) => `<a${repeated(" ", size)}`,
  entities: (size) => repeated("&#1;&lt;", size),
  "entities without an end": (size) => repeated("&#x1", size),
  names: (size) => Array.from({ length: Math.ceil(size / 12) }, (_, at) => `<n${at}/>`).join(""),
  namespaces: (size) =>
    repeated(
      '<a xmlns:q="http://schemas.openxmlformats.org/drawingml/2006/main"/><a xmlns:q="http://schemas.openxmlformats.org/presentationml/2006/main"/>',
      size,
    ),
};

const word: Record<string, (size: number) => string> = {
  ...Object.fromEntries(
    [
      "w:p",
      "w:r",
      "w:tbl",
      "w:tc",
      "w:hyperlink",
      "w:footnote",
      "w:txbxContent",
      "mc:Fallback",
    ].map((name) => [
      `nested ${name}`,
      (size: number) =>
        `<w:body>${repeated(`<${name}>`, size / 2)}<w:p><w:r><w:t>x</w:t></w:r></w:p>${repeated(`</${name}>`, size / 2)}</w:body>`,
    ]),
  ),
  "nested tables with text": (size) =>
    repeated("<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a|</w:t></w:r></w:p>", size / 2) +
    repeated("</w:tc></w:tr></w:tbl>", size / 2),
  "cells in cells": (size) =>
    `<w:tbl><w:tr>${repeated("<w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p>", size / 2)}${repeated("</w:tc>", size / 2)}</w:tr></w:tbl>`,
  fields: (size) =>
    `<w:p>${repeated('<w:r><w:fldChar w:fldCharType="begin"/><w:instrText>HYPERLINK "a</w:instrText><w:fldChar w:fldCharType="separate"/></w:r>', size)}</w:p>`,
  runs: (size) => `<w:p>${repeated("<w:r><w:rPr><w:b/></w:rPr><w:t> </w:t></w:r>", size)}</w:p>`,
  "blank paragraphs": (size) => repeated("<w:p><w:r><w:t> </w:t></w:r></w:p>", size),
  "a cell of blanks": (size) =>
    `<w:tbl><w:tr><w:tc><w:p><w:r><w:t>x${repeated(" ", size)}x</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`,
  "a cell of backslashes": (size) =>
    `<w:tbl><w:tr><w:tc><w:p><w:r><w:t>${repeated("\\", size)}</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`,
  "a row of cells above many rows": (size) =>
    `<w:tbl><w:tr>${repeated("<w:tc/>", size / 2)}</w:tr>${repeated("<w:tr><w:tc/></w:tr>", size / 2)}</w:tbl>`,
  "references to one note": (size) =>
    `<w:p>${repeated('<w:r><w:footnoteReference w:id="1"/></w:r>', size)}</w:p>`,
};

const sheet: Record<string, (size: number) => string> = {
  "cells far apart": (size) =>
    `<sheetData><row r="1"><c r="XFD1"><v>1</v></c></row>${rows(size)}<row r="1048576"><c r="A1048576"><v>1</v></c></row></sheetData>`,
  "rows without cells": (size) => `<sheetData>${repeated("<row/>", size)}</sheetData>`,
  "a cell of blanks": (size) =>
    `<sheetData><row><c t="inlineStr"><is><t>x${repeated(" ", size)}x</t></is></c></row></sheetData>`,
  "a cell of backslashes": (size) =>
    `<sheetData><row><c t="inlineStr"><is><t>${repeated("\\", size)}</t></is></c></row></sheetData>`,
  "a cell of line breaks": (size) =>
    `<sheetData><row><c t="inlineStr"><is><t>x${repeated("\n ", size)}x</t></is></c></row></sheetData>`,
};

function rows(size: number): string {
  const count = Math.ceil(size / 60);
  return Array.from(
    { length: count },
    (_, at) => `<row r="${at + 2}"><c r="A${at + 2}"><v>1</v></c></row>`,
  ).join("");
}

const pptx = makePptx([{ title: "x", lines: ["y"] }]);
const docx = makeDocx({ text: "x" });
const xlsx = makeXlsx({ One: [["x"]] });

const others: Record<string, readonly ["pptx" | "docx" | "xlsx", Hostile]> = {
  "many references to one slide": [
    "pptx",
    (size) =>
      replaced(
        replaced(
          pptx,
          "ppt/presentation.xml",
          `<p:presentation xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">${repeated('<p:sldId r:id="rId1"/>', size / 2)}</p:presentation>`,
        ),
        "ppt/slides/slide1.xml",
        slide(repeated("<p:sp/>", size / 2)),
      ),
  ],
  relations: [
    "pptx",
    (size) =>
      replaced(
        pptx,
        "ppt/_rels/presentation.xml.rels",
        `<Relationships>${repeated('<Relationship Id="a" Type="b" Target="../../../x"/>', size)}</Relationships>`,
      ),
  ],
  "a relation with a long target": [
    "pptx",
    (size) =>
      replaced(
        pptx,
        "ppt/_rels/presentation.xml.rels",
        `<Relationships><Relationship Id="rId1" Type="b" Target="${repeated("a/../", size)}"/></Relationships>`,
      ),
  ],
  "many references to one sheet": [
    "xlsx",
    (size) =>
      replaced(
        replaced(
          xlsx,
          "xl/workbook.xml",
          `<workbook ${s} xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>${repeated('<sheet name="a" r:id="rId1"/>', size / 2)}</sheets></workbook>`,
        ),
        "xl/worksheets/sheet1.xml",
        `<worksheet ${s}><sheetData>${repeated("<row/>", size / 2)}</sheetData></worksheet>`,
      ),
  ],
  formats: [
    "xlsx",
    (size) =>
      replaced(
        replaced(
          xlsx,
          "xl/styles.xml",
          `<styleSheet ${s}><numFmts><numFmt numFmtId="200" formatCode="${repeated("[", size / 2)}"/></numFmts><cellXfs>${repeated('<xf numFmtId="200"/>', size / 2)}</cellXfs></styleSheet>`,
        ),
        "xl/_rels/workbook.xml.rels",
        `<Relationships><Relationship Id="rId1" Type="x/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="x/styles" Target="styles.xml"/></Relationships>`,
      ),
  ],
};

/** Files that are made to take long, by what is in them. */
export const hostiles: readonly {
  readonly what: string;
  readonly kind: "pptx" | "docx" | "xlsx";
  readonly make: Hostile;
}[] = [
  ...Object.entries(texts).flatMap(([what, make]) => [
    {
      what: `${what} in a slide`,
      kind: "pptx" as const,
      make: (size: number) => replaced(pptx, "ppt/slides/slide1.xml", slide(make(size))),
    },
    {
      what: `${what} in a document`,
      kind: "docx" as const,
      make: (size: number) =>
        replaced(docx, "word/document.xml", `<w:document ${w}>${make(size)}</w:document>`),
    },
    {
      what: `${what} in a sheet`,
      kind: "xlsx" as const,
      make: (size: number) =>
        replaced(xlsx, "xl/worksheets/sheet1.xml", `<worksheet ${s}>${make(size)}</worksheet>`),
    },
  ]),
  ...Object.entries(word).map(([what, make]) => ({
    what: `${what} in a document`,
    kind: "docx" as const,
    make: (size: number) =>
      replaced(docx, "word/document.xml", `<w:document ${w}>${make(size)}</w:document>`),
  })),
  ...Object.entries(sheet).map(([what, make]) => ({
    what: `${what} in a sheet`,
    kind: "xlsx" as const,
    make: (size: number) =>
      replaced(xlsx, "xl/worksheets/sheet1.xml", `<worksheet ${s}>${make(size)}</worksheet>`),
  })),
  ...Object.entries(others).map(([what, [kind, make]]) => ({ what, kind, make })),
];

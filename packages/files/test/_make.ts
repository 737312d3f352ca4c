import { strToU8, zipSync } from "fflate";
import { PDFDocument } from "pdf-lib";

/** A PDF with a page for each text. */
export async function makePdf(...pages: readonly string[]): Promise<Uint8Array> {
  const pdf = await PDFDocument.create();
  for (const text of pages) pdf.addPage().drawText(text, { x: 40, y: 400, size: 12 });
  return pdf.save();
}

function zip(files: Record<string, string>): Uint8Array {
  return zipSync(
    Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)])),
  );
}

const rels = "http://schemas.openxmlformats.org/package/2006/relationships";
const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';

function rootRels(target: string): string {
  return `${head}<Relationships xmlns="${rels}"><Relationship Id="rId1" Type="${office}/officeDocument" Target="${target}"/></Relationships>`;
}

function types(overrides: Record<string, string>): string {
  const parts = Object.entries(overrides).map(
    ([part, type]) =>
      `<Override PartName="${part}" ContentType="application/vnd.openxmlformats-officedocument.${type}+xml"/>`,
  );
  return `${head}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${parts.join("")}</Types>`;
}

export interface DocxContent {
  readonly title?: string;
  readonly text: string;
  readonly table?: readonly (readonly string[])[];
  /** Further parts of the package. */
  readonly more?: Record<string, Uint8Array>;
}

/** A Word document with a heading, a paragraph and a table. */
export function makeDocx({
  title = "Title",
  text,
  table = [],
  more = {},
}: DocxContent): Uint8Array {
  const run = (words: string): string => `<w:r><w:t xml:space="preserve">${words}</w:t></w:r>`;
  const cells = (row: readonly string[]): string =>
    row.map((cell) => `<w:tc><w:p>${run(cell)}</w:p></w:tc>`).join("");
  const rows = table.map((row) => `<w:tr>${cells(row)}</w:tr>`).join("");
  const document = `${head}<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr>${run(title)}</w:p><w:p>${run(text)}</w:p>${rows === "" ? "" : `<w:tbl>${rows}</w:tbl>`}</w:body></w:document>`;
  const styles = `${head}<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>`;
  const files: Record<string, string> = {
    "[Content_Types].xml": types({
      "/word/document.xml": "wordprocessingml.document.main",
      "/word/styles.xml": "wordprocessingml.styles",
    }),
    "_rels/.rels": rootRels("word/document.xml"),
    "word/document.xml": document,
    "word/styles.xml": styles,
    "word/_rels/document.xml.rels": `${head}<Relationships xmlns="${rels}"><Relationship Id="rId1" Type="${office}/styles" Target="styles.xml"/></Relationships>`,
  };
  const all = Object.entries(files).map(([name, content]) => [name, strToU8(content)] as const);
  return zipSync({ ...Object.fromEntries(all), ...more });
}

/** A workbook with a sheet for each entry; cells are text or numbers. */
export function makeXlsx(
  sheets: Record<string, readonly (readonly (string | number)[])[]>,
): Uint8Array {
  const names = Object.keys(sheets);
  const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
  const files: Record<string, string> = {
    "[Content_Types].xml": types({
      "/xl/workbook.xml": "spreadsheetml.sheet.main",
      ...Object.fromEntries(
        names.map((_, at) => [`/xl/worksheets/sheet${at + 1}.xml`, "spreadsheetml.worksheet"]),
      ),
    }),
    "_rels/.rels": rootRels("xl/workbook.xml"),
    "xl/workbook.xml": `${head}<workbook xmlns="${main}" xmlns:r="${office}"><sheets>${names
      .map((name, at) => `<sheet name="${name}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`)
      .join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `${head}<Relationships xmlns="${rels}">${names
      .map(
        (_, at) =>
          `<Relationship Id="rId${at + 1}" Type="${office}/worksheet" Target="worksheets/sheet${at + 1}.xml"/>`,
      )
      .join("")}</Relationships>`,
  };
  for (const [at, rows] of Object.values(sheets).entries()) {
    const data = rows.map((row, y) => {
      const cells = row.map((value, x) => {
        const ref = `${String.fromCharCode(65 + x)}${y + 1}`;
        return typeof value === "number"
          ? `<c r="${ref}"><v>${value}</v></c>`
          : `<c r="${ref}" t="inlineStr"><is><t>${value}</t></is></c>`;
      });
      return `<row r="${y + 1}">${cells.join("")}</row>`;
    });
    files[`xl/worksheets/sheet${at + 1}.xml`] =
      `${head}<worksheet xmlns="${main}"><sheetData>${data.join("")}</sheetData></worksheet>`;
  }
  return zip(files);
}

export interface SlideContent {
  readonly title: string;
  readonly lines: readonly string[];
  readonly notes?: string;
}

/** A presentation. */
export function makePptx(slides: readonly SlideContent[]): Uint8Array {
  const ns =
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" ' +
    `xmlns:r="${office}"`;
  const shape = (type: string, lines: readonly string[]): string =>
    `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${type}"/></p:nvPr></p:nvSpPr><p:txBody>${lines
      .map((line) => `<a:p><a:r><a:rPr lang="en"/><a:t>${line}</a:t></a:r></a:p>`)
      .join("")}</p:txBody></p:sp>`;
  // Named backwards, so that the order of the names is not that of the slides.
  const nameOf = (at: number): string => `slide${slides.length - at}.xml`;
  const files: Record<string, string> = {
    "[Content_Types].xml": types({ "/ppt/presentation.xml": "presentationml.presentation.main" }),
    "_rels/.rels": rootRels("ppt/presentation.xml"),
    "ppt/presentation.xml": `${head}<p:presentation ${ns}><p:sldIdLst>${slides
      .map((_, at) => `<p:sldId id="${256 + at}" r:id="rId${at + 1}"/>`)
      .join("")}</p:sldIdLst></p:presentation>`,
    "ppt/_rels/presentation.xml.rels": `${head}<Relationships xmlns="${rels}">${slides
      .map(
        (_, at) =>
          `<Relationship Id="rId${at + 1}" Type="${office}/slide" Target="slides/${nameOf(at)}"/>`,
      )
      .join("")}</Relationships>`,
  };
  for (const [at, { title, lines, notes }] of slides.entries()) {
    files[`ppt/slides/${nameOf(at)}`] =
      `${head}<p:sld ${ns}><p:cSld><p:spTree>${shape("title", [title])}${shape("body", lines)}</p:spTree></p:cSld></p:sld>`;
    if (notes === undefined) continue;
    files[`ppt/notesSlides/notes${at}.xml`] =
      `${head}<p:notes ${ns}><p:cSld><p:spTree>${shape("body", [notes])}</p:spTree></p:cSld></p:notes>`;
    files[`ppt/slides/_rels/${nameOf(at)}.rels`] =
      `${head}<Relationships xmlns="${rels}"><Relationship Id="rId1" Type="${office}/notesSlide" Target="../notesSlides/notes${at}.xml"/></Relationships>`;
  }
  return zip(files);
}

import { Faulty } from "../job.ts";

/** The start of an element. */
export interface XmlTag {
  /** With the usual prefix of its namespace, whichever prefix the document has chosen. */
  readonly name: string;
  /** The value of an attribute, by its name with the usual prefix. */
  get(name: string): string | undefined;
}

/** What is called for the parts of a document, in their order. */
export interface XmlHandler {
  open(tag: XmlTag): void;
  text(text: string): void;
  /** Also called for an element without content. */
  close(name: string): void;
  /** The rest of the document is not read once this is true. */
  isDone?(): boolean;
}

/**
 * Reads a part of an Office file in one pass: no place of the text is looked at twice, whatever it has. A document that
 * is not well-formed, or has a document type (which could define entities), is damaged.
 */
export function readXml(xml: string, handler: XmlHandler): void {
  const names = createNames();
  const opened: string[] = [];
  let at = 0;
  while (!handler.isDone?.()) {
    const start = xml.indexOf("<", at);
    if (start < 0) break;
    if (start > at) handler.text(unescape(xml.slice(at, start)));
    at = readMarkup(start);
  }
  if (opened.length > 0 && !handler.isDone?.()) throw new Faulty("damaged");

  /** Where the text after it starts. */
  function readMarkup(start: number): number {
    switch (xml.charCodeAt(start + 1)) {
      case slash:
        return readEnd(start + 2);
      case question:
        return find("?>", start + 2) + 2;
      case exclamation:
        if (xml.startsWith("<!--", start)) return find("-->", start + 4) + 3;
        return readCharacters(start);
      default:
        return readStart(start + 1);
    }
  }

  function readCharacters(start: number): number {
    if (!xml.startsWith("<![CDATA[", start)) throw new Faulty("damaged");
    const end = find("]]>", start + 9);
    handler.text(xml.slice(start + 9, end));
    return end + 3;
  }

  function readEnd(start: number): number {
    const end = find(">", start);
    const name = xml.slice(start, end).trimEnd();
    if (opened.pop() !== name) throw new Faulty("damaged");
    handler.close(names.ofElement(name));
    return end + 1;
  }

  function readStart(start: number): number {
    let next = endOfName(xml, start);
    const name = xml.slice(start, next);
    if (name === "") throw new Faulty("damaged");
    const attributes: string[] = [];
    for (;;) {
      next = skipSpace(xml, next);
      const code = xml.charCodeAt(next);
      if (code === greater || code === slash) break;
      next = readAttribute(next, attributes);
    }
    const isEmpty = xml.charCodeAt(next) === slash;
    if (isEmpty && xml.charCodeAt(++next) !== greater) throw new Faulty("damaged");
    const known = names.ofElement(name);
    handler.open({ name: known, get: (wanted) => names.find(attributes, wanted) });
    if (isEmpty) handler.close(known);
    else opened.push(name);
    return next + 1;
  }

  function readAttribute(start: number, attributes: string[]): number {
    const end = endOfName(xml, start);
    const name = xml.slice(start, end);
    const equals = skipSpace(xml, end);
    const quote = skipSpace(xml, equals + 1);
    const mark = xml[quote];
    if (name === "" || xml.charCodeAt(equals) !== equal || (mark !== '"' && mark !== "'")) {
      throw new Faulty("damaged");
    }
    const close = find(mark, quote + 1);
    const value = xml.slice(quote + 1, close);
    if (name === "xmlns" || name.startsWith("xmlns:")) names.declare(name.slice(6), value);
    else attributes.push(name, value);
    return close + 1;
  }

  function find(text: string, from: number): number {
    const found = xml.indexOf(text, from);
    if (found < 0) throw new Faulty("damaged");
    return found;
  }
}

const exclamation = 0x21;
const slash = 0x2f;
const equal = 0x3d;
const greater = 0x3e;
const question = 0x3f;

function skipSpace(xml: string, from: number): number {
  let at = from;
  while (xml.charCodeAt(at) <= 0x20) at++;
  return at;
}

function endOfName(xml: string, from: number): number {
  for (let at = from; ; at++) {
    const code = xml.charCodeAt(at);
    const isPart = code > 0x20 && code !== slash && code !== equal && code !== greater;
    if (!isPart) return at;
  }
}

const schemas = "http://schemas.openxmlformats.org/";
const strict = "http://purl.oclc.org/ooxml/";

// The usual prefixes of what is read here, in files of Office and in strict ones.
const namespaces: ReadonlyMap<string, string> = new Map([
  [`${schemas}package/2006/relationships`, ""],
  [`${schemas}spreadsheetml/2006/main`, ""],
  [`${strict}spreadsheetml/main`, ""],
  [`${schemas}wordprocessingml/2006/main`, "w"],
  [`${strict}wordprocessingml/main`, "w"],
  [`${schemas}presentationml/2006/main`, "p"],
  [`${strict}presentationml/main`, "p"],
  [`${schemas}drawingml/2006/main`, "a"],
  [`${strict}drawingml/main`, "a"],
  [`${schemas}officeDocument/2006/relationships`, "r"],
  [`${strict}officeDocument/relationships`, "r"],
  [`${schemas}officeDocument/2006/math`, "m"],
  [`${strict}officeDocument/math`, "m"],
  [`${schemas}markup-compatibility/2006`, "mc"],
]);

interface Names {
  declare(prefix: string, namespace: string): void;
  ofElement(name: string): string;
  find(attributes: readonly string[], wanted: string): string | undefined;
}

// Declarations count from where they are on: Office files have them on their root.
function createNames(): Names {
  const prefixes = new Map<string, string>();
  const known = new Map<string, string>();

  function toUsual(name: string): string {
    const colon = name.indexOf(":");
    const usual = prefixes.get(colon < 0 ? "" : name.slice(0, colon));
    if (usual === undefined) return name;
    const local = name.slice(colon + 1);
    return usual === "" ? local : `${usual}:${local}`;
  }

  function ofElement(name: string): string {
    let usual = known.get(name);
    if (usual === undefined) known.set(name, (usual = toUsual(name)));
    return usual;
  }

  return {
    declare(prefix, namespace) {
      const usual = namespaces.get(namespace);
      if (usual === undefined || prefixes.get(prefix) === usual) return;
      prefixes.set(prefix, usual);
      known.clear();
    },
    ofElement,
    find(attributes, wanted) {
      for (let at = 0; at < attributes.length; at += 2) {
        const name = attributes[at]!;
        // Without a prefix an attribute has no namespace.
        const usual = name.includes(":") ? ofElement(name) : name;
        if (usual === wanted) return unescape(attributes[at + 1]!);
      }
      return undefined;
    },
  };
}

const entities: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
]);

function unescape(text: string): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(/&(#x[\da-f]{1,6}|#\d{1,7}|amp|lt|gt|quot|apos);/gi, (_, name: string) => {
    if (!name.startsWith("#")) return entities.get(name.toLowerCase())!;
    return toCharacter(Number(name.replace("#", "").replace(/^x/i, "0x")));
  });
}

function toCharacter(code: number): string {
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : "\ufffd";
}

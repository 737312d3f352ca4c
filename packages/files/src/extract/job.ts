import type { FileFault } from "../shared/file-error.ts";

/** How the text of a file is got at. */
export type ExtractKind = "pdf" | "docx" | "xlsx" | "pptx" | "ocr";

/** What a worker is asked for. */
export interface ExtractJob {
  readonly kind: ExtractKind;
  /** A path is read by the worker itself. */
  readonly from: Uint8Array | string;
  readonly maxChars: number;
  /** What an Office file may have in it, unpacked. */
  readonly inflatedBytes: number;
  readonly ocr: OcrJob;
}

export interface OcrJob {
  readonly language: string;
  /** A folder with `<language>.traineddata.gz`. By default that of the npm package. */
  readonly langPath?: string | undefined;
}

/** What it answers. */
export type ExtractAnswer =
  | { readonly text: string }
  | { readonly fault: FileFault; readonly detail?: string | undefined }
  /** A package that is not installed. */
  | { readonly missing: string }
  /** Neither the file's fault nor the installation's. */
  | { readonly error: string };

/** Thrown by extractors: what is wrong with the file. */
export class Faulty extends Error {
  readonly fault: FileFault;

  constructor(fault: FileFault) {
    super(`The file is ${fault}.`);
    this.fault = fault;
  }
}

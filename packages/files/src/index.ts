export { extractFiles } from "./extract-files.ts";
export type { FetchedFile, UrlAllowList } from "./fetch-url.ts";
export { FileError } from "./file-error.ts";
export type { FileFault } from "./file-error.ts";
export type {
  ExtractFilesOptions,
  OcrOptions,
  ResolveContext,
  ResolveFileId,
  ResolveUrl,
  TextExtractor,
} from "./options.ts";
export type { UploadsOptions } from "./upload-store.ts";

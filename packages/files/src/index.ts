export { extractFiles } from "./process/extract-files.ts";
export type { FetchedFile, UrlAllowList } from "./process/fetch-url.ts";
export { FileError } from "./shared/file-error.ts";
export type { FileFault } from "./shared/file-error.ts";
export type {
  ExtractFilesOptions,
  OcrOptions,
  ResolveContext,
  ResolveFileId,
  ResolveUrl,
  TextExtractor,
} from "./process/options.ts";
export type { UploadsOptions } from "./uploads/upload-store.ts";

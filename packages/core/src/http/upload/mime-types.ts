/** What may be uploaded unless a server allows more. */
export const SUPPORTED_MIME_TYPES: readonly string[] = [
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/webp",
  "application/pdf",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  "text/plain",
  "text/csv",
  "text/markdown",
];

const [png, jpeg, gif, webp, pdf, docx, xlsx, pptx, txt, csv, markdown] = SUPPORTED_MIME_TYPES;

const byExtension: ReadonlyMap<string, string | undefined> = new Map([
  ["png", png],
  ["jpg", jpeg],
  ["jpeg", jpeg],
  ["gif", gif],
  ["webp", webp],
  ["pdf", pdf],
  ["docx", docx],
  ["xlsx", xlsx],
  ["pptx", pptx],
  ["txt", txt],
  ["csv", csv],
  ["md", markdown],
  ["markdown", markdown],
]);

/** A media type without its parameters, in small letters: `text/csv` of `Text/CSV; charset=utf-8`. */
export function essenceOf(mimeType: string): string {
  return mimeType.split(";", 1)[0]!.trim().toLowerCase();
}

/** The type of an uploaded file. Browsers send what they do not know, such as `.md`, as mere bytes. */
export function typeOfUpload(name: string, declared: string | undefined): string {
  const essence = essenceOf(declared ?? "");
  if (essence !== "" && essence !== "application/octet-stream") return essence;
  const extension = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  return byExtension.get(extension) ?? "application/octet-stream";
}

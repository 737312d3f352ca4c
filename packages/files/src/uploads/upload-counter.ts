import { uploadsFull, uploadTooLarge } from "./upload-store.ts";

/** Counts the bytes of uploads as they arrive. */
export interface UploadCounter {
  /** For one upload, when so many bytes are kept already. */
  begin(limits: {
    readonly owner: string;
    readonly used: number;
    readonly maxBytes: number;
    /** What one owner may have on its way. */
    readonly shareBytes: number;
    readonly fileBytes: number;
  }): {
    take(more: number): void;
    end(): void;
  };
}

/** What arrives at the same time counts, too, before any of it is kept. */
export function createUploadCounter(): UploadCounter {
  const owners = new Map<string, number>();
  let arriving = 0;

  function change(owner: string, by: number): number {
    arriving += by;
    const bytes = (owners.get(owner) ?? 0) + by;
    if (bytes > 0) owners.set(owner, bytes);
    else owners.delete(owner);
    return bytes;
  }

  return {
    begin({ owner, used, maxBytes, shareBytes, fileBytes }) {
      let own = 0;
      return {
        take(more) {
          own += more;
          const share = change(owner, more);
          if (own > fileBytes) throw uploadTooLarge(fileBytes);
          if (used + arriving > maxBytes) throw uploadsFull(`${maxBytes} bytes`);
          if (share > shareBytes) throw uploadsFull(`${shareBytes} bytes of one caller`);
        },
        end() {
          change(owner, -own);
          own = 0;
        },
      };
    },
  };
}

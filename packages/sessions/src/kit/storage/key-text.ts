const plain = /^[ !#-[\]-~]*$/;

/**
 * An id as it is stored. Ids come from clients: a NUL would end the text early and half a surrogate
 * pair would become U+FFFD, so that two ids met in one key. Both are escaped; most ids stay as they are.
 */
export function toKeyText(id: string): string {
  return plain.test(id) ? id : JSON.stringify(id).slice(1, -1);
}

/** The id behind a stored text. */
export function fromText(text: string): string {
  return text.includes("\\") ? (JSON.parse(`"${text}"`) as string) : text;
}

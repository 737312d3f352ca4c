/** Puts a text on the clipboard; false when the browser does not let us. */
export async function copyText(text: string): Promise<boolean> {
  // Only pages of localhost and over TLS have it; a phone in the same network does not.
  if (!isSecureContext) return copySelection(text);
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => copySelection(text),
  );
}

function copySelection(text: string): boolean {
  const area = document.createElement("textarea");
  const before = document.activeElement;
  area.value = text;
  area.readOnly = true;
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return isCopied;
}

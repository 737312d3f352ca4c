/** Brings the reader to what is asked, unless they are writing: what they type must not answer it. */
export function focusOn(element: HTMLElement | null): void {
  const { activeElement } = document;
  const isWriting = activeElement instanceof HTMLTextAreaElement && activeElement.value !== "";
  if (!isWriting) element?.focus({ preventScroll: true });
}

/** Back to the box, or, where that would open a keyboard on the screen, to the conversation. */
export function focusComposer(): void {
  const place = matchMedia("(pointer: fine)").matches ? ".composer textarea" : ".messages";
  document.querySelector<HTMLElement>(place)?.focus({ preventScroll: true });
}

export function shout({ text }: { text: string }): string {
  return text.toUpperCase();
}
